// tokenizer_test.cpp: heed train --tokenizer bpe, then resume, sample, look and inspect of the run.

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

const Arguments bpe = {"--tokenizer", "bpe", "--vocab-size", "260"};
const Arguments resume = {"train", "--resume", "--out", "o", "--steps", "30"};

}  // namespace

TEST_CASE("a run with byte-pair encoding can be sampled, shown and inspected",
          "[app][train][tokenizer]") {
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
          "[app][resume][tokenizer]") {
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

TEST_CASE("resuming with the same tokenizer is accepted, with another refused",
          "[app][resume][tokenizer]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + bpe).code == 0);
  CHECK(sandbox.heed(resume + bpe).code == 0);
  const auto refused = [&](const Arguments& flags) {
    const Finished run = sandbox.heed(resume + flags);
    CHECK(run.code == 2);
    return run.err;
  };
  CHECK(has(refused({"--tokenizer", "byte"}),
            "--tokenizer byte differs from the checkpoint's bpe in o/checkpoint.safetensors"));
  CHECK(
      has(refused({"--vocab-size", "300"}), "--vocab-size 300 differs from the checkpoint's 260"));
}

TEST_CASE("contradicting options of the tokenizer are refused", "[app][train][tokenizer]") {
  const Sandbox sandbox;
  const auto refused = [&](const Arguments& flags) {
    const Finished run = sandbox.heed(train_tiny + flags);
    CHECK(run.code == 2);
    CHECK_FALSE(sandbox.has_file("o"));
    return run.err;
  };
  CHECK(refused({"--vocab-size", "300"}) ==
        "heed: error: --vocab-size applies to --tokenizer bpe; give --tokenizer bpe too\n");
  CHECK(refused({"--bytes", "--tokenizer", "bpe"}) ==
        "heed: error: --bytes contradicts --tokenizer; give one of them\n");
  CHECK(has(refused({"--tokenizer", "bpe", "--vocab-size", "255"}), "--vocab-size 255"));
  CHECK(has(refused({"--tokenizer", "word"}), "--tokenizer word: must be character, byte or bpe"));
}

TEST_CASE("a text with too few pairs gets a smaller vocabulary and a note",
          "[app][train][tokenizer]") {
  const Sandbox sandbox;
  const Finished run =
      sandbox.heed(train_tiny + Arguments{"--tokenizer", "bpe", "--vocab-size", "9999"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(has(run.err, " has no more pairs that occur twice: the vocabulary has "));
  // A run that begins with the weights of another has the vocabulary of that run, whatever its
  // text.
  const Finished initialized =
      sandbox.heed({"train", "in.txt", "--init", "o", "--out", "p", "--steps", "1"});
  CHECK(initialized.code == 0);
  CHECK_FALSE(has(initialized.err, "no more pairs"));
}
