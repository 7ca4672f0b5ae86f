// layering_test.cpp: which folders (layers) of the sources may include each other, and may print.

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "readme.hpp"
#include "scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using heed_test::content;

using Lines = std::vector<std::string>;

// The layers (folders) that each layer may include besides itself.
const std::map<std::string, std::set<std::string>> below{
    {"base", {}},
    {"array", {"base"}},
    {"gemm", {"base", "array"}},
    {"draw", {"base", "array"}},
    {"autograd", {"base", "array"}},
    {"debug", {"base", "array", "autograd"}},
    {"ops", {"base", "array", "gemm", "autograd"}},
    {"nn", {"base", "array", "gemm", "autograd", "ops"}},
    {"optim", {"base", "array", "autograd"}},
    {"extra", {"base", "array", "gemm", "autograd", "ops", "nn", "optim"}},
    {"text", {"base", "array"}},
    {"parallel", {"base", "array", "autograd"}},
    {"train", {"base", "array", "autograd", "debug", "ops", "nn", "optim", "text", "parallel"}},
    {"files",
     {"base", "array", "gemm", "autograd", "ops", "nn", "optim", "text", "parallel", "train"}},
    {"study", {"base", "array", "draw", "autograd", "ops", "nn", "text"}},
    {"page", {"base", "array", "draw", "autograd", "ops", "nn", "text", "study"}},
    {"commands",
     {"base", "array", "gemm", "draw", "autograd", "debug", "ops", "nn", "optim", "text",
      "parallel", "train", "files", "study", "page"}}};

// The layer of a file: "ops" for "src/ops/softmax.cpp", "lessons" for files outside all layers.
std::string layer_of(const std::string& path) {
  static const std::regex folder("^(?:include/heed|src|heed)/([a-z]+)/.*");
  std::smatch match;
  return std::regex_match(path, match, folder) ? match[1].str() : "lessons";
}

bool may_include(const std::string& from, const std::string& to) {
  if (from == to) return true;
  if (from == "lessons") return to != "commands";
  const auto layer = below.find(from);
  return layer != below.end() && layer->second.count(to) != 0;
}

std::string rejection(const std::string& path, const std::string& header, const std::string& to) {
  const std::string from = layer_of(path);
  const bool above = from == "lessons" || (below.count(to) != 0 && below.at(to).count(from) != 0);
  return path + " (" + from + ") includes " + header + " (" + to + "), a layer " +
         (above ? "above it" : "beside it");
}

// Removes the raw strings R"(...)", which may hold a program in another language.
std::string without_raw_strings(std::string text) {
  for (std::size_t begin; (begin = text.find("R\"(")) != text.npos;) {
    const std::size_t end = text.find(")\"", begin);
    text.erase(begin, end == text.npos ? end : end + 2 - begin);
  }
  return text;
}

// Replaces comments and strings by spaces, so that a search skips the words in them. Quotes in
// character literals and after a backslash do not end a string.
std::string code_only(const std::string& text) {
  static const std::regex noise(
      R"rx(//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')rx");
  return std::regex_replace(text, noise, " ");
}

void check_includes(const std::string& path, const std::string& text, Lines& found) {
  static const std::regex include(
      "#include \"((heed|base|array|gemm|autograd|debug|ops|nn|optim|extra|text|parallel|train|"
      "files|study|draw|page|commands)/[^\"]+)\"");
  for (std::sregex_iterator i(text.begin(), text.end(), include), end; i != end; ++i) {
    const std::string header = (*i)[1];
    const std::string to = layer_of(header.substr(0, 5) == "heed/" ? header : "heed/" + header);
    if (!may_include(layer_of(path), to)) found.push_back(rejection(path, header, to));
  }
}

// The files below commands that may print: they write the output of HEED_TRACE to stderr.
const std::set<std::string> traces{"src/debug/trace.cpp"};

