// tildes.hpp: the run of docs/back-in-time.md, on the play with a line of tildes in it.
#pragma once

#include <regex>

#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"

namespace heed_test {

// Trains the run runs/tildes, which meets the tildes in step 399, with the page's options.
inline void train_tildes(const Sandbox& sandbox) {
  const std::vector<std::string> lines =
      heed::split(content(HEED_SOURCE_DIR "/data/harbour.txt"), '\n');
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == 1000) text += std::string(30, '~') + "\n";
    text += lines[i] + (i + 1 < lines.size() ? "\n" : "");
  }
  put(sandbox / "tildes.txt", text);
  const Finished trained = sandbox.heed(
      {"train",   "tildes.txt", "--record",     "50",   "--layers",     "1", "--embed-dim",    "16",
       "--heads", "2",          "--block-size", "32",   "--batch-size", "4", "--eval-batches", "1",
       "--steps", "800",        "--lr",         "0.01", "--seed",       "21"});
  REQUIRE(trained.code == 0);
}

// The output up to the window of tildes, with one # for each number, because the last digits depend
// on the processor.
inline std::string up_to_tildes(const std::string& output) {
  const std::string text = output.substr(0, output.find("~~~~\"\n"));
  return std::regex_replace(std::regex_replace(text, std::regex("[0-9.]+(e-[0-9]+)?"), "#"),
                            std::regex(" +"), " ");
}

// What docs/back-in-time.md shows below a command.
inline std::string documented(const std::string& command) {
  const std::string page = content(HEED_SOURCE_DIR "/docs/back-in-time.md"), line = command + "\n";
  const std::size_t begin = page.find(line);
  INFO(command);
  REQUIRE(begin != std::string::npos);
  return page.substr(begin + line.size());
}

}  // namespace heed_test
