// corpus.cpp: every symbol is looked up once to see that it is known, and again for its windows.

#include "heed/text/corpus.hpp"

#include <algorithm>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/utf8.hpp"

namespace heed {
namespace {

constexpr std::size_t stride = 256;  // symbols from one place that is kept to the next

void check_range(std::size_t begin, std::size_t count, std::size_t size) {
  if (begin > size || count > size - begin)
    throw_error("corpus: ", count, " symbols from ", begin, " on reach past the end of ", size);
}

std::uint32_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

void check_bytes(std::string_view text, const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < text.size(); ++i) vocabulary.id(byte_at(text, i));
}

// Moves `at` on by `stride` characters, or to the end; returns by how many.
std::size_t check_stride(std::string_view text, std::size_t& at, const Vocabulary& vocabulary) {
  if (is_ascii(text, at, stride)) {
    check_bytes(text.substr(at, stride), vocabulary);
    at += stride;
    return stride;
  }
  std::size_t count = 0;
  for (; count < stride && at < text.size(); ++count) vocabulary.id(next_code_point(text, at));
  return count;
}

}  // namespace

Corpus::Corpus(std::string text, Vocabulary vocabulary)
    : text_(std::move(text)), vocabulary_(std::move(vocabulary)) {
  if (vocabulary_.unit() == Unit::word)
    throw_error("corpus: a text is cut into characters or bytes, not into words");
  if (vocabulary_.unit() == Unit::byte)
    check_bytes(text_, vocabulary_), size_ = text_.size();
  else
    find_places();
}

void Corpus::find_places() {
  places_.reserve(text_.size() / stride + 1);
  for (std::size_t at = 0; at < text_.size();) {
    places_.push_back(at);
    size_ += check_stride(text_, at, vocabulary_);
  }
  if (size_ == text_.size()) places_ = {};
}

std::size_t Corpus::place_of(std::size_t symbol) const {
  std::size_t place = places_[symbol / stride];
  for (std::size_t i = symbol % stride; i > 0; --i) next_code_point(text_, place);
  return place;
}

void Corpus::copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const {
  check_range(begin, count, size());
  if (count == 0) return;
  std::size_t at = places_.empty() ? begin : place_of(begin);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = vocabulary_.find(places_.empty() ? byte_at(text_, at++) : next_code_point(text_, at));
}

Indices Corpus::ids(std::size_t begin, std::size_t count) const {
  check_range(begin, count, size());
  Indices result = Indices::from_shape({count});
  copy_ids(begin, count, result.data());
  return result;
}

}  // namespace heed
