// memory_check_test.cpp: what training will take is told before, near the truth, and refused when
// too much.

#include "heed/app/memory_check.hpp"

#include <unistd.h>

#include <fstream>
#include <iostream>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/train/memory.hpp"
#include "sanitized.hpp"

using namespace heed_test;
using heed::app::AvailableMemory;
using heed::app::memory_shortage;
using heed::app::TrainCommand;

namespace {

constexpr double endless = 0x1p62;

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

double estimate(const TrainCommand& c) {
  return heed::training_memory(c.model, c.training).total();
}

// The most memory it had so far, as the kernel writes it down from its start on; 0 when it is gone.
// (What wait4 tells counts this program's own memory, of which a child begins as a copy.)
double peak_of(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return 1024 * std::stod(line.substr(6));
  return 0;
}

// The most that two steps and a save took.
double peak(const Desk& desk, const TrainCommand& c) {
  const auto text = [](std::size_t n) { return std::to_string(n); };
  Child child(
      desk.call({"train", "in.txt", "--layers", text(c.model.layers), "--embed-dim",
                 text(c.model.embed_dim), "--block-size", text(c.model.block_size), "--batch-size",
                 text(c.training.batch_size), "--dropout", std::to_string(c.training.dropout),
                 "--steps", "2", "--eval-batches", "1", "--threads", "1"}));
  double peak = 0;
  for (double now; (now = peak_of(child.process())) > 0; ::usleep(500)) peak = now;
  const Finished run = child.finish();
  INFO(run.err);
  REQUIRE(run.code == 0);
  return peak;
}

std::string refused(const Desk& desk, const Words& words) {
  const Finished run = desk.heed(Words{"train", "in.txt", "--out", "o"} + words);
  CHECK(run.code == 1);
  CHECK(run.out == "");
  CHECK_FALSE(desk.has_file("o"));
  CHECK(run.err.find('\n') == run.err.size() - 1);
  return run.err;
}

}  // namespace

TEST_CASE("the memory a run will take is known within a quarter", "[app][room]") {
  if (sanitized) return;  // a sanitizer's own memory is as large
  if (peak_of(::getpid()) == 0) return;
  const Desk desk;
  std::string text;
  for (int i = 0; i < 300; ++i) text += Desk::story().substr(0, 300);
  put(desk / "in.txt", text);
  const TrainCommand small = sized(1, 16, 1, 16);
  const double itself = peak(desk, small) - estimate(small);
  for (const TrainCommand& command : {sized(4, 512, 1, 16), sized(4, 64, 64, 64),
                                      sized(2, 128, 16, 256), sized(4, 64, 32, 64, 0.1)}) {
    const double took = peak(desk, command) - itself, told = estimate(command);
    std::cout << "memory of layers " << command.model.layers << ", width "
              << command.model.embed_dim << ", " << command.training.batch_size << " x "
              << command.model.block_size << ", dropout " << command.training.dropout << ": told "
              << told / 1e6 << " MB, took " << took / 1e6 << " MB" << std::endl;
    CHECK(told > 0.8 * took);
    CHECK(told < 1.25 * took);
  }
}

TEST_CASE("what does not fit is refused with its size, what there is, and what would fit",
          "[app][room]") {
  const TrainCommand command = sized(4, 128, 12, 64);
  const double need = estimate(command);
  CHECK(memory_shortage(command, 1, {need, endless}) == "");
  const std::string lack = memory_shortage(command, 1, {need * 0.75, endless});
  CHECK(lack ==
        "--batch-size 12, --block-size 64, --layers 4 and --embed-dim 128 need about 49 MB of "
        "memory (17 MB for weights, gradients and moments, 33 MB for a step), and there are 37 MB; "
        "--batch-size 7, --block-size 40, --layers 2 or --embed-dim 100 would fit");
  TrainCommand less = command;
  for (std::size_t fits : {7u, 8u}) {
    less.training.batch_size = fits;
    CHECK((memory_shortage(less, 1, {need * 0.75, endless}) == "") == (fits == 7));
  }
  CHECK(has(memory_shortage(command, 1, {1000, endless}),
            "there are 1 MB; make several of them smaller"));
}

TEST_CASE("addresses that OpenBLAS sets aside for each thread count under a limit on them",
          "[app][room]") {
  const TrainCommand command = sized(4, 128, 12, 64);
  CHECK(memory_shortage(command, 1, {endless, 300e6}) == "");
  CHECK(has(memory_shortage(command, 4, {endless, 300e6}),
            ", and 4 threads 600 MB of addresses; the limit (ulimit -v) leaves 300 MB; raise it, "
            "or use fewer --threads"));
  CHECK(has(memory_shortage(command, 1, {endless, 180e6}),
            ", and 1 thread 150 MB of addresses; the limit (ulimit -v) leaves 180 MB; raise it, or "
            "--batch-size "));
}

TEST_CASE("sizes that nobody has are refused before anything is taken", "[app][room]") {
  const Desk desk;
  int tried = 0;
  const std::vector<Words> cases = {
      {"--embed-dim", "1000000000", "--heads", "1"},
      {"--embed-dim", "1000000000", "--layers", "1000000000"},
      {"--layers", "1000000000"},
      {"--batch-size", "1000000000"},
      {"--block-size", "1000000000"},
      {"--batch-size", "1000000000", "--block-size", "1000000000", "--layers", "1000000000",
       "--embed-dim", "1000000000", "--heads", "1000000000", "--dropout", "0.5"},
      {"--embed-dim", "65536", "--heads", "1", "--layers", "1000"}};
  for (const Words& words : cases) {
    const std::string text = refused(desk, words);
    CHECK(text.rfind("heed: error: --batch-size ", 0) == 0);
    CHECK(has(text, " GB of memory ("));
    ++tried;
  }
  std::cout << "sizes: " << tried << " tried, " << tried << " refused" << std::endl;
}

TEST_CASE("a limit on addresses is refused before any work, never waited for", "[app][room]") {
  const Desk desk;
  if (sanitized || !std::filesystem::exists("/proc/self/statm")) return;
  Call call = desk.call({});
  call.words = {"/bin/sh", "-c", "ulimit -v 300000; exec \"$0\" train in.txt --out o --threads 4",
                HEED_BINARY_DIR "/heed"};
  const Finished run = heed_test::run(call);
  CHECK(run.code == 1);
  CHECK(has(run.err, "the limit (ulimit -v) leaves "));
  CHECK(has(run.err, "use fewer --threads\n"));
  CHECK_FALSE(desk.has_file("o"));
}

TEST_CASE("a vocabulary too large for memory is refused once it is known", "[app][room]") {
  TrainCommand command = sized(1, 16, 12, 64);
  const double need = estimate(command);
  command.model.vocab_size = 100000;
  CHECK(estimate(command) > 100 * need);
  CHECK(memory_shortage(command, 1, {need * 2, endless}) != "");
}
