// loaded_model_test.cpp: a model that was saved works as before, with the symbols it knew.

#include "catch.hpp"
#include "heed/train/generate.hpp"
#include "heed/train/model_file.hpp"
#include "io/file_tests.hpp"
#include "near.hpp"
#include "train/small_run.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::TemporaryFolder;

nn::GptConfig small(const Vocabulary& vocabulary, bool causal) {
  nn::GptConfig config;
  config.vocab_size = vocabulary.size();
  config.block_size = 4, config.layers = 1, config.heads = 2, config.embed_dim = 8;
  config.causal = causal;
  return config;
}

const Indices text = indices_of({1, 3}, {0, 2, 1});

// Scores of a new model, and of the same one from a file.
bool scores_survive(const Vocabulary& vocabulary, bool causal) {
  const TemporaryFolder folder;
  Parameters parameters;
  Generator generator(3);
  const nn::GptConfig config = small(vocabulary, causal);
  const nn::Gpt model(Scope(parameters, generator), config);
  save_model(folder / "m.safetensors", parameters, config, vocabulary);
  const LoadedModel saved(ModelFile::open(folder / "m.safetensors"));
  return saved.vocabulary == vocabulary && saved.model.config.causal == causal &&
         same_bits(saved.model(text).value(), model(text).value());
}

}  // namespace

TEST_CASE("a saved model gives the same bits, and knows its symbols", "[train][loaded_model]") {
  for (const bool causal : {true, false}) {
    CHECK(scores_survive(Vocabulary::of_text("abc"), causal));
    CHECK(scores_survive(Vocabulary::of_text("abc", Unit::byte), causal));
    CHECK(scores_survive(Vocabulary::from_words("[MASK] the cat \xc3\xa9t\xc3\xa9"), causal));
  }
}

TEST_CASE("a vocabulary that is damaged is refused with the file's name", "[train][loaded_model]") {
  const auto refused = [&](const std::string& unit, const std::string& symbols) {
    SafetensorsFile file;
    file.path = "m";
    file.metadata = {{"vocabulary.unit", unit}, {"vocabulary.symbols", symbols}};
    const ModelFile model(std::move(file));
    return message_of([&] { model.vocabulary(); });
  };
  CHECK(refused("word", "b a") ==
        "m: vocabulary: word 1 is 'a' after 'b'; words must rise, each once");
  CHECK(refused("word", "a  b") == "m: vocabulary: word 1 is ''; words have no white space");
  CHECK(refused("word", "a \xff").rfind("m: ", 0) == 0);
  CHECK(refused("code_point", "a") == "m: metadata 'vocabulary.symbols' is damaged");
  CHECK(refused("letter", "1") ==
        "m: metadata 'vocabulary.unit' is 'letter', none of byte, code_point and word");
}

TEST_CASE("a model that sees what is to come neither trains on a text nor writes one",
          "[train][loaded_model]") {
  const Corpus corpus(std::string(200, 'a') + "b", Vocabulary::of_text("ab"));
  const nn::GptConfig config = small(Vocabulary::of_text("ab"), false);
  CHECK(message_of([&] { Trainer(corpus, config, TrainOptions{}); }) ==
        "Trainer: the model is not causal, it would see the symbols it is to predict");
  Parameters parameters;
  Generator generator(3);
  const nn::Gpt model(Scope(parameters, generator), config);
  CHECK(message_of([&] { generate(model, {0}, {}, generator); }) ==
        "Gpt: what is read with a cache cannot see what comes later; this model, not causal, must");
}
