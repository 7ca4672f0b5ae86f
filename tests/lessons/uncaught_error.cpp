// uncaught_error.cpp: a lesson of a reader, with one include and an error that it does not catch.
#include "heed/heed.hpp"

using namespace heed;

int main() {
  const Tensor x(ones({2, 3}));
  std::cout << "before\n";
  matmul(x, x);
}
