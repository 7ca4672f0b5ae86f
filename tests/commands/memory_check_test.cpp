// memory_check_test.cpp: the estimated memory of a run, and errors for runs that do not fit.

#include "commands/train/memory_check.hpp"

#include <unistd.h>

#include <fstream>
#include <iostream>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/train/training_memory.hpp"
#include "sanitized.hpp"

using namespace heed_test;
using heed::app::AvailableMemory;
using heed::app::memory_shortage;
using heed::app::TrainCommand;

namespace {

constexpr double unlimited = 0x1p62;

TrainCommand sized(std::size_t layers, std::size_t embed_dim, std::size_t batch_size,
                   std::size_t block_size, double dropout = 0) {
  TrainCommand command;
  command.model.layers = layers;
  command.model.heads = 4;
  command.model.embed_dim = embed_dim;
  command.model.block_size = block_size;
  command.model.vocab_size = 64;
  command.training.batch_size = batch_size;
  command.training.dropout = dropout;
  return command;
}

TrainCommand with_llama_variants(TrainCommand command) {
  command.model.norm = heed::nn::NormKind::rms;
  command.model.positions = heed::nn::PositionKind::rotary;
  command.model.mlp = heed::nn::MlpKind::swiglu;
  command.model.kv_heads = 2;
  return command;
}

double estimate(const TrainCommand& c) {
  return heed::training_memory(c.model, c.training).total();
}

// The peak memory of a process so far, or 0 if the process has ended. (The value of wait4 includes
// the memory of this program, because a child starts as a copy of this program.)
double peak_memory(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return 1024 * std::stod(line.substr(6));
  return 0;
}

// The peak memory of two steps and a save.
double training_peak(const Sandbox& sandbox, const TrainCommand& c) {
  const auto text = [](std::size_t n) { return std::to_string(n); };
  const bool llama = c.model.kv_heads != 0;
  const Arguments variants = {
      "--norm", llama ? "rms" : "layer",   "--positions", llama ? "rotary" : "learned",
      "--mlp",  llama ? "swiglu" : "gelu", "--kv-heads",  llama ? "2" : "4"};
  Call call = sandbox.call(
      Arguments{"train", "in.txt", "--layers", text(c.model.layers), "--embed-dim",
                text(c.model.embed_dim), "--block-size", text(c.model.block_size), "--batch-size",
                text(c.training.batch_size), "--dropout", std::to_string(c.training.dropout),
                "--steps", "2", "--eval-batches", "1", "--threads", "1", "--replace"} +
      variants);
  call.environment["HEED_GEMM"] = "openblas";  // the estimate excludes the buffers of oneDNN
  Child child(call);
  double peak = 0;
  for (double now; (now = peak_memory(child.process())) > 0; ::usleep(500)) peak = now;
  const Finished run = child.finish();
  INFO(run.err);
  REQUIRE(run.code == 0);
  return peak;
}

std::string rejected(const Sandbox& sandbox, const Arguments& arguments) {
  const Finished run = sandbox.heed(Arguments{"train", "in.txt", "--out", "o"} + arguments);
  CHECK(run.code == 1);
  CHECK(run.out == "");
  CHECK_FALSE(sandbox.has_file("o"));
  CHECK(run.err.find('\n') == run.err.size() - 1);
  return run.err;
}

}  // namespace

TEST_CASE("the memory of a run is estimated within 25 %", "[commands][room]") {
  if (sanitized) return;  // a sanitizer's own memory is as large
  if (peak_memory(::getpid()) == 0) return;
  const Sandbox sandbox;
  std::string text;
  for (int i = 0; i < 300; ++i) text += Sandbox::story().substr(0, 300);
  put(sandbox / "in.txt", text);
  const TrainCommand small = sized(1, 16, 1, 16);
  const double program_memory = training_peak(sandbox, small) - estimate(small);
  for (const TrainCommand& command :
       {sized(4, 512, 1, 16), sized(4, 64, 64, 64), sized(2, 128, 16, 256),
        sized(4, 64, 32, 64, 0.1), with_llama_variants(sized(4, 512, 1, 16)),
        with_llama_variants(sized(4, 64, 64, 64)), with_llama_variants(sized(2, 128, 16, 256)),
        with_llama_variants(sized(4, 64, 32, 64, 0.1))}) {
    const double used = training_peak(sandbox, command) - program_memory,
                 estimated = estimate(command);
    std::cout << "memory of layers " << command.model.layers << ", width "
              << command.model.embed_dim << ", " << command.training.batch_size << " x "
              << command.model.block_size << ", dropout " << command.training.dropout
              << ", heads of keys " << command.model.kv_heads << ": estimated " << estimated / 1e6
              << " MB, used " << used / 1e6 << " MB" << std::endl;
    CHECK(estimated > 0.8 * used);
    CHECK(estimated < 1.25 * used);
  }
}

