// cs336_test.cpp: snapshots of Stanford's CS336, assignment 1 (README.md of this folder).

#include <cmath>
#include <cstring>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "foreign/folder.hpp"
#include "heed/heed.hpp"

using namespace heed;

namespace {

// The numbers of the array in a .npz file of numpy, which stores it uncompressed, in float.
std::vector<double> snapshot(const std::filesystem::path& file) {
  const std::string bytes = heed_test::content(file);
  const std::size_t magic = bytes.find("\x93NUMPY"), data = bytes.find('\n', magic) + 1;
  const std::size_t end = bytes.find("PK\x01\x02", data);
  REQUIRE(end != bytes.npos);
  std::vector<double> numbers;
  for (std::size_t i = data; i + sizeof(float) <= end; i += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes.data() + i, sizeof number);
    numbers.push_back(static_cast<double>(number));
  }
  return numbers;
}

// The suite's own comparison: rtol 1e-4 and this atol.
bool matches(const Array& got, const std::vector<double>& expected, double atol) {
  if (got.size() != expected.size()) return false;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(static_cast<double>(got.data()[i]) - expected[i]) <=
          atol + 1e-4 * std::abs(expected[i])))
      return false;
  return true;
}

// PyTorch's torch.manual_seed(seed); torch.randn(4, length, 64).
Tensor drawn(std::uint64_t seed, std::size_t length) {
  return Tensor(Generator(seed).randn({4, length, 64}));
}

Mask drawn_mask() {
  const Array x = Generator(5).randn({4, 12, 16});
  return Mask(x > Real(0.5));
}

}  // namespace

TEST_CASE("attention and rotary positions equal the snapshots of CS336", "[foreign][cs336]") {
  const std::filesystem::path folder = heed_test::foreign("CS336", "cs336");
  if (folder.empty()) return;
  const Tensor q = drawn(1, 12), k = drawn(2, 16), v = drawn(3, 16);
  AttentionOptions options;
  options.mask = drawn_mask();
  CHECK(matches(scaled_dot_product_attention(q, k, v, options).value(),
                snapshot(folder / "test_scaled_dot_product_attention.npz"), 1e-6));
  Mask of_heads = drawn_mask();
  of_heads.reshape({2, 2, 12, 16});
  options.mask = of_heads;
  const auto two = [](const Tensor& x) { return reshape(x, {2, 2, -1, 64}); };
  CHECK(matches(scaled_dot_product_attention(two(q), two(k), two(v), options).value(),
                snapshot(folder / "test_4d_scaled_dot_product_attention.npz"), 1e-6));
  CHECK(matches(rotary_embedding(drawn(4, 12)).value(), snapshot(folder / "test_rope.npz"), 1e-6));
}

TEST_CASE("1,000 steps of AdamW equal the snapshot of CS336", "[foreign][cs336]") {
  const std::filesystem::path folder = heed_test::foreign("CS336", "cs336");
  if (folder.empty()) return;
  Parameters parameters;
  Generator generator(42);
  const nn::Linear model({parameters, generator}, 3, 2, false);
  optim::AdamW optimizer(parameters);
  for (int step = 0; step < 1000; ++step) {
    const Array x = generator.rand({3});
    const Tensor y(Array({x(0) + x(1), -x(2)}));
    optimizer.zero_grad();
    const Tensor difference = y - reshape(model(reshape(Tensor(x), {1, 3})), {2});
    sum(difference * difference).backward();
    optimizer.step();
  }
  CHECK(matches(model.weight.value(), snapshot(folder / "test_adamw.npz"), 1e-4));
  std::cout << "cs336: 4 of 4 snapshots are equal\n";
}
