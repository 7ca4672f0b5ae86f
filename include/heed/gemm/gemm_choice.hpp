// gemm_choice.hpp: which library computes the matrix products of each form and size.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "heed/gemm/gemm_library.hpp"

namespace HEED_NAMESPACE {

// The form of a product says which factors are stored transposed: none (nn), b (nt), or a (tn). For
// example, y = x W^T is nt, dx = dy W is nn, and dW = dy^T x is tn. Both transposed counts as tn.
enum class GemmForm { nn, nt, tn };
inline constexpr std::array<GemmForm, 3> all_gemm_forms = {GemmForm::nn, GemmForm::nt,
                                                           GemmForm::tn};
// The size of a product (m, k) (k, n). few_rows: m < 16 rows times a matrix of more than 4096
// elements, as in the generation of several texts, where reading the matrix takes most of the time.
// Others by their floating point operations, 2 m n k: small below 2e6 (one head's block in
// attention), medium below 1e9 (a linear layer), and large.
enum class GemmSize { few_rows, small, medium, large };
inline constexpr std::array<GemmSize, 4> all_gemm_sizes = {GemmSize::few_rows, GemmSize::small,
                                                           GemmSize::medium, GemmSize::large};

// The library for each form and each size.
class GemmChoice {
 public:
  explicit GemmChoice(GemmLibrary everywhere = GemmLibrary::openblas);  // for all products

  // The library for products of this form and size. A choice without few_rows does not use that
  // size.
  GemmLibrary& at(GemmForm form, GemmSize size);
  GemmLibrary at(GemmForm form, GemmSize size) const;

  // The library that computes the product a b: at(form_of(a, b), size_of(a, b)). A choice without
  // few_rows takes the library of small, medium or large for all products, except that OpenBLAS
  // replaces LIBXSMM where a has less than 16 rows and b is transposed.
  GemmLibrary library_for(MatrixView a, MatrixView b) const;

  // The choice as text: "xsmm" if one library computes all products, otherwise the libraries of nn,
  // nt and tn, each few_rows/small/medium/large: "xsmm/xsmm/onednn/onednn,...,openblas/xsmm/...".
  // A choice without few_rows has the text that it was parsed from: "xsmm/onednn/onednn,...".
  std::string text() const;
  // The inverse of text(). Throws Error if the text names no choice. Checkpoints of older versions
  // have texts without few_rows, small/medium/large: such a run keeps its bits, because the parsed
  // choice computes each product by the library that the older version took.
  static GemmChoice parse(std::string_view text);

  // Whether both choose the same library for every product.
  friend bool operator==(const GemmChoice& a, const GemmChoice& b) {
    return a.libraries_ == b.libraries_ && a.has_few_rows_ == b.has_few_rows_;
  }

 private:
  bool has_few_rows_ = true;
  std::array<std::array<GemmLibrary, 4>, 3> libraries_;  // libraries, by form and size
};

// The form and the size of the product a b.
GemmForm form_of(MatrixView a, MatrixView b);
GemmSize size_of(MatrixView a, MatrixView b);

bool is_installed(const GemmChoice& choice);  // whether all libraries of the choice are installed

// The choice that gemm and all operations of this process use: at first OpenBLAS for all products.
// Two libraries may round differently, so a run that must repeat another one's bits needs its
// choice. set_gemm_choice throws Error if a library of the choice is not installed. It must not be
// called while another thread computes products.
const GemmChoice& gemm_choice();
void set_gemm_choice(const GemmChoice& choice);

}  // namespace HEED_NAMESPACE