TEST_CASE(
    "a run that does not fit is rejected with required and available memory and sizes that fit",
    "[commands][room]") {
  const TrainCommand command = sized(4, 128, 12, 64);
  const double required = estimate(command);
  CHECK(memory_shortage(command, 1, {required, unlimited}) == "");
  const std::string shortage = memory_shortage(command, 1, {required * 0.75, unlimited});
  CHECK(shortage ==
        "--batch-size 12, --block-size 64, --layers 4 and --embed-dim 128 need about 49 MB of "
        "memory (17 MB for weights, gradients and moments, 33 MB for a step), but only 37 MB are "
        "available; "
        "--batch-size 7, --block-size 40, --layers 2 or --embed-dim 100 would fit");
  TrainCommand smaller = command;
  for (const std::size_t batch_size : {7u, 8u}) {
    smaller.training.batch_size = batch_size;
    CHECK((memory_shortage(smaller, 1, {required * 0.75, unlimited}) == "") == (batch_size == 7));
  }
  CHECK(has(memory_shortage(command, 1, {1000, unlimited}),
            "but only 1 MB are available; reduce several of them"));
}

TEST_CASE("a limit on addresses includes those that OpenBLAS reserves per thread",
          "[commands][room]") {
  const TrainCommand command = sized(4, 128, 12, 64);
  CHECK(memory_shortage(command, 1, {unlimited, 300e6}) == "");
  CHECK(
      has(memory_shortage(command, 4, {unlimited, 300e6}),
          ", and 4 threads 600 MB of address space; the limit (ulimit -v) leaves 300 MB; raise it, "
          "or use fewer --threads"));
  CHECK(has(
      memory_shortage(command, 1, {unlimited, 180e6}),
      ", and 1 thread 150 MB of address space; the limit (ulimit -v) leaves 180 MB; raise it, or "
      "--batch-size "));
}

TEST_CASE("huge sizes are rejected before memory is allocated", "[commands][room]") {
  const Sandbox sandbox;
  int tried = 0;
  const std::vector<Arguments> cases = {
      {"--embed-dim", "1000000000", "--heads", "1"},
      {"--embed-dim", "1000000000", "--layers", "1000000000"},
      {"--layers", "1000000000"},
      {"--batch-size", "1000000000"},
      {"--block-size", "1000000000"},
      {"--batch-size", "1000000000", "--block-size", "1000000000", "--layers", "1000000000",
       "--embed-dim", "1000000000", "--heads", "1000000000", "--dropout", "0.5"},
      {"--embed-dim", "65536", "--heads", "1", "--layers", "1000"}};
  for (const Arguments& arguments : cases) {
    const std::string text = rejected(sandbox, arguments);
    CHECK(text.rfind("heed: error: --batch-size ", 0) == 0);
    CHECK(has(text, " GB of memory ("));
    ++tried;
  }
  std::cout << "sizes: " << tried << " tried, " << tried << " rejected" << std::endl;
}

TEST_CASE("a run that exceeds the limit on addresses is rejected instead of hanging",
          "[commands][room]") {
  const Sandbox sandbox;
  if (sanitized || !std::filesystem::exists("/proc/self/statm")) return;
  Call call = sandbox.call({});
  call.arguments = {"/bin/sh", "-c",
                    "ulimit -v 300000; exec \"$0\" train in.txt --out o --threads 4",
                    HEED_BINARY_DIR "/heed"};
  const Finished run = heed_test::run(call);
  CHECK(run.code == 1);
  CHECK(has(run.err, "the limit (ulimit -v) leaves "));
  CHECK(has(run.err, "use fewer --threads\n"));
  CHECK_FALSE(sandbox.has_file("o"));
}

