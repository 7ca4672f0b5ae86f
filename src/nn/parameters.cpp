// parameters.cpp: a model's parameters by name.

#include "heed/nn/parameters.hpp"

#include <algorithm>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

Tensor Parameters::add(const std::string& name, Array value) {
  if (find(name) != nullptr)
    throw_error("parameters: '", name, "' exists already; give it another name");
  Tensor parameter(std::move(value), true);
  parameter.set_name(name);
  tensors_.push_back(parameter);
  return parameter;
}

std::size_t Parameters::count() const {
  std::size_t n = 0;
  for (const Tensor& tensor : tensors_) n += tensor.value().size();
  return n;
}

const Tensor* Parameters::find(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const Tensor& tensor) { return tensor.name() == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

const Tensor& Parameters::at(std::string_view name) const {
  const Tensor* const found = find(name);
  if (found != nullptr) return *found;
  std::string names;
  for (const Tensor& tensor : tensors_) names += (names.empty() ? "" : ", ") + tensor.name();
  throw_error("parameters: no '", name, "'; there are: ", names);
}

Scope Scope::operator/(std::string_view name) const {
  Scope inner = *this;
  inner.prefix = prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
  return inner;
}

Scope Scope::with_init(WeightInit weight_init) const {
  Scope scope = *this;
  scope.init = weight_init;
  return scope;
}

Scope Scope::ends_residual() const { return with_init({init.residual_std, init.residual_std}); }

Tensor Scope::parameter(std::string_view name, Array value) const {
  return store.add((*this / name).prefix, std::move(value));
}

}  // namespace HEED_NAMESPACE
