// loaded_model_test.cpp: tests of save_model and LoadedModel.

#include <cmath>

#include "catch.hpp"
#include "heed/files/model_file.hpp"
#include "heed/train/generate.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::ScratchFolder;

nn::GptConfig one_layer(const Vocabulary& vocabulary, bool causal) {
  const nn::GptConfig config = small_config(vocabulary.size(), {4, 8, 1});
  return causal ? config : bidirectional(config);
}

const Indices text = indices_of({1, 3}, {0, 2, 1});

// Whether a saved and loaded model has the same vocabulary, configuration and logits.
bool same_after_loading(const Vocabulary& vocabulary, bool causal) {
  const ScratchFolder folder;
  const SmallModel model(one_layer(vocabulary, causal), 3);
  save_model(folder / "m.safetensors", model.parameters, model.config, vocabulary);
  const LoadedModel saved(ModelFile::open(folder / "m.safetensors"));
  return saved.vocabulary == vocabulary && saved.model.config.causal == causal &&
         same_bits(saved.model(text).value(), model.gpt(text).value());
}

}  // namespace

TEST_CASE("a loaded model has the same logits bit for bit and the same vocabulary",
          "[train][loaded_model]") {
  for (const bool causal : {true, false}) {
    CHECK(same_after_loading(Vocabulary::of_text("abc"), causal));
    CHECK(same_after_loading(Vocabulary::of_text("abc", Unit::byte), causal));
    CHECK(same_after_loading(Vocabulary::from_words("[MASK] the cat \xc3\xa9t\xc3\xa9"), causal));
  }
}

TEST_CASE("with weights in BF16 or int8, the loss of a trained model changes by less than 0.001",
          "[train][loaded_model][bf16][int8]") {
  const ScratchFolder folder;
  Run run(few_steps(150));
  run.steps(150);
  save_model(folder / "m.safetensors", run.trainer.parameters(), run.trainer.model().config,
             run.text.vocabulary);
  const Batch batch = Batches(run.text.corpus.validation(), 32, 12, 1).next();
  const auto loss = [&](WeightType weights) {
    const LoadedModel saved(ModelFile::open(folder / "m.safetensors"), weights);
    const NoGrad no_grad;
    return static_cast<double>(saved.model.loss(batch.inputs, batch.targets).item());
  };
  const double f32 = loss(WeightType::f32);
  CHECK(f32 < 1);  // trained: a uniform guess has a loss of 2.8
  for (const WeightType weights : {WeightType::bf16, WeightType::int8}) {
    CHECK(loss(weights) != f32);
    CHECK(std::abs(loss(weights) - f32) < 1e-3);
  }
}

TEST_CASE("the error of a damaged vocabulary contains the file name", "[train][loaded_model]") {
  const auto rejected = [&](const std::string& unit, const std::string& values) {
    SafetensorsFile file;
    file.path = "m";
    file.metadata = {{"vocabulary.unit", unit}, {"vocabulary.tokens", values}};
    const ModelFile model(std::move(file));
    return message_of([&] { model.vocabulary(); });
  };
  CHECK(rejected("word", "b a") ==
        "m: vocabulary: word 1 is 'a' after 'b'; words must be strictly increasing");
  CHECK(rejected("word", "a  b") ==
        "m: vocabulary: word 1 is ''; words must be nonempty and without white space");
  CHECK(rejected("word", "a \xff").rfind("m: ", 0) == 0);
  CHECK(rejected("code_point", "a") == "m: metadata 'vocabulary.tokens' is damaged");
  CHECK(rejected("byte_pair", "") == "");
  CHECK(rejected("byte_pair", "97 98 256 99") == "");
  CHECK(rejected("byte_pair", "97 98 99") ==
        "m: metadata 'vocabulary.tokens' has 3 numbers; byte pairs need two for each merge");
  CHECK(
      rejected("byte_pair", "97 256") ==
      "m: byte pairs: merge 0 is 97 256; it must join two of the 256 tokens before it, and differ "
      "from all merges before it");
  CHECK(rejected("byte_pair", "a b") == "m: metadata 'vocabulary.tokens' is damaged");
  CHECK(rejected("letter", "1") ==
        "m: metadata 'vocabulary.unit' is 'letter', none of byte, byte_level_bpe, byte_pair, "
        "code_point, sentence_piece, word and word_piece");
}

TEST_CASE("a model that is not causal can neither be trained nor generate",
          "[train][loaded_model]") {
  const Corpus corpus(std::string(200, 'a') + "b", Vocabulary::of_text("ab"));
  const nn::GptConfig config = one_layer(Vocabulary::of_text("ab"), false);
  CHECK(message_of([&] { Trainer(corpus, config, TrainOptions{}); }) ==
        "Trainer: the model is not causal: it would see the tokens that it must predict");
  SmallModel model(config, 3);
  CHECK(message_of([&] { generate(model.gpt, {0}, {}, model.generator); }) ==
        "Gpt: generation with a cache needs a causal model; this one is not causal");
}
