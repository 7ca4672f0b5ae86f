// save_test.cpp: save and load of a model's parameters.

#include "heed/files/save.hpp"

#include <cmath>

#include "catch.hpp"
#include "files/load.hpp"
#include "heed/nn/gpt.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::ScratchFolder;

struct StoredModel {
  explicit StoredModel(std::uint64_t seed)
      : generator(seed), block(Scope(parameters, generator), 4, 2) {}
  Parameters parameters;
  Generator generator;
  nn::Block block;
};

Parameters store_of(const std::vector<std::pair<std::string, Array>>& arrays) {
  Parameters parameters;
  for (const auto& [name, value] : arrays) parameters.add(name, value);
  return parameters;
}

// The message of loading the file into these parameters, whose values must not change.
std::string rejection(const std::filesystem::path& path, const Parameters& parameters) {
  std::vector<Array> before;
  for (const Tensor& p : parameters) before.push_back(p.value());
  const std::string message = message_of([&] { load(path, parameters); });
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(same_bits(parameters.tensors()[i].value(), before[i]));
  return message;
}

}  // namespace

TEST_CASE("a saved model is loaded with the same bits into another one", "[files][save]") {
  const ScratchFolder folder;
  StoredModel saved(1), loaded(2);
  save(folder / "model.safetensors", saved.parameters);
  load(folder / "model.safetensors", loaded.parameters);
  for (const Tensor& p : saved.parameters)
    CHECK(same_bits(loaded.parameters.at(p.name()).value(), p.value()));
  const Tensor x(random_array({1, 3, 4}, 1));
  CHECK(same_bits(saved.block(x).value(), loaded.block(x).value()));
  CHECK(folder.files() == 1);
}

TEST_CASE("the order of the parameters does not matter", "[files][save]") {
  const ScratchFolder folder;
  const Array a = random_array({2, 3}, 1), b = random_array({4}, 2);
  save(folder / "m", store_of({{"a", a}, {"b", b}}));
  const Parameters other = store_of({{"b", zeros({4})}, {"a", zeros({2, 3})}});
  load(folder / "m", other);
  CHECK(same_bits(other.at("a").value(), a));
  CHECK(same_bits(other.at("b").value(), b));
}

TEST_CASE("save replaces a file, and a file of equal parameters has equal bytes", "[files][save]") {
  const ScratchFolder folder;
  save(folder / "m", store_of({{"a", ones({2})}}));
  const std::string first = folder.read("m");
  save(folder / "m", store_of({{"a", zeros({2})}}));
  CHECK(folder.read("m") != first);
  save(folder / "m", store_of({{"a", ones({2})}}));
  CHECK(folder.read("m") == first);
}

TEST_CASE("parameters without elements and of rank 0 are saved and loaded", "[files][save]") {
  const ScratchFolder folder;
  save(folder / "m", store_of({{"scalar", scalar(3)}, {"empty", zeros({0, 2})}}));
  const Parameters other = store_of({{"scalar", scalar(0)}, {"empty", zeros({0, 2})}});
  load(folder / "m", other);
  CHECK(other.at("scalar").item() == 3);
}

TEST_CASE("load rejects another shape, and missing and unknown tensors", "[files][save]") {
  const ScratchFolder folder;
  const std::string path = (folder / "m").string();
  save(path, store_of({{"a", ones({2})}, {"b", ones({2, 3})}}));
  CHECK(rejection(path, store_of({{"a", zeros({2})}, {"b", zeros({3, 2})}})) ==
        path + ": tensor 'b' has shape (2, 3), the model needs (3, 2)");
  CHECK(rejection(path, store_of({{"a", zeros({2})}})) ==
        path + ": tensor 'b' belongs to no parameter of this model");
  const std::string missing = rejection(
      path, store_of({{"a", zeros({2})}, {"b", zeros({2, 3})}, {"head.weight", zeros({1})}}));
  CHECK(missing.rfind(path + ": ", 0) == 0);
  CHECK(missing.find("head.weight") != missing.npos);
}

TEST_CASE("load rejects values that are not finite", "[files][save]") {
  const ScratchFolder folder;
  for (const double bad : {not_a_number, infinity, -infinity}) {
    const std::string path = (folder / "m").string();
    const Array a = zeros({2}), b = array_of({2}, {1, bad});
    write_safetensors(path, {}, {stored_tensor("a", a), stored_tensor("b", b)});
    const std::string value = std::isnan(bad) ? "nan" : bad > 0 ? "inf" : "-inf";
    CHECK(rejection(path, store_of({{"a", ones({2})}, {"b", ones({2})}})) ==
          path + ": tensor 'b': element 1 is " + value + ", which is not finite");
  }
}

