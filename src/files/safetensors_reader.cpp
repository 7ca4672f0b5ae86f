// safetensors_reader.cpp: opens safetensors files and reads their tensors piece by piece.

#include "files/safetensors_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "files/dtypes.hpp"
#include "files/safetensors_checksum.hpp"
#include "files/safetensors_header.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t piece_elements = 65536;

bool is_text(std::string_view start) {
  const auto is_text_byte = [](unsigned char c) {
    return (c >= 0x20 && c != 0x7f && c <= 0xf4) || c == '\n' || c == '\r' || c == '\t';
  };
  return start.size() >= 3 && std::all_of(start.begin(), start.end(), is_text_byte);
}

// Guesses the format of a file from its first bytes; returns "" if the format is unknown.
std::string_view guessed_kind(std::string_view start) {
  static constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"PK\3\4", "a zip archive, such as torch.save writes"},
      {"\x80\2", "a Python pickle"},
      {"\x80\3", "a Python pickle"},
      {"\x80\4", "a Python pickle"},
      {"\x80\5", "a Python pickle"},
      {"\x93NUMPY", "a NumPy array"},
      {"\x89PNG", "a PNG image"},
      {"\x89HDF", "an HDF5 file"},
      {"\x1f\x8b", "a gzip archive"},
      {"GGUF", "a GGUF file"},
      {"version https://git-lfs", "a Git LFS pointer; git lfs pull fetches the file itself"},
      {"<", "a web page"}};
  for (const auto& [magic, kind] : kinds)
    if (start.substr(0, magic.size()) == magic) return kind;
  if (start.find_first_not_of('\0') == start.npos)
    return "a file that contains only zeros, possibly after a crash";
  return is_text(start) ? "text" : "";
}

[[noreturn]] void throw_not_safetensors(const std::string& file, std::string_view start,
                                        const std::string& fallback) {
  const std::string_view kind = guessed_kind(start);
  throw NotSafetensors(file, "not a safetensors file: " +
                                 (kind.empty() ? fallback : "it looks like " + std::string(kind)));
}

// Reads the header length from `start`, the first 64 bytes of the file or fewer. A truncated
// safetensors file still begins with a plausible header length; other formats rarely do.
std::size_t header_length(std::string_view start, std::size_t size, const std::string& file) {
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), std::min(start.size(), prefix_bytes));
  const std::string claim = "its header length is " + std::to_string(length) + " bytes";
  if (length > max_header_bytes || (size < prefix_bytes && is_text(start)))
    throw_not_safetensors(file, start,
                          claim + ", the limit is " + std::to_string(max_header_bytes));
  if (size < prefix_bytes)
    throw_error(file, ": truncated: the file has ", size, " bytes, the header length takes 8");
  if (length == 0) throw_not_safetensors(file, start, claim);
  if (size > prefix_bytes && start[prefix_bytes] != '{')
    throw_not_safetensors(file, start, "its header does not begin with {");
  if (length > size - prefix_bytes)
    throw_error(file, ": truncated: the header takes ", length, " bytes, the file has ",
                size - prefix_bytes);
  return static_cast<std::size_t>(length);
}

std::string read_header(const InputFile& input, const std::string& file) {
  const std::size_t size = input.size();
  std::string start(std::min<std::size_t>(size, 64), '\0');
  input.read(0, start.data(), start.size());
  std::string header(header_length(start, size, file), '\0');
  input.read(prefix_bytes, header.data(), header.size());
  return header;
}

// Throws Error unless the tensors take `stored` bytes, the number of bytes after the header.
void check_data_size(std::size_t stored, const SafetensorsFile& file) {
  const std::size_t bytes = bytes_of(file.tensors);
  if (bytes > stored)
    throw_error(file.path, ": truncated: the tensors take ", bytes, " bytes, the file has ",
                stored);
  if (bytes < stored)
    throw_error(file.path, ": left over after the last tensor: ", stored - bytes,
                stored - bytes == 1 ? " byte" : " bytes");
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path)
    : input_(std::make_shared<InputFile>(path)), header_text_(read_header(*input_, path.string())) {
  check_header_sum(header_text_, path.string());
  SafetensorsFile header = parse_header(header_text_, path.string());
  std::size_t offset = prefix_bytes + header_text_.size();
  check_data_size(input_->size() - offset, header);
  header.has_checksum = promises_checksum(header);
  for (const StoredTensor& tensor : header.tensors) {
    offsets_.push_back(offset);
    offset += tensor.bytes;
  }
  header_ = std::make_shared<const SafetensorsFile>(std::move(header));
}