void check_silence(const std::string& path, const std::string& text, Lines& found) {
  static const std::regex loud(R"(\bstd::(cout|cerr|clog|printf|puts)\b|\bf?printf\s*\(|\bargv\b)");
  std::string code = code_only(without_raw_strings(text));
  if (traces.count(path) != 0) code = std::regex_replace(code, std::regex("std::cerr"), "");
  const std::string layer = layer_of(path);
  std::smatch match;
  if (layer != "lessons" && layer != "commands" && std::regex_search(code, match, loud))
    found.push_back(path + " (" + layer + ") says " + match.str() + "; only commands print");
}

// The forbidden includes and the forbidden output of one file.
Lines faults(const std::string& path, const std::string& text) {
  Lines found;
  check_includes(path, text, found);
  check_silence(path, text, found);
  return found;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".hpp";
}

// Every source under a folder of the project, with its path from the root.
std::map<std::string, std::string> sources() {
  const fs::path root(HEED_SOURCE_DIR);
  std::map<std::string, std::string> all;
  for (const char* folder : {"include/heed", "src", "lessons"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file() && is_source(entry.path()))
        all[fs::relative(entry.path(), root).generic_string()] = content(entry.path());
  return all;
}

std::string joined(const Lines& lines) {
  std::ostringstream text;
  for (const std::string& line : lines) text << line << '\n';
  return text.str();
}

}  // namespace

TEST_CASE("no file includes a header of a higher layer, and only commands and lessons print",
          "[layering]") {
  Lines found;
  for (const auto& [path, text] : sources())
    for (const std::string& line : faults(path, text)) found.push_back(line);
  CHECK(joined(found) == "");
  CHECK(sources().size() > 80);
}

TEST_CASE("no layer may include one of a higher level in the README's table", "[layering]") {
  std::map<std::string, int> levels;
  for (const std::string& row :
       heed_test::matches(heed_test::documentation(), "\n\\| ([0-9] `[^|]*)"))
    for (const std::string& layer : heed_test::matches(row, "`([a-z]+)`"))
      levels[layer] = std::stoi(row);
  CHECK(levels.size() == below.size());
  for (const auto& [from, others] : below)
    for (const std::string& to : others) {
      INFO(from << " may include " << to);
      CHECK(levels.at(to) <= levels.at(from));
    }
}

TEST_CASE("every test has its folder's tag, by which ctest runs it", "[layering]") {
  static const std::regex test_case("TEST_CASE\\(\\s*(?:\"[^\"]*\"\\s*)+,\\s*\"([^\"]*)\"");
  std::size_t tests = 0;
  Lines found;
  const fs::path root = fs::path(HEED_SOURCE_DIR) / "tests";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path path = fs::relative(entry.path(), root);
    const std::string folder = path.begin()->string();
    if (!is_source(path) || !path.has_parent_path() || folder == "double") continue;
    const std::string text = content(entry.path());
    for (std::sregex_iterator i(text.begin(), text.end(), test_case), end; i != end; ++i, ++tests)
      if ((*i)[1].str().rfind("[" + folder + "]", 0) != 0)
        found.push_back(entry.path().filename().string() + ": " + i->str());
  }
  CHECK(joined(found) == "");
  CHECK(tests > 500);
}

TEST_CASE("one file below the commands may write to stderr, and does", "[layering]") {
  CHECK(faults("src/debug/trace.cpp", "std::cerr << 1;").empty());
  CHECK(joined(faults("src/debug/trace.cpp", "std::cerr << 1; std::cout << 1;")) ==
        "src/debug/trace.cpp (debug) says std::cout; only commands print\n");
  CHECK(joined(faults("src/autograd/backward.cpp", "std::cerr << 1;")) ==
        "src/autograd/backward.cpp (autograd) says std::cerr; only commands print\n");
  for (const std::string& path : traces)
    CHECK(code_only(sources().at(path)).find("std::cerr") != std::string::npos);
}

TEST_CASE("cblas.h is included by one file", "[layering]") {
  Lines users;
  for (const auto& [path, text] : sources())
    if (text.find("#include <cblas.h>") != std::string::npos) users.push_back(path);
  CHECK(joined(users) == "src/array/blas.cpp\n");
}

