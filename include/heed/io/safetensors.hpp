// safetensors.hpp: named tensors in a file that any framework reads, and that says when it is hurt.
//
// The format (huggingface.co/docs/safetensors): 8 bytes, the header's length, lowest byte first;
// the header, a JSON object from names to {"dtype", "shape", "data_offsets"}, padded with spaces;
// then the tensors' bytes, one after the other, nothing between and nothing after.
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

namespace heed {

using Metadata = std::map<std::string, std::string>;  // the header's "__metadata__"

// A tensor as the file has it. The bytes belong to the SafetensorsFile or to the Array; they may
// start at any address, so copy numbers out (memcpy), never cast the pointer.
struct StoredTensor {
  std::string name;
  std::string dtype;  // BOOL U8 I8 F8_E5M2 F8_E4M3 I16 U16 F16 BF16 I32 U32 F32 F64 I64 U64
  std::vector<std::size_t> shape;
  const unsigned char* data = nullptr;  // row-major, lowest byte first
  std::size_t bytes = 0;
};

// A file that has been read and found right in every point.
struct SafetensorsFile {
  std::string path;
  Metadata metadata;
  std::vector<StoredTensor> tensors;  // in the order of their bytes
  bool has_checksum = false;          // there was one, and it was right
  std::unique_ptr<unsigned char[]> data;

  const StoredTensor* find(std::string_view name) const;  // nullptr when there is none

  // The tensor as an array, F32 and F64 alike; F64 is rounded where Real is float. Throws Error
  // `PATH: no tensor 'w'`, and for other dtypes and numbers beyond float's range.
  Array array(std::string_view name) const;
};

// Thrown when the file was never safetensors (a pickle, a web page, text), as against a damaged
// one.
struct NotSafetensors : Error {
  NotSafetensors(const std::string& file, const std::string& why)
      : Error(file + ": " + why), reason(why) {}
  std::string reason;  // "not a safetensors file: it looks like text"
};

// Reads strictly: what the format leaves to the reader's mood (holes, overlaps, names given
// twice, unknown fields) is refused, and so is anything after the last tensor. A file with any
// metadata key that begins with "heed." must carry a right checksum.
//
// Throws Error `PATH: reason`, one line. The reason has the word "truncated" for a file shorter
// than its header promises, "checksum" for one changed after it was saved, "not a safetensors
// file" (NotSafetensors), or the system's words: "No such file or directory".
SafetensorsFile read_safetensors(const std::filesystem::path& path);

// x's bytes under a name, to be written: F32, or F64 where Real is double. x must outlive it.
StoredTensor stored_tensor(std::string name, const Array& x);

// Writes the tensors in the order given, and a checksum of every byte (metadata "heed.checksum";
// "heed.format" says that there must be one). The same arguments give the same bytes. The old
// file stays until the new one is on the disk (see AtomicFile).
// Throws Error `PATH: reason` for anything read_safetensors would refuse, before touching the
// disk, and for a write that failed.
void write_safetensors(const std::filesystem::path& path, Metadata metadata,
                       const std::vector<StoredTensor>& tensors);

}  // namespace heed
