// Tests exercise 23 online_softmax: after each block, compares maximum, sum and output with those
// of all keys so far, computed at once in double.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "online_softmax.hpp"

using namespace heed;

void update(Row& row, const Array& scores, const Array& values);

namespace {

const Real masked = -std::numeric_limits<Real>::infinity();

// The scores and values of all keys, and the number of keys of each block.
struct Keys {
  Array scores, values;  // (S), (S, d_v)
  std::vector<std::size_t> blocks;
};

// maximum, sum and output / sum of the first `count` keys, in one array (2 + d_v). If all are
// masked, the sum and the output are 0.
Array expected_row(const Keys& keys, std::size_t count) {
  const std::size_t width = keys.values.shape(1);
  double maximum = double(masked), sum = 0;
  for (std::size_t s = 0; s < count; ++s) maximum = std::max(maximum, double(keys.scores(s)));
  std::vector<double> output(width, 0);
  for (std::size_t s = 0; s < count; ++s) {
    if (keys.scores(s) == masked) continue;
    const double weight = std::exp(double(keys.scores(s)) - maximum);
    sum += weight;
    for (std::size_t d = 0; d < width; ++d) output[d] += weight * double(keys.values(s, d));
  }
  Array row = zeros({2 + width});
  row(0) = Real(maximum), row(1) = Real(sum);
  for (std::size_t d = 0; d < width; ++d) row(2 + d) = Real(sum == 0 ? 0 : output[d] / sum);
  return row;
}

// Whether a number of the row is right, up to rounding errors. NaN is always wrong.
bool agree(double got, double expected) {
  if (std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= 2e-5 * std::max(1.0, std::abs(expected));
}

// Describes the first wrong number after a block, or returns "".
std::string fault_of(const Row& row, const Array& expected) {
  const std::size_t width = expected.size() - 2;
  if (row.output.dimension() != 1 || row.output.size() != width)
    return "row.output has shape " + str(shape_of(row.output)) + ", expected " + str(Shape{width});
  const auto differ = [](const std::string& name, double got, double right) {
    return name + " is " + decimal(got, 4) + ", expected " + decimal(right, 4);
  };
  const double maximum = double(row.maximum), sum = double(row.sum);
  if (!agree(maximum, double(expected(0))))
    return differ("row.maximum", maximum, double(expected(0)));
  if (!agree(sum, double(expected(1)))) return differ("row.sum", sum, double(expected(1)));
  for (std::size_t d = 0; d < width; ++d) {
    const double got = sum == 0 ? double(row.output(d)) : double(row.output(d)) / sum;
    if (!agree(got, double(expected(2 + d))))
      return differ("row.output(" + std::to_string(d) + ")" + (sum == 0 ? "" : " / row.sum"), got,
                    double(expected(2 + d)));
  }
  return "";
}

// Adds block number i to the row. Returns a description of the first fault, or "".
std::string fault_after(Row& row, const Keys& keys, std::size_t i) {
  std::size_t first = 0;
  for (std::size_t j = 0; j < i; ++j) first += keys.blocks[j];
  const std::size_t end = first + keys.blocks[i];
  const Array scores = xt::view(keys.scores, xt::range(first, end));
  const Array values = xt::view(keys.values, xt::range(first, end), xt::all());
  update(row, scores, values);
  const std::string fault = fault_of(row, expected_row(keys, end));
  return fault.empty() ? "" : "after block " + std::to_string(i) + ", " + fault;
}

void judge(const std::string& what, const Keys& keys) {
  Row row(keys.values.shape(1));
  std::string fault;
  for (std::size_t i = 0; i < keys.blocks.size() && fault.empty(); ++i)
    fault = fault_after(row, keys, i);
  expect(what, fault.empty(), fault);
}

Array numbers(const std::vector<Real>& values) {
  Array x = zeros({values.size()});
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

Keys keys_with(const std::vector<Real>& scores, const std::vector<std::size_t>& blocks,
               Generator& g) {
  return {numbers(scores), g.randn({scores.size(), 3}), blocks};
}

void judge_masked(Generator& g) {
  judge("one key of a block is masked", keys_with({1, masked, 2, 0, 1, masked}, {3, 3}, g));
  judge("all keys of the second block are masked",
        keys_with({1, 2, masked, masked, 3, 0}, {2, 2, 2}, g));
  judge("all keys of the first block are masked",
        keys_with({masked, masked, 1, -2, 3, 0}, {2, 2, 2}, g));
  judge("all keys are masked", keys_with({masked, masked, masked, masked}, {2, 2}, g));
  Keys keys = keys_with({1, masked, 2, 0, masked, masked}, {3, 3}, g);
  keys.values(1, 0) = std::numeric_limits<Real>::quiet_NaN();
  keys.values(1, 2) = keys.values(4, 1) = std::numeric_limits<Real>::infinity();
  judge("values of masked keys are NaN or infinite", keys);
}

// The same keys in the opposite order must give the same attention.
void judge_order(Generator& g) {
  const Keys keys = keys_with({3, -1, 40, 2, masked, 5}, {1, 1, 1, 1, 1, 1}, g);
  Row forwards(3), backwards(3);
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t j = 5 - i;
    update(forwards, numbers({keys.scores(i)}), xt::view(keys.values, xt::range(i, i + 1)));
    update(backwards, numbers({keys.scores(j)}), xt::view(keys.values, xt::range(j, j + 1)));
  }
  const Array expected = expected_row(keys, 6);
  std::string fault = fault_of(forwards, expected);
  if (fault.empty() && !(fault = fault_of(backwards, expected)).empty())
    fault = "in the opposite order, " + fault;
  expect("two rows in turn, with the blocks in both orders", fault.empty(), fault);
}

}  // namespace

int main() {
  Generator g(22);
  judge("one block of two keys", keys_with({0, 1}, {2}, g));
  judge("the second block has no larger score", keys_with({2, 1, 0, -1}, {2, 2}, g));
  judge("the second block has a larger score", keys_with({0, 1, 2, 3}, {2, 2}, g));
  judge("blocks of one key", keys_with({-1, 0, 2, 1, 3}, {1, 1, 1, 1, 1}, g));
  judge("scores far below zero", keys_with({-200, -201, -199, -300}, {2, 2}, g));
  judge("scores up to 100000", keys_with({99999, 7, 100000, -100000, 99999, 5}, {2, 2, 2}, g));
  judge("scores down to -100000", keys_with({-100000, -99999, -99998}, {1, 2}, g));
  judge_masked(g);
  judge("empty blocks", keys_with({1, 0, 3, 2}, {0, 2, 0, 2, 0}, g));
  judge_order(g);
  const Array scores = g.randn({50}) * Real(5);
  judge("50 keys in blocks of 7, 20 and 23", {scores, g.randn({50, 8}), {7, 20, 23}});
  return verdict();
}
