// gemm_library_test.cpp: each library's matrix products, and the choice of a library.

#include <dlfcn.h>
#include <sys/mman.h>

#include "heed/gemm/gemm_choice.hpp"
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <filesystem>
#include <random>

#include "catch.hpp"
#include "commands/child.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "message_of.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

std::vector<GemmLibrary> installed_libraries() {
  std::vector<GemmLibrary> libraries;
  for (const GemmLibrary library : all_gemm_libraries)
    if (is_installed(library)) libraries.push_back(library);
  return libraries;
}

// A product of random factors inside larger buffers: rows are longer than the matrix is wide.
struct Product {
  std::size_t m, n, k;
  bool a_is_transposed, b_is_transposed;
  Array a_buffer, b_buffer;

  Product(std::size_t rows, std::size_t columns, std::size_t inner, bool ta, bool tb)
      : m(rows),
        n(columns),
        k(inner),
        a_is_transposed(ta),
        b_is_transposed(tb),
        a_buffer(random_array(ta ? Shape{k, m + 3} : Shape{m, k + 3}, 1)),
        b_buffer(random_array(tb ? Shape{n, k + 5} : Shape{k, n + 5}, 2)) {}

  MatrixView a() const {
    return a_is_transposed ? MatrixView{a_buffer.data(), k, m, m + 3}.transposed()
                           : MatrixView{a_buffer.data(), m, k, k + 3};
  }
  MatrixView b() const {
    return b_is_transposed ? MatrixView{b_buffer.data(), n, k, k + 5}.transposed()
                           : MatrixView{b_buffer.data(), k, n, n + 5};
  }
  double element(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t l = 0; l < k; ++l) {
      const Real x = a_is_transposed ? a_buffer(l, i) : a_buffer(i, l);
      const Real y = b_is_transposed ? b_buffer(j, l) : b_buffer(l, j);
      sum += static_cast<double>(x) * static_cast<double>(y);
    }
    return sum;
  }
  std::string text(GemmLibrary library) const {
    return std::string(name_of(library)) + " " + str({m, n, k}) + (a_is_transposed ? " a^T" : "") +
           (b_is_transposed ? " b^T" : "");
  }
};

// Random sizes from 1 to `largest`, small ones more often, in all four forms.
std::vector<Product> random_products(std::size_t count, std::size_t largest, unsigned seed) {
  std::mt19937 draw(seed);
  const auto size = [&] { return 1 + draw() % (draw() % 2 == 0 ? 9 : largest); };
  std::vector<Product> products;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t m = size(), n = size(), k = size();
    products.emplace_back(m, n, k, i % 2 == 1, i / 2 % 2 == 1);
  }
  return products;
}

// "" if c = 2 + scale * a b in the rows of a buffer whose other columns keep their 2.
std::string error_of(GemmLibrary library, const Product& p, Output output, Real scale) {
  Array c = zeros({p.m, p.n + 2}) + Real{2}, expected = c;
  gemm_by(library, p.a(), p.b(), {c.data(), p.m, p.n, p.n + 2}, output, scale);
  for (std::size_t i = 0; i < p.m; ++i)
    for (std::size_t j = 0; j < p.n; ++j)
      expected(i, j) = static_cast<Real>((output == Output::accumulate ? 2 : 0) +
                                         static_cast<double>(scale) * p.element(i, j));
  const std::string error = difference(c, expected, 1e-4);
  return error.empty() ? "" : p.text(library) + ": " + error;
}

// Whether the rows of a product have the same bits if they are computed in two parts.
bool same_bits_in_parts(GemmLibrary library, const Product& p, std::size_t cut) {
  Array whole = zeros({p.m, p.n}), parts = whole;
  gemm_by(library, p.a(), p.b(), {whole.data(), p.m, p.n, p.n});
  const MatrixRef<Real> c{parts.data(), p.m, p.n, p.n};
  gemm_by(library, p.a().row_range(0, cut), p.b(), c.row_range(0, cut));
  gemm_by(library, p.a().row_range(cut, p.m), p.b(), c.row_range(cut, p.m));
  return std::equal(whole.begin(), whole.end(), parts.begin());
}

}  // namespace

