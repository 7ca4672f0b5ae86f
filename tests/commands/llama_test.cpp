// llama_test.cpp: heed train with the variants of Llama, then sample, look and inspect of the run.

#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

const Arguments variants = {"--norm", "rms",    "--positions", "rotary",
                            "--mlp",  "swiglu", "--kv-heads",  "1"};
const Arguments train_llama = train_tiny + variants;

}  // namespace

TEST_CASE("a run with the variants of Llama can be sampled, shown and inspected",
          "[commands][train][llama]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed(train_llama);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(has(run.out, "model  1 layer, 2 heads, width 16: "));
  const auto saved = state(sandbox / "o");
  CHECK(saved.at("model.norm") == "rms");
  CHECK(saved.at("model.positions") == "rotary");
  CHECK(saved.at("model.mlp") == "swiglu");
  CHECK(saved.at("model.kv_heads") == "1");
  CHECK(saved.count("tensor position.weight") == 0);
  CHECK(saved.count("tensor blocks.0.mlp.gate.weight") == 1);

  const Finished sample = sandbox.heed({"sample", "o", "--tokens", "100"});
  CHECK(sample.code == 0);
  CHECK(sample.out.size() == 101);
  CHECK(sandbox.heed({"sample", "o", "--tokens", "100", "--no-cache"}).out == sample.out);

  const Finished look = sandbox.heed({"look", "o"});
  INFO(look.err);
  CHECK(look.code == 0);
  CHECK(has(look.out, "layer"));
  const Finished tsne = sandbox.heed({"look", "o", "--tsne", "--iterations", "20"});
  INFO(tsne.err);
  CHECK(tsne.code == 0);

  const Finished inspected = sandbox.heed({"inspect", "o"});
  CHECK(inspected.code == 0);
  CHECK(has(inspected.out, "blocks.0.attention.key.weight"));
  CHECK(has(inspected.out, "blocks.0.mlp.gate.weight"));
}

TEST_CASE("a run with heads, MLPs and rotary positions of other sizes",
          "[commands][train][llama]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed(
      train_llama + Arguments{"--head-dim", "6", "--intermediate-size", "20", "--rotary-dim", "4",
                              "--rope-theta", "500", "--rotary-pairs", "halves"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto saved = state(sandbox / "o");
  CHECK(saved.at("model.head_dim") == "6");
  CHECK(saved.at("model.intermediate_size") == "20");
  CHECK(saved.at("model.rotary_dim") == "4");
  CHECK(saved.at("model.rope_theta") == "500");
  CHECK(saved.at("model.rotary_pairs") == "halves");
  const Finished sample = sandbox.heed({"sample", "o", "--tokens", "100"});
  CHECK(sample.code == 0);
  CHECK(sandbox.heed({"sample", "o", "--tokens", "100", "--no-cache"}).out == sample.out);
  for (const Arguments& look : {Arguments{}, {"--page", "page.html"}, {"--tsne"}, {"--layer", "0"}})
    CHECK(sandbox.heed(Arguments{"look", "o"} + look).code == 0);
  REQUIRE(sandbox.heed({"export", "o", "d", "--to", "pytorch"}).code == 0);
  REQUIRE(sandbox.heed({"import", "d", "--out", "i"}).code == 0);
  CHECK(sandbox.heed({"sample", "i", "--tokens", "100"}).out == sample.out);
  CHECK(sandbox.heed({"train", "--resume", "--out", "o", "--steps", "30"}).code == 0);
}

TEST_CASE("a resumed run with the variants of Llama equals the uninterrupted run",
          "[commands][resume][llama]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_llama + Arguments{"--decay-steps", "150"}).code == 0);
  REQUIRE(sandbox.heed({"train", "--resume", "--out", "o", "--steps", "30"}).code == 0);
  Arguments whole = train_llama + Arguments{"--decay-steps", "150"};
  *(std::find(whole.begin(), whole.end(), "--steps") + 1) = "30";
  *(std::find(whole.begin(), whole.end(), "--out") + 1) = "whole";
  REQUIRE(sandbox.heed(whole).code == 0);
  CHECK(losses(sandbox / "o") == losses(sandbox / "whole"));
  CHECK(difference(sandbox / "o", sandbox / "whole") == "");
}

TEST_CASE("resuming with the same variants is accepted, with others rejected",
          "[commands][resume][llama]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_llama).code == 0);
  const Arguments resume = {"train", "--resume", "--out", "o", "--steps"};
  CHECK(sandbox.heed(resume + Arguments{"30"} + variants).code == 0);
  const Finished other =
      sandbox.heed(resume + Arguments{"40", "--norm", "layer", "--kv-heads", "2", "--mlp", "gelu"});
  CHECK(other.code == 2);
  CHECK(other.err ==
        "heed: error: --kv-heads 2 differs from the checkpoint's 1, --mlp gelu from its swiglu, "
        "--norm layer from its rms in o/checkpoint.safetensors; leave them out to resume, or leave "
        "out --resume to start a new run\n");
}

TEST_CASE("the same seed gives a run with the variants of Llama the same bits on two threads",
          "[commands][train][llama]") {
  const Sandbox sandbox;
  const Arguments wide =
      Arguments{"train",        "in.txt", "--layers",       "1",  "--embed-dim", "64",
                "--batch-size", "8",      "--block-size",   "64", "--steps",     "3",
                "--log-every",  "1",      "--eval-batches", "1",  "--heads",     "4"} +
      variants;
  for (const std::string threads : {"1", "2"})
    REQUIRE(sandbox.heed(wide + Arguments{"--threads", threads, "--out", threads}).code == 0);
  CHECK(losses(sandbox / "2") == losses(sandbox / "1"));
  CHECK(difference(sandbox / "1", sandbox / "2") == "");
}
