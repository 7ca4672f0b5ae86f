// All tokens look for the direction of token 0: token 1 attends to token 0, not to itself.
#include "exercise.hpp"

using namespace heed;

Array query_matrix(const Array& X) {
  Array queries = {{20, 0, 0}, {20, 0, 0}, {20, 0, 0}};
  return xt::linalg::dot(xt::transpose(X), queries);
}

Array key_matrix(const Array& X) { return xt::transpose(X); }
