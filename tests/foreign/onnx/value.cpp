// value.cpp: a tensor of an ONNX file, of any type, and its conversion to heed's arrays.

#include "foreign/onnx/value.hpp"

#include <algorithm>

namespace heed_test::onnx {
namespace {

heed::Shape shape_for(const Value& value) { return {value.shape.begin(), value.shape.end()}; }

template <class AnyArray>
Value converted(const AnyArray& x, Type type) {
  Value value{type, {x.shape().begin(), x.shape().end()}, {}};
  for (const auto element : x) value.elements.push_back(static_cast<double>(element));
  return value;
}

}  // namespace

heed::Tensor tensor(const Value& value) {
  heed::Array x = heed::uninitialized(shape_for(value));
  std::transform(value.elements.begin(), value.elements.end(), x.data(),
                 [](double element) { return static_cast<heed::Real>(element); });
  return heed::Tensor(x);
}

heed::Indices indices(const Value& value) {
  heed::Indices x = heed::indices(shape_for(value));
  std::transform(value.elements.begin(), value.elements.end(), x.data(),
                 [](double element) { return static_cast<std::int64_t>(element); });
  return x;
}

heed::Mask mask(const Value& value) {
  heed::Mask x = heed::mask(shape_for(value));
  std::transform(value.elements.begin(), value.elements.end(), x.data(),
                 [](double element) { return element != 0; });
  return x;
}

std::vector<std::int64_t> integers(const Value& value) {
  std::vector<std::int64_t> list;
  for (const double element : value.elements) {
    const bool is_largest = element >= 9.2e18;  // such as the end of a slice
    list.push_back(is_largest ? INT64_MAX : static_cast<std::int64_t>(element));
  }
  return list;
}

double number(const Value& value) {
  if (value.elements.size() != 1) throw NotExpressible("several elements instead of one number");
  return value.elements[0];
}

Value value_of(const heed::Tensor& x, Type type) { return converted(x.value(), type); }
Value value_of(const heed::Indices& x) { return converted(x, Type::int64); }
Value value_of(const heed::Mask& x) { return converted(x, Type::boolean); }

Value value_of(const std::vector<std::int64_t>& list) {
  return {Type::int64, {list.size()}, {list.begin(), list.end()}};
}

}  // namespace heed_test::onnx
