// readme_test.cpp: what README.md says about the files of the project.

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using heed_test::content;

const fs::path project = HEED_SOURCE_DIR;

std::string readme() { return content(project / "README.md"); }

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// All texts that the first group of the pattern matches.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

// The anchor that GitHub makes of a heading: lower case, words joined by "-", no punctuation.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading)
    if (std::isalnum(static_cast<unsigned char>(c)))
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ' || c == '-')
      anchor += '-';
  return anchor;
}

std::size_t lines_with(const fs::path& file, const std::string& start) {
  const std::vector<std::string> lines = lines_of(content(file));
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const auto& line) { return line.rfind(start, 0) == 0; }));
}

// The lines of the first block of C++ in the README that contains `text`.
std::vector<std::string> block_with(const std::string& text) {
  for (const std::string& block : matches(readme(), "```cpp\n([^`]*)```"))
    if (block.find(text) != block.npos) return lines_of(block);
  return {};
}

}  // namespace

TEST_CASE("every link of the README leads to a file or a heading", "[readme]") {
  const std::string text = readme();
  std::set<std::string> anchors;
  for (const std::string& heading : matches(text, "\n#+ ([^\n]*)"))
    anchors.insert(anchor_of(heading));
  const std::vector<std::string> links = matches(text, R"(\]\(([^)\s]+)\))");
  CHECK(links.size() > 60);
  for (const std::string& link : links) {
    if (link.rfind("https://", 0) == 0) continue;
    INFO(link);
    if (link[0] == '#')
      CHECK(anchors.count(link.substr(1)) == 1);
    else
      CHECK(fs::exists(project / link));
  }
}

TEST_CASE("the README lists every lesson and every exercise", "[readme]") {
  const std::string text = readme();
  for (const char* folder : {"lessons", "lessons/exercises"})
    for (const auto& entry : fs::directory_iterator(project / folder)) {
      const fs::path file = entry.path();
      if (file.extension() != ".cpp" ||
          !std::isdigit(static_cast<unsigned char>(file.filename().string()[0])))
        continue;
      const bool is_ours =
          folder != std::string("lessons") || fs::exists(fs::path(file).replace_extension(".out"));
      INFO(file);
      if (is_ours)
        CHECK(text.find("(" + std::string(folder) + "/" + file.filename().string() + ")") !=
              text.npos);
    }
}

TEST_CASE("the README counts the cases and programs of PyTorch", "[readme]") {
  const std::string text = readme();
  const fs::path golden = project / "tests/golden";
  const std::size_t cases =
      lines_with(golden / "golden.txt", "CASE ") + lines_with(golden / "library.txt", "CASE ");
  CHECK(text.find("**PyTorch**: " + std::to_string(cases) + " cases") != text.npos);
  CHECK(lines_with(golden / "random_programs.txt", "CASE ") == 2000);
  CHECK(text.find("2,000 random programs") != text.npos);
}

TEST_CASE("the README's network is that of examples/xor.cpp", "[readme]") {
  const auto check_lines = [](const std::vector<std::string>& block, const fs::path& file) {
    const std::string source = content(project / file);
    CHECK(block.size() > 5);
    for (const std::string& line : block) {
      const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
      INFO(line);
      CHECK(source.find(line.substr(start)) != source.npos);
    }
  };
  std::vector<std::string> network = block_with("const nn::Linear hidden");
  network.erase(
      std::remove(network.begin(), network.end(), "save(\"xor.safetensors\", parameters);"),
      network.end());
  check_lines(network, "examples/xor.cpp");
}

TEST_CASE("the examples have 20 to 70 lines, as the README says", "[readme]") {
  CHECK(readme().find("programs of 20 to 70 lines") != std::string::npos);
  for (const auto& entry : fs::directory_iterator(project / "examples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::size_t lines = lines_of(content(entry.path())).size();
    INFO(entry.path());
    CHECK(lines >= 20);
    CHECK(lines <= 70);
  }
}