SafetensorsReader::SafetensorsReader(std::shared_ptr<const SafetensorsFile> file)
    : header_(std::move(file)) {}

std::string SafetensorsReader::name(std::size_t index) const {
  if (index >= tensors().size())
    throw_error(path(), ": has no tensor ", index, ", only ", tensors().size());
  return path() + ": tensor " + in_quotes(tensors()[index].name);
}

void SafetensorsReader::check_dtype(std::size_t index) const {
  const std::string where = name(index);  // throws if there is no such tensor
  HEED_NAMESPACE::check_dtype(where, tensors()[index]);
}

// Calls piece(first, bytes, count) for consecutive pieces of the elements [first, first + count),
// of `each` bytes.
void SafetensorsReader::read_pieces(std::size_t index, std::size_t first, std::size_t count,
                                    std::size_t each, const BytesPiece& piece) const {
  const StoredTensor& tensor = tensors()[index];
  if (!input_ && tensor.data == nullptr && count != 0)
    throw_error(name(index), ": only the header of the file was read, not its numbers");
  std::vector<unsigned char> bytes(input_ ? std::min(count, piece_elements) * each : 0);
  for (const std::size_t end = first + count; first < end;) {
    const std::size_t n = std::min(end - first, piece_elements);
    if (input_) input_->read(offsets_[index] + first * each, bytes.data(), n * each);
    piece(first, input_ ? bytes.data() : tensor.data + first * each, n);
    first += n;
  }
}

void SafetensorsReader::read(std::size_t index, std::size_t first, std::size_t count,
                             Real* out) const {
  check_dtype(index);
  const StoredTensor& tensor = tensors()[index];
  const std::size_t each = bytes_each(tensor.dtype), size = tensor.bytes / each;
  if (first > size || count > size - first)
    throw_error(name(index), ": has ", size, " elements, not ", first, " + ", count);
  const std::string where = name(index);
  read_pieces(index, first, count, each,
              [&](std::size_t at, const unsigned char* bytes, std::size_t n) {
                Real* const values = out + (at - first);
                convert(tensor.dtype, bytes, n, values);
                check_numbers(where, tensor.dtype, bytes, at, n, values,
                              /*only_finite=*/true);
              });
}

void SafetensorsReader::read_all(const std::function<bool(std::size_t)>& is_wanted,
                                 const Piece& piece) const {
  for (std::size_t index = 0; index < tensors().size(); ++index)
    if (is_wanted(index)) check_dtype(index);
  std::vector<Real> values(piece_elements);
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < tensors().size(); ++index) {
    const bool wanted = is_wanted(index);
    if (!wanted && !input_) continue;
    const StoredTensor& tensor = tensors()[index];
    const std::size_t each = std::max<std::size_t>(bytes_each(tensor.dtype), 1);
    Hash64 hash(sum);
    read_pieces(index, 0, tensor.bytes / each, each,
                [&](std::size_t first, const unsigned char* bytes, std::size_t n) {
                  if (input_) hash.add(bytes, n * each);
                  if (!wanted) return;
                  convert(tensor.dtype, bytes, n, values.data());
                  piece(index, first, values.data(), n);
                });
    sum = hash.value();
  }
  if (input_) check_data_sum(header_text_, header(), sum);
}

SafetensorsFile SafetensorsReader::in_memory() const {
  SafetensorsFile file;
  file.path = path();
  file.metadata = metadata();
  file.tensors = tensors();
  file.has_checksum = header().has_checksum;
  const std::size_t bytes = bytes_of(file.tensors);
  file.data.reset(new unsigned char[bytes]);  // make_unique would first fill it with zeros
  input_->read(prefix_bytes + header_text_.size(), file.data.get(), bytes);
  const unsigned char* next = file.data.get();
  for (StoredTensor& tensor : file.tensors) {
    tensor.data = next;
    next += tensor.bytes;
  }
  check_data_sum(header_text_, file, data_sum(file.tensors));
  return file;
}

}  // namespace HEED_NAMESPACE
