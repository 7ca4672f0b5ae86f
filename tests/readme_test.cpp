// readme_test.cpp: what README.md and docs say about the files of the project, and what they say
// that programs print.

#include "readme.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "golden/file.hpp"
#include "heed/base/text.hpp"
#include "heed/heed.hpp"
#include "heed/study/markov_source.hpp"
#include "lessons/programs.hpp"
#include "scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace heed_test;
using heed::lines_of;

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

// The anchors of the headings of a page.
std::set<std::string> headings_of(const fs::path& page) {
  std::set<std::string> anchors;
  for (const std::string& heading : matches("\n" + content(project / page), "\n#+ ([^\n]*)"))
    anchors.insert(anchor_of(heading));
  return anchors;
}

std::size_t lines_with(const fs::path& file, const std::string& start) {
  const std::vector<std::string> lines = lines_of(content(file));
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const auto& line) { return line.rfind(start, 0) == 0; }));
}

// The number of operations of a random program: of its steps ["t0","gather",["b","i4"],{...}].
std::size_t operations_in(const std::string& program) {
  const std::string begin = "[\"t", middle = "\",\"", end = "\",[";
  std::size_t count = 0;
  for (std::size_t at = program.find(begin); at != program.npos; at = program.find(begin, at + 1)) {
    std::size_t i = at + begin.size();
    while (std::isdigit(static_cast<unsigned char>(program[i]))) ++i;
    if (program.compare(i, middle.size(), middle) != 0) continue;
    i = program.find('"', i + middle.size());
    count += program.compare(i, end.size(), end) == 0 ? 1 : 0;
  }
  return count;
}

std::vector<std::string> part_of(const std::vector<std::string>& lines, std::size_t begin,
                                 std::size_t end) {
  REQUIRE(end <= lines.size());
  return {lines.begin() + static_cast<std::ptrdiff_t>(begin),
          lines.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

TEST_CASE("every link of the documentation leads to a file or a heading", "[readme]") {
  std::size_t links = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& link : matches(content(project / page), R"(\]\(([^)\s]+)\))")) {
      if (link.rfind("https://", 0) == 0) continue;
      INFO(page << " links " << link);
      const std::string file = link.substr(0, link.find('#'));
      const fs::path target = file.empty() ? page : page.parent_path() / file;
      CHECK(fs::exists(project / target));
      if (file != link) CHECK(headings_of(target).count(link.substr(link.find('#') + 1)) == 1);
      ++links;
    }
  }
  CHECK(links > 150);
}

TEST_CASE(
    "the README has at most 150 lines, 1,000 words and 3 pictures, and links each page of docs",
    "[readme]") {
  const std::string text = content(project / "README.md");
  CHECK(lines_of(text).size() <= 150);
  CHECK(heed::words_of(text).size() <= 1000);
  CHECK(matches(text, "(!\\[)").size() <= 3);
  const std::string index = content(project / "docs/README.md");
  for (const auto& entry : fs::directory_iterator(project / "docs")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".md" || name == "README.md") continue;
    INFO(name);
    CHECK(has(index, "(" + name + ")"));
  }
  CHECK(has(text, "(docs/README.md)"));
}

TEST_CASE("the version is that of CMakeLists.txt everywhere", "[readme]") {
  const std::string version =
      matches(content(project / "CMakeLists.txt"), "project\\(heed VERSION ([0-9.]+) ").at(0);
  const auto check_all = [&](const std::string& file, const std::string& pattern) {
    INFO(file);
    const std::vector<std::string> found = matches(content(project / file), pattern);
    CHECK_FALSE(found.empty());
    for (const std::string& each : found) CHECK(each == version);
  };
  check_all("CITATION.cff", "\nversion: ([0-9.]+)");
  check_all("docs/library.md", "find_package\\(heed ([0-9.]+)");
  check_all("examples/cmake_project/CMakeLists.txt", "find_package\\(heed ([0-9.]+)");
  check_all("CONTRIBUTING.md", "git tag -a v([0-9.]+) ");
  CHECK(matches(content(project / "CHANGELOG.md"), "\n## ([0-9.]+)").at(0) == version);
}

TEST_CASE("every file of the project that the documentation names exists", "[readme]") {
  const std::vector<std::string> names = matches(
      documentation(), "`((?:include|src|tests|tools|docs|examples|lessons)/[A-Za-z0-9_/.-]+)`");
  CHECK(names.size() > 5);
  for (const std::string& name : names) {
    // The reader's
    if (has(name, "lessons/99_") || has(name, "softsign")) continue;
    INFO(name);
    CHECK(fs::exists(project / name));
  }
}

