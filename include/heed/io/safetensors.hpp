// safetensors.hpp: reading and writing named tensors in safetensors files, with a checksum.
//
// The format (huggingface.co/docs/safetensors): the header length as 8 bytes, little-endian; the
// header, a JSON object that maps names to {"dtype", "shape", "data_offsets"}, padded with spaces;
// then the bytes of the tensors, without gaps and with nothing after them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

using Metadata = std::map<std::string, std::string>;  // the header's "__metadata__"

// A tensor as stored in the file. `data` points into a SafetensorsFile or an Array. `data` may be
// unaligned, so copy the numbers with memcpy and never cast the pointer.
struct StoredTensor {
  std::string name;   // unique in the file
  std::string dtype;  // one of BOOL U8 I8 F8_E5M2 F8_E4M3 I16 U16 F16 BF16 I32 U32 F32 F64 I64 U64
  std::vector<std::size_t> shape;       // () for a scalar
  const unsigned char* data = nullptr;  // row-major, little-endian
  std::size_t bytes = 0;                // size of the data
};

// A safetensors file that was read and passed all checks.
struct SafetensorsFile {
  std::string path;                       // for error messages
  Metadata metadata;                      // empty if the header has none
  std::vector<StoredTensor> tensors;      // sorted by byte offset in the file
  bool has_checksum = false;              // the file has a checksum, which matches the content
  std::unique_ptr<unsigned char[]> data;  // the bytes of all tensors

  const StoredTensor* find(std::string_view name) const;  // nullptr if the file has no such tensor

  // Returns the tensor `name` as an array. Tensors of dtype F32 and F64 are converted to Real.
  // Throws Error if the tensor is missing, has another dtype, or holds a number too large for Real.
  Array array(std::string_view name) const;
};

// Thrown for a file of another format (a pickle, HTML, text), not for a damaged safetensors file.
struct NotSafetensors : Error {
  // The message is "FILE: WHY".
  NotSafetensors(const std::string& file, const std::string& why)
      : Error(file + ": " + why), reason(why) {}
  std::string reason;  // "not a safetensors file: it looks like text"
};

// Reads a file strictly: rejects gaps, overlaps, duplicate names, unknown fields and extra bytes
// after the last tensor, which other readers may accept. A file with a metadata key that starts
// with "heed." must have a valid checksum.
//
// Throws Error `PATH: reason`. The reason contains "truncated" for a file that is shorter than its
// header says, "checksum" for a file that changed after it was saved, "not a safetensors file"
// (NotSafetensors), or is the system's message: "No such file or directory".
SafetensorsFile read_safetensors(const std::filesystem::path& path);

// A description of x for write_safetensors (dtype F64 if Real is double, else F32). Points into x.
StoredTensor stored_tensor(std::string name, const Array& x);

// Writes the tensors in the given order. Adds a checksum of all bytes as metadata "heed.checksum",
// and "heed.format", which says that the file must have a checksum. Equal arguments give
// byte-identical files. Replaces the file atomically (see AtomicFile). Throws Error `PATH: reason`
// if a write fails, and before writing if read_safetensors would reject the file.
void write_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors);

}  // namespace HEED_NAMESPACE
