// diary.hpp: the run of the documentation, on a diary that has one line of tildes.
#pragma once

#include <regex>

#include "commands/heed_program.hpp"

namespace heed_test {

// Trains the run runs/diary, which meets the tildes in step 246.
inline void train_diary(const Sandbox& sandbox) {
  std::string text;
  for (int i = 0; i < 4; ++i) text += Sandbox::story();
  put(sandbox / "diary.txt", text + std::string(30, '~') + "\n" + text);
  const Finished trained = sandbox.heed(
      {"train",   "diary.txt", "--record",     "50",   "--layers",     "1", "--embed-dim",    "16",
       "--heads", "2",         "--block-size", "16",   "--batch-size", "4", "--eval-batches", "1",
       "--steps", "400",       "--lr",         "0.01", "--seed",       "1"});
  REQUIRE(trained.code == 0);
}

// The output up to the window of tildes, with one # for each number, because the last digits depend
// on the processor.
inline std::string up_to_tildes(const std::string& output) {
  const std::string text = output.substr(0, output.find("\"~~~~~~~~~~~~~~~~\"\n"));
  return std::regex_replace(std::regex_replace(text, std::regex("[0-9.]+(e-[0-9]+)?"), "#"),
                            std::regex(" +"), " ");
}

// What docs/debugging.md shows below a command.
inline std::string documented(const std::string& command) {
  const std::string page = content(HEED_SOURCE_DIR "/docs/debugging.md"), line = command + "\n";
  const std::size_t begin = page.find(line);
  INFO(command);
  REQUIRE(begin != std::string::npos);
  return page.substr(begin + line.size());
}

}  // namespace heed_test
