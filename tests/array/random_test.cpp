// random_test.cpp: Generator against recorded numbers of PyTorch 1.13.1 (CPU), in both precisions.

#include "heed/array/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "array/drawn.hpp"
#include "catch.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/mask.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// PyTorch's numbers for dtype=torch.float32 and for torch.float64.
Values torch(Precision dtype, const std::vector<float>& float32,
             const std::vector<double>& float64) {
  if (dtype == Precision::float32) return Values(float32.begin(), float32.end());
  return Values(float64.begin(), float64.end());
}

// Fewer than 16 normals are generated in double for both types, so one recorded list is enough.
Values torch(Precision dtype, const std::vector<double>& recorded) {
  return torch(dtype, std::vector<float>(recorded.begin(), recorded.end()), recorded);
}

double distance(const Array& x, const Values& expected) {
  if (x.size() != expected.size()) return infinity;
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(x.data()[i] - expected[i])));
  return largest;
}

// The largest allowed error of normals: in calls for fewer than 16, and in calls for 16 or more.
double tolerance_below_16(Precision dtype) { return dtype == Precision::float32 ? 0 : 1e-15; }
double tolerance_from_16(Precision dtype) { return dtype == Precision::float32 ? 2.1e-6 : 1e-15; }

}  // namespace

TEST_CASE("rand gives torch.rand's numbers bit for bit", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  CHECK(values(Generator(42, dtype).rand({4})) ==
        torch(dtype, {0.882269263f, 0.915003955f, 0.38286376f, 0.959305644f},
              {0.058154485961429692, 0.062910167424577557, 0.12358607277440903,
               0.052580164361077042}));
  const Values many = values(Generator(1, dtype).rand({700}));  // more than the engine's 624 words
  CHECK(Values(many.end() - 2, many.end()) ==
        torch(dtype, {0.85023278f, 0.851958573f}, {0.40484914418580664, 0.18545684876785828}));
}

TEST_CASE("only the low 32 bits of a seed are used", "[array][random]") {
  CHECK(Generator((std::uint64_t{1} << 32) + 42).state() == Generator(42).state());
  CHECK(Generator(43).state() != Generator(42).state());
}

TEST_CASE("uniform rounds once, as torch's uniform_ does", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  CHECK(
      values(Generator(7, dtype).uniform({2, 3}, -0.37, 0.41)) ==
      torch(dtype,
            {0.0472395606f, -0.214933529f, 0.144185096f, 0.142374396f, -0.188446f, -0.0384521224f},
            {-0.15208326467300487, -0.15651890335162277, 0.30243250990574788, 0.14221697585879708,
             0.34957290661333001, 0.28484539309466161}));
  CHECK(values(Generator(7, dtype).uniform({2}, 3, 3)) == Values{3, 3});
}

TEST_CASE("randn(3) then randn(2) gives five consecutive values", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  const Values five = torch(dtype, {0.33669035438385886, 0.1288094051365897, 0.23446236336153173,
                                    0.23033302791461191, -1.1228563767381703});
  CHECK(distance(Generator(42, dtype).randn({5}), five) <= tolerance_below_16(dtype));
  Generator g(42, dtype);
  CHECK(distance(g.randn({3}), Values(five.begin(), five.begin() + 3)) <=
        tolerance_below_16(dtype));
  CHECK(distance(g.randn({2}), Values(five.begin() + 3, five.end())) <= tolerance_below_16(dtype));
}

TEST_CASE("fifteen normals are generated one by one", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  CHECK(distance(Generator(89, dtype).randn({3, 5}),
                 torch(dtype, {-0.41377667970820037, 0.41915862557836336, -0.98750615082922932,
                               -0.62754825268078762, -1.5818789743898101, 0.50176151306800054,
                               -1.2534702121127519, -0.1187062403463276, -2.3138849244224167,
                               -0.5849711633642144, 0.4415738136281207, 0.66647698165755687,
                               -0.2619837720634664, -1.0137558367437873, -1.0609479535508721})) <=
        tolerance_below_16(dtype));
}

TEST_CASE("sixteen normals are generated as one block", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  CHECK(distance(
            Generator(0, dtype).randn({16}),
            torch(dtype,
                  {-1.12583983f, -1.1523602f, -0.250578582f, -0.433878809f, 0.848710358f,
                   0.692009151f, -0.31601277f, -2.11521935f, 0.322274923f, -1.26333475f,
                   0.349983186f, 0.30813393f, 0.119841509f, 1.2376579f, 1.11677718f, -0.247278154f},
                  {-2.310411800234176, -0.3732508612577643, -1.0608166785462863,
                   0.99950935478117608, -0.88402500458326527, -1.2755469302148053,
                   -0.62322457986607904, -0.86644160191257724, -1.2956271403277857,
                   1.52363162310635, 0.32366056649837383, 2.0177260314861085, 1.1357423400213507,
                   -1.2268813390010831, 0.071388471205116932, 0.3380174030507378})) <=
        tolerance_from_16(dtype));
}

