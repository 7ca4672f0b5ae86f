// compare_test.cpp: heed compare: bands over seeds, tables, runs in every state, and errors.

#include <cmath>

#include "catch.hpp"
#include "commands/compare/comparison.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

using namespace heed_test;
using namespace heed::app;

namespace {

Arguments training(const std::string& out, const Arguments& more) {
  return Arguments{"train", "in.txt", "--out", out, "--eval-every", "10"} + tiny + more;
}

// A folder with the runs a1, a2 and a3, which differ in their seeds, and b, with another rate.
struct FourRuns : Sandbox {
  FourRuns() {
    for (const std::string seed : {"1", "2", "3"})
      REQUIRE(heed(training("runs/a" + seed, {"--seed", seed})).code == 0);
    REQUIRE(heed(training("runs/b", {"--lr", "0.01"})).code == 0);
  }
};

// The validation loss of a run at a step, from its loss.csv.
double loss_at(const std::filesystem::path& run, std::int64_t step) {
  for (const heed::LogRow& row : heed::read_log_rows((run / "loss.csv").string()).rows)
    if (row.step == step) return row.val_loss.value();
  FAIL("no loss at step " << step);
  return NAN;
}

std::string error_of(const Sandbox& sandbox, const Arguments& arguments, int code = 1) {
  const Finished run = sandbox.heed(Arguments{"compare"} + arguments);
  CHECK(run.code == code);
  CHECK(run.out == "");
  CHECK(run.err.find('\n') == run.err.size() - 1);
  return run.err.substr(0, run.err.size() - 1);
}

}  // namespace

TEST_CASE("the quantiles of Student's t distribution are those of its tables",
          "[commands][compare]") {
  CHECK(std::abs(t_quantile(1) - 12.7062) < 1e-4);
  CHECK(std::abs(t_quantile(2) - 4.3027) < 1e-4);
  CHECK(std::abs(t_quantile(11) - 2.2010) < 2e-4);
  CHECK(std::abs(t_quantile(30) - 2.0423) < 1e-4);
  CHECK(std::abs(t_quantile(1000) - 1.9623) < 1e-4);
}

TEST_CASE("the mean of 1, 2 and 6 has a standard error and an interval", "[commands][compare]") {
  const SeedMean mean = mean_of({1, 2, 6});
  CHECK(std::abs(mean.mean - 3) < 1e-12);
  CHECK(std::abs(mean.standard_error - std::sqrt(7.0 / 3)) < 1e-12);  // variance 14 / 2
  CHECK(std::abs(mean.half_interval() - 4.3027 * std::sqrt(7.0 / 3)) < 1e-3);
  CHECK(std::isinf(mean_of({3}).half_interval()));
}

TEST_CASE("runs that differ only in their seed are one curve with its standard error",
          "[commands][compare]") {
  const FourRuns sandbox;
  std::vector<std::string> names;
  for (const char* name : {"a1", "b", "a2", "a3"})
    names.push_back((sandbox / "runs" / name).string());
  const RunComparison comparison(names, "step");
  REQUIRE(comparison.groups().size() == 2);
  const RunGroup& b = comparison.groups()[0];  // the rate 0.01 learns faster
  const RunGroup& a = comparison.groups()[1];
  REQUIRE(a.runs.size() == 3);
  CHECK(a.label == "lr 0.001");
  const SeedMean expected =
      mean_of({loss_at(names[0], 20), loss_at(names[2], 20), loss_at(names[3], 20)});
  REQUIRE(a.final() != nullptr);
  CHECK(a.final()->step == 20);
  CHECK(std::abs(a.final()->loss.mean - expected.mean) < 1e-12);
  CHECK(a.curve("step").x == std::vector<double>{10, 20});
  CHECK(a.curve("tokens").x == std::vector<double>{10 * 12 * 16, 20 * 12 * 16});
  CHECK(std::abs(a.curve("step").error[1] - expected.standard_error) < 1e-12);
  CHECK(b.curve("step").error.empty());
  CHECK(a.curve("seconds").x[1] > a.curve("seconds").x[0]);
  CHECK(verdict(1, comparison.groups()) == "1 has no interval");
}

