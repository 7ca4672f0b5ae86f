// bench_report_test.cpp: the page of heed bench --report, and the environment variable HEED_ISA.

#include "base/instructions.hpp"
#include "catch.hpp"
#include "commands/bench/bench.hpp"
#include "commands/heed_program.hpp"
#include "heed/array/blas.hpp"

using namespace heed_test;
using namespace heed::app;

namespace {

const Arguments nodes = {"bench", "in.txt", "--only",   "nodes",   "--rounds",
                         "1",     "--json", "--report", "new/r.md"};

// A call that keeps the choice of libraries in the sandbox.
Call report_call(const Sandbox& sandbox, const Arguments& arguments, const std::string& isa) {
  Call call = sandbox.call(arguments);
  call.environment["XDG_CACHE_HOME"] = (sandbox / "cache").string();
  call.environment["HEED_GEMM"] = "auto";
  call.environment["HEED_ISA"] = isa;
  return call;
}

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator begin(folder);
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

}  // namespace

TEST_CASE("each row of the report has the ratio of a measurement to its limit",
          "[commands][bench]") {
  BenchResults results;
  results.workload.model.vocab_size = 65;
  const double flop = flop_per_step(results.workload);  // 3,815,571,456
  results.step = Percentiles{10, 9, 12};
  results.sgemm_gflops = flop * 1e-9 / 0.008;  // a step takes 8 ms at this speed
  Workload two = results.workload;
  two.threads = 2;
  const double all_threads = 2 * *results.sgemm_gflops;
  results.sweeps = {{"threads_sweep", "on 1 thread", results.workload, {10}, *results.sgemm_gflops},
                    {"threads_sweep", "on 2 threads", two, {6}, all_threads}};
  results.generate_tokens_per_s = 10000;
  results.read_gb_per_s = 1e-9 * weight_bytes_per_token(results.workload.model, 4) * 20000;
  results.peak_mb = 60;
  results.array_mb = 40;
  results.start_ms = 100;
  results.help_ms = 20;
  results.nodes = NodeTimes{{300, 290, 310}, {400, 390, 410}, {75, 0, 0}, {50, 0, 0}};
  const std::string page = bench_page(results, 0);
  for (const char* line :
       {"| a step, 1 thread | 10.0 ms | 9.00 to 12.0 ms | 8.00 ms | 1.25 | 3.82 GFLOP at sgemm's ",
        "| a step, on 2 threads | 6.00 ms |  | 4.00 ms | 1.50 | ",
        "| 2 threads / 1 thread | 0.60 |  | 0.50 | 1.20 | the same ratio of sgemm |",
        "| a token of one text, F32 | 0.100 ms |  | 0.050 ms | 2.00 | reading the weights, 3.18 "
        "MB, ",
        "| memory of training | 60.0 MB |  | 40.0 MB | 1.50 | all arrays at their peak |",
        "| start to the end of the first step | 100 ms |  | 20.0 ms | 5.00 | the same program ",
        "| 1,000,000 scalar nodes, forward | 300 ms | 290 to 310 ms | 75.0 ms | 4.00 | ",
        "| 1,000,000 scalar nodes, backward | 400 ms | 390 to 410 ms | 50.0 ms | 8.00 | "}) {
    INFO(line);
    CHECK(has(page, "\n" + std::string(line)));
  }
  CHECK_FALSE(has(page, "BF16"));                   // not measured
  CHECK_FALSE(has(page, "a step, on 1 thread |"));  // it would repeat the first row
}

TEST_CASE("the report begins with a warning if the machine was not quiet", "[commands][bench]") {
  BenchResults results;
  results.workload.model.vocab_size = 65;
  const std::string warning =
      "\n\n**This machine was not quiet:** its load average of one minute was ";
  CHECK(has(bench_page(results, 0.3), warning + "0.30 "));
  CHECK_FALSE(has(bench_page(results, 0.29), "quiet"));
}

TEST_CASE("a token is multiplied with all weights except norms and positions",
          "[commands][bench]") {
  heed::nn::GptConfig model;
  model.vocab_size = 65;
  const std::size_t others = model.embed_dim * (model.block_size + 2 * model.layers + 1);
  const auto weights = static_cast<double>(heed::nn::parameter_count(model) - others);
  CHECK(weight_bytes_per_token(model, 4) == 4 * weights);
  CHECK(weight_bytes_per_token(model, 2) == 2 * weights);
}

TEST_CASE("heed bench --report writes a page with the machine and the measurements",
          "[commands][bench]") {
  const Sandbox sandbox;
  const Finished finished = run(report_call(sandbox, nodes, ""));
  REQUIRE(finished.code == 0);
  const std::string page = sandbox.read("new/r.md");
  for (const char* part :
       {"# Speed of heed on ", "\n| date | 2", "\n| processor | ", "\n| cores | ", "\n| caches | ",
        "\n| operating system | ", "\n| heed | heed " HEED_VERSION ", compiled by ",
        "\n| libraries for products | ", "\n| HEED_ISA | not set |", "\n| model | 4 layers, ",
        "\n| 1,000,000 scalar nodes, forward | ", "\nmatrix products by "}) {
    INFO(part);
    CHECK(has(page, part));
  }
  // A note on stderr and a warning on the page, or neither.
  CHECK(has(finished.err, "heed: note: the load average ") == has(page, "not quiet"));
}

TEST_CASE("HEED_ISA=avx2 limits the libraries, and has a choice of libraries of its own",
          "[commands][bench]") {
  const Sandbox sandbox;
  const Finished limited = run(report_call(sandbox, nodes, "avx2"));
  if (!heed::has_avx2()) {
    CHECK(limited.code == 2);
    CHECK(limited.err ==
          "heed: error: HEED_ISA avx2: this processor lacks AVX2 or FMA; unset it\n");
    return;
  }
  REQUIRE(limited.code == 0);
  CHECK(has(sandbox.read("new/r.md"), "\n| HEED_ISA | avx2 |"));
  CHECK_FALSE(has(sandbox.read("new/r.md"), "(AVX-512)"));  // of oneDNN
  CHECK(files_in(sandbox / "cache/heed") == 1);
  Call other_core = report_call(sandbox, nodes, "avx2");
  other_core.environment["OPENBLAS_CORETYPE"] = "Nehalem";
  if (has(heed::blas_name(), "DYNAMIC_ARCH")) CHECK(has(run(other_core).out, " Haswell "));
  CHECK(files_in(sandbox / "cache/heed") == 1);
  REQUIRE(run(report_call(sandbox, nodes, "")).code == 0);
  CHECK(files_in(sandbox / "cache/heed") == 2);
}

TEST_CASE("an unknown HEED_ISA is rejected in one line", "[commands][bench]") {
  const Sandbox sandbox;
  for (const Arguments& command : {train_tiny, nodes}) {
    const Finished rejected = run(report_call(sandbox, command, "sse"));
    CHECK(rejected.code == 2);
    CHECK(rejected.err == "heed: error: HEED_ISA 'sse': give avx2, or unset it\n");
  }
  CHECK(sandbox.files() == 1);
}
