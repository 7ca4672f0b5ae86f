// safetensors_test.cpp: writing and reading back tensors, and detecting damaged files.

#include "heed/files/safetensors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "catch.hpp"
#include "scratch_folder.hpp"

using heed::Array;
using heed::Metadata;
using heed::read_safetensors;
using heed::Real;
using heed::SafetensorsFile;
using heed::stored_tensor;
using heed::StoredTensor;
using heed::write_safetensors;
using heed_test::content;
using heed_test::has;
using heed_test::put;
using heed_test::ScratchFolder;

namespace {

std::string read_error(const std::filesystem::path& path) {
  return heed::test::message_of([&] { read_safetensors(path); });
}

template <class Number>
StoredTensor numbers(const std::string& dtype, const std::vector<Number>& values) {
  return {"w",
          dtype,
          {values.size()},
          reinterpret_cast<const unsigned char*>(values.data()),
          values.size() * sizeof(Number)};
}

// A small file with escapes, metadata, a scalar and a tensor without elements.
void write_small(const std::filesystem::path& path) {
  const Array weight = {{1, -2}, {3, 4.5}};
  const Array loss = heed::scalar(Real(2.5)), empty = heed::zeros({3, 0});
  write_safetensors(path, {{"step", "12"}, {"vocabulary", "ab\n\x1b\"\\\xc3\xa9"}},
                    {stored_tensor("wte.weight", weight), stored_tensor("m\x1f", loss),
                     stored_tensor("none", empty)});
}

// A file of 0.5 MB (1 MB if Real is double), with an odd number of bytes.
void write_large(const std::filesystem::path& path) {
  const Array weight = heed::filled({250, 501}, Real(0.1));
  const std::vector<std::uint8_t> bytes(1001, 7);
  StoredTensor odd = numbers("U8", bytes);
  write_safetensors(path, {{"step", "12"}}, {odd, stored_tensor("wte.weight", weight)});
}

std::string with_flipped_bit(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

}  // namespace

TEST_CASE("arrays, names, shapes and metadata are the same after writing and reading",
          "[files][safetensors]") {
  const ScratchFolder folder;
  const Array weight = {{1, -0.0, Real(1e-40)},
                        {std::numeric_limits<Real>::infinity(), Real(NAN), Real(0.1)}};
  const Array loss = heed::scalar(3), none = heed::zeros({0, 4});
  const Metadata metadata = {{"", "empty"}, {"config", "{\"layers\":4}\n\x01"}, {"z", ""}};
  const std::string odd_name("a\0\xf0\x9f\x99\x82\"\\", 8);
  write_safetensors(
      folder / "f", metadata,
      {stored_tensor("z", weight), stored_tensor(odd_name, loss), stored_tensor("", none)});
  const SafetensorsFile file = read_safetensors(folder / "f");
  CHECK(file.has_checksum);
  for (const auto& [key, value] : metadata) CHECK(file.metadata.at(key) == value);
  REQUIRE(file.tensors.size() == 3);
  CHECK(file.tensors[0].name == "z");
  CHECK(file.tensors[1].name == odd_name);
  CHECK(file.tensors[2].shape == std::vector<std::size_t>{0, 4});
  const Array read = file.array("z");
  CHECK(read.shape() == weight.shape());
  CHECK(std::memcmp(read.data(), weight.data(), weight.size() * sizeof(Real)) == 0);
  CHECK(heed::item(file.array(odd_name)) == 3);
  CHECK(file.array("").size() == 0);
}

TEST_CASE("the bytes of a file depend only on its content", "[files][safetensors]") {
  const ScratchFolder folder;
  const std::vector<float> values = {1, 2};
  const Metadata metadata = {{"b", "2"}, {"a", "1"}};
  write_safetensors(folder / "f", metadata, {numbers("F32", values)});
  const std::string bytes = content(folder / "f");
  const std::string sums = read_safetensors(folder / "f").metadata.at("heed.checksum");
  CHECK(sums.size() == 32);
  std::string expected = R"({"__metadata__":{"a":"1","b":"2","heed.checksum":")" + sums +
                         R"(","heed.format":"2"},)"
                         R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  expected.resize((expected.size() + 7) / 8 * 8, ' ');
  const char length = static_cast<char>(expected.size());
  REQUIRE(expected.size() < 256);
  CHECK(bytes == length + std::string(7, '\0') + expected + std::string("\0\0\x80?\0\0\0@", 8));
  write_safetensors(folder / "f", read_safetensors(folder / "f").metadata,
                    {numbers("F32", values)});
  CHECK(content(folder / "f") == bytes);
}

