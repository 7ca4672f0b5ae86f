// replace_test.cpp: what train and import replace, with --replace and without.

#include <map>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/run_folder.hpp"

using namespace heed_test;
namespace fs = std::filesystem;

TEST_CASE("a run is replaced with --replace only", "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  const std::string losses = content(sandbox / "o/loss.csv");
  const Arguments other = train_tiny + Arguments{"--seed", "7"};
  const Finished refused = sandbox.heed(other);
  CHECK(refused.code == 1);
  CHECK(refused.out == "");
  CHECK(refused.err ==
        "heed: error: o: has a run already; --resume continues that run, another --out keeps "
        "both, and --replace replaces it\n");
  CHECK(content(sandbox / "o/checkpoint.safetensors") == saved);
  CHECK(content(sandbox / "o/loss.csv") == losses);
  const Finished replaced = sandbox.heed(other + Arguments{"--replace"});
  CHECK(replaced.code == 0);
  CHECK(has(replaced.out, "run    o, replacing the old run\n"));
  CHECK(state(sandbox / "o").at("train.seed") == "7");
  const Finished both = sandbox.heed({"train", "--resume", "--replace", "--out", "o"});
  CHECK(both.code == 2);
  CHECK(both.err == "heed: error: --replace contradicts --resume; give one of them\n");
}

TEST_CASE("a run stays until the run that replaces it saves for the first time",
          "[commands][hostile]") {
  const Sandbox sandbox;
  const auto train = [&](const std::string& out, const Arguments& more) {
    return sandbox.heed(Arguments{"train", "in.txt", "--keep-history", "--out", out} + tiny + more);
  };
  const auto files_in = [&](const fs::path& folder) {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        contents[fs::relative(entry.path(), folder).string()] = content(entry.path());
    return contents;
  };
  REQUIRE(train("o", {}).code == 0);
  const auto before = files_in(sandbox / "o");
  REQUIRE(before.count("history/step-0.safetensors") == 1);
  const Finished failed = train("o", {"--replace", "--lr", "1e30", "--warmup", "0", "--clip", "0"});
  CHECK(failed.code == 1);
  CHECK(has(failed.err, "; the last saved checkpoint is unchanged; try a smaller --lr"));
  CHECK((files_in(sandbox / "o") == before));
  Call too_large = sandbox.call({});  // a checkpoint does not fit, the models of the history do
  const std::size_t blocks = fs::file_size(sandbox / "o/checkpoint.safetensors") / 512 - 1;
  too_large.arguments =
      Arguments{"/bin/sh", "-c", "ulimit -f " + std::to_string(blocks) + "; exec \"$0\" \"$@\"",
                HEED_BINARY_DIR "/heed"} +
      Arguments{"train", "in.txt", "--keep-history", "--replace", "--out", "o"} + tiny;
  const Finished unsaved = run(too_large);
  CHECK(unsaved.code == 1);
  CHECK(has(unsaved.err, "o/checkpoint.safetensors: no space left"));
  CHECK((files_in(sandbox / "o") == before));
  REQUIRE(train("o", {"--replace", "--seed", "5"}).code == 0);
  REQUIRE(train("p", {"--seed", "5"}).code == 0);
  CHECK((files_in(sandbox / "o/history") == files_in(sandbox / "p/history")));
  CHECK(losses(sandbox / "o") == losses(sandbox / "p"));
}

TEST_CASE("a text that is a file of the run to be replaced is refused", "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  for (const std::string file : {"sample.txt", "loss.csv", "loss.gp", "checkpoint.safetensors",
                                 "history/step-0.safetensors"}) {
    if (!sandbox.has_file("o/" + file)) continue;
    const std::string before = content(sandbox / "o" / file), text = "./o/../o/" + file;
    const Finished run = sandbox.heed({"train", text, "--bytes", "--replace", "--out", "o"});
    CHECK(run.code == 1);
    CHECK(run.err == "heed: error: " + text +
                         ": is a file of the run in o, which would replace it; give another --out, "
                         "or train on a copy\n");
    CHECK(content(sandbox / "o" / file) == before);
  }
}

