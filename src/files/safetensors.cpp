// safetensors.cpp: reading and writing safetensors files.

#include "heed/files/safetensors.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/machine.hpp"
#include "files/dtypes.hpp"
#include "files/parts.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

#ifdef __BYTE_ORDER__
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "safetensors files are little-endian, and heed does not swap bytes");
#endif

constexpr std::uint64_t max_header = 100'000'000;  // the format's limit for the header, in bytes

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
  if (length > max_header || (size < prefix_bytes && is_text(start)))
    throw_not_safetensors(file, start, claim + ", the limit is " + std::to_string(max_header));
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

}  // namespace

void check_memory(std::size_t bytes, const std::string& what) {
  const auto available = std::min(usable_memory(), usable_addresses());
  if (bytes > available)
    throw_error(what, " ", grouped(static_cast<double>(bytes)), " bytes, but only ",
                grouped(static_cast<double>(available)), " bytes of memory are available");
}

std::string read_header(const InputFile& input, const std::string& file) {
  const std::size_t size = input.size();
  std::string start(std::min<std::size_t>(size, 64), '\0');
  input.read(0, start.data(), start.size());
  std::string header(header_length(start, size, file), '\0');
  input.read(prefix_bytes, header.data(), header.size());
  return header;
}

void check_data_size(std::size_t stored, const SafetensorsFile& file) {
  std::size_t bytes = 0;  // no overflow: parse_header has checked that the offsets are contiguous
  for (const StoredTensor& tensor : file.tensors) bytes += tensor.bytes;
  if (bytes > stored)
    throw_error(file.path, ": truncated: the tensors take ", bytes, " bytes, the file has ",
                stored);
  if (bytes < stored)
    throw_error(file.path, ": left over after the last tensor: ", stored - bytes,
                stored - bytes == 1 ? " byte" : " bytes");
}

namespace {

// Reads the tensors' bytes into memory. A memory mapping would be less safe: another process could
// change the file after its checksum was checked.
void read_data(const InputFile& input, std::size_t offset, SafetensorsFile& file) {
  const std::size_t bytes = input.size() - offset;
  check_data_size(bytes, file);
  file.data.reset(new unsigned char[bytes]);  // make_unique would first fill the memory with zeros
  input.read(offset, file.data.get(), bytes);
  const unsigned char* next = file.data.get();
  for (StoredTensor& tensor : file.tensors) {
    tensor.data = next;
    next += tensor.bytes;
  }
}

template <class Stored>
Array converted(const StoredTensor& tensor, const std::string& name) {
  Array x = uninitialized(Shape(tensor.shape.begin(), tensor.shape.end()));
  if (x.size() * sizeof(Stored) != tensor.bytes)
    throw_error(name, ": its shape ", str(x.shape()), " takes ", x.size() * sizeof(Stored),
                " bytes in ", tensor.dtype, ", but it has ", tensor.bytes, " bytes");
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = number_at<Stored>(tensor.data, i);
    check_magnitude(name, i, value);
    x.data()[i] = static_cast<Real>(value);
  }
  return x;
}

}  // namespace

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  for (const StoredTensor& tensor : tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

std::unordered_map<std::string_view, const StoredTensor*> SafetensorsFile::by_name() const {
  std::unordered_map<std::string_view, const StoredTensor*> index;
  for (const StoredTensor& tensor : tensors) index.emplace(tensor.name, &tensor);
  return index;
}

Array SafetensorsFile::array(std::string_view name) const {
  const StoredTensor* const tensor = find(name);
  if (tensor == nullptr) throw_error(path, ": no tensor ", in_quotes(name));
  return array(*tensor);
}

Array SafetensorsFile::array(const StoredTensor& tensor) const {
  const std::string where = path + ": tensor " + in_quotes(tensor.name);
  if (tensor.data == nullptr && tensor.bytes != 0)
    throw_error(where, ": only the header of the file was read, not its numbers");
  check_dtype(where, tensor.dtype);
  Array values;
  with_type(tensor.dtype, [&](auto x) { values = converted<decltype(x)>(tensor, where); });
  return values;
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  const InputFile input(path);
  check_memory(input.size(), path.string() + ": has");
  const std::string header = read_header(input, path.string());
  check_header_sum(header, path.string());
  SafetensorsFile file = parse_header(header, path.string());
  read_data(input, prefix_bytes + header.size(), file);
  file.has_checksum = check_data_sum(header, file, data_sum(file.tensors));
  return file;
}

StoredTensor stored_tensor(std::string name, const Array& x) {
  return {std::move(name), real_dtype, std::vector<std::size_t>(x.shape().begin(), x.shape().end()),
          reinterpret_cast<const unsigned char*>(x.data()), x.size() * sizeof(Real)};
}

// The header of a file, with a placeholder for the checksum.
static std::string checked_header(const std::filesystem::path& path, Metadata metadata,
                                  const std::vector<StoredTensor>& tensors) {
  announce_checksum(metadata);
  const std::string header = header_text(metadata, tensors, path.string());
  if (header.size() > max_header)
    throw_error(path.string(), ": the header would take ", header.size(), " bytes, the limit is ",
                max_header);
  parse_header(header, path.string());  // rejects a header that read_safetensors would reject
  return header;
}

void check_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors) {
  const std::string header = checked_header(path, std::move(metadata), tensors);
  AtomicFile(path).write(header.data(),
                         header.size());  // without commit(), the file stays as it is
}

void write_safetensors(AtomicFile& file, Metadata metadata,
                       const std::vector<StoredTensor>& tensors) {
  for (const StoredTensor& tensor : tensors)
    if (tensor.data == nullptr && tensor.bytes != 0)
      throw_error(file.path().string(), ": tensor ", in_quotes(tensor.name),
                  " has no numbers, only their description; read them first");
  std::string header = checked_header(file.path(), std::move(metadata), tensors);
  fill_checksum(header, tensors);
  const std::uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const StoredTensor& tensor : tensors) file.write(tensor.data, tensor.bytes);
}

void write_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors) {
  AtomicFile file(path);
  write_safetensors(file, std::move(metadata), tensors);
  file.commit();
}

}  // namespace HEED_NAMESPACE
