// safetensors_reader.cpp: reads the tensors of a large safetensors file piece by piece.

#include "files/safetensors_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/hash.hpp"
#include "files/dtypes.hpp"
#include "files/parts.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t piece_elements = 65536;

// Reads numbers of type Stored through a buffer of limited size, and converts them to Real. Throws
// Error for a number that is not finite or is too large.
template <class Stored>
void read_as(const InputFile& input, std::size_t offset, std::size_t first, std::size_t count,
             const std::string& name, Real* out) {
  std::vector<Stored> buffer(std::min(count, piece_elements));
  for (std::size_t done = 0; done < count;) {
    const std::size_t n = std::min(count - done, buffer.size());
    input.read(offset + (first + done) * sizeof(Stored), buffer.data(), n * sizeof(Stored));
    for (std::size_t i = 0; i < n; ++i) {
      const auto value = as_number(buffer[i]);
      check_magnitude(name, first + done + i, value);
      if (!std::isfinite(value))
        throw_error(name, ": element ", first + done + i, " is ", value, ", which is not finite");
      out[done + i] = static_cast<Real>(value);
    }
    done += n;
  }
}

// Converts bytes to `count` numbers. Finite numbers that are too large become infinite.
template <class Stored>
void convert(const unsigned char* bytes, std::size_t count, Real* out) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = number_at<Stored>(bytes, i);
    out[i] = std::abs(value) > largest_real
                 ? std::copysign(infinity, static_cast<Real>(value > 0 ? 1 : -1))
                 : static_cast<Real>(value);
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
  const std::uint32_t new_exponent =
      exponent == 0x1f ? 0xff : exponent + 127 - 15;  // 0xff: infinity or NaN
  const std::uint32_t wide = sign | new_exponent << 23 | fraction << 13;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path) : input_(path), header_() {
  header_text_ = read_header(input_, path.string());
  check_header_sum(header_text_, path.string());
  header_ = parse_header(header_text_, path.string());
  check_data_size(input_.size() - prefix_bytes - header_text_.size(), header_);
  header_.has_checksum = promises_checksum(header_);
  std::size_t offset = prefix_bytes + header_text_.size();
  for (const StoredTensor& tensor : header_.tensors) {
    offsets_.push_back(offset);
    offset += tensor.bytes;
  }
}

std::string SafetensorsReader::name(std::size_t index) const {
  if (index >= tensors().size())
    throw_error(path(), ": has no tensor ", index, ", only ", tensors().size());
  return path() + ": tensor " + in_quotes(tensors()[index].name);
}

void SafetensorsReader::check_dtype(std::size_t index) const {
  const std::string where = name(index);  // throws if there is no such tensor
  HEED_NAMESPACE::check_dtype(where, tensors()[index].dtype);
}

void SafetensorsReader::read(std::size_t index, std::size_t first, std::size_t count,
                             Real* out) const {
  check_dtype(index);
  const StoredTensor& tensor = tensors()[index];
  const std::size_t size = tensor.bytes / bytes_each(tensor.dtype);
  if (first > size || count > size - first)
    throw_error(name(index), ": has ", size, " elements, not ", first, " + ", count);
  with_type(tensor.dtype, [&](auto x) {
    read_as<decltype(x)>(input_, offsets_[index], first, count, name(index), out);
  });
}

void SafetensorsReader::read_all(const std::function<bool(std::size_t)>& is_wanted,
                                 const Piece& piece) const {
  for (std::size_t index = 0; index < tensors().size(); ++index)
    if (is_wanted(index)) check_dtype(index);
  std::vector<unsigned char> bytes(piece_elements * sizeof(double));
  std::vector<Real> values(piece_elements);
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < tensors().size(); ++index) {
    const StoredTensor& tensor = tensors()[index];
    const std::size_t each = std::max<std::size_t>(bytes_each(tensor.dtype), 1);
    const bool wanted = is_wanted(index);
    Hash64 hash(sum);
    for (std::size_t done = 0; done < tensor.bytes;) {
      const std::size_t n = std::min(tensor.bytes - done, piece_elements * each);
      input_.read(offsets_[index] + done, bytes.data(), n);
      hash.add(bytes.data(), n);
      if (wanted) {
        with_type(tensor.dtype,
                  [&](auto x) { convert<decltype(x)>(bytes.data(), n / each, values.data()); });
        piece(index, done / each, values.data(), n / each);
      }
      done += n;
    }
    sum = hash.value();
  }
  check_data_sum(header_text_, header_, sum);
}

}  // namespace HEED_NAMESPACE
