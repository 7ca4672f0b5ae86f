// axis.hpp: checks of axes; errors name the tensor by its own name if it has one.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

inline std::string name_or(const Tensor& x, std::string_view role) {
  return x.name().empty() ? std::string(role) : x.name();
}

inline std::size_t checked_axis(std::string_view op, const Tensor& x, int axis,
                                std::string_view role = "x") {
  return checked_axis(op, x.shape(), axis, name_or(x, role));
}

inline Axes checked_axes(std::string_view op, const Tensor& x, const AxisList& axes) {
  return checked_axes(op, x.shape(), axes, name_or(x, "x"));
}

}  // namespace HEED_NAMESPACE
