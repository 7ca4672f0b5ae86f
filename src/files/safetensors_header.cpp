// safetensors_header.cpp: a strict parser and a writer for safetensors headers.

#include "files/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::string_view metadata_name = "__metadata__";
constexpr std::array<std::string_view, 3> fields{"dtype", "shape", "data_offsets"};
enum HeaderField : std::size_t { dtype, shape, data_offsets };
// The maximum number of axes limits the memory for a shape: an axis can take only 2 bytes in the
// file ("1,") but takes 8 bytes in memory.
constexpr std::size_t max_rank = 64;

// The number of bytes per element of a dtype; 0 for an unknown dtype.
std::size_t element_size(std::string_view name) {
  static constexpr std::pair<std::string_view, std::size_t> sizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"F64", 8}, {"I64", 8},     {"U64", 8}};
  for (const auto& [known, size] : sizes)
    if (known == name) return size;
  return 0;
}

struct Entry : StoredTensor {
  std::array<bool, fields.size()> has_field{};
  std::vector<std::size_t> offsets;
};

// The number of bytes of a tensor with this shape, or nullopt if it is 2^63 or more. The overflow
// check skips sizes of 0, so that it does not depend on the order of the sizes.
std::optional<std::size_t> byte_count(const std::vector<std::size_t>& sizes,
                                      std::size_t bytes_each) {
  constexpr std::size_t limit = std::numeric_limits<std::int64_t>::max();
  std::size_t bytes = bytes_each;
  for (const std::size_t size : sizes) {
    if (size == 0) continue;
    if (bytes > limit / size) return std::nullopt;
    bytes *= size;
  }
  return std::count(sizes.begin(), sizes.end(), std::size_t{0}) > 0 ? 0 : bytes;
}

// Throws at the first part of the header that the format does not allow. More than three nested
// levels (header, tensor, list) are an error.
class HeaderReader : public JsonEvents {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  void start_object() override {
    if (state_ == State::start) {
      state_ = State::header;
    } else if (state_ != State::header) {
      throw_unexpected_value("an object");
    } else if (key_ == metadata_name) {
      if (std::exchange(has_metadata_, true))
        throw_error(file_, ": ", metadata_name, " appears twice");
      state_ = State::metadata;
    } else {
      entries.emplace_back().name = std::move(key_);
      state_ = State::tensor;
    }
  }

  void end_object() override {
    if (state_ == State::tensor) check(entries.back());
    state_ = State::header;
  }

  void start_list() override {
    if (state_ != State::tensor || field_ == dtype) throw_unexpected_value("a list");
    state_ = field_ == shape ? State::shape : State::offsets;
  }

  void end_list() override { state_ = State::tensor; }

  void key(std::string& text) override {
    if (state_ == State::tensor) return enter_field(text);
    if (state_ == State::metadata && metadata.count(text) != 0)
      throw_error(file_, ": ", metadata_name, " has the key ", in_quotes(text), " twice");
    key_ = std::move(text);
  }

  void string(std::string& text) override {
    if (state_ == State::metadata)
      metadata.emplace(key_, std::move(text));
    else if (state_ == State::tensor && field_ == dtype)
      entries.back().dtype = std::move(text);
    else
      throw_unexpected_value("the string " + in_quotes(text));
  }

  void number(std::uint64_t value) override {
    if (state_ == State::shape) return add(entries.back().shape, value, max_rank);
    if (state_ == State::offsets) return add(entries.back().offsets, value, 2);
    throw_unexpected_value(std::to_string(value));
  }

  void other(const Json&, const std::string& shown) override { throw_unexpected_value(shown); }

  Metadata metadata;
  std::vector<Entry> entries;  // the tensors, in the order of the header

 private:
  enum class State { start, header, metadata, tensor, shape, offsets };

  void enter_field(const std::string& text) {
    const auto found = std::find(fields.begin(), fields.end(), text);
    if (found == fields.end()) throw_tensor_error("unknown field ", in_quotes(text));
    field_ = static_cast<std::size_t>(found - fields.begin());
    if (std::exchange(entries.back().has_field[field_], true))
      throw_tensor_error("the field ", in_quotes(text), " appears twice");
  }

  void add(std::vector<std::size_t>& list, std::uint64_t value, std::size_t max_size) {
    if (list.size() == max_size)
      throw_tensor_error(fields[field_], " has more than ", max_size, " numbers");
    list.push_back(value);
  }

