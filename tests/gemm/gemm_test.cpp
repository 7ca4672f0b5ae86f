// gemm_test.cpp: matrix products against three nested loops; BLAS limits and kernels.

#include "heed/gemm/gemm.hpp"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "commands/child.hpp"
#include "heed/array/strided.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// c_ij = sum_k a_ik b_kj, for a of m x k and b of k x n after transposing.
Array naive(const Array& a, bool ta, const Array& b, bool tb) {
  const std::size_t m = a.shape()[ta ? 1 : 0], inner = a.shape()[ta ? 0 : 1];
  const std::size_t n = b.shape()[tb ? 0 : 1];
  Array c = uninitialized({m, n});
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k)
        sum += static_cast<double>(ta ? a(k, i) : a(i, k)) *
               static_cast<double>(tb ? b(j, k) : b(k, j));
      c(i, j) = static_cast<Real>(sum);
    }
  return c;
}

Shape stored(std::size_t rows, std::size_t columns, bool transposed) {
  return transposed ? Shape{columns, rows} : Shape{rows, columns};
}

// "" if the product of (m, k) and (k, n) equals the naive one, with each factor transposed or not.
std::string product_error(std::size_t m, std::size_t n, std::size_t k) {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const Array a = random_array(stored(m, k, ta), 1), b = random_array(stored(k, n, tb), 2);
      const Array c = matrix_product(a, ta ? Transpose::yes : Transpose::no, b,
                                     tb ? Transpose::yes : Transpose::no);
      const std::string off = difference(c, naive(a, ta, b, tb), 1e-5);
      if (!off.empty())
        return str({m, n, k}) + (ta ? " a transposed" : "") + (tb ? " b transposed: " : ": ") + off;
    }
  return "";
}

// Matrix i of the batch x.
Array matrix(const Array& x, std::ptrdiff_t i) {
  const Shape shape{x.shape()[x.dimension() - 2], x.shape().back()};
  Array one = uninitialized(shape);
  std::copy_n(x.data() + i * static_cast<std::ptrdiff_t>(one.size()), one.size(), one.data());
  return one;
}

Shape batch_of(const Array& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

// "" if the product of batches that broadcast equals the naive products of their matrices.
std::string batch_error(const Shape& shape_a, bool ta, const Shape& shape_b, bool tb) {
  const Array a = random_array(shape_a, 1), b = random_array(shape_b, 2);
  const Array c = matrix_product(a, ta ? Transpose::yes : Transpose::no, b,
                                 tb ? Transpose::yes : Transpose::no);
  const Shape batch = broadcast("test", batch_of(a), batch_of(b));
  if (str(batch_of(c)) != str(batch)) return "batch " + str(batch_of(c));
  const StridedLoop<2> matrices(
      batch, {broadcast_strides(batch_of(a), batch), broadcast_strides(batch_of(b), batch)});
  for (std::size_t i = 0; i < numel(batch); ++i) {
    const auto at = matrices.offsets(i);
    const Array expected = naive(matrix(a, at[0]), ta, matrix(b, at[1]), tb);
    const std::string off = difference(matrix(c, static_cast<std::ptrdiff_t>(i)), expected, 1e-5);
    if (!off.empty()) return "matrix " + std::to_string(i) + ": " + off;
  }
  return "";
}

// The processor's feature flags from /proc/cpuinfo, with a space after each; empty if not on Linux.
std::string processor_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, 5, "flags") == 0) return line + " ";
  return "";
}

bool has_all(const std::string& flags, const std::string& required) {
  std::istringstream each(required);
  for (std::string flag; each >> flag;)
    if (flags.find(" " + flag + " ") == flags.npos) return false;
  return true;
}

}  // namespace

TEST_CASE("products of odd sizes equal three loops, transposed or not", "[gemm][matmul]") {
  for (const std::size_t m : {1u, 2u, 7u, 33u})
    for (const std::size_t n : {1u, 3u, 16u, 65u})
      for (const std::size_t k : {1u, 5u, 31u}) CHECK(product_error(m, n, k) == "");
}

