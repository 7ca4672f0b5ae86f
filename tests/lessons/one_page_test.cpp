// one_page_test.cpp: lessons/one_page/gpt.cpp has the losses of the library's GPT, is at most 250
// lines of standard C++, and names lessons and files that exist.

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <sstream>

#include "heed/heed.hpp"
#include "heed/text/corpus.hpp"
#include "lessons/programs.hpp"

namespace {

using namespace heed;
using namespace heed_test;

using Losses = std::map<int, double>;  // by step

const char* const program = HEED_BINARY_DIR "/tests/heed_one_page";

std::string one_page() { return content(HEED_SOURCE_DIR "/lessons/one_page/gpt.cpp"); }

// The losses that the program prints: "step  10   loss 3.2071".
Losses printed_losses(const std::string& output) {
  static const std::regex line(R"(step +(\d+) +loss (\d+\.\d{4})\n)");
  Losses losses;
  for (std::sregex_iterator i(output.begin(), output.end(), line), end; i != end; ++i)
    losses[std::stoi((*i)[1])] = std::stod((*i)[2]);
  return losses;
}

// The library's losses for the same model, batches, optimizer and learning rates.
Losses library_losses(int steps) {
  const std::string text = content(HEED_SOURCE_DIR "/data/harbour.txt");
  const Corpus corpus(text, Vocabulary::of_text(text));
  nn::GptConfig config;
  config.vocab_size = Vocabulary::of_text(text).size();
  config.block_size = 64, config.embed_dim = 64;
  config.layers = 2, config.heads = 4;
  Parameters parameters;
  Generator weights(1), starts(1);
  const nn::Gpt model(Scope(parameters, weights), config);
  optim::AdamW optimizer(parameters);
  Losses losses;
  for (int step = 1; step <= steps; ++step) {
    optimizer.set_lr(0.004 * (steps + 1 - step) / steps);
    const Batch batch = random_batch(corpus.training(), 8, 64, starts);
    const Tensor loss = model.loss(batch.inputs, batch.targets);
    optimizer.zero_grad();
    backward(loss);
    optimizer.step();
    losses[step] = double(loss.item());
  }
  return losses;
}

// Checks the printed losses of a run of `steps` steps to four decimals: half a unit of the last one
// for rounding, and 1e-5 because the library computes in float.
void check_losses(int steps) {
  const LessonRun run = run_in(HEED_SOURCE_DIR, program, std::to_string(steps));
  REQUIRE(run.exit_code == 0);
  const Losses printed = printed_losses(run.output), expected = library_losses(steps);
  CHECK(printed.size() == std::size_t(steps / 10 + 1));
  for (const auto& [step, loss] : printed) {
    INFO("step " << step << ": printed " << loss << ", library " << expected.at(step));
    CHECK(std::abs(loss - expected.at(step)) < 6e-5);
  }
  const std::size_t written = run.output.size() - run.output.rfind("loss");
  CHECK(written > 300);  // the text that the model writes
}

}  // namespace

TEST_CASE("the GPT on one page has the library's losses, to four decimals", "[lessons][one_page]") {
  check_losses(30);
}

TEST_CASE("the GPT on one page has the library's losses to the end",
          "[lessons][lessons_in_full][.]") {
  check_losses(500);
}

TEST_CASE("the GPT on one page names its text if it cannot read it", "[lessons][one_page]") {
  const LessonRun run = run_in(HEED_BINARY_DIR, program);
  CHECK(run.exit_code == 1);
  CHECK(run.output.find("data/harbour.txt") != std::string::npos);
}

TEST_CASE("the GPT on one page is 250 lines of standard C++", "[lessons][one_page]") {
  const std::vector<std::string> lines = lines_of(one_page());
  CHECK(lines.size() <= 250);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(line.size() <= 100);
    CHECK(line.rfind("#include \"", 0) == std::string::npos);
  }
}

TEST_CASE("the GPT on one page names lessons and files that exist", "[lessons][one_page]") {
  const std::string page = one_page();
  static const std::regex file(R"((?:src|include|lessons|data)/[a-z0-9_/]+\.[a-z]+)");
  std::size_t files = 0, lessons = 0;
  for (std::sregex_iterator i(page.begin(), page.end(), file), end; i != end; ++i, ++files) {
    INFO(i->str());
    CHECK(std::filesystem::exists(HEED_SOURCE_DIR "/" + i->str()));
  }
  std::vector<std::string> numbers;
  for (const std::filesystem::path& lesson : lesson_folders())
    numbers.push_back(lesson.filename().string().substr(0, 2));
  static const std::regex list(R"(lessons? \d\d(?:(?:, | and )\d\d)*)"), number(R"(\d\d)");
  for (std::sregex_iterator i(page.begin(), page.end(), list), end; i != end; ++i) {
    const std::string named = i->str();
    for (std::sregex_iterator n(named.begin(), named.end(), number); n != end; ++n, ++lessons) {
      INFO(named);
      CHECK(std::count(numbers.begin(), numbers.end(), n->str()) == 1);
    }
  }
  CHECK(files >= 15);
  CHECK(lessons >= 15);
}
