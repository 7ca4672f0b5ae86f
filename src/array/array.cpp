// array.cpp: constructors of arrays; item and is_defined.

#include "heed/array/array.hpp"

#include <algorithm>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

Array uninitialized(const Shape& shape) { return Array::from_shape(shape); }

Array filled(const Shape& shape, Real value) {
  Array x = uninitialized(shape);
  std::fill_n(x.data(), x.size(), value);
  return x;
}

Array zeros(const Shape& shape) { return filled(shape, 0); }
Array ones(const Shape& shape) { return filled(shape, 1); }
Array scalar(Real value) { return filled({}, value); }

const Array& undefined_array() {
  static const Array empty = uninitialized({0});
  return empty;
}

bool is_defined(const Array& x) { return x.dimension() != 1 || x.size() != 0; }

Real item(const Array& x) {
  if (x.size() != 1) throw_error("item: needs exactly one element, got shape ", str(x.shape()));
  return x.data()[0];
}

}  // namespace HEED_NAMESPACE
