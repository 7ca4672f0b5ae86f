// loss_curve_test.cpp: plots of loss.csv, and the messages for a missing or empty file.

#include "commands/train/loss_curve.hpp"

#include <cmath>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"
#include "readme.hpp"
#include "scratch_folder.hpp"

using namespace heed;
using namespace heed_test;
using namespace heed::app;

namespace {

double loss_at(int step) { return 1.4 + 2.8 * std::exp(-step / 200.0); }

std::string csv_of_run() {
  std::string csv = "step,train_loss,val_loss,learning_rate,grad_norm,ms\n";
  for (int step = 0; step <= 2000; step += 10)
    csv += std::to_string(step) + "," + decimal(loss_at(step), 4) + "," +
           (step > 0 && step % 250 == 0 ? decimal(loss_at(step) + 0.125, 4) : "") +
           ",0.001,1.0,130\n";
  return csv;
}

bool missing(const std::string& message) {
  if (has(message, "not installed")) WARN(message);
  return has(message, "not installed");
}

}  // namespace

TEST_CASE("draw_loss_curve plots loss.csv as loss.svg with loss.gp", "[commands][loss_curve]") {
  const ScratchFolder folder("it's a run");
  folder.write("loss.csv", csv_of_run());
  CurveOptions options;
  options.title = "it's harbour.txt";
  const Plot plot = draw_loss_curve(folder.path, options);
  CHECK(has(folder.read("loss.gp"), "'loss.csv' skip 1 using 1:3 with linespoints"));
  CHECK(!has(folder.read("loss.gp"), folder.path));
  if (missing(plot.message)) return;
  INFO(plot.message);
  CHECK(plot.ok);
  const std::string svg = folder.read("loss.svg");
  CHECK(has(svg, "it&apos;s harbour.txt") != has(svg, "it's harbour.txt"));
  CHECK(has(svg, "1.5251"));
  CHECK(has(svg, "loss (nats per character)"));
}

TEST_CASE("loss.svg marks the lowest validation loss and the entropy of a text of heed corpus",
          "[commands][loss_curve]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed({"corpus", "g.txt", "--size", "3000"}).code == 0);
  const Arguments train = Arguments{"train", "g.txt", "--out", "o"} + tiny;
  REQUIRE(sandbox.heed(train).code == 0);
  const std::string script = content(sandbox / "o/loss.gp");
  const double bound = grammar_source().window_entropy(16);
  CHECK(has(script, "'lower bound: the entropy  " + decimal(bound, 4) + "'"));
  CHECK(has(script, "'lowest validation, step 20  "));
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--replace"}).code == 0);
  CHECK(!has(content(sandbox / "o/loss.gp"), "lower bound"));
}

TEST_CASE("draw_loss_curve returns a message for a missing or empty loss.csv",
          "[commands][loss_curve]") {
  const ScratchFolder folder;
  CHECK(draw_loss_curve(folder.path).message ==
        (folder / "loss.csv").string() + ": No such file or directory");
  folder.write("loss.csv", "step,train_loss,val_loss\n");
  CHECK(draw_loss_curve(folder.path).message == (folder / "loss.csv").string() + ": no losses yet");
}

TEST_CASE("docs/images/loss.svg has the title and the axes of the curve of heed train",
          "[commands][loss_curve]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(Arguments{"train", "--out", "o"} + tiny).code == 0);
  const std::string svg = content(project / "docs/images/loss.svg");
  const std::vector<std::string> titles =
      matches(sandbox.read("o/loss.gp"), "\nset (?:title|xlabel|ylabel) '([^']*)'");
  CHECK(titles.size() == 3);
  for (const std::string& title : titles) CHECK(has(svg, "<text>" + title + "</text>"));
}
