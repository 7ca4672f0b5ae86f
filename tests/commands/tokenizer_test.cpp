// tokenizer_test.cpp: heed train --tokenizer bpe, then resume, sample, look and inspect of the run.

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/text/corpus.hpp"

using namespace heed_test;

namespace {

const Arguments bpe = {"--tokenizer", "bpe", "--vocab-size", "260"};
const Arguments resume = {"train", "--resume", "--out", "o", "--steps", "30"};

}  // namespace

TEST_CASE("a run with byte-pair encoding can be sampled, shown and inspected",
          "[commands][train][tokenizer]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed(train_tiny + bpe);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(has(run.out, ", 260 byte-pair tokens\n"));
  const auto saved = state(sandbox / "o");
  CHECK(saved.at("vocabulary.unit") == "byte_pair");
  CHECK(saved.at("model.vocab_size") == "260");

  // Every text can be encoded, also bytes that the training text lacks.
  const Finished sample = sandbox.heed({"sample", "o", "--prompt", "\xc3\xa9 #", "--tokens", "40"});
  INFO(sample.err);
  CHECK(sample.code == 0);
  CHECK(sample.out.rfind("\xc3\xa9 #", 0) == 0);
  CHECK(
      sandbox.heed({"sample", "o", "--prompt", "\xc3\xa9 #", "--tokens", "40", "--no-cache"}).out ==
      sample.out);
  CHECK(sandbox.heed({"look", "o"}).code == 0);
  CHECK(has(sandbox.heed({"inspect", "o"}).out, "'vocabulary.unit' = 'byte_pair'"));
}

TEST_CASE("a resumed run with byte-pair encoding equals the uninterrupted run",
          "[commands][resume][tokenizer]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + bpe + Arguments{"--decay-steps", "150"}).code == 0);
  REQUIRE(sandbox.heed(resume).code == 0);
  Arguments whole = train_tiny + bpe + Arguments{"--decay-steps", "150"};
  *(std::find(whole.begin(), whole.end(), "--steps") + 1) = "30";
  *(std::find(whole.begin(), whole.end(), "--out") + 1) = "whole";
  REQUIRE(sandbox.heed(whole).code == 0);
  CHECK(losses(sandbox / "o") == losses(sandbox / "whole"));
  CHECK(difference(sandbox / "o", sandbox / "whole") == "");
}

TEST_CASE("resuming with the same tokenizer is accepted, with another rejected",
          "[commands][resume][tokenizer]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + bpe).code == 0);
  CHECK(sandbox.heed(resume + bpe).code == 0);
  const auto rejected = [&](const Arguments& flags) {
    const Finished run = sandbox.heed(resume + flags);
    CHECK(run.code == 2);
    return run.err;
  };
  CHECK(has(rejected({"--tokenizer", "byte"}),
            "--tokenizer byte differs from the checkpoint's bpe in o/checkpoint.safetensors"));
  CHECK(
      has(rejected({"--vocab-size", "300"}), "--vocab-size 300 differs from the checkpoint's 260"));
}

TEST_CASE("contradicting options of the tokenizer are rejected", "[commands][train][tokenizer]") {
  const Sandbox sandbox;
  const auto rejected = [&](const Arguments& flags) {
    const Finished run = sandbox.heed(train_tiny + flags);
    CHECK(run.code == 2);
    CHECK_FALSE(sandbox.has_file("o"));
    return run.err;
  };
  CHECK(rejected({"--vocab-size", "300"}) ==
        "heed: error: --vocab-size applies to --tokenizer bpe; give --tokenizer bpe too\n");
  CHECK(rejected({"--bytes", "--tokenizer", "bpe"}) ==
        "heed: error: --bytes contradicts --tokenizer; give one of them\n");
  CHECK(has(rejected({"--tokenizer", "bpe", "--vocab-size", "255"}), "--vocab-size 255"));
  CHECK(has(rejected({"--tokenizer", "word"}), "--tokenizer word: must be character, byte or bpe"));
}

TEST_CASE("a text with too few pairs gets a smaller vocabulary and a note",
          "[commands][train][tokenizer]") {
  const Sandbox sandbox;
  const Finished run =
      sandbox.heed(train_tiny + Arguments{"--tokenizer", "bpe", "--vocab-size", "9999"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(has(run.err,
            " tokens, not 9999: in its first nine tenths, no other pair of tokens with at most 128 "
            "bytes occurs twice within runs of letters, digits or other characters\n"));
  // A run that begins with the weights of another has the vocabulary of that run, whatever its
  // text.
  const Finished initialized =
      sandbox.heed({"train", "in.txt", "--init", "o", "--out", "p", "--steps", "1"});
  CHECK(initialized.code == 0);
  CHECK_FALSE(has(initialized.err, "no other pair"));
}

TEST_CASE("a run whose text gave fewer tokens is resumed with the options of its own command",
          "[commands][resume][tokenizer]") {
  const Sandbox sandbox;
  const Arguments many = {"--tokenizer", "bpe", "--vocab-size", "9999"};
  REQUIRE(sandbox.heed(train_tiny + many).code == 0);
  REQUIRE(std::filesystem::remove(sandbox / "o/sample.txt"));  // else the run is complete
  const Finished same = sandbox.heed(train_tiny + many + Arguments{"--resume"});
  CHECK(same.err.find("error") == same.err.npos);
  CHECK(same.code == 0);
  CHECK(has(sandbox.heed(resume + Arguments{"--vocab-size", "300"}).err,
            "--vocab-size 300 differs from the checkpoint's 9999"));
}

TEST_CASE("merges are learned from the training data alone, and a changed last tenth changes none",
          "[commands][train][tokenizer]") {
  const Sandbox sandbox;
  const std::string story = Sandbox::story();
  const std::size_t end = heed::training_bytes(story);
  REQUIRE(sandbox.heed(train_tiny + bpe).code == 0);
  put(sandbox / "in.txt", story.substr(0, end) + std::string(story.size() - end, 'q'));
  Arguments other = train_tiny + bpe;
  *(std::find(other.begin(), other.end(), "--out") + 1) = "p";
  REQUIRE(sandbox.heed(other).code == 0);
  for (const char* part : {"vocabulary.tokens", "tensor token.weight"})
    CHECK(state(sandbox / "o").at(part) == state(sandbox / "p").at(part));
}

TEST_CASE("resuming byte pairs of a heed that split tokens, not bytes, is rejected in one line",
          "[commands][resume][tokenizer]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + bpe).code == 0);
  const auto checkpoint = sandbox / "o/checkpoint.safetensors";
  heed::SafetensorsFile old = heed::read_safetensors(checkpoint);
  REQUIRE(old.metadata.erase("text.vocab_size") == 1);
  heed::write_safetensors(checkpoint, old.metadata, old.tensors);
  const Finished run = sandbox.heed(resume);
  CHECK(run.code == 1);
  CHECK(run.err ==
        "heed: error: o/checkpoint.safetensors: an older heed divided its tokens into training and "
        "validation data otherwise; start a new run from its weights with --init o\n");
  CHECK(sandbox.heed({"sample", "o", "--tokens", "1"}).code == 0);
}