TEST_CASE("runs whose intervals overlap are not distinguishable", "[commands][compare]") {
  const auto group = [](const std::vector<double>& losses, const std::string& text = "") {
    RunGroup result;
    result.runs.resize(losses.size());
    result.runs[0].tokens = text;
    if (!text.empty()) result.runs[0].options = {{"TEXT", text}};
    result.validation = {{100, mean_of(losses)}};
    return result;
  };
  // The half of the interval of three seeds at a distance of 0.1 is 4.3 * 0.1 / sqrt(3) = 0.25.
  const std::vector<RunGroup> groups = {group({1.9}),           group({2.0, 2.1, 2.2}),
                                        group({2.1, 2.2, 2.3}), group({2.5, 2.6, 2.7}),
                                        group({3.0}),           group({3.2, 3.3, 3.4})};
  CHECK(verdict(0, groups) == "lowest");
  CHECK(verdict(1, groups) == "1 has no interval");
  CHECK(verdict(2, groups) == "not distinguishable from 2");
  CHECK(verdict(3, groups) == "not distinguishable from 3");  // 2.352 is above 2.348, below 2.448
  CHECK(verdict(4, groups) == "one seed: no interval");
  CHECK(verdict(5, groups) == "higher than 2, 3, 4");
  const std::vector<RunGroup> far = {group({1.0, 1.1, 1.2}), group({2.0, 2.1, 2.2})};
  CHECK(verdict(1, far) == "higher");
  const std::vector<RunGroup> alike(9, group({1.0, 1.1, 1.2}));
  CHECK(verdict(8, alike) == "not distinguishable from 1, 2, 3, 4 and 4 more");
  const std::vector<RunGroup> texts = {group({1.0, 1.1, 1.2}, "a"), group({1.1, 1.2, 1.3}, "b"),
                                       group({1.2, 1.3, 1.4}, "b")};
  CHECK(verdict(1, texts) == "lowest of its text and tokens");
  CHECK(verdict(2, texts) == "not distinguishable from 2");
}

TEST_CASE("compare prints what differs, the losses and a sample of each run",
          "[commands][compare]") {
  const FourRuns sandbox;
  const Finished run =
      sandbox.heed({"compare", "runs/a1", "runs/a2", "a3", "runs/b/", "--page", "p.html"});
  INFO(run.out);
  CHECK(run.code == 0);
  CHECK(has(run.out, "1  runs/b    0.01"));
  CHECK(has(run.out, "--lr"));
  CHECK(!has(run.out, "--seed  "));
  CHECK(has(run.out, heed::decimal(loss_at(sandbox / "runs/b", 20), 4)));
  CHECK(has(run.out, "2  runs/a*  0.001"));
  CHECK(has(run.out, "1 has no interval"));
  CHECK(has(run.out, "1  " + content(sandbox / "runs/b/sample.txt").substr(0, 6)));
  CHECK(has(run.err, "gnuplot is not installed"));
  const std::string page = content(sandbox / "p.html");
  CHECK(has(page, "default-src 'none'"));
  for (const char* part : {"<script", "http://", "https://", "src=", "@import", "url("})
    CHECK(!has(page, part));
  CHECK(has(page, "<path class=\"band f1\""));
  CHECK(has(page, heed::decimal(loss_at(sandbox / "runs/b", 20), 4)));
}

TEST_CASE("a killed run, a run in training, a resumed and a diverged run can be compared",
          "[commands][compare]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(training("resumed", {})).code == 0);
  REQUIRE(sandbox
              .heed({"train", "in.txt", "--resume", "--steps", "30", "--out", "resumed",
                     "--threads", "1"})
              .code == 0);
  std::filesystem::create_directory(sandbox / "killed");
  const std::string header = "step,train_loss,val_loss,learning_rate,grad_norm,ms\n";
  put(sandbox / "killed/loss.csv", header + "1,3.5,,0.1,1,2\n");
  std::filesystem::create_directory(sandbox / "begun");
  put(sandbox / "begun/loss.csv", header);
  std::filesystem::copy(sandbox / "resumed", sandbox / "diverged");
  put(sandbox / "diverged/loss.csv", header + "10,3.5,3.4,0.1,1,2\n17,nan,,0.1,nan,2\n");
  const Finished run = sandbox.heed({"compare", "resumed", "killed", "begun", "diverged"});
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(has(run.out, "10, diverged"));
  CHECK(has(run.out, "no validation loss yet"));
  CHECK(has(run.out, heed::decimal(loss_at(sandbox / "resumed", 30), 4)));
  CHECK(has(run.out, "its options are unknown"));
  CHECK(has(run.out, "The losses are of different steps"));
}

