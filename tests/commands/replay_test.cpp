// replay_test.cpp: heed train --record, and heed replay, which computes a step of a run again.

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/run_folder.hpp"

using namespace heed_test;

namespace {

namespace fs = std::filesystem;

const Arguments record_tiny = train_tiny + Arguments{"--record", "4", "--eval-every", "10"};

std::vector<std::int64_t> recorded(const fs::path& run) {
  return heed::app::RunFolder{run}.record().steps();
}

}  // namespace

TEST_CASE("every step of a run is computed again, bit for bit", "[commands][replay]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(record_tiny + Arguments{"--dropout", "0.1"}).code == 0);
  CHECK((recorded(sandbox / "o") == std::vector<std::int64_t>{0, 4, 8, 12, 16, 20}));
  const std::string original = content(sandbox / "o/checkpoint.safetensors");
  for (int step = 0; step <= 20; ++step) {
    const std::string out = "at" + std::to_string(step);
    const Finished replay =
        sandbox.heed({"replay", "o", "--to", std::to_string(step), "--out", out});
    INFO(replay.err << replay.out);
    REQUIRE(replay.code == 0);
    CHECK(has(replay.out, "are the same, bit for bit"));
    if (step == 20) break;
    REQUIRE(sandbox.heed({"train", "--resume", "--out", out}).code == 0);
    CHECK(difference(sandbox / "o", sandbox / out) == "");
    CHECK(losses(sandbox / "o") == losses(sandbox / out));
  }
  CHECK(difference(sandbox / "o", sandbox / "at20") == "");
  CHECK(content(sandbox / "o/checkpoint.safetensors") == original);  // a replay changes no file
}

TEST_CASE("a run without a record is replayed from its seed", "[commands][replay]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const Finished replay = sandbox.heed({"replay", "o"});
  CHECK(has(replay.out, "from    step 0 of o\nstep    20: loss "));
  CHECK(has(replay.out, "1 saved state up to step 20 are the same, bit for bit"));
}

TEST_CASE("a run that began with --init is replayed from its record only", "[commands][replay]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const Arguments start = {"train",   "in.txt", "--init",         "o",
                           "--steps", "20",     "--eval-batches", "1"};
  REQUIRE(sandbox.heed(start + Arguments{"--out", "a"}).code == 0);
  const Finished seed = sandbox.heed({"replay", "a"});
  CHECK(seed.code == 1);
  CHECK(has(seed.err, "a: step 1 differs from its replay: the row 1,"));
  REQUIRE(sandbox.heed(start + Arguments{"--out", "b", "--record", "10"}).code == 0);
  CHECK(sandbox.heed({"replay", "b", "--to", "7"}).code == 0);
}

TEST_CASE("the record of a run of several shards and processes is replayed by one process",
          "[commands][replay]") {
  const Sandbox sandbox;
  for (const char* zero : {"", "--zero"}) {
    Arguments train = record_tiny + Arguments{"--shards", "2", "--processes", "2", "--replace"};
    if (*zero != '\0') train.push_back(zero);
    REQUIRE(sandbox.heed(train).code == 0);
    CHECK(recorded(sandbox / "o").size() == 6);
    const Finished replay = sandbox.heed({"replay", "o", "--to", "19"});
    INFO(replay.err);
    CHECK(has(replay.out, "1 saved state up to step 20 are the same"));
  }
}

TEST_CASE("a run that was killed and resumed with another number of steps is replayed",
          "[commands][replay]") {
  const Sandbox sandbox;
  const Arguments record = {"--record", "8"}, warmup = {"--warmup", "2"};
  REQUIRE(sandbox.heed(train_tiny + record + warmup).code == 0);
  const Arguments resume = {"train", "--resume", "--out", "o", "--steps", "36"};
  REQUIRE(sandbox.heed(resume + record).code == 0);
  CHECK((recorded(sandbox / "o") == std::vector<std::int64_t>{0, 8, 16, 20, 24, 32}));
  for (const char* step : {"3", "20", "21", "35", "36"}) {
    const Finished replay = sandbox.heed({"replay", "o", "--to", step});
    INFO(step << replay.err);
    CHECK(replay.code == 0);
  }
  // Without the state at which the run was resumed, the replay has the rates of the first session.
  fs::remove(sandbox / "o/record/step-20.safetensors");
  CHECK(has(sandbox.heed({"replay", "o", "--to", "23"}).err,
            "step-24.safetensors: the replay of step 24 differs first in parameter"));
}

TEST_CASE("a replay that differs from the record names the first tensor", "[commands][replay]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(record_tiny).code == 0);
  REQUIRE(sandbox
              .heed(Arguments{"train", "in.txt", "--out", "p"} + tiny +
                    Arguments{"--record", "4", "--seed", "7"})
              .code == 0);
  fs::copy_file(sandbox / "p/record/step-8.safetensors", sandbox / "o/record/step-8.safetensors",
                fs::copy_options::overwrite_existing);
  const Finished replay = sandbox.heed({"replay", "o", "--to", "8"});
  CHECK(replay.code == 1);
  CHECK(has(replay.err,
            "step-8.safetensors: the replay of step 8 differs first in parameter "
            "'token.weight', element 0, "));
  const Finished near = sandbox.heed({"replay", "o", "--to", "8", "--near"});
  CHECK(near.code == 0);
  CHECK(has(near.out, "step    8: loss "));
  CHECK_FALSE(has(near.out, "gradient norm 0,"));
  CHECK(
      has(near.err, "heed: note: o/record/step-8.safetensors: the replay of step 8 differs first"));
}

TEST_CASE("replay rejects what is no run, another text and a step that the run does not have",
          "[commands][replay]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(record_tiny).code == 0);
  CHECK(sandbox.heed({"replay", "o", "--to", "21"}).err ==
        "heed: error: --to 21: must be at most 20, the run's --steps\n");
  put(sandbox / "other.txt", "another text, which is not the run's, but long enough to be one");
  CHECK(has(sandbox.heed({"replay", "o", "--text", "other.txt"}).err, "other.txt: "));
  CHECK(sandbox.heed({"replay", "other.txt"}).err ==
        "heed: error: other.txt: is a file; give the folder of a run, such as "
        "runs/harbour\n");
  CHECK(sandbox.heed({"replay", "o/checkpoint.safetensors"}).code == 0);
  fs::create_directory(sandbox / "empty");
  CHECK(has(sandbox.heed({"replay", "empty"}).err, "heed: error: empty: has no checkpoint"));
  CHECK(has(sandbox.heed({"replay", "o", "--out", "o"}).err, "o: has a run already"));
  put(sandbox / "o/record/step-8.safetensors", "damaged");
  CHECK(sandbox.heed({"replay", "o", "--to", "9"}).code == 1);
}