TEST_CASE("the last sixteen of seventeen normals are drawn again", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  CHECK(distance(Generator(0, dtype).randn({17}),
                 torch(dtype,
                       {-1.12583983f, -1.6959312f, 0.566650629f, 0.793508351f, 0.598839462f,
                        -1.55509508f, -0.34136039f, 1.85300612f, 0.468096405f, -0.585497558f,
                        -0.173396751f, 0.183477938f, 1.38936615f, 1.58633423f, 0.946298361f,
                        -0.843676746f, 0.931826591f},
                       {-2.310411800234176, -0.63327460886750964, -1.2609246557194385,
                        -0.72695106206541105, -0.019964750907762653, 0.2102998901016947,
                        0.17718935139366584, -0.83051005100844899, 0.23871805816817063,
                        -0.2426793824588577, -0.77301127729581809, -1.5951814880783068,
                        -0.68700369404354633, 1.4880743158106724, -0.44841580471145109,
                        -0.89100303517073753, 0.67485754359400385})) <= tolerance_from_16(dtype));
}

TEST_CASE("twenty normals use thirty-six uniform numbers", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  Generator normals(42, dtype), uniforms(42, dtype);
  normals.randn({5, 4});
  uniforms.rand({36});
  const Values next = values(normals.rand({2}));
  CHECK(next == values(uniforms.rand({2})));
  CHECK(next ==
        torch(dtype, {0.577925384f, 0.903981686f}, {0.84900284574807039, 0.032495608755979899}));
}

TEST_CASE("normal scales and shifts as torch's normal_ does", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  CHECK(distance(Generator(3, dtype).normal({4}, -2, 0.02),
                 torch(dtype, {-1.983934478438073, -1.9965033321344179, -1.9982204380994824,
                               -2.0122743601545872})) <= tolerance_below_16(dtype));
  const Array many = Generator(3, dtype).normal({18}, -2, 0.02);
  CHECK(std::abs(many(0) - torch(dtype, {-2.00153279f}, {-2.0043549758355752})[0]) <=
        tolerance_from_16(dtype));
  CHECK(std::abs(many(17) - torch(dtype, {-1.99589527f}, {-1.9951512579361028})[0]) <=
        tolerance_from_16(dtype));
  CHECK(values(Generator(3, dtype).normal({3}, 5, 0)) == Values{5, 5, 5});
}

TEST_CASE("calls of other functions keep the cached normal", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  Generator g(1337, dtype);
  CHECK(distance(g.randn({1}), torch(dtype, {-2.0259920698748135})) <= tolerance_below_16(dtype));
  CHECK(values(g.rand({2})) ==
        torch(dtype, {0.200388372f, 0.0286536813f}, {0.60310723451646731, 0.6809878511292411}));
  CHECK(numbers(g.randint(0, 100, {3})) ==
        (dtype == Precision::float32 ? Numbers{15, 10, 34} : Numbers{34, 90, 12}));
  const Array block = g.randn({4, 4});
  CHECK(std::abs(block(3, 3) - torch(dtype, {0.126029715f}, {-1.7746775463324904})[0]) <=
        tolerance_from_16(dtype));
  CHECK(numbers(g.randperm(4)) ==
        (dtype == Precision::float32 ? Numbers{1, 0, 3, 2} : Numbers{3, 1, 0, 2}));
  CHECK(values(g.bernoulli({3}, 0.5)) ==
        (dtype == Precision::float32 ? Values{0, 1, 1} : Values{0, 1, 0}));
  nn::init::linear_weight(g, 2, 2);
  CHECK(values(nn::init::linear_bias(g, 2, 2)) ==
        torch(dtype, {0.0991080627f, -0.356281459f}, {-0.15000032538749528, 0.24279408985764425}));
  CHECK(numbers(g.multinomial(Array{1, 2, 3}, 2)) ==
        (dtype == Precision::float32 ? Numbers{2, 1} : Numbers{1, 2}));
  CHECK(distance(g.randn({1}), torch(dtype, {-2.0655088862897606})) <=
        tolerance_below_16(dtype));  // the cached normal of the first call
  CHECK(distance(g.randn({2}), torch(dtype, {-0.629817724f, -0.509272993f},
                                     {-0.63755678968080653, 0.99241296268052193})) <=
        tolerance_below_16(dtype));
}

