// training_page_test.cpp: the outputs in docs/training.md are those of the commands above them.

#include <regex>
#include <sstream>

#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  static const std::regex speed("(\\.[0-9]{4} +200 +)[0-9,]+");  // tokens/s, after the best step
  std::istringstream in(std::regex_replace(text, speed, "$1#"));
  return {std::istream_iterator<std::string>(in), {}};
}

// Whether two words are equal, or numbers of a training, which differ by at most 1 % or 0.02 on
// another machine.
bool near_word(const std::string& a, const std::string& b) {
  static const std::regex number("[0-9]+\\.[0-9]{4}[,;:]?");
  if (!std::regex_match(a, number) || !std::regex_match(b, number)) return a == b;
  return std::abs(std::stod(a) - std::stod(b)) <= std::max(0.01 * std::stod(b), 0.02);
}

}  // namespace

TEST_CASE("the outputs in docs/training.md are those of the commands above them",
          "[commands][training_page][.]") {
  const ScratchFolder folder;
  namespace fs = std::filesystem;
  fs::create_symlink(HEED_BINARY_DIR "/heed", folder / "heed");
  fs::create_directory_symlink(HEED_SOURCE_DIR "/data", folder / "data");
  fs::create_directory(folder / "bin");  // without gnuplot
  fs::create_symlink("/usr/bin/head", folder / "bin/head");
  const std::string page = content(HEED_SOURCE_DIR "/docs/training.md");
  const std::regex example("```sh\n([^`]*)```\n\n```\n([^`]*)```");
  std::size_t examples = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), example), end; it != end; ++it) {
    ++examples;
    const Finished run = heed_test::run(
        {{"/bin/sh", "-c", it->str(1)}, folder.path, "", {{"PATH", (folder / "bin").string()}}});
    INFO(it->str() << run.out << run.err);
    CHECK(run.code == 0);
    const Words printed = words_of(run.out), expected = words_of(it->str(2));
    CHECK(std::search(printed.begin(), printed.end(), expected.begin(), expected.end(),
                      near_word) != printed.end());
  }
  CHECK(examples == 4);
}
