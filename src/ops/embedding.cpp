// embedding.cpp: embedding lookup, which selects rows of a weight matrix by index.

#include "heed/ops/embedding.hpp"

#include <algorithm>
#include <vector>

#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// y_i = W[index_i], a row of the weight matrix W
struct Embedding {
  static constexpr std::string_view name = "Embedding";
  Array forward(const Array& weight) const {
    const std::size_t width = weight.shape()[1];
    Shape shape = shape_of(indices);
    shape.push_back(width);
    Array y = uninitialized(shape);
    for (std::size_t i = 0; i < indices.size(); ++i)
      std::copy_n(weight.data() + row(i) * width, width, y.data() + i * width);
    return y;
  }
  Array backward(const Array& dy, const Array&, const Array& weight) const {
    const std::size_t width = weight.shape()[1];
    std::vector<double> sums(weight.size(), 0.0);  // in double, because a sum can have many terms
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (padding_idx == indices.data()[i]) continue;
      const Real* const from = dy.data() + i * width;
      double* const to = sums.data() + row(i) * width;
      for (std::size_t c = 0; c < width; ++c) to[c] += static_cast<double>(from[c]);
    }
    Array dweight = uninitialized(weight.shape());
    std::copy(sums.begin(), sums.end(), dweight.data());  // dW[index_i] += dy_i
    return dweight;
  }
  std::size_t row(std::size_t i) const { return static_cast<std::size_t>(indices.data()[i]); }
  Indices indices;
  std::optional<std::int64_t> padding_idx;
};

Tensor embedding(const IndicesIn& indices, In weight, std::optional<std::int64_t> padding_idx) {
  if (weight.dim() != 2)
    throw_error("embedding: the weight must be (V, C): ", describe(weight, "weight"));
  const auto rows = static_cast<std::int64_t>(weight.shape()[0]);
  for (const std::int64_t index : indices)
    if (index < 0 || index >= rows)
      throw_error("embedding: index ", index, " among ", str(shape_of(indices)),
                  " indices is out of range for ", describe(weight, "weight"));
  if (padding_idx && (*padding_idx < 0 || *padding_idx >= rows))
    throw_error("embedding: padding_idx ", *padding_idx, " is out of range for ",
                describe(weight, "weight"));
  return record(Embedding{indices, padding_idx}, indices.call(), weight);
}

}  // namespace HEED_NAMESPACE
