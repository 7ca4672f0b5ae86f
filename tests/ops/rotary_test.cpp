// rotary_test.cpp: rotary position embedding by hand; dot products depend on position differences.

#include "heed/ops/rotary.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

// The dot product of the rotated rows q at position m and k at position n.
double rotated_product(const Array& q, std::size_t m, const Array& k, std::size_t n) {
  const Tensor a = rotary_embedding(Tensor(q), 1, m), b = rotary_embedding(Tensor(k), 1, n);
  return static_cast<double>(sum(a * b).item());
}

double square_norm(const Array& x) {
  double total = 0;
  for (const Real v : x) total += static_cast<double>(v) * static_cast<double>(v);
  return total;
}

}  // namespace

TEST_CASE("rotary_embedding of three rows of width 4 by hand", "[ops][rotary]") {
  // The angles of the two pairs at position t are t and 10000^(-2/4) t = t / 100.
  const Tensor x(array_of({3, 4}, {1, 2, 3, 4, 1, 0, 0, 1, 0, 1, 2, 0}));
  CHECK(difference(rotary_embedding(x),
                   array_of({3, 4}, {1, 2, 3, 4,                                         //
                                     0.540302306, 0.841470985, -0.00999983333, 0.99995,  //
                                     -0.909297427, -0.416146837, 1.99960001, 0.0399973334})) == "");
}

TEST_CASE("the first row is unchanged, and every row keeps its length", "[ops][rotary]") {
  const Array x = random_array({2, 3, 5, 6}, 1);
  const Tensor y = rotary_embedding(Tensor(x));
  CHECK(same_bits(slice(y, 2, 0, 1).value(), slice(Tensor(x), 2, 0, 1).value()));
  CHECK_FALSE(same_bits(slice(y, 2, 1, 2).value(), slice(Tensor(x), 2, 1, 2).value()));
  for (int t = 0; t < 5; ++t)
    CHECK(close(square_norm(select(y, 2, t).value()), square_norm(select(Tensor(x), 2, t).value()),
                1e-6));
}

TEST_CASE("the dot product of rotated rows depends on the difference of their positions only",
          "[ops][rotary]") {
  const Array q = random_array({1, 8}, 1), k = random_array({1, 8}, 2);
  for (const std::size_t apart : {0u, 1u, 5u}) {
    const double expected = rotated_product(q, apart, k, 0);
    for (const std::size_t n : {1u, 7u, 100u})
      CHECK(close(rotated_product(q, n + apart, k, n), expected, 2e-5));
  }
  CHECK_FALSE(close(rotated_product(q, 1, k, 0), rotated_product(q, 0, k, 1), 1e-3));
}

TEST_CASE("first_position is the position of the first row", "[ops][rotary]") {
  const Array x = random_array({2, 7, 4}, 1);
  const Tensor whole = rotary_embedding(Tensor(x), 2);
  for (const int first : {1, 3, 6})
    CHECK(same_bits(
        rotary_embedding(slice(Tensor(x), 1, first), 2, static_cast<std::size_t>(first)).value(),
        slice(whole, 1, first).value()));
}

TEST_CASE("each head is rotated as if it were alone", "[ops][rotary]") {
  const Array x = random_array({2, 5, 12}, 1);
  for (const int heads : {2, 3, 6}) {
    const int width = 12 / heads;
    const Tensor y = rotary_embedding(Tensor(x), static_cast<std::size_t>(heads));
    for (int h = 0; h < heads; ++h)
      CHECK(same_bits(slice(y, -1, h * width, (h + 1) * width).value(),
                      rotary_embedding(slice(Tensor(x), -1, h * width, (h + 1) * width)).value()));
  }
}

TEST_CASE("another base gives other angles", "[ops][rotary]") {
  const Tensor x(array_of({2, 4}, {0, 0, 0, 0, 1, 0, 1, 0}));  // base 4: the angles 1 and 1 / 2
  CHECK(difference(
            rotary_embedding(x, 1, 0, 4),
            array_of({2, 4}, {0, 0, 0, 0,  //
                              std::cos(1.0), std::sin(1.0), std::cos(0.5), std::sin(0.5)})) == "");
}

