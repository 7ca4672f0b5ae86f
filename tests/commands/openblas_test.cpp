// openblas_test.cpp: every installed build of OpenBLAS gives the same training results.

#include <iostream>

#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

// The installed builds of OpenBLAS, in Debian's folders.
std::vector<std::filesystem::path> openblas_builds() {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& triplet : std::filesystem::directory_iterator("/usr/lib", ignored))
    for (const char* name : {"openblas-pthread", "openblas-openmp", "openblas-serial"})
      if (std::filesystem::exists(triplet.path() / name / "libopenblas.so.0", ignored))
        found.push_back(triplet.path() / name);
  return found;
}

// A model wide enough for multithreaded matrix products.
Arguments train_wide(const std::string& out, int threads) {
  return {"train",          "in.txt", "--out",        out,
          "--layers",       "1",      "--embed-dim",  "128",
          "--block-size",   "64",     "--batch-size", "12",
          "--steps",        "4",      "--threads",    std::to_string(threads),
          "--eval-batches", "1"};
}

}  // namespace

TEST_CASE("every build of OpenBLAS gives the same bits, with one thread and with three",
          "[commands][openblas]") {
  const Sandbox sandbox;
  const auto call_of = [&](const std::string& out, int threads) {
    Call call = sandbox.call(train_wide(out, threads));
    call.environment["HEED_GEMM"] = "openblas";  // the fastest library differs from build to build
    return call;
  };
  REQUIRE(run(call_of("plain", 1)).code == 0);
  REQUIRE(run(call_of("three", 3)).code == 0);
  CHECK(difference(sandbox / "plain", sandbox / "three") == "");
  int runs = 0;
  for (const std::filesystem::path& build : openblas_builds())
    for (const int threads : {1, 3}) {
      const std::string out = build.filename().string() + std::to_string(threads);
      Call call = call_of(out, threads);
      call.environment["LD_LIBRARY_PATH"] = build.string();
      CHECK(run(call).code == 0);
      CHECK(difference(sandbox / "plain", sandbox.path / out) == "");
      CHECK(losses(sandbox / "plain") == losses(sandbox.path / out));
      ++runs;
    }
  std::cout << "OpenBLAS: " << runs / 2 << " builds installed, " << runs << " runs equal\n";
}

TEST_CASE("a core type that this processor is not ends heed with one line that names the variable",
          "[commands][openblas]") {
  const Sandbox sandbox;
  int rejected = 0;
  for (const std::string type : {"Bulldozer", "Haswell", "SkylakeX", "Cooperlake"}) {
    Call call = sandbox.call(train_tiny + Arguments{"--replace"});
    call.environment["HEED_GEMM"] = "openblas";
    call.environment["OPENBLAS_CORETYPE"] = type;
    const Finished finished = run(call);
    if (finished.code == 0) continue;
    ++rejected;
    CHECK(finished.code == 1);
    CHECK(finished.err == "heed: error: OPENBLAS_CORETYPE=" + type +
                              ": this processor lacks instructions of that one; unset it\n");
  }
  std::cout << "OpenBLAS: " << rejected << " of 4 core types are rejected\n";
}

TEST_CASE("with the OpenBLAS of single-threaded programs heed has one thread, else --threads",
          "[commands][openblas]") {
  for (const std::filesystem::path& build : openblas_builds()) {
    INFO(build);
    const Sandbox sandbox;
    Call call = sandbox.call(train_wide("o", 3));
    call.environment["HEED_GEMM"] = "openblas";
    call.environment["LD_LIBRARY_PATH"] = build.string();
    const bool is_serial = build.filename() == "openblas-serial";
    CHECK(has(run(call).out, is_serial ? " tokens, on 1 thread\n" : " tokens, on 3 threads\n"));
  }
}
