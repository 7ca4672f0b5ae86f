// model_reader_test.cpp: tests of models whose weights are read straight into place.

#include <cmath>
#include <map>

#include "catch.hpp"
#include "heed/files/model_file.hpp"
#include "heed/gemm/bf16.hpp"
#include "heed/train/generate.hpp"
#include "message_of.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::content;
using heed_test::ScratchFolder;

const Vocabulary letters = Vocabulary::of_text("abcde");
const Indices text = indices_of({2, 5}, {0, 2, 1, 4, 4, 3, 0, 0, 1, 2});

nn::GptConfig config_of(bool tied, bool like_llama) {
  nn::GptConfig config = small_config(letters.size());
  if (like_llama) config = llama_like(config);
  config.tied = tied;
  config.bias = !like_llama;
  return config;
}

struct SavedModel : SmallModel {
  explicit SavedModel(const nn::GptConfig& model_config) : SmallModel(model_config, 5) {
    for (Tensor parameter : parameters) parameter.mutable_value() *= 10;
    save();
  }
  void save() const { save_model(file(), parameters, config, letters); }
  std::filesystem::path file() const { return folder / "m.safetensors"; }

  ScratchFolder folder;
};

}  // namespace

TEST_CASE("a model that is read into place has the same logits bit for bit", "[files][reader]") {
  for (const bool tied : {true, false})
    for (const bool like_llama : {true, false}) {
      const SavedModel saved(config_of(tied, like_llama));
      const LoadedModel loaded(ModelFile::open(saved.file()));
      CHECK(loaded.vocabulary == letters);
      CHECK(same_bits(loaded.model(text).value(), saved.gpt(text).value()));
    }
}

TEST_CASE("a model in BF16 computes what the model with rounded weights computes",
          "[files][reader][bf16]") {
  for (const bool tied : {true, false})
    for (const bool like_llama : {true, false}) {
      SavedModel saved(config_of(tied, like_llama));
      const LoadedModel loaded(ModelFile::open(saved.file()), WeightType::bf16);
      std::size_t matrices = 0;
      for (Tensor parameter : saved.parameters) {
        if (parameter.dim() != 2 || parameter.name() == "position.weight") continue;
        ++matrices;
        for (Real& v : parameter.mutable_value())
          v = static_cast<Real>(float_of_bf16(bf16_of_float(static_cast<float>(v))));
      }
      CHECK(loaded.compact_matrices.size() == matrices);
      CHECK(loaded.parameters.size() + matrices == saved.parameters.size());
      const NoGrad no_grad;
      CHECK(difference(loaded.model(text), saved.gpt(text).value(), 1e-4) == "");
      GenerateOptions options;
      options.tokens = 30;
      Generator one(3), other(3), third(3);
      const auto tokens = generate(loaded.model, {1, 2}, options, one);
      CHECK(tokens == generate(saved.gpt, {1, 2}, options, other));
      options.cache = false;
      CHECK(tokens == generate(loaded.model, {1, 2}, options, third));
    }
}

TEST_CASE(
    "a model in BF16 takes half the memory, one in int8 a quarter, and one in Real once its own",
    "[files][reader][bf16][int8]") {
  const SmallModel model(small_config(letters.size(), {8, 128, 2, 2}), 5);
  const ScratchFolder folder;
  save_model(folder / "m", model.parameters, model.config, letters);
  const auto bytes = static_cast<double>(model.parameters.count() * sizeof(Real));
  const auto peak = [&](WeightType weights) {
    const std::size_t before = allocated_bytes();
    reset_peak_bytes();
    const LoadedModel loaded(ModelFile::open(folder / "m"), weights);
    return static_cast<double>(peak_allocated_bytes() - before) / bytes;
  };
  CHECK(peak(WeightType::f32) < 1.01);
  CHECK(peak(WeightType::bf16) < 2.0 / sizeof(Real) + 0.02);
  CHECK(peak(WeightType::int8) < 1.0 / sizeof(Real) + 0.03);
}

TEST_CASE("a file of which only the header was read gives no numbers", "[files][reader]") {
  const SavedModel saved(config_of(true, false));
  SafetensorsFile header = read_safetensors(saved.file());
  for (StoredTensor& tensor : header.tensors) tensor.data = nullptr;
  const ModelFile file(std::move(header));
  CHECK(message_of([&] { file.load_parameters(saved.parameters); }) ==
        saved.file().string() +
            ": tensor 'token.weight': only the header of the file was read, not its numbers");
}

TEST_CASE("a model that is read into place is rejected if a byte of its tensors changed",
          "[files][reader]") {
  const SavedModel saved(config_of(true, false));
  std::string bytes = content(saved.file());
  for (const std::size_t from_end : {std::size_t{1}, bytes.size() / 2}) {
    std::string damaged = bytes;
    damaged[bytes.size() - from_end] ^= 0x20;
    heed_test::put(saved.file(), damaged);
    for (const WeightType weights : {WeightType::f32, WeightType::bf16, WeightType::int8})
      CHECK(message_of([&] { LoadedModel(ModelFile::open(saved.file()), weights); }) ==
            saved.file().string() + ": checksum: the tensors changed after they were saved");
  }
}

TEST_CASE(
    "a model that is read into place is rejected if a tensor is missing, left over, of another "
    "shape or not finite",
    "[files][reader]") {
  const SavedModel saved(config_of(true, false));
  const ModelFile file = ModelFile::open(saved.file());
  const std::string path = saved.file().string();
  Generator unused(1);
  const auto rejected = [&](const nn::GptConfig& other) {
    const SmallModel model(other);
    return message_of([&] { file.load_in_place(model.parameters); });
  };
  nn::GptConfig config = saved.config;
  config.tied = false;
  CHECK(rejected(config) == path + ": no tensor 'head.weight'");
  config = saved.config;
  config.layers = 1;
  CHECK(rejected(config).find("' belongs to no parameter of this model") != std::string::npos);
  config = saved.config;
  config.block_size = 4;
  CHECK(rejected(config) ==
        path + ": tensor 'position.weight' has shape (12, 16), the model needs (4, 16)");
  for (const char* name : {"blocks.1.mlp.up.weight", "norm.bias"}) {
    SavedModel bad(saved.config);
    bad.parameters.find(name)->mutable_value().data()[3] = static_cast<Real>(not_a_number);
    bad.save();
    for (const WeightType weights : {WeightType::f32, WeightType::bf16, WeightType::int8})
      CHECK(message_of([&] { LoadedModel(ModelFile::open(bad.file()), weights); }) ==
            bad.file().string() + ": tensor '" + name + "': element 3 is nan, which is not finite");
  }
}

TEST_CASE("a weight that is finite and too large for BF16 is rejected as such",
          "[files][reader][bf16]") {
  for (const auto& [width, element] : std::map<std::size_t, std::size_t>{{16, 70}, {132, 69'000}}) {
    nn::GptConfig config = config_of(true, false);
    config.embed_dim = width;
    SavedModel saved(config);
    const float largest = 3.4e38F;
    saved.parameters.find("blocks.1.mlp.up.weight")->mutable_value().data()[element] = largest;
    saved.save();
    CHECK(message_of([&] { LoadedModel(ModelFile::open(saved.file()), WeightType::f32); }) == "");
    CHECK(message_of([&] { LoadedModel(ModelFile::open(saved.file()), WeightType::bf16); }) ==
          saved.file().string() + ": tensor 'blocks.1.mlp.up.weight': element " +
              std::to_string(element) + " is 3.4e+38, which is too large for BF16; use F32");
  }
}
