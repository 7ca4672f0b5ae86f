// model_file_test.cpp: tests of saving and loading a model's configuration and parameters.

#include "heed/files/model_file.hpp"

#include <string>

#include "catch.hpp"
#include "heed/files/hugging_face.hpp"
#include "scratch_folder.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;
using heed_test::ScratchFolder;

nn::GptConfig some_config() {
  nn::GptConfig config = small_config(7, {5, 4, 1});
  config.bias = true;
  config.tied = false;
  config.gelu = Gelu::tanh;
  return config;
}

const Vocabulary seven = Vocabulary::of_text("abcdefg");

struct Model : SmallModel {
  explicit Model(std::uint64_t seed) : SmallModel(some_config(), seed) {}
  ModelFile saved(const std::filesystem::path& path, const Metadata& more = {}) const {
    save_model(path, parameters, config, seven);
    SafetensorsFile file = read_safetensors(path);
    for (const auto& [key, value] : more) file.metadata[key] = value;
    return ModelFile(std::move(file));
  }
};

// A model like Llama with two query heads of width 4 and one head of keys and values.
struct Llama : SmallModel {
  explicit Llama(std::uint64_t seed) : SmallModel(llama_like(small_config(7, {5, 8, 1})), seed) {}
};

// The error for a file with this metadata entry, without the file's name.
std::string config_error(const Model& model, const ScratchFolder& folder, const std::string& key,
                         const std::string& value) {
  const ModelFile file = model.saved(folder / "model", {{key, value}});
  const std::string text = message_of([&] { file.config(); });
  return text.substr(std::min(text.size(), file.path().size()));
}

}  // namespace

TEST_CASE("a saved configuration is loaded unchanged", "[files][checkpoint]") {
  const ScratchFolder folder;
  const nn::GptConfig loaded = Model(1).saved(folder / "model").config();
  CHECK(loaded.vocab_size == 7);
  CHECK(loaded.block_size == 5);
  CHECK(loaded.layers == 1);
  CHECK(loaded.heads == 2);
  CHECK(loaded.causal);
  CHECK(loaded.embed_dim == 4);
  CHECK(loaded.bias);
  CHECK_FALSE(loaded.tied);
  CHECK(loaded.gelu == Gelu::tanh);
}

TEST_CASE("a model like Llama is saved and loaded unchanged", "[files][checkpoint]") {
  const ScratchFolder folder;
  const Llama model(1);
  save_model(folder / "llama", model.parameters, model.config, seven);
  const ModelFile file = ModelFile::open(folder / "llama");
  const nn::GptConfig loaded = file.config();
  CHECK(loaded.kv_heads == 1);
  CHECK(loaded.norm == nn::NormKind::rms);
  CHECK(loaded.positions == nn::PositionKind::rotary);
  CHECK(loaded.mlp == nn::MlpKind::swiglu);
  const Llama other(2);
  const Indices tokens = indices_of({1, 5}, {0, 1, 2, 6, 3});
  CHECK_FALSE(same_bits(other.gpt(tokens).value(), model.gpt(tokens).value()));
  file.load_parameters(other.parameters);
  CHECK(same_bits(other.gpt(tokens).value(), model.gpt(tokens).value()));
}

TEST_CASE("the sizes of heads and MLPs and the options of rotary positions are saved",
          "[files][checkpoint]") {
  const ScratchFolder folder;
  nn::GptConfig config = llama_like(small_config(7, {5, 8, 1}));
  config.head_dim = 6, config.rotary_dim = 4, config.intermediate_size = 10;
  config.rope_theta = 1e6, config.rotary_pairs = RotaryPairs::halves, config.qkv_bias = true;
  const SmallModel model(config, 1), other(config, 2);
  save_model(folder / "model", model.parameters, config, seven);
  const ModelFile file = ModelFile::open(folder / "model");
  const nn::GptConfig loaded = file.config();
  CHECK(loaded.head_dim == 6);
  CHECK(loaded.rotary_dim == 4);
  CHECK(loaded.intermediate_size == 10);
  CHECK(loaded.rope_theta == 1e6);
  CHECK(loaded.rotary_pairs == RotaryPairs::halves);
  CHECK(loaded.qkv_bias);
  const Indices tokens = indices_of({1, 5}, {0, 1, 2, 6, 3});
  file.load_parameters(other.parameters);
  CHECK(same_bits(other.gpt(tokens).value(), model.gpt(tokens).value()));
  config.head_dim = 4, config.rotary_dim = 4, config.intermediate_size = 24;  // the usual ones
  config.kv_heads = 2, config.rope_theta = 10000;
  for (const auto& [key, value] : model_metadata(config, seven)) {
    INFO(key);
    CHECK(key.find("head_dim") == std::string::npos);
    CHECK(key.find("rotary_dim") == std::string::npos);
    CHECK(key.find("intermediate") == std::string::npos);
    CHECK(key.find("kv_heads") == std::string::npos);
    CHECK(key.find("rope_theta") == std::string::npos);
  }
}

