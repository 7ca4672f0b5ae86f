// 27 halving: an all-reduce by halving and doubling, as one of P ranks runs it.
//
// Each of P ranks, a power of two, calls all_reduce() with an array x of its own; all have n
// elements. Afterwards each must have the sum of all arrays, with the bits of the tree: (x0 + x1) +
// (x2 + x3) for P = 4. A rank knows the other arrays only through
//
//   process.exchange(partner, sent, sent_bytes, received, received_bytes)
//
// which sends sent_bytes bytes at `sent` to the rank `partner`, stores those that it sends at
// `received`, and returns when both are done. The partner must call exchange(), too. Its rank
// differs from process.rank() in one bit; process.size() is P.
//
//   halving    for the distances 1, 2, 4, ..., P / 2 (partner = rank XOR distance): both partners
//              have the same range of elements, begin to end - 1, at first 0 to n - 1. The smaller
//              rank keeps those before (begin + end) / 2, the larger one the others. Each sends
//              what its partner keeps, and adds what it receives to its own. Its range is then its
//              half.
//   doubling   for the distances P / 2, ..., 2, 1: each sends its range, which has the complete
//              sums, and stores what it receives. Then it has its range and its partner's.
//
// So a rank calls exchange() 2 log2 P times, and sends about 2 n (P - 1) / P elements, not n log2 P
// as recursive doubling does. (Thakur, Rabenseifner and Gropp 2005, section 4.5.)

#include "exercise.hpp"
#include "heed/parallel/communicator.hpp"

using namespace heed;

// Your part begins here.
// The elements `begin` to `end` - 1 of an array.
struct Part {
  std::size_t begin, end;
  std::size_t bytes() const { return (end - begin) * sizeof(Real); }
};

void all_reduce(Communicator& process, Array& x) {
  Array received = x;
  Part whole = {0, x.size()};
  std::vector<std::pair<Part, Part>> halves;  // this rank's and its partner's, of each step
  std::size_t distance = 1;
  for (; distance < process.size(); distance *= 2) {
    const std::size_t partner = process.rank() ^ distance, middle = (whole.begin + whole.end) / 2;
    Part own = {whole.begin, middle}, other = {middle, whole.end};
    if (partner < process.rank()) std::swap(own, other);
    process.exchange(partner, x.data() + other.begin, other.bytes(), received.data() + own.begin,
                     own.bytes());
    for (std::size_t i = own.begin; i < own.end; ++i) x(i) += received(i);
    halves.push_back({own, other});
    whole = own;
  }
  for (; !halves.empty(); halves.pop_back()) {
    distance /= 2;
    const auto [own, other] = halves.back();
    process.exchange(process.rank() ^ distance, x.data() + own.begin, own.bytes(),
                     x.data() + other.begin, other.bytes());
  }
}
// Your part ends here.
