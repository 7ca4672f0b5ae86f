// Tests exercise 27 ring: compares the result of each rank with the sum in the order of the ring.

#include "exercise.hpp"

using namespace heed;

void all_reduce(std::vector<Array>& ranks);

namespace {

std::vector<Array> random_arrays(std::size_t P, std::size_t n, Generator& g) {
  std::vector<Array> x;
  for (std::size_t r = 0; r < P; ++r) x.push_back(g.randn({n}));
  return x;
}

// The expected result: chunk c begins at rank c, and each of the next ranks adds its own.
Array expected_sum(const std::vector<Array>& x) {
  const std::size_t P = x.size(), n = x[0].size();
  Array sum = zeros({n});
  for (std::size_t c = 0; c < P; ++c)
    for (std::size_t i = n * c / P; i < n * (c + 1) / P; ++i) {
      sum(i) = x[c](i);
      for (std::size_t step = 1; step < P; ++step) sum(i) += x[(c + step) % P](i);
    }
  return sum;
}

// Describes the first element that is wrong, or has other bits than the ring gives; or "".
std::string fault_of(const std::vector<Array>& got, const Array& expected) {
  for (std::size_t r = 0; r < got.size(); ++r) {
    if (got[r].shape() != expected.shape())
      return "rank " + std::to_string(r) + " has shape " + str(shape_of(got[r])) + ", expected " +
             str(shape_of(expected));
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!(got[r](i) == expected(i)))
        return "rank " + std::to_string(r) + " has " + decimal(double(got[r](i)), 6) +
               " at element " + std::to_string(i) + ", expected " +
               decimal(double(expected(i)), 6) + ", with all bits";
  }
  return "";
}

void judge(std::size_t P, std::size_t n, Generator& g) {
  std::vector<Array> ranks = random_arrays(P, n, g);
  const Array expected = expected_sum(ranks);
  all_reduce(ranks);
  const std::string fault =
      ranks.size() == P ? fault_of(ranks, expected) : "the number of ranks has changed";
  expect(counted(P, "rank") + ", " + counted(n, "element"), fault.empty(), fault);
}

}  // namespace

int main() {
  Generator g(26);
  judge(1, 5, g);
  judge(2, 2, g);
  judge(2, 7, g);
  judge(3, 9, g);
  judge(4, 1000, g);
  judge(5, 13, g);
  judge(8, 3, g);
  return verdict();
}
