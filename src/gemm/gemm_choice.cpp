// gemm_choice.cpp: the choice of a library for each form and size of matrix product, and its text.

#include "heed/gemm/gemm_choice.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

GemmChoice& current_choice() {
  static GemmChoice choice;
  return choice;
}

GemmLibrary library_named(std::string_view name, std::string_view text) {
  for (const GemmLibrary library : all_gemm_libraries)
    if (name == name_of(library)) return library;
  throw_error("the choice of libraries for matrix products is ", in_quotes(text),
              "; give openblas, xsmm or onednn");
}

// The parts of the text between separators.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

GemmChoice::GemmChoice(GemmLibrary everywhere) {
  for (auto& form : libraries_) form.fill(everywhere);
}

GemmLibrary& GemmChoice::at(GemmForm form, GemmSize size) {
  return libraries_[static_cast<std::size_t>(form)][static_cast<std::size_t>(size)];
}

GemmLibrary GemmChoice::at(GemmForm form, GemmSize size) const {
  return libraries_[static_cast<std::size_t>(form)][static_cast<std::size_t>(size)];
}

// Classifies a product by its floating point operations alone.
static GemmSize size_by_flop(MatrixView a, MatrixView b) {
  const double flop = 2 * static_cast<double>(a.rows) * static_cast<double>(a.columns) *
                      static_cast<double>(b.columns);
  return flop < 2e6 ? GemmSize::small : flop < 1e9 ? GemmSize::medium : GemmSize::large;
}

constexpr std::size_t max_few_rows = 15;

GemmLibrary GemmChoice::library_for(MatrixView a, MatrixView b) const {
  if (has_few_rows_) return at(form_of(a, b), size_of(a, b));
  const GemmLibrary library = at(form_of(a, b), size_by_flop(a, b));
  const bool is_replaced =
      library == GemmLibrary::xsmm && b.is_transposed && a.rows <= max_few_rows;
  return is_replaced ? GemmLibrary::openblas : library;
}

std::string GemmChoice::text() const {
  if (*this == GemmChoice(libraries_[0][0])) return std::string(name_of(libraries_[0][0]));
  const std::size_t first = has_few_rows_ ? 0 : 1;
  std::string text;
  for (std::size_t form = 0; form < 3; ++form)
    for (std::size_t size = first; size < libraries_[form].size(); ++size) {
      if (form > 0 || size > first) text += size == first ? ',' : '/';
      text += name_of(libraries_[form][size]);
    }
  return text;
}

GemmChoice GemmChoice::parse(std::string_view text) {
  const std::vector<std::string_view> forms = parts_of(text, ',');
  if (forms.size() != 3) return GemmChoice(library_named(text, text));
  GemmChoice choice;
  choice.has_few_rows_ = parts_of(forms[0], '/').size() != 3;
  const std::size_t first = choice.has_few_rows_ ? 0 : 1;
  for (std::size_t form = 0; form < 3; ++form) {
    const std::vector<std::string_view> sizes = parts_of(forms[form], '/');
    if (first + sizes.size() != 4) return GemmChoice(library_named(text, text));
    for (std::size_t size = first; size < 4; ++size)
      choice.libraries_[form][size] = library_named(sizes[size - first], text);
  }
  return choice;
}

GemmForm form_of(MatrixView a, MatrixView b) {
  if (a.is_transposed) return GemmForm::tn;
  return b.is_transposed ? GemmForm::nt : GemmForm::nn;
}

GemmSize size_of(MatrixView a, MatrixView b) {
  if (a.rows <= max_few_rows && b.rows * b.columns > 4096) return GemmSize::few_rows;
  return size_by_flop(a, b);
}

const GemmChoice& gemm_choice() { return current_choice(); }

// A library of the choice that is not installed.
static std::optional<GemmLibrary> missing_library(const GemmChoice& choice) {
  for (const GemmForm form : all_gemm_forms)
    for (const GemmSize size : all_gemm_sizes)
      if (!is_installed(choice.at(form, size))) return choice.at(form, size);
  return {};
}

bool is_installed(const GemmChoice& choice) { return !missing_library(choice); }

void set_gemm_choice(const GemmChoice& choice) {
  if (const auto missing = missing_library(choice))
    throw_error(
        "the library ", name_of(*missing),
        " for matrix products is not installed, or heed was built without it; use openblas");
  current_choice() = choice;
}

}  // namespace HEED_NAMESPACE