TEST_CASE("files with the names of a run's, but without a run, are replaced with --replace only",
          "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy(HEED_TESTS_DIR "/weights/gpt2", sandbox / "gpt2");
  for (const std::string name : {"sample.txt", "loss.csv", "loss.svg", "loss.gp"}) {
    fs::remove_all(sandbox / "o");
    fs::create_directory(sandbox / "o");
    put(sandbox / "o" / name, "mine");
    for (const Arguments& command : {train_tiny, Arguments{"import", "gpt2", "--out", "o"}}) {
      const Finished refused = sandbox.heed(command);
      CHECK(refused.code == 1);
      CHECK(refused.err == "heed: error: o/" + name +
                               ": exists already, without a run beside it; --replace replaces it, "
                               "another --out keeps it\n");
      CHECK(content(sandbox / "o" / name) == "mine");
      CHECK_FALSE(sandbox.has_file("o/checkpoint.safetensors"));
    }
  }
  CHECK(sandbox.heed(train_tiny + Arguments{"--replace"}).code == 0);
  // A run that was killed before its first checkpoint leaves a loss.csv, which is replaced.
  for (const char* name : {"checkpoint.safetensors", "loss.svg", "loss.gp", "sample.txt"})
    fs::remove(sandbox / "o" / name);
  CHECK(sandbox.heed(train_tiny).code == 0);
}

TEST_CASE("a run whose history cannot be removed is not replaced", "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy(HEED_TESTS_DIR "/weights/gpt2", sandbox / "gpt2");
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  fs::create_directories(sandbox / "o/history/step-3.safetensors/mine");
  for (const Arguments& command :
       {train_tiny + Arguments{"--replace", "--seed", "7"},
        train_tiny + Arguments{"--replace", "--keep-history", "--seed", "7"},
        Arguments{"import", "gpt2", "--out", "o", "--replace"}}) {
    const Finished run = sandbox.heed(command);
    CHECK(run.code == 1);
    CHECK(run.err ==
          "heed: error: o/history/step-3.safetensors: is a folder; remove it, or choose another "
          "--out\n");
    CHECK(content(sandbox / "o/checkpoint.safetensors") == saved);
  }
}

// Makes the folder that each possible kill leaves while a run of seed 7 replaces one of seed 1, and
// resumes the run in it.
TEST_CASE("a run that is killed while it replaces another leaves the old or the new run",
          "[commands][hostile]") {
  const Sandbox sandbox;
  const auto train = [&](const std::string& out, const std::string& seed) {
    REQUIRE(sandbox
                .heed(Arguments{"train", "in.txt", "--keep-history", "--out", out} + tiny +
                      Arguments{"--seed", seed})
                .code == 0);
  };
  train("old", "1");
  train("new", "7");
  const heed::app::RunFolder o{sandbox / "o"}, old{sandbox / "old"}, replacing{sandbox / "new"};
  const auto copy_model = [&](const heed::app::RunFolder& run, const fs::path& folder,
                              std::int64_t step) {
    fs::create_directories(folder);
    fs::copy_file(run.history_file(step), folder / o.history_file(step).filename());
  };
  const std::vector<std::int64_t> steps = old.history_steps();
  REQUIRE(steps.size() >= 2);
  const std::string temporary = ".checkpoint.safetensors.tmp-999999999";
  for (const std::string state : {"moving", "moved", "new models", "new run", "removing"}) {
    INFO(state);
    fs::remove_all(o.path);
    const bool is_new = state == "new run" || state == "removing";
    for (const std::int64_t step : steps) {
      const bool first = step == steps[0];
      const bool moved = state != "moving" || first, removed = state == "removing" && first;
      const fs::path aside = state == "moving" ? o.moving_models() : o.replaced_models();
      if (!removed) copy_model(old, moved ? aside : o.history(), step);
      if (is_new || (state == "new models" && first)) copy_model(replacing, o.history(), step);
    }
    fs::copy_file((is_new ? replacing : old).checkpoint(), o.checkpoint());
    if (!is_new) put(o.path / temporary, "");
    put(o.loss_csv(), "");
    CHECK(o.is_being_replaced() == !is_new);
    const std::string refusal =
        "heed: error: o: heed was stopped while it replaced this run; that command, or ./heed "
        "train "
        "--resume --out o, repairs it\n";
    if (!is_new) CHECK(sandbox.heed({"look", "o", "--page", "p.html"}).err == refusal);
    REQUIRE(sandbox.heed({"train", "in.txt", "--resume", "--out", "o"}).code == 0);
    const heed::app::RunFolder& expected = is_new ? replacing : old;
    CHECK(o.history_steps() == steps);
    for (const std::int64_t step : o.history_steps())
      CHECK(content(o.history_file(step)) == content(expected.history_file(step)));
    CHECK(content(o.loss_csv()) == content(expected.loss_csv()));
    CHECK_FALSE(fs::exists(o.moving_models()));
    CHECK_FALSE(fs::exists(o.replaced_models()));
    CHECK_FALSE(fs::exists(o.path / temporary));
  }
}

