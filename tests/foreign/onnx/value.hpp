// value.hpp: a tensor of an ONNX file, of any type, and its conversion to heed's arrays.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace heed_test::onnx {

// Thrown for a case that heed has no operation or option for.
struct NotExpressible : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The types of ONNX's TensorProto.DataType that the tests read.
enum class Type { real = 1, int8 = 3, int32 = 6, int64 = 7, boolean = 9, half = 10, real64 = 11 };

inline bool is_real(Type type) {
  return type == Type::real || type == Type::half || type == Type::real64;
}

// An array of any type; each element is a double, which has all integers of the tests but the
// largest.
struct Value {
  Type type = Type::real;
  std::vector<std::size_t> shape;
  std::vector<double> elements;
  bool is_absent = false;  // an optional input that the node leaves out

  std::size_t dim() const { return shape.size(); }
};

heed::Tensor tensor(const Value& value);
heed::Indices indices(const Value& value);
heed::Mask mask(const Value& value);
std::vector<std::int64_t> integers(const Value& value);  // of an array of any shape
double number(const Value& value);                       // the only element

Value value_of(const heed::Tensor& x, Type type = Type::real);
Value value_of(const heed::Indices& x);
Value value_of(const heed::Mask& x);
Value value_of(const std::vector<std::int64_t>& list);

}  // namespace heed_test::onnx
