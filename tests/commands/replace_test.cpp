// replace_test.cpp: what train and import replace, with --replace and without.

#include <sys/stat.h>

#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/run_folder.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;
namespace fs = std::filesystem;

namespace {

const Arguments keep_history =
    Arguments{"train", "in.txt", "--keep-history", "--record", "5"} + tiny;

// Trains a run with a history.
void train(const Sandbox& sandbox, const std::string& out, const std::string& seed) {
  REQUIRE(sandbox.heed(keep_history + Arguments{"--out", out, "--seed", seed}).code == 0);
}

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      contents[fs::relative(entry.path(), folder).string()] = content(entry.path());
  return contents;
}

// Whether a folder of a run that replaces o exists.
bool has_second_folder(const Sandbox& sandbox) {
  return sandbox.has_file(".o.new") || sandbox.has_file(".o.old");
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

TEST_CASE("a run is replaced with --replace only", "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  const std::string losses = content(sandbox / "o/loss.csv");
  const Arguments other = train_tiny + Arguments{"--seed", "7"};
  const Finished rejected = sandbox.heed(other);
  CHECK(rejected.code == 1);
  CHECK(rejected.out == "");
  CHECK(rejected.err ==
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
    return sandbox.heed(keep_history + Arguments{"--out", out} + more);
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
  CHECK(has(unsaved.err, ".o.new/checkpoint.safetensors: no space left"));
  CHECK((files_in(sandbox / "o") == before));
  CHECK_FALSE(has_second_folder(sandbox));
  REQUIRE(train("o", {"--replace", "--seed", "5"}).code == 0);
  REQUIRE(train("p", {"--seed", "5"}).code == 0);
  CHECK((files_in(sandbox / "o/history") == files_in(sandbox / "p/history")));
  CHECK(losses(sandbox / "o") == losses(sandbox / "p"));
}

TEST_CASE("a text that is a file of the run to be replaced is rejected", "[commands][hostile]") {
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
      const Finished rejected = sandbox.heed(command);
      CHECK(rejected.code == 1);
      CHECK(rejected.err == "heed: error: o/" + name +
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

// Makes the folders that each possible kill leaves while a run of seed 7 replaces one of seed 1,
// and resumes the run in it.
TEST_CASE("a run that is killed while it replaces another leaves the old or the new run",
          "[commands][hostile]") {
  const Sandbox sandbox;
  train(sandbox, "old", "1");
  train(sandbox, "new", "7");
  const fs::path o = sandbox / "o", second = sandbox / ".o.new", third = sandbox / ".o.old";
  for (const std::string state :
       {"before the first save", "saved", "exchanged", "removing", "moved"}) {
    INFO(state);
    const bool is_new = state == "exchanged" || state == "removing" || state == "moved";
    fs::copy(sandbox / (is_new ? "new" : "old"), o, fs::copy_options::recursive);
    fs::copy(sandbox / (is_new ? "old" : "new"), second, fs::copy_options::recursive);
    put(second / ".heed-lock", "");
    put(second / ".checkpoint.safetensors.tmp-999999999", "");
    put((is_new ? second : o) / "notes.txt", "mine");
    put((is_new ? second : o) / "history/notes.txt", "mine");
    if (state == "before the first save" || state == "removing")
      for (const char* name :
           {"checkpoint.safetensors", "sample.txt", "history/step-0.safetensors"})
        fs::remove(second / name);
    if (state == "moved") {  // of the old run only a file of the user's and the lock file are left
      fs::remove_all(second);
      fs::create_directory(second);
      put(second / ".heed-lock", "");
      put(second / "notes.txt", "mine");
      fs::create_directory(o / "history");
      put(o / "history/notes.txt", "mine");
    }
    CHECK(sandbox.heed({"sample", "o", "--tokens", "1"}).code == 0);
    CHECK(sandbox.heed({"look", "o", "--page", "p.html"}).code == 0);
    fs::remove(o / "sample.txt");  // else there is nothing to resume
    REQUIRE(sandbox.heed({"train", "in.txt", "--resume", "--out", "o"}).code == 0);
    auto expected = files_in(sandbox / (is_new ? "new" : "old"));
    expected["notes.txt"] = expected["history/notes.txt"] = "mine";
    CHECK((files_in(o) == expected));
    CHECK_FALSE(has_second_folder(sandbox));
    fs::remove_all(o);
  }
  // Where the file system cannot exchange folders, there is a moment without a run.
  fs::copy(sandbox / "old", third, fs::copy_options::recursive);
  fs::copy(sandbox / "new", second, fs::copy_options::recursive);
  for (const fs::path& folder : {second, third}) put(folder / ".heed-lock", "");
  fs::remove(third / "sample.txt");
  REQUIRE(sandbox.heed({"train", "in.txt", "--resume", "--out", "o"}).code == 0);
  CHECK((files_in(o) == files_in(sandbox / "old")));
  CHECK_FALSE(has_second_folder(sandbox));
}

namespace {

// Replaces the run o again and again, and kills the program: three times out of four when it saves
// for the first time, else at any time. Returns how often it had replaced the run.
int kill_replacements(int times, unsigned seed) {
  const Sandbox sandbox;
  std::mt19937 random(seed);
  std::map<std::string, std::string> first_model;  // of each seed
  for (const std::string run_seed : {"1", "2"}) {
    train(sandbox, "o" + run_seed, run_seed);
    first_model[run_seed] = content(sandbox / ("o" + run_seed) / "history/step-0.safetensors");
  }
  fs::rename(sandbox / "o1", sandbox / "o");
  put(sandbox / "o/notes.txt", "mine");
  int replaced = 0;
  const auto check_run = [&] {
    CHECK(has(sandbox.heed({"inspect", "o"}).out, "checksum right"));
    CHECK(content(sandbox / "o/history/step-0.safetensors") ==
          first_model.at(state(sandbox / "o").at("train.seed")));
    CHECK((sandbox.has_file("o/notes.txt") || sandbox.has_file(".o.new/notes.txt")));
  };
  for (int i = 0; i < times; ++i) {
    const std::string old_seed = state(sandbox / "o").at("train.seed");
    Child child(sandbox.call(keep_history + Arguments{"--out", "o", "--replace", "--eval-every",
                                                      "1", "--seed", old_seed == "1" ? "2" : "1"}));
    const fs::path saved =
        sandbox / (".o.new/.checkpoint.safetensors.tmp-" + std::to_string(child.process()));
    const auto wait = [&](int microseconds) {
      std::this_thread::sleep_for(
          std::chrono::microseconds(std::uniform_int_distribution<>(0, microseconds)(random)));
    };
    const auto start = std::chrono::steady_clock::now();
    if (i % 4 == 0) wait(100'000);
    while (i % 4 != 0 && !fs::exists(saved) &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(2))
      continue;
    wait(3000);
    child.kill(SIGKILL);
    child.finish();
    check_run();
    replaced += state(sandbox / "o").at("train.seed") != old_seed ? 1 : 0;
  }
  REQUIRE(sandbox.heed(keep_history + Arguments{"--out", "o", "--replace"}).code == 0);
  CHECK(content(sandbox / "o/notes.txt") == "mine");
  CHECK_FALSE(has_second_folder(sandbox));
  std::cout << "kills while a run is replaced: " << times << " tried, " << replaced
            << " after it was replaced (seed " << seed << ")" << std::endl;
  return replaced;
}

}  // namespace

TEST_CASE("a program killed while it replaces a run leaves one complete run",
          "[commands][hostile]") {
  kill_replacements(12, std::random_device()());
}

TEST_CASE("a program killed three hundred times while it replaces a run leaves complete runs",
          "[commands][.][faults]") {
  const int replaced = kill_replacements(300, std::random_device()());
  CHECK(replaced > 10);
  CHECK(replaced < 290);
}

TEST_CASE("files of the user stay in a folder whose run is replaced", "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy(HEED_TESTS_DIR "/weights/gpt2", sandbox / "gpt2");
  for (const Arguments& command : {train_tiny, Arguments{"import", "gpt2", "--out", "o"}}) {
    train(sandbox, "o", "1");
    fs::create_directories(sandbox / "o/loss.svg/mine");  // a folder is not a plot of heed's
    fs::create_directories(sandbox / "o/mine");
    for (const char* name : {"o/notes.txt", "o/.hidden", "o/mine/notes.txt", "o/history/notes.txt"})
      put(sandbox / name, name);
    fs::create_symlink("nowhere", sandbox / "o/link");
    const Finished run = sandbox.heed(command + Arguments{"--replace"});
    CHECK(run.code == 0);
    for (const char* name : {"o/notes.txt", "o/.hidden", "o/mine/notes.txt", "o/history/notes.txt"})
      CHECK(content(sandbox / name) == name);
    CHECK(fs::is_directory(sandbox / "o/loss.svg/mine"));
    CHECK(fs::is_symlink(sandbox / "o/link"));
    CHECK(heed::app::RunFolder{sandbox / "o"}.history().steps().empty());
    CHECK_FALSE(has_second_folder(sandbox));
    fs::remove_all(sandbox / "o");
  }
}

TEST_CASE("plots and samples of a replaced run do not stay beside the new run",
          "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy(HEED_TESTS_DIR "/weights/gpt2", sandbox / "gpt2");
  const Arguments endless = {"train",     "in.txt",         "--out",   "o",
                             "--replace", "--layers",       "1",       "--embed-dim",
                             "16",        "--heads",        "2",       "--block-size",
                             "16",        "--steps",        "1000000", "--eval-every",
                             "100",       "--eval-batches", "1"};
  for (const Arguments& command :
       {endless, Arguments{"import", "gpt2", "--out", "o", "--replace"}}) {
    fs::remove_all(sandbox / "o");
    REQUIRE(sandbox.heed(train_tiny).code == 0);
    REQUIRE(sandbox.heed({"look", "o", "--text", "the"}).code == 0);
    REQUIRE(sandbox.has_file("o/look.gp"));
    put(sandbox / "o/look.svg", "drawn");
    for (const char* name : {"notes.txt", "tsne.csv", "tsne.svg"})  // without a script of heed's
      put(sandbox / "o" / name, "mine");
    Child child(sandbox.call(command));
    if (command[0] == "train") {
      child.read_until("  val ");
      child.kill(SIGINT);  // before it writes a sample
    }
    CHECK(child.finish().code == (command[0] == "train" ? 130 : 0));
    std::map<std::string, std::string> expected = {
        {"notes.txt", "mine"}, {"tsne.csv", "mine"}, {"tsne.svg", "mine"}};
    for (const char* name : {"checkpoint.safetensors", "loss.csv"})
      if (sandbox.has_file(std::string("o/") + name))
        expected[name] = content(sandbox / "o" / name);
    CHECK((files_in(sandbox / "o") == expected));
    CHECK(sandbox.has_file("o/loss.csv") == (command[0] == "train"));
  }
}

TEST_CASE("a replaced run keeps its permissions, and a link to it stays a link",
          "[commands][hostile]") {
  const Sandbox sandbox;
  train(sandbox, "elsewhere", "1");
  fs::create_directory_symlink("elsewhere", sandbox / "o");
  const fs::path run = sandbox / "elsewhere";
  ::chmod(run.c_str(), 0750);
  for (const char* name : {"checkpoint.safetensors", "loss.csv", "sample.txt"})
    ::chmod((run / name).c_str(), 0640);
  REQUIRE(sandbox.heed(keep_history + Arguments{"--out", "o", "--replace", "--seed", "7"}).code ==
          0);
  CHECK(fs::is_symlink(sandbox / "o"));
  CHECK(state(run).at("train.seed") == "7");
  CHECK(mode_of(run) == 0750);
  for (const char* name : {"checkpoint.safetensors", "loss.csv", "sample.txt"})
    CHECK(mode_of(run / name) == 0640);
  CHECK_FALSE(has_second_folder(sandbox));
  CHECK_FALSE(sandbox.has_file(".elsewhere.new"));
}

TEST_CASE("a folder that cannot be replaced is rejected before the first step",
          "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const auto before = files_in(sandbox / "o");
  fs::create_directory(sandbox / ".o.new");
  put(sandbox / ".o.new/notes.txt", "mine");
  const Finished taken = sandbox.heed(train_tiny + Arguments{"--replace"});
  CHECK(taken.code == 1);
  CHECK(taken.out == "");  // no step was done
  CHECK(taken.err == "heed: error: .o.new: has files that are not a run's; move them away\n");
  CHECK(content(sandbox / ".o.new/notes.txt") == "mine");
  fs::remove_all(sandbox / ".o.new");
  Call call = sandbox.call(Arguments{"train", "../in.txt", "--out", ".", "--replace"} + tiny);
  call.folder = sandbox / "o";
  const Finished current = run(call);
  CHECK(current.code == 1);
  CHECK(current.out == "");
  CHECK(has(current.err, ": cannot be replaced: it is the current folder; choose another --out\n"));
  CHECK((files_in(sandbox / "o") == before));
}

TEST_CASE("a run that was made while another waited for its text is not overwritten",
          "[commands][hostile]") {
  const std::string options = heed::joined(tiny, " ");
  // The first run starts when the second one has looked at the folder o and waits for its text. On
  // a busy machine, the second one may look later, and report that the folder is in use.
  for (const std::string seconds : {"0.1", "1", "5"}) {
    const Sandbox sandbox;
    Call call = sandbox.call({});
    call.arguments = {"/bin/sh", "-c",
                      "{ /bin/sleep " + seconds + "; \"$0\" train in.txt --out o " + options +
                          " >made; /bin/cat in.txt; } | \"$0\" train - --out o --seed 7 " + options,
                      HEED_BINARY_DIR "/heed"};
    const Finished second = run(call);
    INFO(second.err);
    CHECK(second.code == 1);
    CHECK(state(sandbox / "o").at("train.seed") == "1337");
    CHECK(sandbox.has_file("o/sample.txt"));
    if (has(second.err, "heed: error: o: in use by process ") && seconds != "5") continue;
    CHECK(has(second.err, "heed: error: o: has a run already; --resume continues that run"));
    return;
  }
}

TEST_CASE("import writes no checkpoint through a link", "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy(HEED_TESTS_DIR "/weights/gpt2", sandbox / "gpt2");
  fs::create_directory(sandbox / "o");
  put(sandbox / "mine.txt", "mine");
  fs::create_symlink("../mine.txt", sandbox / "o/checkpoint.safetensors");
  const Finished rejected = sandbox.heed({"import", "gpt2", "--out", "o", "--replace"});
  CHECK(rejected.code == 1);
  CHECK(has(rejected.err, "o/checkpoint.safetensors: is a symbolic link, and heed writes no file"));
  CHECK(content(sandbox / "mine.txt") == "mine");
  CHECK_FALSE(has_second_folder(sandbox));
}

TEST_CASE("the losses of a new run are in its folder, those of one that replaces a run beside it",
          "[commands][lock]") {
  const Sandbox sandbox;
  const Arguments endless = {
      "train",       "in.txt",  "--out",        "o",      "--layers",    "1", "--heads",   "2",
      "--embed-dim", "16",      "--block-size", "16",     "--log-every", "1", "--threads", "1",
      "--steps",     "1000000", "--eval-every", "1000000"};
  Child first(sandbox.call(endless));
  first.read_until("\nstep ");
  CHECK(has(content(sandbox / "o/loss.csv"), "\n1,"));
  first.kill(SIGINT);
  CHECK(first.finish().code == 130);
  const auto before = files_in(sandbox / "o");
  Child second(sandbox.call(endless + Arguments{"--replace"}));
  second.read_until("\nstep ");
  CHECK(has(content(sandbox / ".o.new/loss.csv"), "\n1,"));
  CHECK(mode_of(sandbox / ".o.new") == 0700);
  CHECK(has(sandbox.heed(train_tiny).err,
            "o: in use by process " + std::to_string(second.process())));
  CHECK(sandbox.heed({"sample", "o", "--tokens", "1"}).code == 0);
  second.kill(SIGINT);
  CHECK(second.finish().code == 130);
  CHECK((files_in(sandbox / "o") != before));
  CHECK_FALSE(has_second_folder(sandbox));
  CHECK_FALSE(sandbox.has_file("o/.heed-lock"));
}

TEST_CASE("the lock of a run stays with its name when the run is replaced", "[commands][lock]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  Child child(sandbox.call({"train", "in.txt", "--out", "o", "--replace", "--layers", "1",
                            "--embed-dim", "16", "--heads", "2", "--block-size", "16", "--steps",
                            "1000000", "--eval-every", "100", "--eval-batches", "1"}));
  child.read_until("  val ");
  for (const std::string flag : {"--replace", "--resume"}) {
    const Finished rejected = sandbox.heed({"train", "in.txt", "--out", "o", flag});
    CHECK(has(rejected.err, "o: in use by process " + std::to_string(child.process())));
  }
  child.kill(SIGINT);
  CHECK(child.finish().code == 130);
  CHECK_FALSE(sandbox.has_file("o/.heed-lock"));
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

TEST_CASE("a text that does not fit into memory is rejected", "[commands][hostile]") {
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
