// options.cpp: fuzz test of the command line: each line of input is an argument of heed.

#include <string>
#include <vector>

#include "commands/command_line.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::vector<std::string> arguments{""};
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n')
      arguments.emplace_back();
    else if (data[i] != 0)  // an argument cannot contain a null byte
      arguments.back() += static_cast<char>(data[i]);
  }
  try {
    heed::app::parse_command_line(arguments);
  } catch (const heed::app::UsageError& error) {
    const std::string text = error.what();
    heed_fuzz::expect(!text.empty() && text.size() < 400, "an error has at most a few lines");
  }
  return 0;
}