TEST_CASE("limits that leave no room for OpenBLAS's buffers end a command instead of hanging it",
          "[commands][room]") {
  const Sandbox sandbox;
  if (sanitized || !std::filesystem::exists("/proc/self/statm")) return;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string wanted =
      "heed: error: matrix products need 400 MB of address space for 2 threads, ";
  for (const std::string limit : {"ulimit -v 250000", "ulimit -d 250000"})
    for (const std::string command : {"look o --text abc", "sample o --tokens 20",
                                      "train in.txt --out p --layers 1 --embed-dim 16"}) {
      if (command[0] == 't' && limit[8] == 'v') continue;  // rejected by another check
      INFO(limit << " " << command);
      Call call = sandbox.call({});
      call.arguments = {"/bin/sh", "-c", limit + "; exec \"$0\" " + command + " --threads 2",
                        HEED_BINARY_DIR "/heed"};
      const Finished run = heed_test::run(call);
      INFO(run.err);
      CHECK(run.code == 1);
      CHECK(run.err.rfind(wanted, 0) == 0);
      CHECK(has(run.err, "; raise them, or use fewer --threads\n"));
      CHECK_FALSE(sandbox.has_file("p"));
    }
}

TEST_CASE("a limit on processes that is too low for the threads is rejected in one line",
          "[commands][room]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  using perms = std::filesystem::perms;
  std::filesystem::permissions(sandbox.path, perms::group_read | perms::group_exec,
                               std::filesystem::perm_options::add);
  const auto limited = [&](const std::string& arguments) {  // the limit is not one for root
    Call call = sandbox.call({});
    call.environment["OPENBLAS_NUM_THREADS"] = "1";
    call.environment["PATH"] = "/usr/bin:/bin";
    call.arguments = {"/bin/sh", "-c",
                      "ulimit -u 4 2>/dev/null || ulimit -p 4; exec " +
                          std::string(geteuid() == 0 ? "setpriv --reuid 65534 " : "") +
                          HEED_BINARY_DIR "/heed " + arguments};
    return heed_test::run(call);
  };
  if (limited("--version").code != 0) {
    WARN("skipped: the user nobody cannot run heed");
    return;
  }
  for (const std::string command :
       {"train in.txt --out p", "look o --text abc", "sample o", "bench in.txt --only step"}) {
    INFO(command);
    const Finished run = limited(command + " --threads 8");
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.err.rfind("heed: error: only ", 0) == 0);
    CHECK(has(run.err,
              " of 8 threads can be started; raise the limit on processes (ulimit -u), or "
              "use --threads "));
    CHECK_FALSE(sandbox.has_file("p"));
  }
  CHECK(limited("sample o --threads 1").code == 0);
}

TEST_CASE("a number of threads above the maximum is noted", "[commands][room]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  Call call = sandbox.call({"sample", "o", "--tokens", "2"});
  call.environment["OMP_NUM_THREADS"] = "2000";
  CHECK(has(run(call).err,
            "heed: note: OMP_NUM_THREADS is 2000; heed uses 1024 threads, its maximum\n"));
  call.arguments.insert(call.arguments.end(), {"--threads", "1"});
  CHECK(run(call).err == "");
}

TEST_CASE("the libraries are not measured before there is room for their buffers",
          "[commands][room]") {
  const Sandbox sandbox;
  if (sanitized || !std::filesystem::exists("/proc/self/statm")) return;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  for (const std::string command : {"look o --text abc", "sample o --tokens 20"}) {
    Call call = sandbox.call({});
    call.environment["XDG_CACHE_HOME"] = (sandbox / "empty").string();
    call.environment["HEED_GEMM"] = "auto";
    call.arguments = {"/bin/sh", "-c", "ulimit -v 80000; exec \"$0\" " + command + " --threads 1",
                      HEED_BINARY_DIR "/heed"};
    const Finished run = heed_test::run(call);
    if (has(run.err, "shared libraries")) continue;  // not even room for those
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.err.rfind("heed: error: matrix products need ", 0) == 0);
  }
}

TEST_CASE("a vocabulary too large for memory is rejected", "[commands][room]") {
  TrainCommand command = sized(1, 16, 12, 64);
  const double required = estimate(command);
  command.model.vocab_size = 100000;
  CHECK(estimate(command) > 100 * required);
  CHECK(memory_shortage(command, 1, {required * 2, unlimited}) != "");
}