TEST_CASE("the folder of a sweep stands for its runs", "[commands][compare]") {
  const FourRuns sandbox;
  std::filesystem::create_directory(sandbox / "runs/notes");
  const Finished all = sandbox.heed({"compare", "runs"});
  CHECK(all.code == 0);
  CHECK(all.out == sandbox.heed({"compare", "a1", "a2", "a3", "b"}).out);
  CHECK(error_of(sandbox, {"runs/b", "runs"}) ==
        "heed: error: runs/b: is given twice; give each run once");
}

TEST_CASE("a model without losses, such as an imported one, is left out and named",
          "[commands][compare]") {
  const Sandbox sandbox;
  for (const char* run : {"a", "imported"}) REQUIRE(sandbox.heed(training(run, {})).code == 0);
  const Finished alone = sandbox.heed({"compare", "a"});
  std::filesystem::remove(sandbox / "imported/loss.csv");
  const Finished both = sandbox.heed({"compare", "imported", "a"});
  CHECK(both.code == 0);
  CHECK(both.out == alone.out);
  CHECK(both.err == "heed: note: without loss.csv, and left out: imported\n" + alone.err);
  CHECK(error_of(sandbox, {"imported"}) ==
        "heed: error: imported: no loss.csv; give the folder of a run or of a sweep");
}

TEST_CASE("a label has the options whose value is not the usual one", "[commands][compare]") {
  const auto labels = [](const std::vector<std::map<std::string, std::string>>& options) {
    std::vector<ComparedRun> runs;
    for (const auto& each : options) {
      runs.emplace_back();
      runs.back().name = "run" + std::to_string(runs.size());
      runs.back().options = each;
    }
    std::vector<std::string> result;
    for (const RunGroup& group : grouped_runs(runs)) result.push_back(group.label);
    return result;
  };
  using Labels = std::vector<std::string>;
  CHECK(labels({{{"--lr", "1"}, {"--steps", "20"}},
                {{"--lr", "2"}, {"--steps", "20"}},
                {{"--lr", "2"}, {"--steps", "30"}},
                {{"--lr", "3"}, {"--steps", "20"}}}) ==
        Labels{"lr 1", "lr 2", "lr 2, steps 30", "lr 3"});
  CHECK(labels({{{"--lr", "1"}}, {{"--lr", "1"}, {"--decay-steps", "9"}}}) ==
        Labels{"decay-steps default", "decay-steps 9"});
  CHECK(labels({{{"--lr", "1"}}, {}, {{"--lr", "1"}}}) == Labels{"run1", "run2", "run3"});
  // Most runs have lr 1, heads 2 and layers 3.
  CHECK(labels({{{"--lr", "1"}, {"--heads", "2"}, {"--layers", "3"}},
                {{"--lr", "9"}, {"--heads", "2"}, {"--layers", "3"}},
                {{"--lr", "1"}, {"--heads", "9"}, {"--layers", "3"}},
                {{"--lr", "1"}, {"--heads", "2"}, {"--layers", "9"}}}) ==
        Labels{"heads 2, layers 3, lr 1", "lr 9", "heads 9", "layers 9"});
}

