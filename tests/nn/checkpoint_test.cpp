// checkpoint_test.cpp: a model's form and numbers go into a file and come back.

#include "heed/nn/checkpoint.hpp"

#include <string>

#include "catch.hpp"
#include "near.hpp"
#include "nn/file_tests.hpp"

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

struct Model {
  explicit Model(std::uint64_t seed)
      : generator(seed), gpt(Scope(parameters, generator), some_config()) {}
  SafetensorsFile saved(const std::filesystem::path& path, const Metadata& more = {}) const {
    Metadata metadata;
    std::vector<StoredTensor> tensors;
    nn::put_config(metadata, some_config());
    for (const auto& [key, value] : more) metadata[key] = value;
    nn::put_parameters(tensors, parameters);
    write_safetensors(path, metadata, tensors);
    return read_safetensors(path);
  }
  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

}  // namespace

TEST_CASE("a model's form comes back", "[nn][checkpoint]") {
  const TemporaryFolder folder;
  const nn::GptConfig back = nn::config_from(Model(1).saved(folder / "model"));
  Metadata before, after;
  nn::put_config(before, some_config());
  nn::put_config(after, back);
  CHECK(before == after);
  CHECK(before.size() == 8);
  CHECK(back.embed_dim == 4);
  CHECK(back.bias);
  CHECK_FALSE(back.tied);
  CHECK(back.gelu == Gelu::tanh);
}

TEST_CASE("a model's numbers come back to the last bit", "[nn][checkpoint]") {
  const TemporaryFolder folder;
  const Model one(1), other(2);
  const SafetensorsFile file = one.saved(folder / "model");
  CHECK_FALSE(same_bits(one.gpt.head.value(), other.gpt.head.value()));
  nn::load_parameters(other.parameters, file);
  for (const Tensor& p : one.parameters)
    CHECK(same_bits(p.value(), other.parameters.at(p.name()).value()));
}

TEST_CASE("entries missing or out of range are refused with the file's name", "[nn][checkpoint]") {
  const TemporaryFolder folder;
  const Model model(1);
  const auto refused = [&](const std::string& key, const std::string& value) {
    const SafetensorsFile file = model.saved(folder / "model", {{key, value}});
    const std::string text = message_of([&] { nn::config_from(file); });
    return text.substr(std::min(text.size(), file.path.size()));
  };
  CHECK(refused("model.layers", "many") ==
        ": metadata 'model.layers' is 'many', not a whole number up to 1000000000000");
  CHECK(refused("model.layers", "") ==
        ": metadata 'model.layers' is '', not a whole number up to 1000000000000");
  CHECK(refused("model.tied", "2") == ": metadata 'model.tied' is '2', not a whole number up to 1");
  CHECK(refused("model.gelu", "relu") == ": metadata 'model.gelu' is 'relu', neither erf nor tanh");
  SafetensorsFile file = model.saved(folder / "model");
  file.metadata.erase("model.heads");
  CHECK(has(message_of([&] { nn::config_from(file); }),
            "not a checkpoint of heed: its metadata has no 'model.heads'"));
}

TEST_CASE("numbers missing, misshapen or not finite are refused, and nothing is loaded",
          "[nn][checkpoint]") {
  const TemporaryFolder folder;
  const Model model(1);
  const auto refused = [&](const Parameters& stored, const Model& into) {
    std::vector<StoredTensor> tensors;
    nn::put_parameters(tensors, stored);
    write_safetensors(folder / "spoiled", {}, tensors);
    return message_of(
        [&] { nn::load_parameters(into.parameters, read_safetensors(folder / "spoiled")); });
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
          "[nn][checkpoint]") {
  const TemporaryFolder folder;
  const Model model(1);
  const auto refused = [&](const std::string& key, const std::string& value) {
    const SafetensorsFile file = model.saved(folder / "model", {{key, value}});
    const std::string text = message_of([&] { nn::config_from(file); });
    return text.substr(std::min(text.size(), file.path.size()));
  };
  std::size_t numbers = 0;
  for (const Tensor& p : model.parameters) numbers += p.value().size();
  const std::string hold = " parameters, its tensors hold " + std::to_string(numbers);
  CHECK(refused("model.layers", "1000000000000") ==
        ": its metadata describes a model of 1.92e+14" + hold);
  CHECK(refused("model.embed_dim", "40") == ": its metadata describes a model of 19680" + hold);
  for (const char* size : {"model.vocab_size", "model.block_size"})
    CHECK(refused(size, "1000000000000") == ": its metadata describes a model of 4e+12" + hold);
}
