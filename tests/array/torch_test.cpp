// torch_test.cpp: Generator against the installed PyTorch, with random sequences of calls.
//
// Each run uses new sequences and prints their seed; HEED_SEED=123 repeats a run exactly.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "catch.hpp"
#include "golden/draws.hpp"
#include "python.hpp"

namespace {

using golden::Drawn;
using golden::Json;
using heed::Generator;

constexpr int sequences = 200, calls_per_sequence = 30;

// ---- random calls

class RandomCalls {
 public:
  explicit RandomCalls(std::uint32_t seed) : random_(seed) {}

  // The last two calls depend on the cached normal and on the state of the engine.
  Json sequence() {
    Json list = Json::array();
    for (int i = 0; i < calls_per_sequence; ++i) list.push_back(call());
    list.push_back({"randn", {3}});
    list.push_back({"rand", {5}});
    return {{"seed", random_()}, {"calls", list}};
  }

 private:
  Json call() {
    switch (between(0, 12)) {
      case 0:
        return {"rand", shape()};
      case 1:
        return {"uniform", -real(3), real(3), shape()};
      case 2:
        return {"randn", {between(0, 15)}};
      case 3:
        return {"randn", {between(16, 100)}};
      case 4:
        return {"normal", real(4) - 2, chance(9) ? 0 : real(3), shape()};
      case 5:
        return randint();
      case 6:
        return {"randperm", between(0, 60)};
      case 7:
        return {"bernoulli", probability(), shape()};
      case 8:
        return {"dropout", probability(), shape()};
      case 9:
        return {"linear", between(1, 9), between(0, 9), chance(2)};
      case 10:
        return {"embedding", between(1, 9), between(1, 9)};
      default:
        return multinomial();
    }
  }

  // Half of the ranges are below 2^32, a quarter are close to 2^32, and a quarter are above.
  Json randint() {
    const std::int64_t two_32 = std::int64_t{1} << 32, low = between(-1000, 1000);
    const std::int64_t range = chance(2)   ? between(1, 100)
                               : chance(2) ? two_32 + between(-1, 1)
                                           : (two_32 << between(0, 29)) + between(0, 1000);
    return {"randint", low, low + range, shape()};
  }

  // One or several rows of weights, some of them 0, drawn with or without replacement.
  Json multinomial() {
    const int size = between(1, 40);
    int min_positive = size;  // the smallest number of weights above 0 in a row
    Json rows = Json::array();
    for (int row = chance(2) ? 1 : between(1, 4); row > 0; --row)
      rows.push_back(weights(size, min_positive));
    const bool replacement = chance(2);
    const int count = chance(2) ? 1 : between(1, replacement ? 50 : min_positive);
    return {"multinomial", rows.size() == 1 && chance(2) ? rows[0] : rows, count, replacement};
  }

  Json weights(int size, int& min_positive) {
    std::vector<float> row(static_cast<std::size_t>(size));
    int positive = 0;
    for (float& weight : row) {
      weight = chance(5) ? 0 : static_cast<float>(real(1) + 0.001);
      if (weight > 0) ++positive;
    }
    if (positive == 0) row[0] = 1, positive = 1;
    min_positive = std::min(min_positive, positive);
    return row;
  }

  // Rank 0 to 3, rarely with a size of 0; or up to 700 elements, more than the engine's 624 words.
  Json shape() {
    if (chance(8)) return {between(0, 700)};
    Json sizes = Json::array();
    for (int axes = between(0, 3); axes > 0; --axes)
      sizes.push_back(chance(20) ? 0 : between(1, 6));
    return sizes;
  }

  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }
  bool chance(std::uint32_t one_in) { return random_() % one_in == 0; }
  double real(double high) {
    return high * static_cast<double>(random_()) / 0x1p32;
  }  // in [0, high)
  double probability() { return chance(6) ? between(0, 1) : real(1); }

  std::mt19937 random_;
};

// ---- PyTorch's side

