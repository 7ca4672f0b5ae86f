// arrays_page_test.cpp: docs/arrays.md has the code of arrays_page.cpp, and its comments are what
// the code computes.

#include "lessons/programs.hpp"
#include "readme.hpp"

using namespace heed_test;

TEST_CASE("the code of docs/arrays.md computes what its comments say", "[lessons][readme]") {
  const std::string page = content(project / "docs/arrays.md");
  const std::string source = content(HEED_TESTS_DIR "/lessons/arrays_page.cpp");
  const std::vector<std::string> blocks = matches(page, "\n```cpp\n([^`]*)```\n");
  CHECK(blocks.size() == 2);
  std::string computed;
  for (const std::string& block : blocks)
    for (const std::string& line : heed::lines_of(block)) {
      INFO(line);
      if (!line.empty()) CHECK(has(source, "\n  " + line + "\n"));
      std::smatch match;
      const std::regex variable("(?:Array|Real|double) ([a-z]+) = .*; +// (\\{.*\\}|[0-9]+)(:.*)?");
      if (std::regex_match(line, match, variable))
        computed += match[1].str() + " = " + match[2].str() + "\n";
    }
  const ScratchFolder folder;
  CHECK(run_in(folder.path, HEED_BINARY_DIR "/tests/heed_arrays_page").output == computed);
  CHECK(heed::lines_of(page).size() < 62);  // one screen
}
