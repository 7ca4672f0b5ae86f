// lesson_error.cpp: a lesson that ends with an error, for a transcript.

#include "heed/ops/matmul.hpp"
#include "lesson.hpp"

using namespace heed;

static Tensor product(const Tensor& q, const Tensor& k) { return matmul(q, k); }

int main() {
  const Tensor q(zeros({2, 3})), k(zeros({2, 3}));
  say(str(product(q, k).shape()));
}
