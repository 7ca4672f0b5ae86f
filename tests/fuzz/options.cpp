// options.cpp: any words after `heed` are a command or refused; a line of input is a word.

#include "heed/app/options.hpp"

#include <vector>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::vector<std::string> words{"heed", ""};
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n')
      words.emplace_back();
    else if (data[i] != 0)  // which no word holds
      words.back() += static_cast<char>(data[i]);
  }
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    heed::app::parse_command_line(static_cast<int>(pointers.size()), pointers.data());
  } catch (const heed::app::UsageError& error) {
    const std::string text = error.what();
    heed_fuzz::expect(!text.empty() && text.size() < 400,
                      "an error is not longer than a few lines");
    heed_fuzz::expect(text.find('\n') == text.npos, "an error is one line");
  }
  return 0;
}
