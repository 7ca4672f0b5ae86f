// examples_test.cpp: the example programs learn their tasks, in few lines.

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "lessons/programs.hpp"

namespace {

namespace fs = std::filesystem;
using heed_test::content;

const fs::path folder = fs::path(HEED_SOURCE_DIR) / "examples";

// The number of lines that are neither empty nor a comment.
int code_lines(const fs::path& file, const std::string& comment) {
  int count = 0;
  for (const std::string& line : heed_test::lines_of(content(file))) {
    const std::size_t start = line.find_first_not_of(' ');
    count += start != line.npos && line.compare(start, comment.size(), comment) != 0;
  }
  return count;
}

std::vector<fs::path> examples() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cpp") found.push_back(entry.path());
  return found;
}

std::string output_of(const std::string& name) {
  const heed_test::ScratchFolder scratch;
  const heed_test::LessonRun run = heed_test::run_in(
      scratch.path.string(), std::string(HEED_BINARY_DIR) + "/examples/" + name);
  INFO(run.output);
  CHECK(run.exit_code == 0);
  return run.output;
}

// The loss in the last line "step 200  loss 0.0123".
double last_loss(const std::string& output) {
  const std::size_t at = output.rfind("loss ");
  return at == output.npos ? 1e9 : std::stod(output.substr(at + 5));
}

}  // namespace

TEST_CASE("every example learns its task", "[examples]") {
  CHECK(last_loss(output_of("xor")) < 0.05);
  CHECK(last_loss(output_of("bahdanau_attention")) < 0.1);
  CHECK(last_loss(output_of("vision_transformer")) < 0.3);
  CHECK(last_loss(output_of("encoder_decoder")) < 0.5);
  const std::string text = output_of("language_model");
  CHECK(last_loss(text) < 0.2);
  CHECK(text.find("the cat sat on the mat and the d") != text.npos);
}

TEST_CASE("an example has at most 1.3 times the lines of its PyTorch twin, and one heed include",
          "[examples]") {
  CHECK(examples().size() == 7);
  for (const fs::path& file : examples()) {
    INFO(file);
    fs::path twin = file;
    twin.replace_extension(".py");
    CHECK(code_lines(file, "//") <= 1.3 * code_lines(twin, "#"));
    const std::string source = content(file);
    CHECK(source.find("#include <heed/heed.hpp>") == source.rfind("#include <heed/"));
  }
}