TEST_CASE("the course map links every lesson and every exercise", "[readme]") {
  const std::string map = content(project / "lessons/README.md");
  CHECK(has(documentation(), "(lessons/README.md)"));
  for (const fs::path& lesson : lesson_folders()) {
    INFO(lesson);
    CHECK(has(map, "(" + lesson.filename().string() + "/"));
    for (const ExerciseFiles& exercise : exercises_of(lesson)) {
      INFO(exercise.task);
      CHECK(has(map, "(" + fs::relative(exercise.task, project / "lessons").string() + ")"));
    }
  }
}

TEST_CASE("the README counts the cases and programs of PyTorch", "[readme]") {
  const std::string text = documentation();
  const fs::path golden = project / "tests/golden";
  for (const std::string digits : {"", "64"}) {  // in float and in double
    std::size_t backward = 0, forward = 0, rejected = 0;
    for (const std::string name : {"golden", "library", "extra"}) {
      std::istringstream file(content(golden / (name + digits + ".txt")));
      for (const golden::Case& each : golden::Reader(file, name).read())
        ++(each.error ? rejected : each.grad.empty() ? forward : backward);
    }
    CHECK(
        has(one_line(text),
            "**PyTorch**: " + std::to_string(backward + forward + rejected) +
                " cases, computed once by PyTorch and kept in [tests/golden](../tests/golden), are "
                "run in float and in double: " +
                std::to_string(backward) + " forward and backward, " + std::to_string(forward) +
                " forward, and " + std::to_string(rejected) + " that PyTorch rejects."));
  }
  CHECK(lines_with(golden / "random_programs.txt", "CASE ") == 2000);
  CHECK(text.find("2,000 random programs") != text.npos);
  std::size_t longest = 0;
  for (const std::string& line : lines_of(content(golden / "random_programs.txt")))
    if (line.rfind("CASE ", 0) == 0) longest = std::max(longest, operations_in(line));
  CHECK(has(one_line(text), "programs of up to " + std::to_string(longest) + " operations"));
}

TEST_CASE("the README counts the mutants that all tests include", "[readme]") {
  const std::string sample = matches(content(project / "tests/CMakeLists.txt"),
                                     "mutation.py --only \"[^\"]*::backward \" --sample ([0-9]+)")
                                 .at(0);
  CHECK(has(one_line(documentation()),
            "`./heed test --all` tests " + sample + " of those in backward functions"));
}

TEST_CASE("the README's table of the cost model follows from its formula", "[readme]") {
  const std::string text = one_line(documentation());
  CHECK(has(text, "T(P) = T(1) / P + 2 a log2 P + 2 (P - 1) / P n b, with n bytes of gradients"));
  const std::string alone = matches(text, "\\| 1 \\| 1 \\| ([0-9.]+) ").at(0);
  const std::string parameters = matches(text, ": ([0-9]+,[0-9]+) parameters").at(0);
  const double n = 4 * std::stod(std::regex_replace(parameters, std::regex(","), ""));
  // Checks the row that begins with `name`: a in us, 1 / b in GB/s.
  const auto check_row = [&](const std::string& name, double a, double rate) {
    const std::string cells = matches(text, "\\| " + name + " \\|([0-9. |]+) \\|").at(0);
    const std::vector<std::string> printed = matches(cells, "([0-9.]+)");
    const std::vector<double> processes = {1, 2, 4, 8, 64};
    REQUIRE(printed.size() == processes.size());
    CHECK(printed[0] == alone);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const double P = processes[i];
      INFO(name << ", " << P << " processes");
      const double ms =
          std::stod(alone) / P + 2 * a / 1e3 * std::log2(P) + 2 * (P - 1) / P * n / (rate * 1e6);
      CHECK(std::abs(std::stod(printed[i]) - ms) < 0.05 + 0.05 / P);
    }
  };
  const std::string a = matches(text, " a = ([0-9.]+) us").at(0);
  const std::string rate = matches(text, " 1 / b = ([0-9.]+) GB/s").at(0);
  check_row("this machine's memory", std::stod(a), std::stod(rate));
  check_row("25 Gbit/s, 20 us", 20, 25.0 / 8);
  check_row("1 Gbit/s, 100 us", 100, 1.0 / 8);
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
  CHECK(documentation().find("programs of 20 to 70 lines") != std::string::npos);
  for (const auto& entry : fs::directory_iterator(project / "examples")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::size_t lines = lines_of(content(entry.path())).size();
    INFO(entry.path());
    CHECK(lines >= 20);
    CHECK(lines <= 70);
  }
}

TEST_CASE("the README's block of an operation is an excerpt of softmax.cpp", "[readme]") {
  std::vector<std::string> block = block_with("struct Softmax {");
  CHECK(block.size() > 8);
  block.insert(block.begin(), "...");
  CHECK(line_not_in(content(project / "src/ops/softmax.cpp"), block) == "");
}

