// stories260k_test.cpp: stories260K, a small Llama that writes English (README.md of this folder).

#include "commands/heed_program.hpp"
#include "foreign/folder.hpp"

using namespace heed_test;

TEST_CASE("200 greedy tokens of stories260K are the published text", "[foreign][stories260k]") {
  const std::filesystem::path model = foreign("stories260K", "stories260K.bin");
  if (model.empty()) return;
  const std::filesystem::path folder = model.parent_path();
  const std::string expected = content(folder / "expected.txt") + "\n";
  const Sandbox sandbox;
  const Finished imported = sandbox.heed({"import", model.string(), "--tokenizer",
                                          (folder / "tok512.bin").string(), "--out", "stories"});
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  const Arguments greedy = {"sample", "stories", "--tokens", "200", "--temperature", "0"};
  for (const char* threads : {"1", "2", "4"}) {
    CHECK(sandbox.heed(greedy + Arguments{"--threads", threads}).out == expected);
    CHECK(sandbox.heed(greedy + Arguments{"--threads", threads, "--no-cache"}).out == expected);
  }
  std::cout << "stories260k: 6 of 6 texts are equal\n";
}
