// cases.hpp: one gradient check (Case), the operations to check (Row), and makers of common cases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "draw.hpp"

namespace heed::test {

using X = const std::vector<Tensor>&;
using T = const Tensor&;

// One check: a function, the inputs at which its gradients are checked, and its drawn options.
struct Case {
  Function f;
  std::vector<Array> inputs;
  std::string options = "";
};

using Maker = std::function<Case(Draw&)>;

// A call of an operation, the ranks that it takes, and the function that draws a case of it.
struct Row {
  std::string name;
  std::size_t min_rank, max_rank;
  Maker make;
};
using Rows = std::vector<Row>;

// The rows for each file of src/ops, and for src/extra. The *_test.cpp of the same name defines
// them.
Rows arithmetic_rows();
Rows activation_rows();
Rows softmax_rows();
Rows reduce_rows();
Rows shape_rows();
Rows mask_rows();
Rows matmul_rows();
Rows einsum_rows();
Rows embedding_rows();
Rows loss_rows();
Rows normalize_rows();
Rows attention_rows();
Rows extra_rows();

// ---- makers of cases

// A case of one input.
template <class F>
Case on(const Array& x, const std::string& options, const F& f) {
  return {[=](X in) { return f(in[0]); }, {x}, options};
}

template <class F>
Maker one(const F& f, double low, double high) {
  return [=](Draw& d) { return on(d.values(d.shape(), low, high), "", f); };
}

template <class F>
Maker one_away_from_zero(const F& f) {
  return [=](Draw& d) { return on(d.away_from_zero(d.shape(), 0.1, 2), "", f); };
}

// A case of f(x, axis).
template <class F>
Maker along(const F& f) {
  return [=](Draw& d) {
    const int axis = d.axis(d.rank);
    return on(d.values(d.shape(), -2, 2), words("axis ", axis), [=](T x) { return f(x, axis); });
  };
}

}  // namespace heed::test
