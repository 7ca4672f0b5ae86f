// corpus.cpp: Corpus (validates a text once, encodes windows on demand) and random batches.

#include "heed/text/corpus.hpp"

#include <algorithm>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t stride = 256;  // number of characters between two stored byte offsets

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

// Throws Error if one of the next `stride` characters (fewer at the end of the text) is invalid or
// not in the vocabulary. Advances the byte offset `at` past the characters, and counts them.
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

void check_sizes(const Split& part, std::size_t batch_size, std::size_t block_size) {
  if (batch_size == 0) throw_error("batches: batch size is 0; give at least 1");
  if (block_size == 0) throw_error("batches: block size is 0; give at least 1");
  if (part.size > block_size) return;
  const std::size_t total = part.corpus->size();
  throw_error("the ", part.name, " split has ", part.size, " of the text's ", total,
              total == 1 ? " token" : " tokens", ", too few for block size ", block_size,
              "; give a longer text or a smaller block size");
}

}  // namespace

std::size_t training_bytes(std::string_view text) {
  std::size_t end = text.size() / 10 * 9 + text.size() % 10 * 9 / 10;
  for (int back = 0; back < 3 && end > 0 && (text[end] & 0xc0) == 0x80; ++back) --end;
  return end;
}

Corpus::Corpus(std::string text, Vocabulary vocabulary)
    : text_(std::move(text)), vocabulary_(std::move(vocabulary)) {
  if (vocabulary_.unit() == Unit::word || vocabulary_.unit() == Unit::word_piece)
    throw_error("corpus: the vocabulary is word-level; give a character-level or byte-level one");
  if (has_merges(vocabulary_.unit())) {
    const auto append = [&](std::string_view part) {
      const std::vector<std::int64_t> ids = vocabulary_.encode(part);
      ids_.insert(ids_.end(), ids.begin(), ids.end());
    };
    append(training_text());
    train_size_ = ids_.size();
    append(std::string_view(text_).substr(training_text().size()));
    size_ = ids_.size();
    return;
  }
  if (vocabulary_.unit() == Unit::byte) {
    check_bytes(text_, vocabulary_);
    size_ = text_.size();
  } else {
    read_characters();
  }
  train_size_ = size_ / 10 * 9 + size_ % 10 * 9 / 10;
}

void Corpus::read_characters() {
  offsets_.reserve(text_.size() / stride + 1);
  for (std::size_t at = 0; at < text_.size();) {
    offsets_.push_back(at);
    size_ += check_stride(text_, at, vocabulary_);
  }
  if (size_ == text_.size()) offsets_ = {};
}

std::string_view Corpus::training_text() const {
  return std::string_view(text_).substr(0, has_merges(vocabulary_.unit()) ? training_bytes(text_)
                                           : offsets_.empty()             ? train_size_
                                                              : byte_offset(train_size_));
}

std::size_t Corpus::byte_offset(std::size_t position) const {
  std::size_t offset = offsets_[position / stride];
  for (std::size_t i = position % stride; i > 0; --i) next_code_point(text_, offset);
  return offset;
}

void Corpus::copy_ids(std::size_t begin, std::size_t count, std::int64_t* out) const {
  check_range(begin, count, size());
  if (count == 0) return;
  if (!ids_.empty()) {
    std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(begin), count, out);
    return;
  }
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

Batch random_batch(const Split& part, std::size_t batch_size, std::size_t block_size,
                   Generator& generator) {
  check_sizes(part, batch_size, block_size);
  const std::int64_t num_starts = static_cast<std::int64_t>(part.size - block_size);
  const Indices starts = generator.randint(0, num_starts, {batch_size});  // (B)
  const Shape shape = {batch_size, block_size};
  Batch batch{Indices::from_shape(shape), Indices::from_shape(shape)};
  for (std::size_t b = 0; b < batch_size; ++b) {
    const std::size_t start = part.begin + static_cast<std::size_t>(starts(b));
    part.corpus->copy_ids(start, block_size, batch.inputs.data() + b * block_size);
    part.corpus->copy_ids(start + 1, block_size, batch.targets.data() + b * block_size);
  }
  return batch;
}

Batches::Batches(const Split& part, std::size_t batch_size, std::size_t block_size,
                 std::uint64_t seed)
    : part_(part), batch_size_(batch_size), block_size_(block_size), generator_(seed) {
  check_sizes(part_, batch_size_, block_size_);
}

}  // namespace HEED_NAMESPACE
