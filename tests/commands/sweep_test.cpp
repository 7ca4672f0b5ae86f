// sweep_test.cpp: heed sweep: its runs, stopping and continuing, the fitted power law, and errors.

#include <signal.h>
#include <unistd.h>

#include <cmath>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "commands/sweep/power_law.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;
using namespace heed::app;

namespace {

const Arguments small = {"--layers",       "1", "--heads", "2",  "--block-size", "16",
                         "--batch-size",   "4", "--steps", "20", "--eval-every", "10",
                         "--eval-batches", "1"};

Finished swept(const Sandbox& sandbox, const Arguments& more) {
  return sandbox.heed(Arguments{"sweep", "in.txt", "--out", "s"} + small + more);
}

const Arguments two_rates = {"--lr", "1e-3,1e-2", "--seeds", "2", "--embed-dim", "8"};

std::string rejection(const Sandbox& sandbox, const Arguments& more, int code) {
  const Finished run = swept(sandbox, more);
  CHECK(run.code == code);
  CHECK(run.out == "");
  CHECK(run.err.find('\n') == run.err.size() - 1);
  return run.err.substr(13, run.err.size() - 14);
}

}  // namespace

TEST_CASE("a sweep trains each setting with each seed, as heed train does, and compares them",
          "[commands][sweep]") {
  const Sandbox sandbox;
  const Finished run = swept(sandbox, two_rates);
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(has(run.out, "sweep  s: 4 runs; "));
  CHECK(has(run.out, "[4 of 4] "));
  CHECK(has(run.out, "1  s/lr-0.01-seed-*    0.01"));
  CHECK(has(run.out, "2  s/lr-0.001-seed-*  0.001"));
  REQUIRE(sandbox
              .heed(Arguments{"train", "in.txt", "--out", "o", "--lr", "0.01", "--seed", "1338",
                              "--embed-dim", "8"} +
                    small)
              .code == 0);
  CHECK(difference(sandbox / "o", sandbox / "s/lr-0.01-seed-1338") == "");
}

TEST_CASE("a sweep skips finished runs, and resumes those that were stopped", "[commands][sweep]") {
  const Sandbox sandbox;
  const Arguments options = {"--layers",     "1",  "--heads", "2",    "--embed-dim",    "8",
                             "--block-size", "16", "--steps", "2000", "--eval-batches", "1"};
  const Arguments sweep = Arguments{"sweep", "in.txt", "--out", "s", "--lr", "1e-3,1e-2"} + options;
  REQUIRE(sandbox.heed(sweep).code == 0);
  const auto expected = state(sandbox / "s/lr-0.01-seed-1337");
  const auto untouched =
      std::filesystem::last_write_time(sandbox / "s/lr-0.001-seed-1337/loss.csv");
  std::filesystem::remove_all(sandbox / "s/lr-0.01-seed-1337");
  Call call = sandbox.call({});
  call.arguments = Arguments{"/bin/sh",
                             "-c",
                             "\"$0\" \"$@\" | head -9",
                             HEED_BINARY_DIR "/heed",
                             "train",
                             "in.txt",
                             "--out",
                             "s/lr-0.01-seed-1337",
                             "--lr",
                             "0.01",
                             "--threads",
                             "1"} +
                   options;
  call.environment.clear();
  heed_test::run(call);  // stops after a few steps, because nobody reads its output
  const Finished run = sandbox.heed(sweep);
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(has(run.out, "sweep  s: 2 runs, 1 finished before, 1 to resume; "));
  CHECK(state(sandbox / "s/lr-0.01-seed-1337") == expected);
  CHECK(std::filesystem::last_write_time(sandbox / "s/lr-0.001-seed-1337/loss.csv") == untouched);
}

TEST_CASE("a diverged run is not trained again", "[commands][sweep]") {
  const Sandbox sandbox;
  const Arguments wild = {"--lr", "1e-3,1e30", "--clip", "0", "--warmup", "0", "--embed-dim", "8"};
  const Finished run = swept(sandbox, wild);
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(has(run.out, "lr-1e+30-seed-1337: heed: error: the "));
  const Finished again = swept(sandbox, wild);
  CHECK(has(again.out, "2 runs, 1 finished before, 1 diverged before"));
  CHECK(has(again.out, ", diverged"));
}

