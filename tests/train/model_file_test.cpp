// model_file_test.cpp: a model's form and numbers go into a file and come back.

#include "heed/train/model_file.hpp"

#include <string>

#include "catch.hpp"
#include "io/file_tests.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;
using heed_test::TemporaryFolder;

nn::GptConfig some_config() {
  nn::GptConfig config;
  config.vocab_size = 7;
  config.block_size = 5;
  config.layers = 1;
  config.heads = 2;
  config.embed_dim = 4;
  config.bias = true;
  config.tied = false;
  config.gelu = Gelu::tanh;
  return config;
}

const Vocabulary seven = Vocabulary::of_text("abcdefg");

struct Model {
  explicit Model(std::uint64_t seed)
      : generator(seed), gpt(Scope(parameters, generator), some_config()) {}
  ModelFile saved(const std::filesystem::path& path, const Metadata& more = {}) const {
    save_model(path, parameters, some_config(), seven);
    SafetensorsFile file = read_safetensors(path);
    for (const auto& [key, value] : more) file.metadata[key] = value;
    return ModelFile(std::move(file));
  }
  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

}  // namespace

TEST_CASE("a model's form comes back", "[train][checkpoint]") {
  const TemporaryFolder folder;
  const nn::GptConfig back = Model(1).saved(folder / "model").config();
  CHECK(back.vocab_size == 7);
  CHECK(back.block_size == 5);
  CHECK(back.layers == 1);
  CHECK(back.heads == 2);
  CHECK(back.causal);
  CHECK(back.embed_dim == 4);
  CHECK(back.bias);
  CHECK_FALSE(back.tied);
  CHECK(back.gelu == Gelu::tanh);
}

TEST_CASE("a model's numbers come back to the last bit", "[train][checkpoint]") {
  const TemporaryFolder folder;
  const Model one(1), other(2);
  const ModelFile file = one.saved(folder / "model");
  CHECK_FALSE(same_bits(one.gpt.head.value(), other.gpt.head.value()));
  file.load_parameters(other.parameters);
  for (const Tensor& p : one.parameters)
    CHECK(same_bits(p.value(), other.parameters.at(p.name()).value()));
}

TEST_CASE("entries missing or out of range are refused with the file's name",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  const Model model(1);
  const auto refused = [&](const std::string& key, const std::string& value) {
    const ModelFile file = model.saved(folder / "model", {{key, value}});
    const std::string text = message_of([&] { file.config(); });
    return text.substr(std::min(text.size(), file.path().size()));
  };
  CHECK(refused("model.layers", "many") ==
        ": metadata 'model.layers' is 'many', not a whole number up to 1000000000000");
  CHECK(refused("model.layers", "") ==
        ": metadata 'model.layers' is '', not a whole number up to 1000000000000");
  CHECK(refused("model.tied", "2") == ": metadata 'model.tied' is '2', not a whole number up to 1");
  CHECK(refused("model.gelu", "relu") == ": metadata 'model.gelu' is 'relu', neither erf nor tanh");
  model.saved(folder / "model");
  SafetensorsFile file = read_safetensors(folder / "model");
  file.metadata.erase("model.heads");
  CHECK(has(message_of([&] { ModelFile(std::move(file)).config(); }),
            "not a checkpoint of heed: its metadata has no 'model.heads'"));
}

TEST_CASE("numbers missing, misshapen or not finite are refused, and nothing is loaded",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  const Model model(1);
  const auto refused = [&](const Parameters& stored, const Model& into) {
    std::vector<StoredTensor> tensors;
    for (const Tensor& p : stored) tensors.push_back(stored_tensor(p.name(), p.value()));
    write_safetensors(folder / "spoiled", {}, tensors);
    return message_of(
        [&] { ModelFile::open(folder / "spoiled").load_parameters(into.parameters); });
  };
  const auto copies = [&](const std::string& name, const Array& value) {
    Parameters store;
    for (const Tensor& p : model.parameters)
      if (p.name() != name || value.size() != 0)
        store.add(p.name(), p.name() == name ? value : p.value());
    return store;
  };
  const Model other(2);
  const Array before = other.gpt.token.weight.value();
  CHECK(has(refused(copies("head.weight", zeros({0})), other), "no tensor 'head.weight'"));
  CHECK(has(refused(copies("head.weight", ones({7, 5})), other),
            "tensor 'head.weight' has shape (7, 5), the model needs (7, 4)"));
  CHECK(has(refused(copies("head.weight", filled({7, 4}, static_cast<Real>(infinity))), other),
            "tensor 'head.weight' holds values that are not finite"));
  Parameters more = copies("", zeros({0}));
  more.add("optimizer.head.weight", zeros({7, 4}));  // a trainer's
  more.add("stray", zeros({1}));
  CHECK(has(refused(more, other), "/spoiled: tensor 'stray' is of no parameter of this model"));
  CHECK(same_bits(other.gpt.token.weight.value(), before));
}

TEST_CASE("a form that needs more numbers than the file holds is refused before it is made",
          "[train][checkpoint]") {
  const TemporaryFolder folder;
  const Model model(1);
  const auto refused = [&](const std::string& key, const std::string& value) {
    const ModelFile file = model.saved(folder / "model", {{key, value}});
    const std::string text = message_of([&] { file.config(); });
    return text.substr(std::min(text.size(), file.path().size()));
  };
  std::size_t numbers = 0;
  for (const Tensor& p : model.parameters) numbers += p.value().size();
  const std::string hold = " parameters, its tensors hold " + std::to_string(numbers);
  CHECK(refused("model.layers", "1000000000000") ==
        ": its metadata describes a model of 2e+14" + hold);
  CHECK(refused("model.embed_dim", "40") == ": its metadata describes a model of 19800" + hold);
  for (const char* size : {"model.vocab_size", "model.block_size"})
    CHECK(refused(size, "1000000000000") == ": its metadata describes a model of 4e+12" + hold);
}
