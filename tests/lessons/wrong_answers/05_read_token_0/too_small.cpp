// The queries have the factor 1: the largest weights are right, but below 0.9.
#include "exercise.hpp"

using namespace heed;

Array query_matrix(const Array& X) {
  Array queries = {{1, 0, 0}, {0, 1, 0}, {1, 0, 0}};
  return xt::linalg::dot(xt::transpose(X), queries);
}

Array key_matrix(const Array& X) { return xt::transpose(X); }