TEST_CASE("products of hundreds of rows, divided between threads, equal three loops",
          "[gemm][matmul]") {
  CHECK(product_error(301, 150, 130) == "");
  CHECK(product_error(97, 257, 255) == "");
}

TEST_CASE("products over sizes of 0 are empty or zero", "[gemm][matmul]") {
  CHECK(product_error(0, 3, 2) == "");
  CHECK(product_error(3, 0, 2) == "");
  CHECK(product_error(3, 2, 0) == "");
  CHECK(product_error(0, 0, 0) == "");
  CHECK(batch_error({4, 3, 0}, false, {4, 0, 2}, false) == "");
  CHECK(batch_error({0, 3, 2}, false, {0, 2, 3}, false) == "");
  CHECK(batch_error({0, 3, 2}, false, {2, 3}, false) == "");
}

TEST_CASE("batched products equal three loops, transposed or not", "[gemm][matmul]") {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const Shape a = ta ? Shape{5, 3, 2} : Shape{5, 2, 3},
                  b = tb ? Shape{5, 4, 3} : Shape{5, 3, 4};
      CHECK(batch_error(a, ta, b, tb) == "");
    }
}

TEST_CASE("batches of matrices broadcast", "[gemm][matmul]") {
  CHECK(batch_error({5, 2, 3}, false, {3, 4}, false) == "");
  CHECK(batch_error({5, 2, 3}, false, {4, 3}, true) == "");
  CHECK(batch_error({5, 3, 2}, true, {3, 4}, false) == "");
  CHECK(batch_error({2, 3}, false, {5, 3, 4}, false) == "");
  CHECK(batch_error({1, 2, 3}, false, {5, 3, 4}, false) == "");
  CHECK(batch_error({4, 1, 2, 3}, false, {5, 3, 2}, false) == "");
  CHECK(batch_error({4, 5, 2, 3}, false, {4, 1, 3, 2}, false) == "");
  CHECK(batch_error({4, 1, 2, 3}, false, {1, 5, 3, 2}, false) == "");
  CHECK(batch_error({1, 1, 2, 3}, false, {1, 3, 2}, false) == "");
}

TEST_CASE("gemm multiplies blocks of a larger buffer, scales and accumulates", "[gemm][matmul]") {
  const Array a = array_of({2, 4}, {1, 2, 9, 9, 3, 4, 9, 9});  // a (2, 2) matrix in rows of 4
  const Array b = array_of({2, 2}, {1, 0, 0, 1});
  Array c = ones({2, 3});
  gemm({a.data(), 2, 2, 4}, {b.data(), 2, 2, 2}, {c.data(), 2, 2, 3}, Output::accumulate, 10);
  CHECK((c == array_of({2, 3}, {11, 21, 1, 31, 41, 1})));
  gemm({a.data(), 2, 2, 4, true}, {b.data(), 2, 2, 2}, {c.data(), 2, 2, 3});
  CHECK((c == array_of({2, 3}, {1, 3, 1, 2, 4, 1})));
}