TEST_CASE("a file that is read whole or piece by piece gives the same values or the same error",
          "[files][save]") {
  const ScratchFolder folder;
  const std::string path = (folder / "m").string();
  const std::vector<double> numbers = {1, -2.5, 0.75};
  const Array expected = array_of({3}, {1, -2.5, 0.75});
  const std::vector<std::uint16_t> f16 = {0x3c00, 0xc100, 0x3a00}, bf16 = {0x3f80, 0xc020, 0x3f40};
  const std::vector<float> f32(numbers.begin(), numbers.end());
  const std::vector<double> huge = {0, 1e300, 0};
  const auto tensor = [](const char* dtype, const auto& values) {
    return StoredTensor{"b",
                        dtype,
                        {3},
                        reinterpret_cast<const unsigned char*>(values.data()),
                        values.size() * sizeof values[0]};
  };
  for (const StoredTensor& stored :
       {tensor("F32", f32), tensor("F64", numbers), tensor("F16", f16), tensor("BF16", bf16),
        tensor("F64", huge), tensor("I16", f16)}) {
    INFO(stored.dtype);
    write_safetensors(path, {}, {stored});
    const Parameters whole = store_of({{"b", zeros({3})}}), pieces = store_of({{"b", zeros({3})}});
    const std::string error = message_of([&] { load(path, whole); });
    CHECK(message_of([&] { load_in_place(SafetensorsReader(path), pieces); }) == error);
    if (stored.dtype == "I16") {
      CHECK(error == path + ": tensor 'b': its dtype is I16, not F32, F16, BF16 or F64");
    } else if (stored.data != reinterpret_cast<const unsigned char*>(huge.data())) {
      CHECK(error == "");
      CHECK(same_bits(whole.at("b").value(), expected));
      CHECK(same_bits(pieces.at("b").value(), expected));
    } else if (sizeof(Real) == 4) {
      CHECK(error == path + ": tensor 'b': element 1 is 1e+300, which is too large for F32");
    }
  }
}

TEST_CASE("load ignores the tensors of an optimizer", "[files][save]") {
  const ScratchFolder folder;
  save(folder / "m", store_of({{"a", ones({2})}, {"optimizer.a.exp_avg", ones({7})}}));
  const Parameters other = store_of({{"a", zeros({2})}});
  load(folder / "m", other);
  CHECK(difference(other.at("a"), ones({2}), 0) == "");
}

TEST_CASE("set_values needs a value of the right shape for each parameter", "[files][save]") {
  const Parameters two = store_of({{"a", ones({2})}, {"b", ones({3})}});
  CHECK(message_of([&] { set_values(two, {zeros({2})}); }) ==
        "set_values: 1 values for 2 parameters");
  CHECK(message_of([&] {
          set_values(two, {zeros({2}), zeros({2})});
        }) == "set_values: the value of 'b' has shape (2), the parameter (3)");
  CHECK(difference(two.at("a"), ones({2}), 0) == "");
  set_values(two, {zeros({2}), zeros({3})});
  CHECK(difference(two.at("b"), zeros({3}), 0) == "");
}

TEST_CASE("load and save reject what is no file", "[files][save]") {
  const ScratchFolder folder;
  const Parameters one = store_of({{"a", ones({2})}});
  const std::string path = (folder / "none").string();
  CHECK(rejection(path, one) == path + ": No such file or directory");
  folder.write("text", "this is not a model");
  CHECK(rejection(folder / "text", one).find("not a safetensors file") != std::string::npos);
  save(folder / "cut", one);
  const std::string whole = folder.read("cut");
  folder.write("cut", whole.substr(0, whole.size() - 1));
  CHECK(rejection(folder / "cut", one).find("truncated") != std::string::npos);
  const std::string deep = (folder / "none").string() + "/deep";
  CHECK(message_of([&] { save(deep, one); }).rfind(deep, 0) == 0);
}

TEST_CASE("save throws for a value that load would reject, and leaves the file", "[files][save]") {
  const ScratchFolder folder;
  const auto path = folder.path / "model.safetensors";
  save(path, store_of({{"w", ones({2})}}));
  const Parameters bad = store_of({{"w", array_of({2}, {1, not_a_number})}});
  CHECK(message_of([&] { save(path, bad); }) ==
        path.string() + ": tensor 'w': element 1 is nan, which is not finite");
  const Parameters good = store_of({{"w", zeros({2})}});
  load(path, good);
  CHECK((good.at("w").value() == ones({2})));
}
