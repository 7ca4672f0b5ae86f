// expressions.cpp: xtensor expressions, tensors with unusual names, and optional masks.

#include <optional>

#include "heed/autograd/tensor.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"

using namespace heed;

namespace {

// The debugger tests stop here.
[[gnu::noinline]] void stop_here() { asm volatile("" ::: "memory"); }

}  // namespace

int main() {
  const Array a = {{1, 2}, {3, 4}};
  const auto product = a * a;
  const auto column = xt::view(a, xt::all(), xt::range(0, 1));
  const auto row_sums = xt::sum(a, {1});
  Tensor x(a, true);
  x.set_name("two\nlines \x01");
  const Tensor loss = sum(x * x);
  const Tensor undefined;
  const std::optional<Mask> none, mask = Mask{true, false};
  asm volatile("" : : "r"(&none), "r"(&mask) : "memory");  // keeps both in memory at -O2
  stop_here();
  return product(0, 0) + column(0, 0) + row_sums(0) + loss.item() > 0 && !undefined.defined() &&
                 !none && mask
             ? 0
             : 1;
}
