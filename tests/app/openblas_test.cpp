// openblas_test.cpp: whichever OpenBLAS is installed, its threads stay out of the way.

#include <iostream>

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

// The builds of OpenBLAS on this machine, as Debian keeps them side by side.
std::vector<std::filesystem::path> flavours() {
  std::vector<std::filesystem::path> found;
  std::error_code none;
  for (const auto& triplet : std::filesystem::directory_iterator("/usr/lib", none))
    for (const char* name : {"openblas-pthread", "openblas-openmp", "openblas-serial"})
      if (std::filesystem::exists(triplet.path() / name / "libopenblas.so.0", none))
        found.push_back(triplet.path() / name);
  return found;
}

// Wide enough that products are shared between threads.
Words train_wide(const std::string& out, int threads) {
  return {"train",          "in.txt", "--out",        out,
          "--layers",       "1",      "--embed-dim",  "128",
          "--block-size",   "64",     "--batch-size", "12",
          "--steps",        "4",      "--threads",    std::to_string(threads),
          "--eval-batches", "1"};
}

}  // namespace

TEST_CASE("every flavour of OpenBLAS, on one thread and on three, trains to the same bits",
          "[app][openblas]") {
  const Desk desk;
  REQUIRE(desk.heed(train_wide("plain", 1)).code == 0);
  REQUIRE(desk.heed(train_wide("three", 3)).code == 0);
  CHECK(difference(desk / "plain", desk / "three") == "");
  int runs = 0;
  for (const std::filesystem::path& flavour : flavours())
    for (const int threads : {1, 3}) {
      const std::string out = flavour.filename().string() + std::to_string(threads);
      Call call = desk.call(train_wide(out, threads));
      call.environment["LD_LIBRARY_PATH"] = flavour.string();
      CHECK(run(call).code == 0);
      CHECK(difference(desk / "plain", desk.path / out) == "");
      CHECK(losses(desk / "plain") == losses(desk.path / out));
      ++runs;
    }
  std::cout << "OpenBLAS: " << runs / 2 << " flavours installed, " << runs << " runs alike\n";
}
