// mpi_test.cpp: heed_mpi, started by mpirun. Skipped unless the build has heed_mpi (HEED_MPI).

#include <algorithm>

#include "catch.hpp"
#include "commands/mpirun.hpp"
#include "heed/gemm/gemm_choice.hpp"

using namespace heed_test;

namespace {

const Arguments sharded = {"--layers",     "1",   "--embed-dim",    "16", "--heads",      "2",
                           "--block-size", "16",  "--batch-size",   "8",  "--shards",     "4",
                           "--dropout",    "0.1", "--eval-batches", "3",  "--eval-every", "7",
                           "--log-every",  "2",   "--steps",        "20", "--threads",    "1"};

Arguments ranks_of(const std::string& program, const std::string& count, const Arguments& more) {
  return Arguments{"-n", count, program, "train", "in.txt"} + sharded + more;
}

Arguments ranks(const std::string& count, const Arguments& more) {
  return ranks_of(HEED_BINARY_DIR "/heed_mpi", count, more);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The program with the first digit of its version changed to 9, wherever it is stored.
std::string with_another_version(std::string program, const std::string& version) {
  const std::string text = version + std::string(1, '\0');
  for (std::size_t at = program.find(text); at != program.npos; at = program.find(text, at + 1))
    program[at + std::string("heed ").size()] = '9';
  return program;
}

// Writes an executable file.
void put_program(const std::filesystem::path& path, const std::string& bytes) {
  put(path, bytes);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("ranks of MPI write the same run as one process", "[commands][mpi]") {
  if (!has_mpi()) return;
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--out", "one"} + sharded).code == 0);
  const auto check = [&](const std::string& count, const Arguments& more) {
    const Finished run =
        mpirun(sandbox, ranks(count, Arguments{"--out", "mpi", "--replace"} + more));
    INFO(count << " ranks: " << run.err);
    REQUIRE(run.code == 0);
    CHECK(losses(sandbox / "one") == losses(sandbox / "mpi"));
    CHECK(difference(sandbox / "one", sandbox / "mpi") == "");
    CHECK(content(sandbox / "one/sample.txt") == content(sandbox / "mpi/sample.txt"));
  };
  check("1", {});
  check("2", {"--zero"});
  check("4", {});
  check("4", {"--no-overlap"});
}

TEST_CASE("ranks of MPI that differ are rejected, and the rank and the option are named",
          "[commands][mpi]") {
  if (!has_mpi()) return;
  const Sandbox sandbox;
  const auto rejected = [&](const Arguments& words, const std::string& error) {
    const Finished run = mpirun(sandbox, words);
    CHECK(run.code == 2);
    INFO(run.err);
    CHECK(count_of(run.err, "heed: error: ") == 1);
    CHECK(count_of(run.err, "heed: error: " + error + "\n") == 1);
  };
  const Arguments out = {"--out", "o"};
  rejected(ranks("3", out), "mpirun has started 3 ranks; start a power of two");
  rejected(ranks("8", out),
           "the number of processes, 8: is more than --shards 4, and each process needs a shard; "
           "give --shards 8 or fewer processes");
  rejected(ranks("1", out) + Arguments{":"} + ranks("1", out + Arguments{"--lr", "0.5"}),
           "rank 1: --lr is 0.5, rank 0's is 0.001; start all ranks with the same --lr");
  rejected(ranks("2", {"--processes", "2"}),
           "--processes 2: mpirun has started the processes; leave it out");
  Arguments other_text = ranks("1", out);
  other_text[4] = "other.txt";
  put(sandbox / "other.txt", Sandbox::story() + "More.");
  rejected(ranks("1", out) + Arguments{":"} + other_text,
           "rank 1: TEXT is other.txt, rank 0's is in.txt; start all ranks with the same TEXT");
  CHECK_FALSE(sandbox.has_file("o"));
}

TEST_CASE("ranks of MPI with another content of the text or another HEED_GEMM are rejected",
          "[commands][mpi][.][many_processes]") {
  if (!has_mpi()) return;
  const Sandbox sandbox;
  const auto rejected = [&](const Arguments& words, const std::string& begin,
                            const std::string& end) {
    const Finished run = mpirun(sandbox, words);
    INFO(run.err);
    CHECK(run.code == 2);
    CHECK(count_of(run.err, "heed: error: ") == 1);
    CHECK(count_of(run.err, "heed: error: rank 1: " + begin) == 1);
    CHECK(count_of(run.err, end + "\n") == 1);
    CHECK_FALSE(sandbox.has_file("o"));
  };
  const std::string text = sandbox / "in.txt", folder = sandbox / "other";
  std::filesystem::create_directory(folder);
  std::string changed = Sandbox::story();
  std::swap(changed[10], changed[11]);
  put(folder + "/in.txt", changed);
  const Arguments first = ranks("1", {"--out", "o"});
  rejected(first + Arguments{":", "-wdir", folder} + first, "text (its hash) is ",
           "; start all ranks with the same text (its hash)");
  const auto with_library = [&](const std::string& library) {
    Arguments words = first;
    words.insert(words.begin() + 2, {"/usr/bin/env", "HEED_GEMM=" + library});
    return words;
  };
  for (const heed::GemmLibrary library : {heed::GemmLibrary::xsmm, heed::GemmLibrary::onednn}) {
    if (!heed::is_installed(library)) continue;
    const std::string name(heed::name_of(library));
    rejected(with_library("openblas") + Arguments{":"} + with_library(name),
             "HEED_GEMM (the library of matrix products) is " + name + ", rank 0's is openblas; ",
             "; start all ranks with the same HEED_GEMM (the library of matrix products)");
  }
}

// The other builds are this build with one byte more, and with one byte of its version changed.
TEST_CASE("ranks of two builds are rejected, and the rank and what differs are named",
          "[commands][mpi][.][many_processes]") {
  if (!has_mpi()) return;
  const Sandbox sandbox;
  const std::string program = content(HEED_BINARY_DIR "/heed_mpi");
  const std::string version = std::string("heed ") + HEED_VERSION;
  put_program(sandbox / "longer", program + "x");
  put_program(sandbox / "newer", with_another_version(program, version));
  const auto rejected = [&](const std::string& other, const std::string& error) {
    const Finished run = mpirun(sandbox, ranks("1", {"--out", "o"}) + Arguments{":"} +
                                             ranks_of(sandbox / other, "1", {"--out", "o"}));
    INFO(run.err);
    CHECK(run.code == 2);
    CHECK(count_of(run.err, "heed: error: ") == 1);
    CHECK(count_of(run.err, "heed: error: rank 1: " + error) == 1);
    CHECK(count_of(run.err, ", rank 0's is " + version + " with hash ") == 1);
    CHECK(count_of(run.err, "; start all ranks with the same program\n") == 1);
  };
  rejected("longer", "program is " + version + " with hash ");
  rejected("newer", "program is heed 9");
  CHECK_FALSE(sandbox.has_file("o"));
}