TEST_CASE("halves pair the elements i and i + D / 2, and dim rotates the start of each head",
          "[ops][rotary]") {
  const Array x = random_array({2, 5, 12}, 1);
  const Tensor halves = rotary_embedding(Tensor(x), 2, 3, {10000, RotaryPairs::halves});
  const Tensor first = rotary_embedding(Tensor(x), 2, 3, {10000, RotaryPairs::interleaved, 4});
  const Array order = array_of({12}, {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11});
  Array permuted = x;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t i = 0; i < 12; ++i)
        permuted(b, t, i) = x(b, t, static_cast<std::size_t>(order(i)));
  const Array expected = rotary_embedding(Tensor(permuted), 2, 3).value();
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t i = 0; i < 12; ++i)
        CHECK(halves.value()(b, t, static_cast<std::size_t>(order(i))) == expected(b, t, i));
  CHECK(same_bits(slice(first, -1, 0, 4).value(),
                  rotary_embedding(slice(Tensor(x), -1, 0, 4), 1, 3).value()));
  for (const auto& [from, to] : {std::pair(4, 6), {10, 12}})
    CHECK(same_bits(slice(first, -1, from, to).value(), slice(Tensor(x), -1, from, to).value()));
  for (const std::size_t dim : {3u, 8u})
    CHECK(message_of([&] {
            rotary_embedding(Tensor(x), 2, 0, {10000, RotaryPairs::halves, dim});
          }) == "rotary_embedding: dim = " + std::to_string(dim) +
                    " must be even and at most 6, the width of a head of x (2, 5, 12)");
}

TEST_CASE("the gradient of rotary_embedding is the upstream gradient, rotated back",
          "[ops][rotary]") {
  const Array x = random_array({2, 3, 8}, 1), up = random_array({2, 3, 8}, 2);
  const Function rotated = [](X in) { return rotary_embedding(in[0], 2, 3); };
  const Array gradient = gradients(rotated, {x}, up)[0];
  CHECK(difference(rotary_embedding(Tensor(gradient), 2, 3), up) == "");
  const auto by_hand = gradients([](X in) { return rotary_embedding(in[0], 1, 1); },
                                 {array_of({1, 2}, {5, 7})}, array_of({1, 2}, {1, 0}));
  CHECK(difference(by_hand[0], array_of({1, 2}, {0.540302306, -0.841470985})) == "");
}

TEST_CASE("rotary_embedding has the same bits with one and two threads", "[ops][rotary]") {
  const Array x = random_array({4, 300, 64}, 1);
  const int threads = num_threads();
  set_num_threads(1);
  const Array one = rotary_embedding(Tensor(x), 4).value();
  set_num_threads(2);
  const Array two = rotary_embedding(Tensor(x), 4).value();
  set_num_threads(threads);
  CHECK(same_bits(one, two));
}

TEST_CASE("rotary_embedding of arrays without elements is empty", "[ops][rotary]") {
  for (const Shape& shape : {Shape{0, 4}, Shape{3, 0}, Shape{0, 2, 4}, Shape{2, 0, 4}})
    CHECK(str(rotary_embedding(Tensor(zeros(shape)), 2).shape()) == str(shape));
}

TEST_CASE("rotary_embedding rejects widths, heads and bases that do not fit", "[ops][rotary]") {
  const auto error_of = [](const Shape& shape, std::size_t heads, double base = 10000) {
    return message_of([&] { rotary_embedding(Tensor(zeros(shape)), heads, 0, base); });
  };
  const std::string must = " must be (..., T, C) with C divisible by 2 num_heads = ";
  CHECK(error_of({4}, 1) == "rotary_embedding: x (4)" + must + "2");
  CHECK(error_of({2, 3}, 1) == "rotary_embedding: x (2, 3)" + must + "2");
  CHECK(error_of({2, 3, 6}, 2) == "rotary_embedding: x (2, 3, 6)" + must + "4");
  CHECK(error_of({2, 3, 8}, 3) == "rotary_embedding: x (2, 3, 8)" + must + "6");
  CHECK(error_of({2, 4}, 0) == "rotary_embedding: x (2, 4)" + must + "0");
  CHECK(error_of({2, 4}, std::size_t{1} << 63) == "rotary_embedding: x (2, 4)" + must + "0");
  CHECK(error_of({2, 4}, 1, 0) == "rotary_embedding: base = 0 must be above 0");
  CHECK(error_of({2, 4}, 1, -2) == "rotary_embedding: base = -2 must be above 0");
  CHECK(error_of({2, 4}, 1, not_a_number) == "rotary_embedding: base = nan must be above 0");
  CHECK(error_of({2, 4}, 2) == "");
}

TEST_CASE("rotary_embedding throws for a negative position", "[ops][rotary]") {
  CHECK(message_of([] {
          rotary_embedding(Tensor(ones({2, 4})), 1, std::size_t(-2));
        }) == "rotary_embedding: first_position = -2 must be at least 0");
}
