// compact.hpp: matrices of weights for inference, in BF16 or in eight bits.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// The number type of a model's weight matrices: Real (F32 in the library `heed`) or, for inference,
// BF16 in half the memory, or integers of eight bits with one scale per row in a quarter.
enum class WeightType { f32, bf16, int8 };

// A matrix of rounded weights. A product with few rows takes the time in which the weights are read
// from memory, so that half the bytes take half the time. Sums are computed in Real.
class CompactMatrix {
 public:
  // A matrix of this size, whose elements are to be set.
  CompactMatrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {}
  virtual ~CompactMatrix() = default;

  std::size_t rows() const { return rows_; }        // the number of rows
  std::size_t columns() const { return columns_; }  // the number of columns

  virtual const char* type() const = 0;  // the name of the number type, for error messages
  // Sets `count` elements, from element `first` on (row-major), to the rounded values. All elements
  // must be set in their order.
  virtual void set(std::size_t first, const Real* values, std::size_t count) = 0;
  // Copies the `columns()` numbers of a row to `out`.
  virtual void copy_row(std::size_t row, Real* out) const = 0;
  // The dot product of a row and x, which has `columns()` numbers.
  virtual Real dot(std::size_t row, const Real* x) const = 0;
  virtual bool all_finite() const = 0;  // whether no element is infinite or NaN

 private:
  std::size_t rows_, columns_;
};

// The compact matrices of a model, by name, all of one type.
struct CompactMatrices : std::map<std::string, std::shared_ptr<CompactMatrix>> {
  WeightType type = WeightType::bf16;  // bf16 or int8
  // A new matrix of this type.
  std::shared_ptr<CompactMatrix> make(std::size_t rows, std::size_t columns) const;
};

// y = x W^T: for each of the `rows` rows x (W's columns), a row y (W's rows). Uses several threads,
// with bit-identical results for any number of them.
void product_with_transposed(const Real* x, std::size_t rows, const CompactMatrix& weight, Real* y);

}  // namespace HEED_NAMESPACE
