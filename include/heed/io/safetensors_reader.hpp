// safetensors_reader.hpp: reads the tensors of a large safetensors file piece by piece.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/base/file.hpp"
#include "heed/io/safetensors.hpp"

namespace HEED_NAMESPACE {

// A safetensors file whose header was read and passed the checks of read_safetensors. The numbers
// stay in the file until read() copies some of them, so that a model needs memory only once. The
// checksum of a file that heed wrote is not checked, because that needs all numbers.
class SafetensorsReader {
 public:
  // Throws the errors of read_safetensors, except those about the checksum of the tensors.
  explicit SafetensorsReader(const std::filesystem::path& path);

  const std::string& path() const { return header_.path; }       // the path that was opened
  const Metadata& metadata() const { return header_.metadata; }  // empty if there is none
  // The tensors, sorted by byte offset. Their `data` is null.
  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }

  // Copies `count` elements of tensors()[index], from element `first` on (row-major), to `out`.
  // Converts F16, BF16, F32 and F64 to Real. Throws Error for another dtype, for a range outside
  // the tensor, for a number that is not finite, and for a number too large for Real.
  void read(std::size_t index, std::size_t first, std::size_t count, Real* out) const;

 private:
  InputFile input_;
  SafetensorsFile header_;
  std::vector<std::size_t> offsets_;  // the first byte of each tensor in the file
};

// The value of a number in 16 bits: F16 (IEEE 754 binary16, with subnormal numbers) or BF16 (the
// upper half of a binary32 number).
float float_of_f16(std::uint16_t bits);
float float_of_bf16(std::uint16_t bits);

// The BF16 number nearest to x, ties to even; NaN stays NaN.
std::uint16_t bf16_of_float(float x);

}  // namespace HEED_NAMESPACE