namespace {

// Stands for the function of lesson.hpp: the program below is compiled here without the lessons.
std::vector<heed::Array> shown;
void show(const char*, const heed::Array& array) { shown.push_back(array); }

// The body of the README's program lessons/99_try/lesson.cpp.
void program_of_readme() {
  using namespace heed;
  Tensor x(Generator(42).randn({3, 5}), /*requires_grad=*/true);
  Tensor weights = softmax(matmul(x, transpose(x, 0, 1)) / std::sqrt(5.0), -1);  // (3, 3)
  Tensor loss = sum(matmul(weights, x) * x);
  backward(loss);
  show("weights", weights.value());
  show("gradient of x", x.grad());  // (3, 5)
}

}  // namespace

TEST_CASE("the README's first program is the code that this test compiles and runs", "[readme]") {
  const std::vector<std::string> block = block_with("#include \"lesson.hpp\"");
  const auto main = std::find(block.begin(), block.end(), "int main() {");
  REQUIRE(main != block.end());
  const std::string source = content(HEED_TESTS_DIR "/readme_test.cpp");
  std::string body;
  for (auto line = main + 1; line != block.end(); ++line) body += *line + "\n";
  CHECK(body.size() > 300);
  CHECK(has(source, "using namespace heed;\n" + body));
  program_of_readme();
  REQUIRE(shown.size() == 2);
  CHECK(heed::str(shown[0].shape()) == "(3, 3)");
  CHECK(heed::str(shown[1].shape()) == "(3, 5)");
}

TEST_CASE("heed train begins with the lines in the README", "[readme]") {
  const std::vector<std::string> block = block_with("$ ./heed train", "");
  const Sandbox sandbox;
  Child child(sandbox.call({"train", "--threads", "2"}));
  child.read_until("run    runs/harbour\n");
  child.kill(SIGKILL);
  CHECK(line_not_in(child.finish().out, part_of(block, 1, 6)) == "");
}

TEST_CASE("the live line of heed train has the fields in the README", "[readme]") {
  if (!has_terminals()) return;
  const std::string live =
      R"(\[[=> ]+\] +[0-9]+/2000  loss [0-9.]+  [0-9,]+ tokens/s  [0-9:]+ left)";
  CHECK(std::regex_match(block_with("$ ./heed train", "").back(), std::regex(live)));
  const Sandbox sandbox;
  Call call = sandbox.call({"train"});
  call.terminal = 100;
  Child child(call);
  child.read_until(" left\x1b[K");
  child.kill(SIGKILL);
  CHECK(std::regex_search(child.finish().out, std::regex("\r" + live + "\x1b")));
}

TEST_CASE("after 250 steps heed train has the losses in the README",
          "[readme][.][lessons_in_full]") {
  const std::regex line("\nstep +250  train ([0-9.]+)  val ([0-9.]+) ");
  const auto losses = [&](const std::string& text) {
    INFO(text);
    std::smatch match;
    REQUIRE(std::regex_search(text, match, line));
    return std::make_pair(std::stod(match[1]), std::stod(match[2]));
  };
  const Sandbox sandbox;
  Call call = sandbox.call({"train", "--steps", "250", "--decay-steps", "2000", "--threads", "1"});
  call.environment["HEED_GEMM"] = "openblas";
  const Finished trained = run(call);
  INFO(trained.err);
  const auto [train, val] = losses(trained.out);
  const auto [train_in_readme, val_in_readme] = losses(documentation());
  CHECK(std::abs(train - train_in_readme) < 0.01);
  CHECK(std::abs(val - val_in_readme) < 0.01);
}

TEST_CASE("exercise 1 prints the lines in the README", "[readme]") {
  const std::vector<std::string> block = block_with("$ ./heed exercise 1", "");
  REQUIRE(block.size() > 4);
  const Sandbox sandbox;
  Call call = sandbox.call({});
  call.arguments = {HEED_BINARY_DIR "/lessons/exercise_01"};
  const Finished exercise = run(call);
  if (!has(exercise.out, "\n8 of 16 are right so far.\n")) {
    WARN("skipped: lessons/01_averaging/exercise.cpp has been changed");
    return;
  }
  CHECK(line_not_in(exercise.out, part_of(block, 1, block.size() - 2)) == "");
  // The last two lines are those of the launcher.
  CHECK(block[block.size() - 2] ==
        "Your part is in lessons/01_averaging/exercise.cpp; ./heed exercise 1 checks it");
}