  void check(Entry& entry) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (!entry.has_field[i]) throw_tensor_error("the field '", fields[i], "' is missing");
    const std::size_t bytes_each = element_size(entry.dtype);
    if (bytes_each == 0) throw_tensor_error("unknown dtype ", in_quotes(entry.dtype));
    if (entry.offsets.size() != 2)
      throw_tensor_error("data_offsets has ", entry.offsets.size(), " numbers, not 2");
    const auto sizes = [&] { return str(Shape(entry.shape.begin(), entry.shape.end())); };
    const std::optional<std::size_t> bytes = byte_count(entry.shape, bytes_each);
    if (!bytes)
      throw_tensor_error("shape ", sizes(), " of ", entry.dtype, " takes 2^63 bytes or more");
    const auto [begin, end] = std::pair(entry.offsets[0], entry.offsets[1]);
    if (begin > end || end - begin != *bytes)
      throw_tensor_error("shape ", sizes(), " of ", entry.dtype, " takes ", *bytes,
                         " bytes, but data_offsets are ", std::to_string(begin), " to ",
                         std::to_string(end));
    entry.bytes = *bytes;
  }

  template <class... Parts>
  [[noreturn]] void throw_tensor_error(const Parts&... parts) const {
    throw_error(file_, ": tensor ", in_quotes(entries.back().name), ": ", parts...);
  }

  [[noreturn]] void throw_unexpected_value(const std::string& value) const {
    if (state_ == State::header)
      throw_error(file_, ": ", in_quotes(key_), " must be an object, not ", value);
    if (state_ == State::metadata)
      throw_error(file_, ": ", metadata_name, " must map strings to strings: ", in_quotes(key_),
                  " is ", value);
    if (state_ == State::tensor) throw_tensor_error(fields[field_], " cannot be ", value);
    throw_tensor_error(fields[field_], " must hold whole numbers from 0 to 2^64 - 1, not ", value);
  }

  const std::string& file_;
  State state_ = State::start;
  std::string key_;        // the last key read in the header or its metadata
  std::size_t field_ = 0;  // the last key read in a tensor's entry, as an index of `fields`
  bool has_metadata_ = false;
};

void check_unique_names(const std::vector<Entry>& entries, const std::string& file) {
  std::multiset<std::string_view> names;
  for (const Entry& entry : entries) names.insert(entry.name);
  const auto duplicate = std::adjacent_find(names.begin(), names.end());
  if (duplicate != names.end())
    throw_error(file, ": two tensors are named ", in_quotes(*duplicate));
}

// Sorts the tensors by offset, and checks that there are no gaps between the tensors.
void sort_contiguous(std::vector<Entry>& entries, const std::string& file) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  std::size_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.offsets[0] != end)
      throw_error(file, ": tensor ", in_quotes(entry.name), ": data_offsets begin at ",
                  entry.offsets[0],
                  entry.offsets[0] < end ? ", inside the previous tensor, which ends at "
                                         : ", after a gap that begins at ",
                  end);
    end = entry.offsets[1];
  }
}

void check_padding(std::string_view text, const std::string& file) {
  if (text.find('\0') != text.npos)  // the JSON parser would stop at a zero byte
    throw_error(file, ": the header has a zero byte at ", text.find('\0'));
  if (text.substr(0, 1) != "{") throw_error(file, ": the header does not begin with {");
  const char last = text[text.find_last_not_of(' ')];
  if (last != '}')
    throw_error(file, ": the header ends in ", in_quotes({&last, 1}),
                "; only spaces may follow its }");
}

std::string quoted(const std::string& text, const std::string& file) {
  if (!is_utf8(text))
    throw_error(file, ": ", in_quotes(Json(text).dump(-1, /*ascii=*/true)), " is not valid UTF-8");
  return Json(text).dump();
}

}  // namespace

std::size_t bytes_of(const std::vector<StoredTensor>& tensors) {
  std::size_t bytes = 0;
  for (const StoredTensor& tensor : tensors) bytes += tensor.bytes;
  return bytes;
}

SafetensorsFile parse_header(std::string_view text, const std::string& path) {
  check_padding(text, path);
  HeaderReader reader(path);
  try {
    read_json(text, reader);
  } catch (const JsonError& error) {
    throw_error(path, ": the header is not valid JSON in UTF-8 at its byte ", error.byte);
  }
  check_unique_names(reader.entries, path);
  sort_contiguous(reader.entries, path);
  SafetensorsFile file;
  file.path = path;
  file.metadata = std::move(reader.metadata);
  file.tensors.assign(std::make_move_iterator(reader.entries.begin()),
                      std::make_move_iterator(reader.entries.end()));
  return file;
}

std::string header_text(const Metadata& metadata, const std::vector<StoredTensor>& tensors,
                        const std::string& path) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : metadata)
    pairs.push_back(quoted(key, path) + ":" + quoted(value, path));
  std::string text = "{\"__metadata__\":{" + joined(pairs, ",") + "}";
  std::size_t begin = 0;
  for (const StoredTensor& tensor : tensors) {
    const std::size_t end = begin + tensor.bytes;
    text += "," + quoted(tensor.name, path) + ":{\"dtype\":" + quoted(tensor.dtype, path) +
            ",\"shape\":" + Json(tensor.shape).dump() +
            ",\"data_offsets\":" + Json({begin, end}).dump() + "}";
    begin = end;
  }
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace HEED_NAMESPACE