TEST_CASE("the picture has training losses, and the entropy of a text of heed corpus",
          "[commands][compare]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed({"corpus", "g.txt", "--size", "3000"}).code == 0);
  for (const std::string seed : {"1", "2"})
    REQUIRE(sandbox.heed(Arguments{"train", "g.txt", "--out", "o" + seed, "--seed", seed} + tiny)
                .code == 0);
  std::string script;
  const auto compared = [&](const Arguments& runs) {
    const Finished run = sandbox.heed(Arguments{"compare"} + runs + Arguments{"--page", "p.html"});
    CHECK(run.code == 0);
    script = content(sandbox / "runs/compare.gp");
    return content(sandbox / "p.html");
  };
  const std::string bound =
      "lower bound: the entropy  " + heed::decimal(heed::grammar_source().window_entropy(16), 4);
  CHECK(has(compared({"o1", "o2"}), bound));
  CHECK(has(script, bound));
  CHECK(has(script, "with lines linewidth 0.8 linecolor rgb '#66D55E00' notitle"));
  CHECK(has(script, "thin: training loss"));
  const auto a = heed::read_log_rows((sandbox / "o1/loss.csv").string()).rows;
  const auto b = heed::read_log_rows((sandbox / "o2/loss.csv").string()).rows;
  const std::string csv = content(sandbox / "runs/compare.csv");
  const std::string last = csv.substr(csv.rfind("\n20,") + 1);
  CHECK(std::abs(std::stod(last.substr(last.rfind(',') + 1)) -
                 (a.back().train_loss + b.back().train_loss) / 2) < 1e-5);
  REQUIRE(sandbox.heed(training("other", {})).code == 0);
  CHECK(!has(compared({"o1", "other"}), "lower bound"));  // two texts have no common bound
  put(sandbox / "g.txt", content(sandbox / "g.txt") + "x");
  CHECK(!has(compared({"o1", "o2"}), "lower bound"));  // not the text of the runs any more
}

TEST_CASE("a row of loss.csv that is not complete is left out, and named",
          "[commands][compare][doctor]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(training("o", {})).code == 0);
  const std::string before = sandbox.heed({"compare", "o"}).out,
                    found = sandbox.heed({"doctor", "o"}).out;
  put(sandbox / "o/loss.csv", content(sandbox / "o/loss.csv") + "30,3.1,3.");
  CHECK(sandbox.heed({"compare", "o"}).out ==
        before + "The last row of loss.csv is not complete, and left out, in: o\n");
  const std::string cut = sandbox.heed({"doctor", "o"}).out,
                    line = "not examined: the last row of loss.csv: it is not complete\n";
  REQUIRE(has(cut, line));
  CHECK(found == std::string(cut).erase(cut.find(line), line.size()));
}

TEST_CASE("compare rejects what is no run, in one line", "[commands][compare][rejections]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(training("o", {})).code == 0);
  std::filesystem::create_directory(sandbox / "empty");
  const std::string start = "heed: error: ";
  CHECK(error_of(sandbox, {}, 2) == start + "compare: give the folders of runs, such as runs/*/");
  CHECK(error_of(sandbox, {"nowhere"}) ==
        start + "nowhere: No such file or directory; give a run's folder, such as runs/harbour");
  CHECK(error_of(sandbox, {"in.txt"}) ==
        start + "in.txt: is a file; give the folder of a run, such as runs/harbour");
  CHECK(error_of(sandbox, {"empty"}) ==
        start + "empty: no loss.csv; give the folder of a run or of a sweep");
  CHECK(error_of(sandbox, {"o", "./o"}) == start + "./o: is given twice; give each run once");
  CHECK(error_of(sandbox, {"o", "--by", "epochs"}, 2) ==
        start + "--by epochs: must be step, tokens or seconds");
  const std::string csv = content(sandbox / "o/loss.csv");
  put(sandbox / "o/loss.csv", csv + "20,1,,\n");
  CHECK(error_of(sandbox, {"o"}) == start + "o/loss.csv:5: a cell is missing");
  put(sandbox / "o/loss.csv", csv + "30,x,,1,1,1\n");
  CHECK(has(error_of(sandbox, {"o"}), "o/loss.csv:5: 'x' is not a number"));
  put(sandbox / "o/loss.csv", csv + "5,1,,1,1,1\n");
  CHECK(has(error_of(sandbox, {"o"}), "o/loss.csv: step 5 comes after step 20"));
  put(sandbox / "o/loss.csv", "");
  CHECK(has(error_of(sandbox, {"o"}), "o/loss.csv: is empty"));
  put(sandbox / "o/loss.csv", csv);
  put(sandbox / "o/checkpoint.safetensors", "no");
  CHECK(has(error_of(sandbox, {"o"}), "o/checkpoint.safetensors: "));
  std::filesystem::remove(sandbox / "o/checkpoint.safetensors");
  CHECK(has(error_of(sandbox, {"o", "--by", "tokens"}), "o: has no checkpoint yet"));
}