TEST_CASE("randint gives torch.randint's numbers", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  Generator g(1337, dtype);
  CHECK(numbers(g.randint(0, 65, {20})) ==
        Numbers{35, 22, 7, 50, 35, 63, 40, 55, 44, 35, 47, 35, 47, 41, 25, 63, 21, 34, 54, 0});
  const Indices table = g.randint(-5, 5, {2, 5});
  CHECK(str(shape_of(table)) == "(2, 5)");
  CHECK(numbers(table) == Numbers{-2, 1, -3, -5, -3, -4, 1, 0, 4, -1});
}

TEST_CASE("randint uses 64 bits for ranges of 2^32 and more", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  constexpr std::int64_t two_32 = std::int64_t{1} << 32;
  Generator g(11, dtype);
  CHECK(numbers(g.randint(-256 * two_32, 256 * two_32, {3})) ==
        Numbers{657423371967, -753059292069, 348726071223});
  CHECK(numbers(g.randint(0, two_32, {2})) == Numbers{3978355020, 451723847});
  CHECK(numbers(g.randint(0, two_32 - 1, {2})) == Numbers{2084893522, 969428760});
  CHECK(numbers(g.randint(std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::max(), {3})) ==
        Numbers{-8987607684556089764, -232952769114235139, 8149894233483022125});
}

TEST_CASE("randperm gives torch.randperm's orders", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  Generator g(89, dtype);
  CHECK(numbers(g.randperm(10)) == Numbers{1, 4, 6, 5, 2, 3, 7, 0, 8, 9});
  CHECK(numbers(g.randperm(1)) == Numbers{0});
  CHECK(numbers(g.randperm(0)) == Numbers{});
  CHECK(numbers(g.randperm(3)) == Numbers{1, 0, 2});
}

TEST_CASE("bernoulli gives the numbers of torch's bernoulli_", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  Generator g(42, dtype);
  CHECK(values(g.bernoulli({12}, 0.3)) == Values{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0});
  CHECK(values(g.bernoulli({3}, 0)) == Values{0, 0, 0});
  CHECK(values(g.bernoulli({3}, 1)) == Values{1, 1, 1});
}

TEST_CASE("dropout_mask equals F.dropout of ones", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  const Real a = torch(dtype, {1.11111116f}, {1.1111111111111112})[0];
  Generator g(1337, dtype);
  CHECK(values(dropout_mask({3, 4}, 0.1, g)) == Values{a, 0, a, a, a, a, a, a, a, a, a, a});
  CHECK(values(dropout_mask({12}, 0.5, g)) == Values{2, 2, 0, 2, 2, 0, 2, 0, 0, 0, 2, 0});
  const std::string before = g.state();
  CHECK(values(dropout_mask({2}, 0, g)) == Values{1, 1});
  CHECK(values(dropout_mask({2}, 1, g)) == Values{0, 0});
  CHECK(g.state() == before);  // p = 0 and p = 1 draw nothing
  const Real b = torch(dtype, {1.25f}, {1.25})[0];
  CHECK(values(dropout_mask({6}, 0.2, g)) == Values{b, b, b, 0, 0, b});
  const Real c = torch(dtype, {1.17647052f}, {1.1764705882352942})[0];  // the nearest: 1.17647064f
  Generator other(1337, dtype);
  CHECK(values(dropout_mask({4}, 0.15, other)) == Values{c, 0, c, c});
}

TEST_CASE("linear_weight and linear_bias draw as nn.Linear does", "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  Generator g(42, dtype);
  const Array weight = nn::init::linear_weight(g, 3, 2);
  CHECK(str(shape_of(weight)) == "(2, 3)");
  CHECK(values(weight) ==
        torch(dtype,
              {0.441406518f, 0.479205281f, -0.135257274f, 0.53036046f, -0.126499504f, 0.116503909f},
              {-0.51019925294079427, -0.50470786499493714, -0.43464536442083829,
               -0.5166359250938205, 0.030220703388599741, -0.026806657300204133}));
  CHECK(values(nn::init::linear_bias(g, 3, 2)) ==
        torch(dtype, {-0.281085879f, 0.339067787f}, {0.52566090816713951, 0.49508083664038788}));
  CHECK(values(nn::init::linear_weight(g, 3, 2))[5] ==
        torch(dtype, {0.078190878f}, {0.42781775241770903})[0]);
  CHECK(values(nn::init::linear_bias(g, 3, 2))[1] ==
        torch(dtype, {-0.0815166607f}, {0.12983058984465742})[0]);
}

TEST_CASE("a layer without inputs gets an empty weight and a zero bias", "[array][random]") {
  Generator g(42);
  CHECK(str(shape_of(nn::init::linear_weight(g, 0, 3))) == "(3, 0)");
  CHECK(values(nn::init::linear_bias(g, 0, 3)) == Values{0, 0, 0});
}

