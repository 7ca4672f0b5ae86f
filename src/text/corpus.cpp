// corpus.cpp: Corpus validates a text once and encodes windows of it on demand.

#include "heed/text/corpus.hpp"

#include <algorithm>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t stride = 256;  // characters between two stored byte offsets

void check_range(std::size_t begin, std::size_t count, std::size_t size) {
  if (begin > size || count > size - begin)
    throw_error("corpus: cannot read ", count, " tokens from position ", begin, "; it has ", size);
}

std::uint32_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

void check_bytes(std::string_view text, const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < text.size(); ++i) vocabulary.id(byte_at(text, i));
}

// Checks the next `stride` characters, or fewer at the end of the text, and advances the byte
// offset `at` past them. Returns their number.
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
    throw_error("corpus: the vocabulary has words; give one of characters or bytes");
  if (vocabulary_.unit() == Unit::byte)
    check_bytes(text_, vocabulary_), size_ = text_.size();
  else
    index_positions();
}

void Corpus::index_positions() {
  offsets_.reserve(text_.size() / stride + 1);
  for (std::size_t at = 0; at < text_.size();) {
    offsets_.push_back(at);
    size_ += check_stride(text_, at, vocabulary_);
  }
  if (size_ == text_.size()) offsets_ = {};
}

std::size_t Corpus::byte_offset(std::size_t position) const {
  std::size_t offset = offsets_[position / stride];
  for (std::size_t i = position % stride; i > 0; --i) next_code_point(text_, offset);
  return offset;
}

void Corpus::copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const {
  check_range(begin, count, size());
  if (count == 0) return;
  std::size_t at = offsets_.empty() ? begin : byte_offset(begin);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = vocabulary_.find(offsets_.empty() ? byte_at(text_, at++) : next_code_point(text_, at));
}

Indices Corpus::ids(std::size_t begin, std::size_t count) const {
  check_range(begin, count, size());
  Indices result = Indices::from_shape({count});
  copy_ids(begin, count, result.data());
  return result;
}

}  // namespace HEED_NAMESPACE
