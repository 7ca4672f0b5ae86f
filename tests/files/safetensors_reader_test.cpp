// safetensors_reader_test.cpp: tests of SafetensorsReader and of numbers in 16 bits.

#include "files/safetensors_reader.hpp"

#include <cmath>
#include <cstring>

#include "catch.hpp"
#include "files/dtypes.hpp"
#include "heed/gemm/bf16.hpp"
#include "message_of.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

using namespace heed;

TEST_CASE("every number in 16 bits has the value that its sign, exponent and fraction give",
          "[files][weights]") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const double sign = bits >= 32768 ? -1 : 1;
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = (bits & 1023) / 1024.0;
    const float x = float_of_f16(static_cast<std::uint16_t>(bits));
    if (exponent == 31)
      CHECK((fraction == 0 ? std::isinf(x) : std::isnan(x)));
    else if (exponent == 0)  // subnormal numbers
      CHECK((x == sign * std::ldexp(fraction, -14) && std::signbit(x) == (sign < 0)));
    else
      CHECK(x == sign * std::ldexp(1 + fraction, exponent - 15));
    const float y = float_of_bf16(static_cast<std::uint16_t>(bits));
    if (!std::isnan(y)) CHECK(bf16_of_float(y) == bits);
  }
}

TEST_CASE("a reader returns any range of a tensor", "[files][weights]") {
  const heed_test::ScratchFolder folder;
  const Array x = test::random_array({300, 500}, 1);
  write_safetensors(folder / "x", {}, {stored_tensor("x", x)});
  const SafetensorsReader reader(folder / "x");
  REQUIRE(reader.tensors().size() == 1);
  std::vector<Real> all(x.size());
  reader.read(0, 0, x.size(), all.data());
  CHECK(std::equal(all.begin(), all.end(), x.data()));
  Real last = 0;
  reader.read(0, x.size() - 1, 1, &last);
  CHECK(last == x.data()[x.size() - 1]);
  CHECK_THROWS_AS(reader.read(0, 1, x.size(), all.data()), Error);
}

TEST_CASE("read_all gives all numbers of the wanted tensors, and rejects a file that changed",
          "[files][weights]") {
  const heed_test::ScratchFolder folder;
  const Array x = test::random_array({300, 500}, 1), skipped = ones({100000});
  write_safetensors(folder / "x", {}, {stored_tensor("skipped", skipped), stored_tensor("x", x)});
  const std::string bytes = heed_test::content(folder / "x");
  Array got = zeros({300, 500});
  const auto read = [&] {
    SafetensorsReader(folder / "x")
        .read_all([](std::size_t index) { return index == 1; },
                  [&](std::size_t index, std::size_t first, const Real* values, std::size_t count) {
                    CHECK(index == 1);
                    std::copy_n(values, count, got.data() + first);
                  });
  };
  read();
  CHECK(test::same_bits(got, x));
  for (const std::size_t from_end :
       {1, 300000, 700000}) {  // the last two: inside x, inside skipped
    std::string damaged = bytes;
    damaged[bytes.size() - from_end] ^= 1;
    heed_test::put(folder / "x", damaged);
    CHECK(test::message_of(read) ==
          (folder / "x").string() + ": checksum: the tensors changed after they were saved");
  }
}

TEST_CASE("a reader reads a part of a file that is larger than the memory", "[files][weights]") {
  const heed_test::ScratchFolder folder;
  const std::uintmax_t bytes = std::uintmax_t{1} << 42;
  const std::string header = R"({"x":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,)" +
                             std::to_string(bytes) + "]}}";
  heed_test::put(folder / "x", static_cast<char>(header.size()) + std::string(7, '\0') + header);
  std::filesystem::resize_file(folder / "x", 8 + header.size() + bytes);  // zeros, not on the disk
  const SafetensorsReader reader(folder / "x");
  Array last = ones({3});
  reader.read(0, (std::size_t{1} << 40) - 3, 3, last.data());
  CHECK(test::same_bits(last, zeros({3})));
}

TEST_CASE("an index without a tensor is rejected, and so are tensors without numbers",
          "[files][safetensors]") {
  using heed::test::message_of;
  const heed_test::ScratchFolder folder;
  const Array one_to_four = heed::test::array_of({4}, {1, 2, 3, 4});
  write_safetensors(folder / "f", {}, {stored_tensor("x", one_to_four)});
  const SafetensorsReader reader(folder / "f");
  Real values[4];
  const std::string error = (folder / "f").string() + ": has no tensor 1, only 1";
  CHECK(message_of([&] { reader.read(1, 0, 4, values); }) == error);
  CHECK(message_of([&] { reader.check_dtype(1); }) == error);
  CHECK(message_of([&] { write_safetensors(folder / "g", {}, reader.tensors()); }) ==
        (folder / "g").string() +
            ": tensor 'x' has no numbers, only their description; read them first");
}