TEST_CASE("an import that is killed while it sets models aside leaves a run that resumes",
          "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  const heed::app::RunFolder o{sandbox / "o"};
  const std::vector<std::int64_t> steps = o.history_steps();
  const std::string losses = content(o.loss_csv());
  fs::create_directory(o.moving_models());
  fs::rename(o.history_file(0), o.moving_models() / "step-0.safetensors");
  CHECK(sandbox.heed({"look", "o", "--page", "p.html"}).code == 1);
  CHECK(sandbox.heed({"train", "in.txt", "--resume", "--out", "o"}).code == 0);
  CHECK(o.history_steps() == steps);
  CHECK(content(o.loss_csv()) == losses);
  CHECK(sandbox.heed({"look", "o", "--page", "p.html"}).code == 0);
  CHECK(sandbox.heed({"train", "in.txt", "--resume", "--out", "o"}).code == 2);
}

TEST_CASE("an import that fails leaves the old run or says how it is repaired",
          "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy(HEED_TESTS_DIR "/weights/gpt2", sandbox / "gpt2");
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  const heed::app::RunFolder o{sandbox / "o"};
  const std::vector<std::int64_t> steps = o.history_steps();
  const std::string losses = content(o.loss_csv()), saved = content(o.checkpoint());
  const auto failed_import = [&] {
    const Finished run = sandbox.heed({"import", "gpt2", "--out", "o", "--replace"});
    CHECK(run.code == 1);
    CHECK(o.history_steps() == steps);
    CHECK(content(o.checkpoint()) == saved);
    CHECK_FALSE(o.is_being_replaced());
    return run.err;
  };
  put(o.moving_models(), "mine");  // models cannot be set aside
  CHECK(has(failed_import(), "heed: error: o/history/.moving: is a file, not a directory"));
  CHECK(content(o.loss_csv()) == losses);
  fs::remove(o.moving_models());
  fs::remove(o.path / "loss.svg");
  fs::create_directories(o.path / "loss.svg/mine");  // cannot be removed
  CHECK(has(failed_import(),
            "; the old run is kept, and ./heed train --resume --out o writes its losses, plot and "
            "sample again\n"));
  CHECK(fs::is_directory(o.path / "loss.svg/mine"));
}

TEST_CASE("old models that cannot be set aside leave the old run", "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  const std::string losses = content(sandbox / "o/loss.csv");
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  put(sandbox / "o/history/.moving", "mine");
  const Finished run = sandbox.heed(train_tiny + Arguments{"--replace", "--seed", "7"});
  CHECK(run.code == 1);
  CHECK(has(run.err, "heed: error: o/history/.moving: "));
  CHECK(content(sandbox / "o/history/.moving") == "mine");
  CHECK(content(sandbox / "o/loss.csv") == losses);
  CHECK(content(sandbox / "o/checkpoint.safetensors") == saved);
}

TEST_CASE("models and losses of a replaced run come back if the new checkpoint fails",
          "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--keep-history"}).code == 0);
  const heed::app::RunFolder o{sandbox / "o"};
  const std::string model = content(o.history_file(0));
  put(sandbox / "o/.checkpoint.safetensors.tmp-999999999", "");
  o.set_models_aside();
  CHECK(o.is_being_replaced());
  CHECK(o.history_steps().empty());
  put(o.history_file(0), "new");
  put(o.history_file(123), "new");
  CHECK(o.end_replacing());
  CHECK(content(o.history_file(0)) == model);
  CHECK_FALSE(fs::exists(o.history_file(123)));
  o.set_models_aside();
  put(o.history_file(123), "new");
  fs::remove(sandbox / "o/.checkpoint.safetensors.tmp-999999999");
  CHECK_FALSE(o.end_replacing());
  CHECK(o.history_steps() == std::vector<std::int64_t>{123});
  CHECK_FALSE(fs::exists(o.replaced_models()));
}

TEST_CASE("an empty loss.csv of a finished run is written again by --resume",
          "[commands][resume]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string before = content(sandbox / "o/loss.csv");
  put(sandbox / "o/loss.csv", "");
  CHECK(sandbox.heed({"train", "in.txt", "--resume", "--out", "o"}).code == 0);
  CHECK(content(sandbox / "o/loss.csv") == before);
}

TEST_CASE("a text that does not fit into memory is refused", "[commands][hostile]") {
  const Sandbox sandbox;
  put(sandbox / "large.txt", "a");
  std::error_code too_large;  // for this file system
  fs::resize_file(sandbox / "large.txt", std::uintmax_t{1} << 43, too_large);
  if (too_large) return;
  const Finished run = sandbox.heed({"train", "large.txt"});
  CHECK(run.code == 1);
  CHECK(has(run.err, "heed: error: large.txt: has 8,796,093,022,208 bytes, but only "));
  CHECK(has(run.err, " bytes of memory are available; give a smaller text\n"));
}
