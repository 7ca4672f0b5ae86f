// planted_faults_test.cpp: how many of twenty planted faults heed first and heed blame find
// exactly.

#include <algorithm>
#include <iostream>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/text/corpus.hpp"

using namespace heed_test;

namespace {

constexpr std::size_t windows = 4, length = 16;  // of a batch
constexpr std::int64_t steps = 400;

// The characters of a line that is unlike the rest of the text, and appears in it once.
const std::vector<std::string> odd_lines = {"~", "#", "XY", "zq", "!?", "@", "()", "=+"};

struct PlantedLine {
  std::string text, line;
  std::uint64_t seed = 0;  // of a run that meets the line once it has learned something
  std::int64_t step = 0;   // the first whose batch has a window with at least half of the line
};

std::size_t odd_characters(const std::string& window, const std::string& odd) {
  return static_cast<std::size_t>(std::count_if(window.begin(), window.end(), [&](char c) {
    return odd.find(c) != std::string::npos && Sandbox::story().find(c) == std::string::npos;
  }));
}

// Draws the batches of a run as the training does; does not use replay, first or blame.
std::int64_t step_of(const heed::Corpus& corpus, const heed::Vocabulary& vocabulary,
                     const std::string& odd, std::uint64_t seed) {
  heed::Batches batches(corpus.training(), windows, length, seed);
  for (std::int64_t step = 1; step <= steps; ++step) {
    const heed::Batch batch = batches.next();
    for (std::size_t b = 0; b < windows; ++b) {
      const std::int64_t* const row = batch.inputs.data() + b * length;
      if (odd_characters(vocabulary.decode({row, row + length}), odd) >= length / 2) return step;
    }
  }
  return 0;
}

PlantedLine planted(const std::string& odd) {
  PlantedLine fault;
  while (fault.line.size() < 30) fault.line += odd;
  std::string text;
  for (int i = 0; i < 4; ++i) text += Sandbox::story();
  fault.text = text + fault.line + "\n" + text;
  const heed::Vocabulary vocabulary = heed::Vocabulary::of_text(fault.text);
  const heed::Corpus corpus(fault.text, vocabulary);
  while (fault.step < 150) fault.step = step_of(corpus, vocabulary, odd, ++fault.seed);
  return fault;
}

Arguments training(std::uint64_t seed) {
  return {"train",          "in.txt",
          "--record",       "50",
          "--layers",       "1",
          "--heads",        "2",
          "--embed-dim",    "16",
          "--block-size",   std::to_string(length),
          "--batch-size",   std::to_string(windows),
          "--eval-batches", "1",
          "--log-every",    "1",
          "--steps",        std::to_string(steps),
          "--seed",         std::to_string(seed)};
}

// The step that heed first has found, or -1.
std::int64_t step_found(const Finished& found) {
  return found.code == 0 ? std::stoll(found.out.substr(5)) : -1;
}

// Whether the window with the largest gradient is one of the line.
bool names_line(const std::string& output, const std::string& odd) {
  const std::size_t begin = output.find("share    loss  text\n");
  if (begin == std::string::npos) return false;
  const std::string rest = output.substr(begin + 20), row = rest.substr(0, rest.find('\n'));
  return odd_characters(row, odd) >= 4;
}

// Whether blame's first token, below its windows, is a character of the line.
bool names_tokens(const std::string& output, const std::string& odd) {
  const std::size_t begin =
      output.find("share    loss  text\n", output.find(" tokens of the first one"));
  if (begin == std::string::npos) return false;
  const std::string rest = output.substr(begin + 20), row = rest.substr(0, rest.find('\n'));
  return odd_characters(row.substr(0, row.find(" after")), odd) == 1;
}

// The first row of loss.csv, counted from 1, whose column is above the limit.
std::int64_t first_row_above(const Sandbox& sandbox, std::size_t column, double limit) {
  const std::vector<std::string> rows = heed::split(losses(sandbox / "o"), '\n');
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (!rows[i].empty() && std::stod(heed::split(rows[i], ',').at(column)) > limit)
      return std::stoll(heed::split(rows[i], ',')[0]);
  return 0;
}

const Arguments out = {"--out", "o", "--lr", "0.01"};

struct Score {
  int found = 0, faults = 0;
  void count(const std::string& fault, bool exactly) {
    ++faults;
    found += exactly ? 1 : 0;
    if (!exactly) std::cout << "planted faults: not found exactly: " << fault << '\n';
  }
};

}  // namespace

TEST_CASE("first and blame name at least 18 of 20 planted faults exactly",
          "[commands][first][blame]") {
  Score score;
  for (const std::string& odd : odd_lines) {
    const Sandbox sandbox;
    const PlantedLine fault = planted(odd);
    put(sandbox / "in.txt", fault.text);
    REQUIRE(sandbox.heed(training(fault.seed) + out).code == 0);
    const Finished first =
        sandbox.heed({"first", "o", "train_loss > 2.5 * median", "--every-step"});
    score.count("first, " + heed::in_quotes(odd) + " in step " + std::to_string(fault.step) + ": " +
                    first.out.substr(0, 60),
                step_found(first) == fault.step && names_line(first.out, odd));
    const heed::Vocabulary vocabulary = heed::Vocabulary::of_text(fault.text);
    const std::string row = std::to_string(vocabulary.encode(odd.substr(0, 1)).at(0));
    const Finished blame = sandbox.heed(
        {"blame", "o", "token.weight[" + row + ",5]", "--step", std::to_string(step_found(first))});
    score.count("blame, " + heed::in_quotes(odd),
                names_line(blame.out, odd) && names_tokens(blame.out, odd));
  }
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(training(1) + out).code == 0);
  const auto finds = [&](const std::string& measure, std::size_t column, double limit) {
    const Finished first =
        sandbox.heed({"first", "o", measure + " > " + std::to_string(limit), "--every-step"});
    score.count(measure, step_found(first) == first_row_above(sandbox, column, limit));
  };
  finds("lr", 3, 0.0099);
  finds("grad_norm", 4, 1.5);
  for (const char* rate : {"1e30", "1e15"}) {
    const std::string run = std::string("at_") + rate;
    const Finished wild =
        sandbox.heed(training(1) + Arguments{"--out", run, "--lr", rate, "--warmup", "0"});
    const std::int64_t step = step_found(sandbox.heed({"first", run, "not finite"}));
    score.count(std::string("a learning rate of ") + rate,
                has(wild.err, "in step " + std::to_string(step) + ","));
  }
  std::cout << "planted faults: " << score.found << " of " << score.faults << " found exactly\n";
  CHECK(score.faults == 20);
  CHECK(score.found >= 18);
}
