// safetensors.hpp: reading and writing named tensors in safetensors files, with a checksum.
//
// A safetensors file (huggingface.co/docs/safetensors) consists of the header length (8 bytes,
// little-endian), the header (a JSON object that maps names to {"dtype", "shape", "data_offsets"},
// padded with spaces), and the bytes of the tensors, without gaps and with nothing after them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/base/error.hpp"

namespace heed {
class AtomicFile;
}

namespace HEED_NAMESPACE {

using Metadata = std::map<std::string, std::string>;  // key-value pairs of "__metadata__"

// A tensor as stored in the file. `data` points into a SafetensorsFile or an Array. `data` may be
// unaligned, so copy the numbers with memcpy and never cast the pointer.
struct StoredTensor {
  std::string name;   // the name of the tensor, unique in the file
  std::string dtype;  // one of BOOL U8 I8 F8_E5M2 F8_E4M3 I16 U16 F16 BF16 I32 U32 F32 F64 I64 U64
  std::vector<std::size_t> shape;       // the sizes of the axes; () for a scalar
  const unsigned char* data = nullptr;  // the elements, row-major and little-endian
  std::size_t bytes = 0;                // number of bytes of the data
};

// A safetensors file that was read and passed all checks.
struct SafetensorsFile {
  std::string path;                       // the path of the file, for error messages
  Metadata metadata;                      // empty if the header has no metadata
  std::vector<StoredTensor> tensors;      // sorted by byte offset in the file
  bool has_checksum = false;              // the file has a checksum, which matches the content
  std::unique_ptr<unsigned char[]> data;  // the bytes of all tensors

  const StoredTensor* find(std::string_view name) const;  // nullptr if the file has no such tensor
  // All tensors by name. To look up many tensors, use this index: find() compares every name.
  std::unordered_map<std::string_view, const StoredTensor*> by_name() const;

  // Returns the tensor `name` as an array. Numbers in F16, BF16, F32 and F64 are converted to Real.
  // Throws Error if the tensor is missing, has another dtype, holds a number too large for Real, or
  // has a shape that does not fit its bytes, and if only the header of the file was read.
  Array array(std::string_view name) const;
  Array array(const StoredTensor& tensor) const;  // the same for an element of `tensors`
};

// Thrown for a file of another format (a pickle, HTML, text), not for a damaged safetensors file.
struct NotSafetensors : Error {
  // The message is "FILE: WHY".
  NotSafetensors(const std::string& file, const std::string& why)
      : Error(file + ": " + why), reason(why) {}
  std::string reason;  // the reason, such as "not a safetensors file: it looks like text"
};

// Reads a file strictly: rejects gaps and overlaps between tensors, duplicate names, unknown fields
// and extra bytes after the last tensor, which other readers may accept. A file with a metadata key
// that starts with "heed." must have a valid checksum.
//
// Throws Error `PATH: reason`. The reason contains "truncated" for a file that is shorter than its
// header says, "checksum" for a file that changed after it was saved, "not a safetensors file"
// (NotSafetensors), or is the operating system's message, such as "No such file or directory". A
// file larger than the usable memory is rejected before memory is allocated.
SafetensorsFile read_safetensors(const std::filesystem::path& path);

// Describes x for write_safetensors: dtype F64 if Real is double, else F32. The result points to
// the elements of x.
StoredTensor stored_tensor(std::string name, const Array& x);

// Writes the tensors in the given order. Adds a checksum of all bytes as metadata "heed.checksum",
// and "heed.format", which says that the file must have a checksum. Equal arguments give
// byte-identical files. Replaces the file atomically (see AtomicFile). Throws Error `PATH: reason`
// if a write fails, and before writing if read_safetensors would reject the file.
void write_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors);

// Throws the errors that write_safetensors would throw before it writes the tensors, such as for a
// path that cannot be written, and changes no file.
void check_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors);

}  // namespace HEED_NAMESPACE
