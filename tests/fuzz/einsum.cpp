// einsum.cpp: any equation of up to three small arrays is computed or refused.
//
// A first byte says how many operands there are, one more byte for each what shape it has; the rest
// is the equation.

#include "heed/ops/einsum.hpp"

#include "fuzz.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/reduce.hpp"

namespace {

// One of 64 shapes: of up to 3 axes of 0 to 3.
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
  } catch (const heed::Error& error) {  // it quotes the equation, whatever that holds
    heed_fuzz::expect(std::string_view(error.what()).size() > 0, "an error has words");
  }
  return 0;
}
