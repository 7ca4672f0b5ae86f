// W_Q and W_K are swapped: token 0 attends to token 2 as much as to itself.
#include "exercise.hpp"

using namespace heed;

Array key_matrix(const Array& X) {
  Array queries = {{20, 0, 0}, {0, 20, 0}, {20, 0, 0}};
  return xt::linalg::dot(xt::transpose(X), queries);
}

Array query_matrix(const Array& X) { return xt::transpose(X); }