TEST_CASE("drawing an empty array uses no random number, and a scalar uses one",
          "[array][random]") {
  const Precision dtype = GENERATE(Precision::float32, Precision::float64);
  Generator g(42, dtype);
  const std::string before = g.state();
  CHECK(g.rand({0}).size() == 0);
  CHECK(g.randn({4, 0, 4}).size() == 0);
  CHECK(g.randint(0, 9, {0}).size() == 0);
  CHECK(g.state() == before);
  CHECK(g.rand({}).dimension() == 0);
  CHECK(values(g.rand({}))[0] == torch(dtype, {0.915003955f}, {0.062910167424577557})[0]);
}

TEST_CASE("a million normals have mean 0 and standard deviation 1", "[array][random]") {
  const Array x = Generator(1).randn({1000000});
  double sum = 0, squares = 0;
  for (const Real v : x) sum += v, squares += static_cast<double>(v) * v;
  CHECK(std::abs(sum / 1e6) < 0.004);
  CHECK(std::abs(squares / 1e6 - 1) < 0.006);
}

TEST_CASE("normals of float32 are computed in float in both builds", "[array][random]") {
  const Array u = Generator(3, Precision::float32).rand({16});
  const Array x = Generator(3, Precision::float32).normal({16}, 0.5, 3);
  for (std::size_t j = 0; j < 8; ++j) {
    const float radius = std::sqrt(-2 * std::log(1 - static_cast<float>(u(j))));
    const float angle = 6.28318530718f * static_cast<float>(u(j + 8));
    CHECK(static_cast<float>(x(j)) == std::fma(radius * std::cos(angle), 3.0f, 0.5f));
    CHECK(static_cast<float>(x(j + 8)) == std::fma(radius * std::sin(angle), 3.0f, 0.5f));
  }
}

TEST_CASE("numbers of float32 are floats in both builds", "[array][random]") {
  Generator g(5, Precision::float32);
  for (const Array& x : {g.rand({50}), g.uniform({50}, -0.1, 0.2), g.randn({9}), g.randn({90}),
                         dropout_mask({50}, 0.3, g), nn::init::linear_weight(g, 3, 9)})
    CHECK(std::all_of(x.begin(), x.end(), [](Real v) { return v == static_cast<float>(v); }));
}

TEST_CASE("the default precision of a generator is that of the build", "[array][random]") {
  CHECK(values(Generator(9).rand({3})) == values(Generator(9, own_precision).rand({3})));
  CHECK(own_precision == (sizeof(Real) == 4 ? Precision::float32 : Precision::float64));
}

TEST_CASE("arguments out of range throw and draw nothing", "[array][random]") {
  Generator g(42);
  g.randn({1});
  const std::string before = g.state();
  CHECK(message_of([&] { g.uniform({2}, 1, 0); }) ==
        "uniform: low is 1 and high is 0; give finite numbers, low <= high");
  CHECK(message_of([&] { g.uniform({2}, 0, infinity); }) ==
        "uniform: low is 0 and high is inf; give finite numbers, low <= high");
  CHECK(message_of([&] { g.uniform({2}, -1.5e308, 1.5e308); }) ==
        "uniform: low is -1.5e+308 and high is 1.5e+308, whose difference is too large; give "
        "numbers nearer to each other");
  CHECK_THROWS_AS(g.uniform({2}, not_a_number, 1), Error);
  CHECK(message_of([&] { g.normal({2}, 0, -0.5); }) ==
        "normal: mean is 0 and std is -0.5; give finite numbers, std >= 0");
  CHECK_THROWS_AS(g.normal({2}, 0, not_a_number), Error);
  CHECK_THROWS_AS(g.normal({2}, infinity, 1), Error);
  CHECK(message_of([&] { g.randint(5, 5, {2}); }) ==
        "randint: low is 5 and high is 5; high must be above low");
  CHECK(message_of([&] { g.randint(5, -5, {2}); }) ==
        "randint: low is 5 and high is -5; high must be above low");
  CHECK(message_of([&] { g.randperm(std::size_t{1} << 32); }) ==
        "randperm: n is 4294967296; give 0 to 4294967295");
  CHECK(message_of([&] { g.bernoulli({2}, 1.5); }) ==
        "bernoulli: p is 1.5; give a probability from 0 to 1");
  CHECK(message_of([&] { g.bernoulli({2}, not_a_number); }) ==
        "bernoulli: p is nan; give a probability from 0 to 1");
  CHECK(message_of([&] { dropout_mask({2}, -0.1, g); }) ==
        "dropout_mask: p is -0.1; give a probability from 0 to 1");
  CHECK(g.state() == before);
}

TEST_CASE("uniform throws if high - low overflows a float in float32", "[array][random]") {
  Generator g(42, Precision::float32);
  CHECK(message_of([&] { g.uniform({2}, -3e38, 3e38); }) ==
        "uniform: low is -3e+38 and high is 3e+38, whose difference is too large; give numbers "
        "nearer to each other");
}
