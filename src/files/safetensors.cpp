// safetensors.cpp: reading and writing safetensors files.

#include "heed/files/safetensors.hpp"

#include <cstdint>
#include <utility>

#include "base/machine.hpp"
#include "files/dtypes.hpp"
#include "files/safetensors_checksum.hpp"
#include "files/safetensors_header.hpp"
#include "files/safetensors_reader.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

#ifdef __BYTE_ORDER__
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "safetensors files are little-endian, and heed does not swap bytes");
#endif

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
  check_dtype(where, tensor);
  Array x = uninitialized(Shape(tensor.shape.begin(), tensor.shape.end()));
  convert(tensor.dtype, tensor.data, x.size(), x.data());
  check_numbers(where, tensor.dtype, tensor.data, 0, x.size(), x.data(),
                /*only_finite=*/false);
  return x;
}

SafetensorsFile read_safetensors(const std::filesystem::path& path) {
  check_memory(static_cast<double>(InputFile(path).size()), path.string() + ": has");
  return SafetensorsReader(path).in_memory();
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
  if (header.size() > max_header_bytes)
    throw_error(path.string(), ": the header would take ", header.size(), " bytes, the limit is ",
                max_header_bytes);
  parse_header(header, path.string());  // rejects a header that read_safetensors would reject
  return header;
}

void check_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors) {
  const std::string header = checked_header(path, std::move(metadata), tensors);
  // Without commit(), the file stays as it is.
  AtomicFile(path).write(header.data(), header.size());
}

void write_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors) {
  AtomicFile file(path);
  for (const StoredTensor& tensor : tensors)
    if (tensor.data == nullptr && tensor.bytes != 0)
      throw_error(path.string(), ": tensor ", in_quotes(tensor.name),
                  " has no numbers, only their description; read them first");
  std::string header = checked_header(path, std::move(metadata), tensors);
  fill_checksum(header, tensors);
  const std::uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const StoredTensor& tensor : tensors) file.write(tensor.data, tensor.bytes);
  file.commit();
}

}  // namespace HEED_NAMESPACE