TEST_CASE("the checksum is the same on every machine", "[files][safetensors]") {
  const ScratchFolder folder;
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  write_safetensors(folder / "f", {}, {numbers("U8", bytes)});
  CHECK(read_safetensors(folder / "f").metadata.at("heed.checksum") ==
        "b781a0444f08160917d143e7f447850a");
}

TEST_CASE("a file in format 1, which had another checksum, is rejected with the remedy",
          "[files][safetensors]") {
  const ScratchFolder folder;
  write_safetensors(folder / "f", {}, {numbers("U8", std::vector<std::uint8_t>{1, 2, 3})});
  std::string bytes = content(folder / "f");
  const std::string format = "\"heed.format\":\"2\"";
  bytes.replace(bytes.find(format), format.size(), "\"heed.format\":\"1\"");
  put(folder / "f", bytes);
  CHECK(read_error(folder / "f") ==
        (folder / "f").string() +
            ": checksum: the file is in format 1, which this version of heed does not read; "
            "train the model again");
}

TEST_CASE("every flipped bit of a saved file is detected", "[files][safetensors]") {
  const ScratchFolder folder;
  write_small(folder / "f");
  const std::string small = content(folder / "f");
  std::size_t undetected = 0;
  for (std::size_t bit = 0; bit < 8 * small.size(); ++bit) {
    put(folder / "g", with_flipped_bit(small, bit));
    undetected += read_error(folder / "g").empty();
  }
  write_large(folder / "f");
  const std::string large = content(folder / "f");
  std::mt19937_64 random(7);
  put(folder / "g", large);
  for (int flip = 0; flip < 2000; ++flip) {
    const std::size_t byte = random() % large.size();
    std::fstream file(folder / "g", std::ios::in | std::ios::out | std::ios::binary);
    const auto put_byte = [&](char value) { file.seekp(std::streamoff(byte)).put(value).flush(); };
    put_byte(static_cast<char>(large[byte] ^ (1 << random() % 8)));
    undetected += read_error(folder / "g").empty();
    put_byte(large[byte]);
  }
  CHECK(undetected == 0);
  CHECK(read_error(folder / "g").empty());
}

TEST_CASE("the error for every shortened file contains the word truncated",
          "[files][safetensors]") {
  const ScratchFolder folder;
  write_small(folder / "f");
  const std::string small = content(folder / "f");
  for (std::size_t size = 0; size < small.size(); ++size) {
    put(folder / "g", small.substr(0, size));
    INFO(size);
    CHECK(has(read_error(folder / "g"), ": truncated: "));
  }
  put(folder / "g", small + '\0');
  CHECK(has(read_error(folder / "g"), ": left over after the last tensor: 1 byte"));
}

TEST_CASE("a header length of the whole file is too long by the 8 bytes of the length itself",
          "[files][safetensors]") {
  const ScratchFolder folder;
  for (const int length : {13, 20, 28}) {
    put(folder / "f",
        std::string(1, static_cast<char>(length)) + std::string(7, '\0') + "{           ");
    CHECK(has(read_error(folder / "f"), ": truncated: the header takes " + std::to_string(length) +
                                            " bytes, the file has 12"));
  }
}

TEST_CASE("a short text with line breaks is not called a truncated file", "[files][safetensors]") {
  const ScratchFolder folder;
  for (const char* const text : {"a\nb", "a\r\nb", "a\tb", "abc"}) {
    put(folder / "f", text);
    INFO(read_error(folder / "f"));
    CHECK_FALSE(has(read_error(folder / "f"), "truncated"));
  }
  put(folder / "f", "ab");
  CHECK(has(read_error(folder / "f"), "truncated"));
}