TEST_CASE("oneDNN is installed if the system finds its library and lets it compile functions",
          "[gemm]") {
  void* const code =
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool may_compile = code != MAP_FAILED;
  if (may_compile) ::munmap(code, 4096);
  bool found = false;
  for (const char* name : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.3.dylib"})
    found = found || ::dlopen(name, RTLD_LAZY) != nullptr;
  CHECK(is_installed(GemmLibrary::onednn) == (found && may_compile));
}

// Hidden: the next test runs this one in a process of its own.
TEST_CASE("where code cannot be compiled, OpenBLAS is the only library", "[gemm][.][no_new_code]") {
#if defined(__linux__)
  constexpr int pr_set_mdwe = 65, reject_exec_gain = 1;  // Linux 6.3 (linux/prctl.h)
  if (::prctl(pr_set_mdwe, reject_exec_gain, 0, 0, 0) != 0) return;
  CHECK_FALSE(is_installed(GemmLibrary::xsmm));
  CHECK_FALSE(is_installed(GemmLibrary::onednn));
#endif
}

TEST_CASE("a system that forbids new code leaves the products to OpenBLAS", "[gemm]") {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (none) return;  // not Linux
  const heed_test::Finished child =
      heed_test::run({{self.string(), "[no_new_code]"}, self.parent_path(), ""});
  INFO(child.out);
  CHECK(child.code == 0);
  CHECK(child.out.find("No tests ran") == child.out.npos);
}

TEST_CASE("every installed library computes the products of random shapes in all forms", "[gemm]") {
  for (const GemmLibrary library : installed_libraries())
    for (const Product& p : random_products(200, 90, 5)) {
      CHECK(error_of(library, p, Output::overwrite, 1) == "");
      CHECK(error_of(library, p, Output::overwrite, Real{0.5}) == "");
      CHECK(error_of(library, p, Output::accumulate, 1) == "");
      CHECK(error_of(library, p, Output::accumulate, -2) == "");
    }
}

TEST_CASE("every installed library computes rows to the same bits in parts of whole tiles",
          "[gemm]") {
  for (const GemmLibrary library : installed_libraries())
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const std::size_t k : {64u, 100u, 128u, 512u}) {
          const std::size_t tile = rows_per_tile(library);
          const Product p(10 * tile, 128, k, ta, tb);
          INFO(p.text(library));
          for (const std::size_t tiles : {1u, 2u, 5u, 9u})
            CHECK(same_bits_in_parts(library, p, tiles * tile));
        }
}

TEST_CASE("LIBXSMM and oneDNN compute rows to the same bits in parts of whole tiles at any shape",
          "[gemm]") {
  std::mt19937 draw(3);
  for (const Product& p : random_products(300, 300, 6)) {
    const std::size_t tiles = 1 + draw() % 6;
    for (const GemmLibrary library : installed_libraries()) {
      const std::size_t tile = rows_per_tile(library), cut = tiles * tile;
      if (p.m < cut + tile) continue;
      if (library == GemmLibrary::openblas) continue;  // has other kernels for small products
      INFO(p.text(library) << ", first part " << cut);
      CHECK(same_bits_in_parts(library, p, cut));
    }
  }
}

TEST_CASE("the text of a choice of libraries names it again", "[gemm]") {
  CHECK(GemmChoice().text() == "openblas");
  CHECK(GemmChoice(GemmLibrary::onednn).text() == "onednn");
  CHECK(GemmChoice::parse("xsmm") == GemmChoice(GemmLibrary::xsmm));
  GemmChoice choice;
  choice.at(GemmForm::nt, GemmSize::medium) = GemmLibrary::onednn;
  choice.at(GemmForm::tn, GemmSize::small) = GemmLibrary::xsmm;
  const std::string text =
      "openblas/openblas/openblas/openblas,openblas/openblas/onednn/openblas,"
      "openblas/xsmm/openblas/openblas";
  CHECK(choice.text() == text);
  CHECK(GemmChoice::parse(text) == choice);
  for (const std::string wrong : {"", "blas", "xsmm,xsmm", "xsmm,xsmm,xsmm", "a/b/c,d/e/f,g/h/i",
                                  "xsmm/xsmm/xsmm,xsmm/xsmm/xsmm/xsmm,xsmm/xsmm/xsmm",
                                  "xsmm/xsmm/xsmm/xsmm,xsmm/xsmm/xsmm,xsmm/xsmm/xsmm/xsmm"}) {
    const std::string message = message_of([&] { GemmChoice::parse(wrong); });
    CHECK(message == "the choice of libraries for matrix products is '" + wrong +
                         "'; give openblas, xsmm or onednn");
  }
}

