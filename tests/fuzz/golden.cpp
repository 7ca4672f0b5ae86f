// golden.cpp: fuzz test of the golden file reader, whose errors contain a line number.

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
          heed_fuzz::expect(numbers.values.size() == count, "the number of values fits the shape");
        }
  } catch (const std::runtime_error& error) {
    heed_fuzz::expect(std::string(error.what()).rfind("file:", 0) == 0,
                      "the error begins with file and line");
  }
  return 0;
}