TEST_CASE("the checksum detects changes inside a saved file", "[files][safetensors]") {
  const ScratchFolder folder;
  write_small(folder / "f");
  const std::string bytes = content(folder / "f");
  const auto error_of = [&](std::string_view old, std::string_view now) {
    std::string changed = bytes;
    put(folder / "g", changed.replace(changed.find(old), old.size(), now));
    return read_error(folder / "g");
  };
  const std::string path = (folder / "g").string();
  CHECK(error_of("\"12\"", "\"13\"") == path + ": checksum: the header changed after it was saved");
  CHECK(has(error_of("[2,2]", "[4,1]"), "checksum: the header"));
  CHECK(has(error_of("[2,2]", "[2,3]"), "checksum: the header"));
  CHECK(has(error_of("u001b", "u001B"), "checksum: the header"));
  CHECK(has(error_of("\"step\":", "\"step\";"), "checksum: the header"));
  CHECK(error_of("heed.checksum", "heed.checksun") ==
        path + ": checksum: missing or damaged in a file that heed wrote");
  put(folder / "g",
      std::string("\x28\0\0\0\0\0\0\0", 8) + R"({"__metadata__":{"heed.checksum": "12"}})");
  CHECK(has(read_error(folder / "g"), "checksum: missing or damaged"));
  put(folder / "g", with_flipped_bit(bytes, 8 * bytes.size() - 1));
  CHECK(read_error(folder / "g") == path + ": checksum: the tensors changed after they were saved");
}

