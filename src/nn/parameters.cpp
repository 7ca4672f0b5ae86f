// parameters.cpp: a model's parameters by name.

#include "heed/nn/parameters.hpp"

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

[[noreturn]] static void throw_exists(const std::string& name) {
  throw_error("parameters: '", name, "' exists already; give it another name");
}

Tensor Parameters::add(const std::string& name, Array value, SourceLocation location) {
  const CallSite site(location);
  if (find(name) != nullptr) throw_exists(name);
  Tensor parameter(std::move(value), true, location);
  parameter.set_name(name);
  index_.emplace(name, tensors_.size());
  tensors_.push_back(parameter);
  return parameter;
}

std::size_t Parameters::count() const {
  std::size_t n = 0;
  for (const Tensor& tensor : tensors_) n += tensor.value().size();
  return n;
}

const Tensor* Parameters::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const Tensor& Parameters::at(std::string_view name, SourceLocation location) const {
  const CallSite site(location);
  if (const Tensor* const found = find(name)) return *found;
  std::string names;
  for (const Tensor& tensor : tensors_)
    names += (names.empty() ? "" : ", ") + printable(tensor.name());
  throw_error("parameters: no ", in_quotes(name), "; there are",
              names.empty() ? " none" : ": " + names);
}

Scope Scope::operator/(std::string_view name) const {
  Scope inner = *this;
  inner.prefix = prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
  return inner;
}

Scope Scope::ends_residual() const {
  Scope scope = *this;
  scope.init.std = init.residual_std;
  return scope;
}

Tensor Scope::parameter(std::string_view name, Array value) const {
  const CallSite site(location);
  const std::string full_name = (*this / name).prefix;
  if (compact != nullptr && compact->count(full_name) != 0) throw_exists(full_name);
  return store.add(full_name, std::move(value), location);
}

std::size_t Scope::checked_size(const char* layer, const char* name, std::size_t size) const {
  const CallSite site(location);
  if (static_cast<std::ptrdiff_t>(size) < 0)
    throw_error(layer, ": ", name, " is ", size, "; give a size of at least 0");
  return size;
}

std::shared_ptr<CompactMatrix> Scope::compact_matrix(std::string_view name, std::size_t rows,
                                                     std::size_t columns) const {
  const CallSite site(location);
  const std::string full_name = (*this / name).prefix;
  if (compact->count(full_name) != 0 || store.find(full_name) != nullptr) throw_exists(full_name);
  return compact->emplace(full_name, compact->make(rows, columns)).first->second;
}

}  // namespace HEED_NAMESPACE
