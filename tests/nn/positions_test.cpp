// positions_test.cpp: tests of the sinusoidal position encodings.

#include <cmath>

#include "catch.hpp"
#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using nn::sinusoidal_positions;

double dot_of_rows(const Array& p, std::size_t s, std::size_t t) {
  double sum = 0;
  for (std::size_t d = 0; d < p.shape(1); ++d) sum += double(p(s, d)) * double(p(t, d));
  return sum;
}

}  // namespace

TEST_CASE("sinusoidal positions have the paper's values, worked by hand for a width of 4",
          "[nn][positions]") {
  // For width 4 the angles of position t are t and t / 100.
  CHECK(difference(sinusoidal_positions(3, 4),
                   array_of({3, 4}, {0, 1, 0, 1,                                         //
                                     0.8414709848, 0.5403023059, 0.0099998333, 0.99995,  //
                                     0.9092974268, -0.4161468365, 0.0199986667, 0.9998000067}),
                   1e-7) == "");
  CHECK(difference(sinusoidal_positions(2, 2), array_of({2, 2}, {0, 1, 0.8414709848, 0.5403023059}),
                   1e-7) == "");
}

TEST_CASE("the encoding of position 100000 is exact", "[nn][positions]") {
  const Array p = sinusoidal_positions(100001, 2);
  CHECK(close(p(100000, 0), 0.0357487980, 1e-7));  // sin 100000
  CHECK(close(p(100000, 1), -0.9993608074, 1e-7));
}

TEST_CASE("the dot product of two sinusoidal encodings depends only on their distance",
          "[nn][positions]") {
  const Array p = sinusoidal_positions(64, 16);
  for (std::size_t apart = 0; apart < 16; ++apart) {
    double want = 0;  // sin a sin b + cos a cos b = cos(a - b), for each wave
    for (std::size_t i = 0; i < 8; ++i)
      want += std::cos(double(apart) / std::pow(10000.0, double(i) / 8));
    for (const std::size_t t : {0u, 1u, 17u, 40u}) {
      CHECK(std::abs(dot_of_rows(p, t, t + apart) - want) < 1e-5);
      CHECK(std::abs(dot_of_rows(p, t + apart, t) - want) < 1e-5);
    }
  }
}

TEST_CASE("one rotation maps every sinusoidal encoding to that of a later position",
          "[nn][positions]") {
  const std::size_t width = 8, step = 5;
  const Array p = sinusoidal_positions(40, width);
  for (std::size_t i = 0; i < width; i += 2) {
    const double angle = double(step) / std::pow(10000.0, double(i) / double(width));
    for (std::size_t t = 0; t + step < 40; ++t) {
      const double sine = p(t, i), cosine = p(t, i + 1);
      CHECK(std::abs(p(t + step, i) - (sine * std::cos(angle) + cosine * std::sin(angle))) < 1e-6);
      CHECK(std::abs(p(t + step, i + 1) - (cosine * std::cos(angle) - sine * std::sin(angle))) <
            1e-6);
    }
  }
}

TEST_CASE("sinusoidal positions may have length 0, but no odd width", "[nn][positions]") {
  CHECK(shape_of(sinusoidal_positions(0, 4)) == Shape({0, 4}));
  CHECK(
      message_of([] { sinusoidal_positions(3, 5); }) ==
      "sinusoidal_positions: width 5 must be even and at least 2: each frequency has a sine and a "
      "cosine");
  CHECK(
      message_of([] { sinusoidal_positions(3, 0); }) ==
      "sinusoidal_positions: width 0 must be even and at least 2: each frequency has a sine and a "
      "cosine");
}

TEST_CASE("attention without positions is permutation equivariant bit for bit", "[nn][positions]") {
  // Multiples of 1/8, so that no product or sum before attention is rounded, and an identity `out`.
  const auto eighths = [](const Array& x) { return Array(xt::round(x * Real(8)) / Real(8)); };
  Generator g(7);
  Parameters parameters;
  const nn::MultiHeadAttention attention(Scope(parameters, g), 16, 4);
  for (Tensor p : parameters) p.mutable_value() = eighths(p.value());
  Tensor out = attention.out.weight;
  out.mutable_value() = xt::eye<Real>(16);
  const std::size_t T = 17;
  const Indices order = g.randperm(T);
  const auto reordered = [&](const Array& x) {
    Array y = x;  // (1, T, C)
    for (std::size_t t = 0; t < T; ++t)
      xt::view(y, 0, t) = xt::view(x, 0, static_cast<std::size_t>(order(t)));
    return y;
  };
  const Array x = eighths(g.randn({1, T, 16})), positions = nn::sinusoidal_positions(T, 16);
  const Array output = attention(Tensor(x)).value();
  CHECK(same_bits(attention(Tensor(reordered(x))).value(), reordered(output)));
  const Array original = x + positions, moved = reordered(x) + positions;
  CHECK(difference(attention(Tensor(moved)).value(), reordered(attention(Tensor(original)).value()),
                   1e-2) != "");
}