TEST_CASE("the choice of an older version takes the libraries that the older version took",
          "[gemm]") {
  const std::string text = "onednn/xsmm/openblas,xsmm/onednn/xsmm,xsmm/openblas/onednn";
  const GemmChoice choice = GemmChoice::parse(text);
  CHECK(choice.text() == text);
  CHECK(GemmChoice::parse(choice.text()) == choice);
  CHECK(!(choice == GemmChoice::parse("openblas/onednn/xsmm/openblas,openblas/xsmm/onednn/xsmm,"
                                      "openblas/xsmm/openblas/onednn")));
  const std::string same = "xsmm/xsmm/xsmm,xsmm/xsmm/xsmm,xsmm/xsmm/xsmm";
  CHECK(GemmChoice::parse(same).text() == same);

  const auto nn = [&](std::size_t m, std::size_t n, std::size_t k) {
    return choice.library_for({nullptr, m, k, k}, {nullptr, k, n, n});
  };
  const auto nt = [&](std::size_t m, std::size_t n, std::size_t k) {
    return choice.library_for({nullptr, m, k, k}, MatrixView{nullptr, n, k, k}.transposed());
  };
  const auto tn = [&](std::size_t m, std::size_t n, std::size_t k) {
    return choice.library_for(MatrixView{nullptr, k, m, m}.transposed(), {nullptr, k, n, n});
  };
  CHECK(nn(1, 65, 65) == GemmLibrary::onednn);         // few rows, small
  CHECK(nn(15, 512, 512) == GemmLibrary::xsmm);        // few rows, medium
  CHECK(nn(15, 8192, 8192) == GemmLibrary::openblas);  // few rows, large
  CHECK(nn(16, 8, 8) == GemmLibrary::onednn);
  CHECK(nt(1, 65, 65) == GemmLibrary::openblas);  // OpenBLAS instead of LIBXSMM
  CHECK(nt(15, 8, 8) == GemmLibrary::openblas);   // for small b too
  CHECK(nt(16, 8, 8) == GemmLibrary::xsmm);
  CHECK(nt(15, 512, 512) == GemmLibrary::onednn);
  CHECK(nt(15, 8192, 8192) == GemmLibrary::openblas);
  CHECK(tn(8, 128, 64) == GemmLibrary::xsmm);
  CHECK(tn(8, 1024, 1024) == GemmLibrary::openblas);
}

TEST_CASE("products of few rows under the choice of an older version have its library's bits",
          "[gemm]") {
  if (!is_installed(GemmLibrary::onednn)) return;
  const Product p(8, 96, 500, false, true);
  Array expected = zeros({p.m, p.n}), c = expected;
  gemm_by(GemmLibrary::onednn, p.a(), p.b(), {expected.data(), p.m, p.n, p.n});
  set_gemm_choice(
      GemmChoice::parse("openblas/openblas/openblas,onednn/openblas/openblas,"
                        "openblas/openblas/openblas"));
  parallel_gemm(p.a(), p.b(), {c.data(), p.m, p.n, p.n});
  set_gemm_choice(GemmChoice());
  CHECK(std::equal(c.begin(), c.end(), expected.begin()));
  gemm_by(GemmLibrary::openblas, p.a(), p.b(), {c.data(), p.m, p.n, p.n});
  CHECK(!std::equal(c.begin(), c.end(), expected.begin()));
}

TEST_CASE("forms and sizes of products", "[gemm]") {
  const MatrixView a{nullptr, 100, 100, 100}, b{nullptr, 100, 99, 100}, c{nullptr, 100, 100, 100};
  CHECK(form_of(a, b) == GemmForm::nn);
  CHECK(form_of(a, c.transposed()) == GemmForm::nt);
  CHECK(form_of(a.transposed(), b) == GemmForm::tn);
  CHECK(form_of(a.transposed(), c.transposed()) == GemmForm::tn);
  CHECK(size_of(a, b) == GemmSize::small);  // 1.98e6 operations
  CHECK(size_of(a, c) == GemmSize::medium);
  CHECK(size_of({nullptr, 15, 64, 64}, {nullptr, 64, 65, 65}) == GemmSize::few_rows);
  CHECK(size_of({nullptr, 15, 64, 64}, {nullptr, 64, 64, 64}) == GemmSize::small);
  CHECK(size_of({nullptr, 16, 64, 64}, {nullptr, 64, 65, 65}) == GemmSize::small);
  CHECK(size_of({nullptr, 1000, 1000, 1000}, {nullptr, 1000, 499, 499}) == GemmSize::medium);
  CHECK(size_of({nullptr, 1000, 1000, 1000}, {nullptr, 1000, 500, 500}) == GemmSize::large);
}

TEST_CASE("operations use the chosen library", "[gemm]") {
  if (!is_installed(GemmLibrary::xsmm) && !is_installed(GemmLibrary::onednn)) return;
  const GemmLibrary other =
      is_installed(GemmLibrary::onednn) ? GemmLibrary::onednn : GemmLibrary::xsmm;
  const Product p(240, 96, 500, false, false);
  const auto product_by_choice = [&](const GemmChoice& choice) {
    set_gemm_choice(choice);
    Array c = zeros({p.m, p.n});
    parallel_gemm(p.a(), p.b(), {c.data(), p.m, p.n, p.n});
    set_gemm_choice(GemmChoice());
    return c;
  };
  Array expected = zeros({p.m, p.n});
  gemm_by(other, p.a(), p.b(), {expected.data(), p.m, p.n, p.n});
  const Array chosen = product_by_choice(GemmChoice(other)),
              standard = product_by_choice(GemmChoice());
  CHECK(std::equal(chosen.begin(), chosen.end(), expected.begin()));
  CHECK(!std::equal(chosen.begin(), chosen.end(), standard.begin()));
}
