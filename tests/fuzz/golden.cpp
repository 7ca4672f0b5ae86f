// golden.cpp: any text is a golden file or refused with the number of a line.

#include "fuzz.hpp"
#include "golden/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    for (const golden::Case& c : golden::Reader(in, "file").read())
      for (const auto* list : {&c.in, &c.out, &c.up, &c.grad})
        for (const golden::Numbers& numbers : *list) {
          std::size_t count = numbers.none ? 0 : 1;
          for (const std::size_t n : numbers.shape) count *= n;
          heed_fuzz::expect(numbers.values.size() == count, "as many values as the sizes say");
        }
  } catch (const std::runtime_error& error) {
    heed_fuzz::expect(std::string(error.what()).rfind("file:", 0) == 0, "an error names the line");
  }
  return 0;
}
