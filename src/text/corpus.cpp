// corpus.cpp: every symbol looked up once and kept in the fewest bytes that hold its id.

#include "heed/text/corpus.hpp"

#include <algorithm>

#include "heed/array/error.hpp"
#include "heed/text/utf8.hpp"

namespace heed {
namespace {

template <class Id>
std::vector<Id> encoded(std::string_view text, const Vocabulary& vocabulary) {
  const bool bytes = vocabulary.unit() == Unit::byte;
  std::vector<Id> ids(bytes ? text.size() : count_code_points(text));
  Id* next = ids.data();
  const auto put = [&](std::uint32_t symbol) { *next++ = static_cast<Id>(vocabulary.id(symbol)); };
  if (bytes)
    for (const char byte : text) put(static_cast<unsigned char>(byte));
  else
    for_each_code_point(text, put);
  return ids;
}

void check_range(std::size_t begin, std::size_t count, std::size_t size) {
  if (begin > size || count > size - begin)
    refuse("corpus: ", count, " symbols from ", begin, " on reach past the end of ", size);
}

}  // namespace

Corpus::Corpus(std::string_view text, const Vocabulary& vocabulary) {
  if (vocabulary.size() <= 0x100)
    ids_ = encoded<std::uint8_t>(text, vocabulary);
  else if (vocabulary.size() <= 0x10000)
    ids_ = encoded<std::uint16_t>(text, vocabulary);
  else
    ids_ = encoded<std::uint32_t>(text, vocabulary);
}

std::size_t Corpus::size() const {
  return std::visit([](const auto& ids) { return ids.size(); }, ids_);
}

std::size_t Corpus::bytes_per_symbol() const {
  return std::visit([](const auto& ids) { return sizeof ids[0]; }, ids_);
}

void Corpus::copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const {
  check_range(begin, count, size());
  const auto copy = [&](const auto& ids) { std::copy_n(ids.data() + begin, count, out); };
  std::visit(copy, ids_);
}

Indices Corpus::ids(std::size_t begin, std::size_t count) const {
  check_range(begin, count, size());
  Indices result = Indices::from_shape({count});
  copy_ids(begin, count, result.data());
  return result;
}

}  // namespace heed