TEST_CASE("swapped bytes change the checksum", "[files][safetensors]") {
  const ScratchFolder folder;
  const auto sum = [&](std::vector<std::uint8_t> values) {
    write_safetensors(folder / "f", {}, {numbers("U8", values)});
    return read_safetensors(folder / "f").metadata.at("heed.checksum").substr(16);
  };
  CHECK(sum({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}) !=
        sum({2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(sum({0}) != sum({0, 0}));
  CHECK(sum({}) != sum({0}));
}

TEST_CASE("a file from another program needs no checksum", "[files][safetensors]") {
  const std::filesystem::path path =
      std::string(HEED_TESTS_DIR) + "/invalid_files/valid_basic.safetensors";
  const SafetensorsFile file = read_safetensors(path);
  CHECK_FALSE(file.has_checksum);
  const Array expected = {{1, 2}, {3, 4}};
  CHECK((file.array(file.tensors[0].name) == expected));
}

TEST_CASE("F32, F64, F16 and BF16 tensors become arrays at any address, other dtypes throw",
          "[files][safetensors]") {
  const ScratchFolder folder;
  const std::vector<std::uint8_t> odd = {1};
  const std::vector<float> floats = {0.1F, -2};
  const std::vector<double> doubles = {0.1, -2};
  const std::vector<std::uint16_t> f16 = {0x3555, 0xc000}, bf16 = {0x3eab, 0xc000};
  StoredTensor first = numbers("BOOL", odd), third = numbers("F64", doubles);
  StoredTensor fourth = numbers("F16", f16), fifth = numbers("BF16", bf16);
  first.name = "mask", third.name = "v", fourth.name = "f16", fifth.name = "bf16";
  write_safetensors(folder / "f", {}, {first, numbers("F32", floats), third, fourth, fifth});
  const SafetensorsFile file = read_safetensors(folder / "f");
  CHECK((file.array("w") == Array{Real(0.1F), -2}));
  CHECK((file.array("v") == Array{Real(0.1), -2}));
  CHECK((file.array("f16") == Array{Real(0x1.554p-2), -2}));
  CHECK((file.array("bf16") == Array{Real(0x1.56p-2), -2}));
  CHECK_THROWS_WITH(file.array("mask"),
                    file.path + ": tensor 'mask': its dtype is BOOL, not F32, F16, BF16 or F64");
  CHECK_THROWS_WITH(file.array("x"), file.path + ": no tensor 'x'");
}

TEST_CASE("a tensor whose shape does not fit its bytes throws", "[files][safetensors]") {
  const std::vector<float> floats = {1, 2};
  SafetensorsFile file;
  file.path = "file";
  file.tensors = {numbers("F32", floats)};
  CHECK((file.array("w") == Array{1, 2}));
  file.tensors[0].shape = {3};
  CHECK_THROWS_WITH(file.array("w"),
                    "file: tensor 'w': its shape (3) takes 12 bytes in F32, but it has 8 bytes");
  file.tensors[0].shape = {1};
  CHECK_THROWS_WITH(file.array("w"),
                    "file: tensor 'w': its shape (1) takes 4 bytes in F32, but it has 8 bytes");
}

TEST_CASE("a double too large for float throws", "[files][safetensors]") {
  const ScratchFolder folder;
  const std::vector<double> values = {1e300, std::numeric_limits<double>::infinity()};
  write_safetensors(folder / "f", {}, {numbers("F64", values)});
  const SafetensorsFile file = read_safetensors(folder / "f");
  const std::string error = heed::test::message_of([&] { file.array("w"); });
  if (sizeof(Real) == 4)
    CHECK(error == file.path + ": tensor 'w': element 0 is 1e+300, which is too large for F32");
  else
    CHECK(error.empty());
}

TEST_CASE("files that cannot be read throw the system's error message", "[files][safetensors]") {
  const ScratchFolder folder;
  CHECK(read_error(folder / "f") == (folder / "f").string() + ": No such file or directory");
  CHECK(read_error(folder.path) == folder.path.string() + ": Is a directory");
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(read_error(pipe) == pipe + ": not a regular file");  // without waiting for a writer
  CHECK(read_error("/dev/zero") == "/dev/zero: not a regular file");
}

TEST_CASE("tensors that could not be read back are not written, and the old file stays",
          "[files][safetensors]") {
  const ScratchFolder folder;
  write_small(folder / "f");
  const std::string before = content(folder / "f");
  const Array x = {1, 2};
  const auto error_of = [&](const Metadata& metadata, const std::vector<StoredTensor>& tensors) {
    return heed::test::message_of([&] { write_safetensors(folder / "f", metadata, tensors); });
  };
  const StoredTensor good = stored_tensor("w", x);
  StoredTensor other_type = good, other_shape = good;
  other_type.dtype = "F31";
  other_shape.shape = {3};
  const std::string path = (folder / "f").string();
  CHECK(error_of({}, {good, good}) == path + ": two tensors are named 'w'");
  CHECK(error_of({}, {other_type}) == path + ": tensor 'w': unknown dtype 'F31'");
  CHECK(has(error_of({}, {other_shape}), "tensor 'w': shape (3) of "));
  CHECK(has(error_of({}, {stored_tensor("__metadata__", x)}), "__metadata__ appears twice"));
  CHECK(has(error_of({}, {stored_tensor("\xff", x)}), "is not valid UTF-8"));
  CHECK(has(error_of({{"a", "\xc3"}}, {good}), "is not valid UTF-8"));
  CHECK(content(folder / "f") == before);
  CHECK(folder.files() == 1);
}

TEST_CASE("a header above the size limit is not written, and the old file stays",
          "[files][safetensors]") {
  const ScratchFolder folder;
  put(folder / "f", "old");
  const Array x = {1, 2};
  StoredTensor long_shape = stored_tensor("w", x);
  long_shape.shape.assign(5'000'000, std::numeric_limits<std::size_t>::max());  // 20 digits each
  const std::string error =
      heed::test::message_of([&] { write_safetensors(folder / "f", {}, {long_shape}); });
  const std::string begin = (folder / "f").string() + ": the header would take 105000";
  CHECK(error.compare(0, begin.size(), begin) == 0);
  CHECK(has(error, " bytes, the limit is 100000000"));
  CHECK(content(folder / "f") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that fails while it is read, or ends before its size, throws",
          "[files][safetensors]") {
  // On Linux, these settings are files that report 4096 bytes but have fewer, or that cannot be
  // read.
  std::error_code none;
  for (std::filesystem::directory_iterator file("/sys/class/net/lo", none), end; file != end;
       file.increment(none)) {
    if (!file->is_regular_file() || file->file_size() < 64) continue;
    const std::string path = file->path().string();
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    char bytes[64];
    const ssize_t got = descriptor < 0 ? -1 : ::pread(descriptor, bytes, sizeof bytes, 0);
    const std::string reason =
        got < 0 ? std::generic_category().message(errno) : "truncated while it was read";
    if (descriptor >= 0) ::close(descriptor);
    if (got < 64) CHECK(read_error(path) == path + ": " + reason);
  }
}