TEST_CASE("an entry of a configuration that heed does not know is an error",
          "[files][checkpoint]") {
  const ScratchFolder folder;
  const Model model(1);
  for (const char* key : {"model.rope_scaling", "model.", "model.Norm"})
    CHECK(config_error(model, folder, key, "8") ==
          ": metadata '" + std::string(key) +
              "' is '8', which this version does not know; use the one that wrote the file");
  CHECK(config_error(model, folder, "modelx", "8") == "");
}

TEST_CASE("only the variants that a model has are saved", "[files][checkpoint]") {
  const ScratchFolder folder;
  const std::vector<std::string> keys = {"model.kv_heads", "model.mlp", "model.norm",
                                         "model.positions"};
  Model(1).saved(folder / "gpt2");
  const SafetensorsFile gpt2 = read_safetensors(folder / "gpt2");
  const Llama model(1);
  save_model(folder / "llama", model.parameters, model.config, seven);
  SafetensorsFile llama = read_safetensors(folder / "llama");
  std::string texts;
  for (const std::string& key : keys) {
    CHECK(gpt2.metadata.count(key) == 0);
    texts += llama.metadata.at(key) + " ";
  }
  CHECK(texts == "1 swiglu rms rotary ");
  const nn::GptConfig plain = ModelFile::open(folder / "gpt2").config();
  CHECK(plain.kv_heads == 0);
  CHECK(plain.norm == nn::NormKind::layer);
  CHECK(plain.positions == nn::PositionKind::learned);
  CHECK(plain.mlp == nn::MlpKind::gelu);
}

TEST_CASE("the error of an invalid variant contains the file name", "[files][checkpoint]") {
  const ScratchFolder folder;
  const Model model(1);
  const auto rejected = [&](const std::string& key, const std::string& value) {
    return config_error(model, folder, key, value);
  };
  CHECK(rejected("model.norm", "batch") ==
        ": metadata 'model.norm' is 'batch', neither layer nor rms");
  CHECK(rejected("model.norm", "") == ": metadata 'model.norm' is '', neither layer nor rms");
  CHECK(rejected("model.positions", "alibi") ==
        ": metadata 'model.positions' is 'alibi', neither learned nor rotary");
  CHECK(rejected("model.mlp", "relu") ==
        ": metadata 'model.mlp' is 'relu', neither gelu nor swiglu");
  CHECK(rejected("model.kv_heads", "0") ==
        ": metadata 'model.kv_heads' is 0, a model needs at least 1");
  CHECK(rejected("model.kv_heads", "3") ==
        ": metadata 'model.kv_heads' is 3, which does not divide 'model.heads' 2");
  CHECK(rejected("model.kv_heads", "-1") ==
        ": metadata 'model.kv_heads' is '-1', not a whole number up to 1000000000000");
  CHECK(rejected("model.head_dim", "1000000000000") ==
        ": metadata 'model.head_dim' is 1000000000000, too large for 'model.heads' 2");
  CHECK(rejected("model.intermediate_size", "x") ==
        ": metadata 'model.intermediate_size' is 'x', not a whole number up to 1000000000000");
  CHECK(has(rejected("model.intermediate_size", "1000000000"), ": its metadata describes a model"));
  CHECK(has(rejected("model.head_dim", "100000"), ": its metadata describes a model of"));
  CHECK(rejected("model.rope_theta", "0") == ": metadata 'model.rope_theta' is 0, not above 0");
  CHECK(rejected("model.rope_theta", "nan") ==
        ": metadata 'model.rope_theta' holds 'nan', not a finite number");
  CHECK(rejected("model.rotary_pairs", "thirds") ==
        ": metadata 'model.rotary_pairs' is 'thirds', neither interleaved nor halves");
  CHECK(rejected("model.qkv_bias", "2") == ": metadata 'model.qkv_bias' is '2', neither 0 nor 1");
  for (const char* dim : {"1", "4"}) {
    const ModelFile rotary =
        model.saved(folder / "rotary", {{"model.positions", "rotary"}, {"model.rotary_dim", dim}});
    CHECK(message_of([&] { rotary.config(); }) ==
          rotary.path() + ": metadata 'model.rotary_dim' is " + dim +
              "; it must be even and at most the width of a head, 2");
  }
  for (const char* entry : {"model.norm", "model.positions", "model.mlp"})
    CHECK(rejected(entry, entry == std::string("model.norm")        ? "layer"
                          : entry == std::string("model.positions") ? "learned"
                                                                    : "gelu") == "");
  const ModelFile odd =
      model.saved(folder / "odd", {{"model.positions", "rotary"}, {"model.heads", "4"}});
  CHECK(message_of([&] { odd.config(); }) ==
        odd.path() +
            ": rotary positions need heads of even width, but 'model.embed_dim' is 4 and "
            "'model.heads' 4");
  const ModelFile larger = model.saved(folder / "larger", {{"model.mlp", "swiglu"}});
  CHECK(has(message_of([&] { larger.load_parameters(Llama(1).parameters); }), larger.path()));
}