TEST_CASE("gemm of one row scales, accumulates, and leaves the rest of the buffer unchanged",
          "[gemm][matmul]") {
  const Array column = array_of({2, 2}, {1, 9, 2, 9}), row = array_of({1, 2}, {1, 2});
  const Array b = array_of({2, 3}, {1, 2, 3, 4, 5, 6}),
              transposed = array_of({3, 2}, {1, 4, 2, 5, 3, 6});
  for (const MatrixView a :
       {MatrixView{row.data(), 1, 2, 2}, MatrixView{column.data(), 1, 2, 2, true}})
    for (const MatrixView factor :
         {MatrixView{b.data(), 2, 3, 3}, MatrixView{transposed.data(), 2, 3, 2, true}}) {
      Array c = ones({2, 3});
      gemm(a, factor, {c.data(), 1, 3, 3}, Output::accumulate, 10);
      CHECK((c == array_of({2, 3}, {91, 121, 151, 1, 1, 1})));
      std::fill_n(c.data(), 3, static_cast<Real>(not_a_number));  // must be overwritten, not read
      gemm(a, factor, {c.data(), 1, 3, 3});
      CHECK((c == array_of({2, 3}, {9, 12, 15, 1, 1, 1})));
      MatrixView no_columns = a, no_rows = factor;
      no_columns.columns = no_rows.rows = 0;
      gemm(no_columns, no_rows, {c.data(), 1, 3, 3});
      CHECK((c == array_of({2, 3}, {0, 0, 0, 1, 1, 1})));
    }
}

TEST_CASE("gemm with an inner size of 0 writes zeros or adds nothing", "[gemm][matmul]") {
  Array c = ones({2, 2});
  gemm({c.data(), 2, 0, 0}, {c.data(), 0, 2, 2}, {c.data(), 2, 2, 2}, Output::accumulate);
  CHECK((c == ones({2, 2})));
  gemm({c.data(), 2, 0, 0}, {c.data(), 0, 2, 2}, {c.data(), 2, 2, 2});
  CHECK((c == zeros({2, 2})));
}

TEST_CASE("BLAS is OpenBLAS; the reference BLAS is twenty times slower", "[gemm][matmul]") {
  CHECK(std::string(blas_name()).substr(0, 8) == "OpenBLAS");
}

TEST_CASE("gemm throws for sizes above the largest int", "[gemm][matmul]") {
  constexpr std::size_t max_int = std::numeric_limits<int>::max();
  const std::size_t fits[] = {1, 1, 1, max_int, max_int, max_int};  // m, n, k, three strides
  const Real two = 2, three = 3;
  Real c = 0;
  const auto call = [&](const std::size_t* s) {
    gemm({&two, s[0], s[2], s[3]}, {&three, s[2], s[1], s[4]}, {&c, s[0], s[1], s[5]});
  };
  call(fits);
  CHECK(c == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    INFO("argument " << i);
    std::size_t large[6];
    std::copy(std::begin(fits), std::end(fits), large);
    large[i] = max_int + 1;
    CHECK(message_of([&] { call(large); }) ==
          "matmul: size 2147483648 is too large for BLAS's integers");
  }
  CHECK(c == 6);
}

// Hidden: the next test runs this one in a process in which OpenBLAS assumes an old processor.
TEST_CASE("better_openblas_coretype names the kernels for this processor", "[gemm][.][old_core]") {
  const std::string config = blas_name(), flags = processor_flags();
  INFO(config);
  std::string better;
  if (has_all(flags, "avx2 fma")) better = "Haswell";
  if (has_all(flags, "avx512f avx512bw avx512dq avx512vl")) better = "SkylakeX";
  if (config.find(" Prescott ") == config.npos) better = "";
  const char* const coretype = std::getenv("OPENBLAS_CORETYPE");
  const bool old = coretype != nullptr && std::string(coretype) == "Prescott";
  if (old && has_all(flags, "lm") && config.find("DYNAMIC_ARCH") != config.npos)
    CHECK(config.find(" Prescott ") != config.npos);
  const char* const result = better_openblas_coretype();
  CHECK((result == nullptr ? "" : std::string(result)) == better);
}

TEST_CASE("better_openblas_coretype finds better kernels when OpenBLAS does not know the processor",
          "[gemm][matmul]") {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (none) return;  // not Linux
  const heed_test::Finished child = heed_test::run(
      {{self.string(), "[old_core]"}, self.parent_path(), "", {{"OPENBLAS_CORETYPE", "Prescott"}}});
  INFO(child.out);
  CHECK(child.code == 0);
  CHECK(child.out.find("No tests ran") == child.out.npos);
}