TEST_CASE("the README counts the tests of ./heed test", "[readme]") {
  const Sandbox sandbox;
  Call call = sandbox.call({});
  call.arguments = {"/bin/sh", "-c", "ctest --test-dir '" HEED_BINARY_DIR "' -N"};
  call.environment.clear();
  const Finished listed = run(call);
  if (listed.code != 0) {
    std::cout << "skipped: ctest is not on the PATH\n";
    return;
  }
  const std::vector<std::string> total = matches(listed.out, "\nTotal Tests: ([0-9]+)");
  const std::vector<std::string> names = matches(listed.out, "Test +#[0-9]+: ([a-z_]+)");
  REQUIRE(total.size() == 1);
  CHECK(has(documentation(), "\n100% tests passed, 0 tests failed out of " + total[0] + "\n"));
  CHECK(has(documentation(),
            "\n" + total[0] + "/" + total[0] + " Test #" + total[0] + ": " + names.back() + " ."));
}

TEST_CASE("the README gives the lower bounds that heed corpus prints", "[readme]") {
  const heed::MarkovSource source = heed::grammar_source();
  const std::string text = one_line(documentation());
  CHECK(has(text, "given no earlier character (" + heed::decimal(source.unigram_entropy(), 4) +
                      " nats), one (" + heed::decimal(source.bigram_entropy(), 4) +
                      "), all of them (" + heed::decimal(source.entropy_rate(), 4) + "), "));
}

TEST_CASE("the README's apt line has the packages that the launcher installs", "[readme]") {
  const std::string line = one_line(heed::joined(block_with("apt install g++", "sh"), " "));
  const std::vector<std::string> packages =
      matches(content(project / "tools/launcher/packages.txt"),
              "\n([a-z0-9+-]+) *\\| (?:build|test|plots|speed|debug) +\\|");
  CHECK(packages.size() == 18);
  for (const std::string& name : packages) {
    INFO(name);
    CHECK(has(line, " " + name + " "));
  }
}

TEST_CASE("no line of the README's prose is wider than 120 columns", "[readme]") {
  bool in_block = false;
  for (const std::string& line : lines_of(documentation())) {
    if (line.rfind("```", 0) == 0) in_block = !in_block;
    if (in_block || line.rfind("|", 0) == 0 || line.rfind("![", 0) == 0) continue;
    INFO(line);
    CHECK(line.size() <= 120);
  }
}

TEST_CASE("the README lists the folders of the library", "[readme]") {
  const std::string text = documentation();
  const std::size_t begin = text.find("| level | |");
  REQUIRE(begin != text.npos);
  const std::string table = text.substr(begin, text.find("\n\n", begin) - begin);
  std::set<std::string> listed, folders;
  for (const std::string& row : matches(table, "\n\\| [0-9] ([^|]*)"))
    for (const std::string& name : matches(row, "`([a-z]+)`")) listed.insert(name);
  for (const auto& entry : fs::directory_iterator(project / "src"))
    if (entry.is_directory()) folders.insert(entry.path().filename().string());
  CHECK(listed == folders);
  for (const std::string& folder : folders) {
    INFO(folder);
    CHECK(fs::is_directory(project / "src" / folder));
    CHECK(fs::is_directory(project / "tests" / folder));
  }
}

TEST_CASE("the presets that the README names configure, build and test", "[readme]") {
  const std::string text = one_line(documentation());
  CHECK(has(text,
            "cmake --preset release && cmake --build --preset release && ctest --preset release "));
  CHECK(has(text, "presets `debug` "));
  CHECK(has(text, " and `sanitize` "));
  const auto presets = nlohmann::json::parse(content(project / "CMakePresets.json"));
  for (const char* kind : {"configurePresets", "buildPresets", "testPresets"}) {
    std::set<std::string> names;
    for (const auto& preset : presets.at(kind)) names.insert(preset.at("name"));
    INFO(kind);
    for (const char* name : {"release", "debug", "sanitize"}) CHECK(names.count(name) == 1);
  }
}

TEST_CASE("the README names the standards of C++ that CMake sets", "[readme]") {
  const std::string cmake = content(project / "cmake/packages.cmake");
  const std::vector<std::string> standards = matches(cmake, "set\\(HEED_CXX_STANDARD ([0-9]+)\\)");
  const std::vector<std::string> versions = matches(
      cmake, "xtensor_VERSION VERSION_GREATER_EQUAL ([0-9.]+)\\)\n  set\\(HEED_CXX_STANDARD");
  REQUIRE(standards.size() == 2);
  REQUIRE(versions.size() == 1);
  CHECK(has(one_line(documentation()), "heed needs a C++" + standards[0] + " compiler (C++" +
                                           standards[1] + " for xtensor " + versions[0] +
                                           " or later)"));
}
