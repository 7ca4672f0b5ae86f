// layer_name.cpp: names the results of layers.

#include "nn/layer_name.hpp"

namespace HEED_NAMESPACE::nn {

Tensor named_by_layer(Tensor result, const Tensor& parameter, std::size_t components) {
  if (!result.requires_grad()) return result;
  std::string_view name = parameter.name();
  for (std::size_t i = 0; i < components; ++i) {
    const std::size_t dot = name.rfind('.');
    if (dot == name.npos) return result;
    name.remove_suffix(name.size() - dot);
  }
  return result.set_name(std::string(name));
}

}  // namespace HEED_NAMESPACE::nn