TEST_CASE("saved parameters are loaded bit for bit", "[files][checkpoint]") {
  const ScratchFolder folder;
  const Model one(1), other(2);
  const ModelFile file = one.saved(folder / "model");
  CHECK_FALSE(same_bits(one.gpt.head.value(), other.gpt.head.value()));
  file.load_parameters(other.parameters);
  for (const Tensor& p : one.parameters)
    CHECK(same_bits(p.value(), other.parameters.at(p.name()).value()));
}

TEST_CASE("the error of a missing or invalid entry contains the file name", "[files][checkpoint]") {
  const ScratchFolder folder;
  const Model model(1);
  const auto rejected = [&](const std::string& key, const std::string& value) {
    return config_error(model, folder, key, value);
  };
  CHECK(rejected("model.layers", "many") ==
        ": metadata 'model.layers' is 'many', not a whole number up to 1000000000000");
  CHECK(rejected("model.layers", "") ==
        ": metadata 'model.layers' is '', not a whole number up to 1000000000000");
  CHECK(rejected("model.tied", "2") ==
        ": metadata 'model.tied' is '2', not a whole number up to 1");
  CHECK(rejected("model.gelu", "relu") ==
        ": metadata 'model.gelu' is 'relu', neither erf nor tanh");
  model.saved(folder / "model");
  SafetensorsFile file = read_safetensors(folder / "model");
  file.metadata.erase("model.heads");
  CHECK(has(message_of([&] { ModelFile(std::move(file)).config(); }),
            "not a checkpoint of heed: its metadata has no 'model.heads'"));
}

TEST_CASE("a tensor that is missing, has another shape or is not finite throws and loads nothing",
          "[files][checkpoint]") {
  const ScratchFolder folder;
  const Model model(1);
  const auto rejected = [&](const Parameters& stored, const Model& into) {
    std::vector<StoredTensor> tensors;
    for (const Tensor& p : stored) tensors.push_back(stored_tensor(p.name(), p.value()));
    write_safetensors(folder / "changed", {}, tensors);
    return message_of(
        [&] { ModelFile::open(folder / "changed").load_parameters(into.parameters); });
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
  CHECK(has(rejected(copies("head.weight", zeros({0})), other), "no tensor 'head.weight'"));
  CHECK(has(rejected(copies("head.weight", ones({7, 5})), other),
            "tensor 'head.weight' has shape (7, 5), the model needs (7, 4)"));
  CHECK(has(rejected(copies("head.weight", filled({7, 4}, static_cast<Real>(infinity))), other),
            "tensor 'head.weight': element 0 is inf, which is not finite"));
  Parameters extra = copies("", zeros({0}));
  extra.add("optimizer.head.weight", zeros({7, 4}));  // loading ignores it
  extra.add("stray", zeros({1}));
  CHECK(has(rejected(extra, other),
            "/changed: tensor 'stray' belongs to no parameter of this model"));
  CHECK(same_bits(other.gpt.token.weight.value(), before));
}

TEST_CASE("a configuration with more parameters than the file throws before a model is made",
          "[files][checkpoint]") {
  const ScratchFolder folder;
  const Model model(1);
  const auto rejected = [&](const std::string& key, const std::string& value) {
    return config_error(model, folder, key, value);
  };
  std::size_t count = 0;
  for (const Tensor& p : model.parameters) count += p.value().size();
  const std::string hold = " parameters, its tensors hold " + std::to_string(count);
  CHECK(rejected("model.layers", "1000000000000") ==
        ": its metadata describes a model of 2e+14" + hold);
  CHECK(rejected("model.embed_dim", "40") == ": its metadata describes a model of 19800" + hold);
  for (const char* size : {"model.vocab_size", "model.block_size"})
    CHECK(rejected(size, "1000000000000") == ": its metadata describes a model of 4e+12" + hold);
}

TEST_CASE("a model without all of its parameters, or with another vocabulary, is not saved",
          "[files][model_file]") {
  const heed_test::ScratchFolder folder;
  const SmallModel small(small_config(7, {6, 8}), 3);
  const Vocabulary seven = Vocabulary::of_text("abcdefg"), six = Vocabulary::of_text("abcdef");
  const std::string count = std::to_string(small.parameters.count());
  CHECK(message_of([&] { save_model(folder / "m", Parameters(), small.gpt.config, seven); }) ==
        "save_model: 0 parameters for a model of " + count +
            "; give all (a model in BF16 or int8 has its matrices elsewhere: load it in float)");
  CHECK(message_of([&] { save_model(folder / "m", small.parameters, small.gpt.config, six); }) ==
        "save_model: a vocabulary of 6 tokens for a model of 7");
  CHECK(message_of([&] {
          export_model(folder / "e", Parameters(), small.gpt.config, seven, ExportFormat::pytorch);
        }) ==
        "export_model: 0 parameters for a model of " + count +
            "; give all (a model in BF16 or int8 has its matrices elsewhere: load it in float)");
  CHECK_FALSE(std::filesystem::exists(folder / "m"));
}
