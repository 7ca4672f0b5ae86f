// All ranks get the sum in turn; it is no ring, and its bits are others.
#include "exercise.hpp"

using namespace heed;

void all_reduce(std::vector<Array>& ranks) {
  Array sum = ranks[0];
  for (std::size_t r = 1; r < ranks.size(); ++r) sum = Array(sum + ranks[r]);
  for (Array& x : ranks) x = sum;
}
