// einsum.cpp: fuzz test of einsum with any equation and up to three small arrays.
//
// The first byte of the input is the number of operands. Then follow one byte for the shape of each
// operand, and the equation.

#include "heed/ops/einsum.hpp"

#include "fuzz.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/reduce.hpp"

namespace {

// A shape of up to 3 axes with sizes 0 to 3.
heed::Shape shape_of(unsigned char code) {
  heed::Shape shape;
  for (int axes = code >> 6; axes > 0; --axes, code = static_cast<unsigned char>(code >> 2))
    shape.push_back(code & 3u);
  return shape;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t count = data[0] % 4;
  if (size < 1 + count) return 0;
  std::vector<heed::Tensor> operands;
  for (std::size_t i = 0; i < count; ++i)
    operands.emplace_back(heed::ones(shape_of(data[1 + i])), true);
  const std::string equation(reinterpret_cast<const char*>(data) + 1 + count, size - 1 - count);
  try {
    const heed::Tensor y = heed::einsum(equation, operands);
    if (count > 0) heed::backward(heed::sum(y));
  } catch (const heed::Error& error) {  // quotes the equation, so it may contain any bytes
    heed_fuzz::expect(std::string_view(error.what()).size() > 0, "the error message is not empty");
  }
  return 0;
}
