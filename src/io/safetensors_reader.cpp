// safetensors_reader.cpp: reads the tensors of a large safetensors file piece by piece.

#include "heed/io/safetensors_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "io/parts.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t prefix_bytes = 8;  // the header's length is stored in 8 bytes

std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

float as_number(float x) { return x; }
double as_number(double x) { return x; }

struct F16 {
  std::uint16_t bits;
};
float as_number(F16 x) { return float_of_f16(x.bits); }

struct Bf16 {
  std::uint16_t bits;
};
float as_number(Bf16 x) { return float_of_bf16(x.bits); }

// Reads numbers of type Stored through a buffer of limited size, and calls put(i, number) for each.
template <class Stored>
void read_as(const InputFile& input, std::size_t offset, std::size_t first, std::size_t count,
             const std::string& name, Real* out) {
  std::vector<Stored> buffer(std::min<std::size_t>(count, 65536));
  for (std::size_t done = 0; done < count;) {
    const std::size_t n = std::min(count - done, buffer.size());
    input.read(offset + (first + done) * sizeof(Stored), buffer.data(), n * sizeof(Stored));
    for (std::size_t i = 0; i < n; ++i) {
      const auto value = as_number(buffer[i]);
      if (!std::isfinite(value) || std::abs(value) > std::numeric_limits<Real>::max())
        throw_error(name, ": element ", first + done + i, " is ", value,
                    std::isfinite(value) ? ", which is too large" : ", which is not finite");
      out[done + i] = static_cast<Real>(value);
    }
    done += n;
  }
}

}  // namespace

float float_of_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1f;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero, or a subnormal number: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 0x1f) return float_of(sign | 0x7f800000u | fraction << 13);  // infinity or NaN
  return float_of(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

float float_of_bf16(std::uint16_t bits) { return float_of(std::uint32_t{bits} << 16); }

std::uint16_t bf16_of_float(float x) {
  const std::uint32_t bits = bits_of(x);
  if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path) : input_(path), header_() {
  const std::string header = read_header(input_, path.string());
  check_header_sum(header, path.string());
  header_ = parse_header(header, path.string());
  check_data_size(input_.size() - prefix_bytes - header.size(), header_);
  std::size_t offset = prefix_bytes + header.size();
  for (const StoredTensor& tensor : header_.tensors) {
    offsets_.push_back(offset);
    offset += tensor.bytes;
  }
}

void SafetensorsReader::read(std::size_t index, std::size_t first, std::size_t count,
                             Real* out) const {
  const StoredTensor& tensor = header_.tensors.at(index);
  const std::string name = path() + ": tensor " + in_quotes(tensor.name);
  const std::size_t bytes_each = tensor.dtype == "F64" ? 8 : tensor.dtype == "F32" ? 4 : 2;
  if (first > tensor.bytes / bytes_each || count > tensor.bytes / bytes_each - first)
    throw_error(name, ": has ", tensor.bytes / bytes_each, " elements, not ", first, " + ", count);
  if (tensor.dtype == "F32")
    return read_as<float>(input_, offsets_[index], first, count, name, out);
  if (tensor.dtype == "F64")
    return read_as<double>(input_, offsets_[index], first, count, name, out);
  if (tensor.dtype == "F16") return read_as<F16>(input_, offsets_[index], first, count, name, out);
  if (tensor.dtype == "BF16")
    return read_as<Bf16>(input_, offsets_[index], first, count, name, out);
  throw_error(name, ": its dtype is ", tensor.dtype, ", not F32, F16, BF16 or F64");
}

}  // namespace HEED_NAMESPACE