TEST_CASE("a sweep that is stopped saves its runs, and continues to the same result",
          "[commands][sweep]") {
  const Sandbox sandbox;
  const Arguments more = {"--embed-dim", "8", "--seeds", "2", "--eval-every", "1000000"};
  Arguments words =
      Arguments{"sweep",          "in.txt", "--out",        "s",      "--layers",     "1",
                "--heads",        "2",      "--block-size", "16",     "--batch-size", "4",
                "--eval-batches", "1",      "--steps",      "1000000"} +
      more;
  Call call = sandbox.call({});
  call.arguments = Arguments{"/bin/sh", "-c",
                             "\"$0\" \"$@\" & p=$!; while [ ! -s s/seed-1338/loss.csv ]; do sleep "
                             "0.05; done; kill -TERM $p; wait $p",
                             HEED_BINARY_DIR "/heed"} +
                   words;
  call.environment.clear();
  const Finished run = heed_test::run(call);
  CHECK(run.code == 128 + SIGTERM);
  CHECK(has(run.err, "interrupted; the same command continues the sweep in s"));
  for (const char* name : {"s/seed-1337", "s/seed-1338"})
    CHECK(std::filesystem::exists(sandbox / name / "checkpoint.safetensors"));
}

TEST_CASE("a power law through exact losses has its exponent and predicts the next size",
          "[commands][sweep]") {
  std::vector<SizeLosses> sizes;
  for (const double n : {1e3, 4e3, 2e4}) sizes.push_back({n, {5 * std::pow(n, -0.1)}});
  const PowerLaw law = fitted(sizes);
  CHECK(std::abs(law.exponent - 0.1) < 1e-9);
  CHECK(std::abs(law.factor - 5) < 1e-6);
  CHECK(law.exponent_error == 0);
  const PredictedLoss next = predicted(sizes, 1e5);
  CHECK(std::abs(next.loss - 5 * std::pow(1e5, -0.1)) < 1e-6);
  CHECK(next.high - next.low < 1e-6);
}

TEST_CASE("the exponent's error is over seeds, and the interval is that of linear regression",
          "[commands][sweep]") {
  const double e = std::exp(1);
  // At ln N = 0, 1, 2 the seeds' exponents are 0.1 and 0.3; the means' logarithms are not linear.
  const std::vector<SizeLosses> seeds = {{1, {1, 1}},
                                         {e, {std::exp(-0.1), std::exp(-0.3)}},
                                         {e * e, {std::exp(-0.2), std::exp(-0.6)}}};
  CHECK(std::abs(fitted(seeds).exponent_error - 0.1) < 1e-9);
  // ln loss = 0, 1, 0: mean 1/3, slope 0, s^2 = 2/3; at ln N = 3 the root is sqrt(1 + 1/3 + 4/2).
  const std::vector<SizeLosses> bent = {{1, {1}}, {e, {e}}, {e * e, {1}}};
  const PredictedLoss p = predicted(bent, e * e * e);
  const double half = 12.7062 * std::sqrt(2.0 / 3 * (1 + 1.0 / 3 + 2));
  CHECK(std::abs(std::log(p.loss) - 1.0 / 3) < 1e-9);
  CHECK(std::abs(std::log(p.high) - 1.0 / 3 - half) < 1e-6);
  CHECK(std::abs(std::log(p.low) - 1.0 / 3 + half) < 1e-6);
}

TEST_CASE("--fit predicts the next size, and checks the largest one", "[commands][sweep]") {
  const Sandbox sandbox;
  const Finished three = swept(sandbox, {"--embed-dim", "4,8,16", "--fit"});
  INFO(three.out << three.err);
  CHECK(three.code == 0);
  CHECK(has(three.out, "fit    loss = "));
  CHECK(has(three.out, "next   twice the largest width, "));
  CHECK(has(three.out, "Add that width to check it"));
  const std::size_t begin = three.out.find("twice the largest width, ");
  const std::string next = three.out.substr(begin + 25, three.out.find('\n', begin) - begin - 25);
  const Finished four = swept(sandbox, {"--embed-dim", "4,8,16,32", "--fit"});
  INFO(four.out);
  const std::string prediction = next.substr(next.find(": ") + 2);
  CHECK(has(four.out, "check  " + next.substr(0, next.find(':')) +
                          ", predicted from the smaller sizes: " + prediction + "; measured: "));
  CHECK((has(four.out, ", inside\n") || has(four.out, ", outside\n")));
}