TEST_CASE("the engine keeps to its budget of lines", "[layering]") {
  constexpr std::ptrdiff_t budget = 8'472;  // lower it when the engine gets shorter
  const std::set<std::string> engine{"array", "autograd", "ops", "nn", "optim"};
  std::ptrdiff_t lines = 0;
  for (const auto& [path, text] : sources())
    if (engine.count(layer_of(path)) != 0) lines += std::count(text.begin(), text.end(), '\n');
  INFO("array, autograd, ops, nn and optim have " << lines
                                                  << " lines; what attention does not need "
                                                  << "belongs in extra");
  CHECK(lines <= budget);
  CHECK(lines > 3000);
}

TEST_CASE("an include of a layer above is found and named", "[layering]") {
  CHECK(joined(faults("src/ops/softmax.cpp",
                      "#include \"heed/array/map.hpp\"\n#include \"heed/nn/layers.hpp\"\n")) ==
        "src/ops/softmax.cpp (ops) includes heed/nn/layers.hpp (nn), a layer above it\n");
  CHECK(joined(faults("include/heed/array/map.hpp", "#include \"heed/ops/shape.hpp\"\n")) ==
        "include/heed/array/map.hpp (array) includes heed/ops/shape.hpp (ops), a layer above it\n");
  CHECK(
      joined(faults("src/optim/sgd.cpp", "#include \"optim/state.hpp\"\n#include \"nn/x.hpp\"")) ==
      "src/optim/sgd.cpp (optim) includes nn/x.hpp (nn), a layer beside it\n");
  CHECK(joined(faults("lessons/01_averaging/lesson.cpp", "#include \"heed/commands/run.hpp\"\n")) ==
        "lessons/01_averaging/lesson.cpp (lessons) includes heed/commands/run.hpp (commands), a "
        "layer "
        "above it\n");
}

TEST_CASE("layers of equal rank do not include each other", "[layering]") {
  CHECK(joined(faults("src/text/corpus.cpp", "#include \"heed/nn/gpt.hpp\"\n")) ==
        "src/text/corpus.cpp (text) includes heed/nn/gpt.hpp (nn), a layer beside it\n");
  CHECK(joined(faults("src/draw/table.cpp", "#include \"heed/autograd/tensor.hpp\"\n")) ==
        "src/draw/table.cpp (draw) includes heed/autograd/tensor.hpp (autograd), a layer "
        "beside it\n");
  CHECK(joined(faults("src/train/trainer.cpp", "#include \"heed/draw/table.hpp\"\n")) ==
        "src/train/trainer.cpp (train) includes heed/draw/table.hpp (draw), a layer beside "
        "it\n");
}

TEST_CASE("includes of the own layer and of lower layers are accepted", "[layering]") {
  CHECK(faults("src/nn/gpt.cpp",
               "#include \"heed/nn/layers.hpp\"\n#include \"heed/ops/loss.hpp\"\n"
               "#include <vector>\n#include \"near.hpp\"\n")
            .empty());
  CHECK(faults("src/commands/main.cpp",
               "#include \"heed/train/trainer.hpp\"\n"
               "#include \"commands/options.hpp\"\nint main() { std::cout << 1; }")
            .empty());
  CHECK(
      faults("lessons/01_averaging/lesson.cpp", "#include \"heed/draw/table.hpp\"\nstd::cout << 1;")
          .empty());
}

TEST_CASE("printing and argv below the commands are found, in comments and strings not",
          "[layering]") {
  CHECK(joined(faults("src/nn/gpt.cpp", "void f() { std::cout << 1; }")) ==
        "src/nn/gpt.cpp (nn) says std::cout; only commands print\n");
  CHECK(joined(faults("src/train/trainer.cpp", "int n = printf(\"x\");")) ==
        "src/train/trainer.cpp (train) says printf(; only commands print\n");
  CHECK(joined(faults("src/array/allocator.cpp", "int f(char** argv);")) ==
        "src/array/allocator.cpp (array) says argv; only commands print\n");
  CHECK(joined(faults("src/nn/x.cpp", "char c = '\"'; std::cerr << \"\\\"\"; // \"")) ==
        "src/nn/x.cpp (nn) says std::cerr; only commands print\n");
  CHECK(faults("src/nn/gpt.cpp", "// std::cout << x\n/* argv */ f(\"std::cerr\"); snprintf(a);")
            .empty());
}