// PyTorch's numbers for every call of every sequence, or the reason why there are none in
// "missing".
Json torch_numbers(const Json& requests) {
  const std::string program = heed_test::python_with_torch();
  if (program.empty()) return {{"missing", "not installed"}};
  const heed_test::Finished script =
      heed_test::python(program, {"torch_draws.py"}, HEED_TESTS_DIR "/array", requests.dump());
  INFO(script.err);
  REQUIRE(script.code == 0);
  return Json::parse(script.out);
}

// ---- comparing

// Normals drawn 16 or more at a time may differ by 2.1e-6 standard deviations, plus the rounding of
// the addition of the mean. All other numbers must equal PyTorch's bit for bit.
double tolerance(const Json& call, std::size_t size) {
  const std::string kind = call.at(0);
  if (size < 16) return 0;
  if (kind == "randn" || kind == "embedding") return 2.1e-6;
  if (kind != "normal") return 0;
  return 2.1e-6 * call.at(2).get<double>() + 1.2e-7 * std::abs(call.at(1).get<double>());
}

// A number as JSON: an integer, or a floating-point number as a double.
Json json_of(std::int64_t number) { return number; }
Json json_of(heed::Real number) { return static_cast<double>(number); }

bool close(const Json& got, const Json& expected, double allowed) {
  if (allowed == 0) return got == expected;
  return std::abs(got.get<double>() - expected.get<double>()) <= allowed;
}

template <class Container>
std::string difference(const Container& got, const Json& expected, const Json& call) {
  std::ostringstream text;
  if (got.size() != expected.size())
    text << got.size() << " numbers, PyTorch's " << expected.size();
  const double allowed = tolerance(call, got.size());
  for (std::size_t i = 0; i < got.size() && text.str().empty(); ++i)
    if (const Json number = json_of(got.data()[i]); !close(number, expected[i], allowed))
      text << "number " << i << " is " << number << ", PyTorch's " << expected[i];
  return text.str();
}

// "" if heed's numbers of one sequence equal PyTorch's. A null means that PyTorch skipped the call;
// heed then skips it too.
std::string difference(const Json& sequence, const Json& expected) {
  Generator generator(sequence.at("seed").get<std::uint64_t>());
  for (std::size_t i = 0; i < sequence.at("calls").size(); ++i) {
    const Json& call = sequence["calls"][i];
    if (expected.at(i).is_null()) continue;
    const std::vector<Drawn> arrays = golden::drawn(generator, call);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const auto compare = [&](const auto& got) {
        return difference(got, expected[i].at(k), call);
      };
      const std::string text = std::visit(compare, arrays[k]);
      if (!text.empty())
        return "seed " + sequence["seed"].dump() + ", call " + std::to_string(i) + ", " +
               call.dump() + ": " + text;
    }
  }
  return "";
}

std::uint32_t this_run_seed() {
  const char* const text = std::getenv("HEED_SEED");
  return text != nullptr ? static_cast<std::uint32_t>(std::stoul(text)) : std::random_device()();
}

}  // namespace

TEST_CASE("random sequences of calls give the numbers of the installed PyTorch",
          "[array][random][torch]") {
  const std::uint32_t seed = this_run_seed();
  RandomCalls calls(seed);
  Json requests = Json::array();
  for (int i = 0; i < sequences; ++i) requests.push_back(calls.sequence());
  const Json results = torch_numbers(requests);
  if (results.contains("missing")) {
    WARN("torch: " << results["missing"].get<std::string>()
                   << "; only the numbers recorded in random_test.cpp are checked");
    return;
  }
  const std::string version = results.at("version");
  std::cout << "torch: seed " << seed << ", " << sequences << " sequences of calls, PyTorch "
            << version << "; HEED_SEED=" << seed << " repeats them\n";
  std::string first;
  int differing = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string text = difference(requests[i], results.at("sequences").at(i));
    if (!text.empty() && ++differing == 1) first = text;
  }
  INFO(first << "; HEED_SEED=" << seed << " repeats this");
  if (version.rfind("1.13", 0) == 0)
    CHECK(differing == 0);
  else if (differing != 0)  // heed promises the numbers of PyTorch 1.13
    WARN("PyTorch " << version << " draws other numbers in " << differing
                    << " sequences: " << first);
}
