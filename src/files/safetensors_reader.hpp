// safetensors_reader.hpp: reads the tensors of a safetensors file of any size, piece by piece.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/base/file.hpp"
#include "heed/files/safetensors.hpp"

namespace HEED_NAMESPACE {

// A safetensors file whose header was read and passed the checks of read_safetensors. The numbers
// stay in the file until read() or read_all() copies them, so that a model needs memory only once,
// and the file may be larger than the memory. Only read_all() checks the checksum of a file that
// heed wrote, because that needs all numbers.
class SafetensorsReader {
 public:
  // Throws the errors of read_safetensors, except those about the checksum of the tensors.
  explicit SafetensorsReader(const std::filesystem::path& path);
  // Reads the numbers from memory, where the `data` of the tensors points.
  explicit SafetensorsReader(std::shared_ptr<const SafetensorsFile> file);

  const std::string& path() const { return header_->path; }       // the path that was opened
  const Metadata& metadata() const { return header_->metadata; }  // empty if there is no metadata
  // The tensors, sorted by byte offset. Their `data` is null unless the numbers are in memory.
  const std::vector<StoredTensor>& tensors() const { return header_->tensors; }
  // "PATH: tensor 'NAME'", the beginning of errors about tensors()[index].
  std::string name(std::size_t index) const;
  // The header. has_checksum: the metadata contains a checksum; read_all() verifies it.
  const SafetensorsFile& header() const { return *header_; }

  // Copies `count` elements of tensors()[index], from element `first` on (row-major), to `out`.
  // Converts F16, BF16, F32 and F64 to Real. Throws Error for another dtype, for a range outside
  // the tensor, for a number that is not finite, and for a number too large for Real.
  void read(std::size_t index, std::size_t first, std::size_t count, Real* out) const;

  // Throws Error if read() cannot convert the dtype of tensors()[index].
  void check_dtype(std::size_t index) const;

  // Calls piece(index, first, values, count) for consecutive pieces of tensors()[index], tensor by
  // tensor, with numbers converted as in read(); they may be infinite or NaN. Skips tensors for
  // which is_wanted(index) is false. Reads each byte once, and in the end throws Error unless the
  // checksum of a file that heed wrote is right: until then, the numbers may be damaged. Throws
  // Error for a wanted tensor of another dtype before it reads.
  using Piece = std::function<void(std::size_t index, std::size_t first, const Real* values,
                                   std::size_t count)>;
  void read_all(const std::function<bool(std::size_t index)>& is_wanted, const Piece& piece) const;

  // The file with all its bytes in memory. Throws Error unless the checksum is right.
  SafetensorsFile in_memory() const;

 private:
  using BytesPiece = std::function<void(std::size_t first, const unsigned char*, std::size_t)>;
  void read_pieces(std::size_t index, std::size_t first, std::size_t count, std::size_t each,
                   const BytesPiece& piece) const;

  std::shared_ptr<const InputFile> input_;  // null if the numbers are in memory
  std::shared_ptr<const SafetensorsFile> header_;
  std::string header_text_;
  std::vector<std::size_t> offsets_;  // file offset of each tensor's first byte
};

}  // namespace HEED_NAMESPACE
