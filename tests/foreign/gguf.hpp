// gguf.hpp: reads the metadata of a GGUF file, in which llama.cpp keeps a model or a vocabulary.
//
// The file begins with "GGUF", a version and the numbers of tensors and of metadata entries. An
// entry is a key, a type and a value. Everything is little-endian; a text follows its length.
#pragma once

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heed_test {

// The metadata by key. A single value is a list of one.
struct Gguf {
  explicit Gguf(std::string_view file) : rest_(file) {
    if (take(4) != "GGUF") throw std::runtime_error("not a GGUF file");
    integer(4);  // the version
    integer(8);  // the number of tensors
    for (std::size_t entries = integer(8); entries > 0; --entries) {
      const std::string key = text();
      read_value(key, integer(4));
    }
  }

  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, std::vector<std::size_t>> integers;
  std::map<std::string, std::vector<float>> floats;

 private:
  void read_value(const std::string& key, std::size_t type) {
    static constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type >= std::size(sizes)) throw std::runtime_error("an unknown type");
    if (type == 8) {
      texts[key].push_back(text());
    } else if (type == 9) {
      const std::size_t type_of_elements = integer(4);
      for (std::size_t n = integer(8); n > 0; --n) read_value(key, type_of_elements);
    } else if (type == 6) {
      float number;
      std::memcpy(&number, take(4).data(), 4);
      floats[key].push_back(number);
    } else {
      integers[key].push_back(integer(sizes[type]));
    }
  }

  std::string_view take(std::size_t bytes) {
    if (bytes > rest_.size()) throw std::runtime_error("the file ends too early");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::size_t integer(std::size_t bytes) {
    std::size_t value = 0;
    std::memcpy(&value, take(bytes).data(), bytes);
    return value;
  }
  std::string text() { return std::string(take(integer(8))); }

  std::string_view rest_;
};

}  // namespace heed_test