TEST_CASE("--fit says so if the loss does not fall with the size", "[commands][sweep]") {
  const Sandbox sandbox;
  const Arguments widths = {"--embed-dim", "4,8,16", "--fit"};
  REQUIRE(swept(sandbox, widths).code == 0);
  const auto fit_of = [&](const std::vector<std::string>& losses) {
    const char* const header = "step,train_loss,val_loss,learning_rate,grad_norm,ms\n";
    for (std::size_t i = 0; i < 3; ++i)
      put(sandbox / "s" / ("embed-dim-" + std::to_string(4 << i) + "-seed-1337") / "loss.csv",
          header + ("20,3," + losses[i] + ",0.001,1,1\n"));
    return swept(sandbox, widths).out;  // all runs have finished, so it trains none
  };
  const std::string rising = fit_of({"2.0", "2.1", "2.2"}), falling = fit_of({"2.2", "2.1", "2.0"});
  INFO(rising << falling);
  CHECK(has(rising, "b = -0."));
  CHECK(has(rising, "The loss does not fall with the size: this is no power law"));
  CHECK(has(falling, "b = 0."));
  CHECK(!has(falling, "does not fall"));
}

TEST_CASE("sweep rejects wrong options before it trains", "[commands][sweep][rejections]") {
  const Sandbox sandbox;
  const Arguments width = {"--embed-dim", "8"};
  CHECK(rejection(sandbox, {"--lr", "1e-3,fast", "--embed-dim", "8"}, 2) ==
        "--lr fast: must be a number, above 0");
  CHECK(rejection(sandbox, {"--lr", "1e-3,,1", "--embed-dim", "8"}, 2) ==
        "--lr 1e-3,,1: has an empty value; give 1,2,3");
  CHECK(rejection(sandbox, {"--lr", "1e-3,0.001", "--embed-dim", "8"}, 2) ==
        "the run lr-0.001-seed-1337 is asked for twice; give each value once");
  CHECK(has(rejection(sandbox, {"--embed-dim", "8,9"}, 2),
            "--heads 2 does not divide --embed-dim 9"));
  CHECK(rejection(sandbox, {"--fit", "--embed-dim", "8,16"}, 2) ==
        "--fit needs at least three sizes, such as --embed-dim 32,64,128");
  CHECK(rejection(sandbox, {"--fit", "--embed-dim", "8,16,32", "--lr", "1,2"}, 2) ==
        "--fit compares sizes, such as --embed-dim 32,64,128; give one --lr");
  CHECK(!sandbox.has_file("s"));
  CHECK(rejection(sandbox, {"--threads", "2"}, 2) ==
        "unknown option --threads; did you mean --parallel?");
  CHECK(rejection(sandbox, {"--bytes"}, 2) == "unknown option --bytes; did you mean --tokenizer?");
  const Finished one = swept(sandbox, width);
  REQUIRE(one.code == 0);
  CHECK(has(one.err, "heed: note: one run has nothing to be compared with; give several values"));
  CHECK(rejection(sandbox, {"--embed-dim", "8", "--clip", "2"}, 1) ==
        "s/seed-1337/checkpoint.safetensors: is a run with --clip 1, not 2; give another --out, or "
        "remove this folder");
  put(sandbox / "in.txt", content(sandbox / "in.txt") + "More.\n");
  CHECK(has(rejection(sandbox, width, 1), "is a run on another text"));
  CHECK(sandbox.heed({"sweep", "-"}).err ==
        "heed: error: TEXT -: every run reads the text; give a file\n");
  CHECK(has(sandbox.heed({"sweep", "none.txt"}).err, "none.txt: No such file or directory"));
}
