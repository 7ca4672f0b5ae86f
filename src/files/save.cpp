// save.cpp: saves and loads the parameters of a model as a safetensors file.

#include "heed/files/save.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "array/reduce.hpp"
#include "files/load.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/gemm/bf16.hpp"

namespace HEED_NAMESPACE {

namespace {

// What a tensor of a file is loaded into: an array, or a compact matrix.
struct Target {
  std::string name;
  Array* array = nullptr;
  CompactMatrix* matrix = nullptr;

  Shape shape() const {
    return matrix != nullptr ? Shape{matrix->rows(), matrix->columns()} : shape_of(*array);
  }
  void set(std::size_t first, const Real* values, std::size_t count) const {
    if (matrix != nullptr)
      matrix->set(first, values, count);
    else
      std::copy_n(values, count, array->data() + first);
  }
  bool is_finite() const { return matrix != nullptr ? matrix->all_finite() : all_finite(*array); }
};

// The target of each tensor of the file: null for the optimizer's tensors. Throws Error unless
// every target has a tensor of its shape, and every other tensor is the optimizer's.
std::vector<const Target*> matched(const SafetensorsFile& file,
                                   const std::vector<Target>& targets) {
  const auto stored = file.by_name();
  std::unordered_map<std::string_view, const Target*> by_name;
  for (const Target& target : targets) {
    const std::string& name = target.name;
    by_name.emplace(name, &target);
    const auto found = stored.find(name);
    if (found == stored.end()) throw_error(file.path, ": no tensor ", in_quotes(name));
    const Shape shape(found->second->shape.begin(), found->second->shape.end());
    if (shape != target.shape())
      throw_error(file.path, ": tensor '", name, "' has shape ", str(shape), ", the model needs ",
                  str(target.shape()));
  }
  std::vector<const Target*> result;
  for (const StoredTensor& tensor : file.tensors) {
    const auto found = by_name.find(tensor.name);
    result.push_back(found == by_name.end() ? nullptr : found->second);
    if (found == by_name.end() && tensor.name.rfind(optimizer_prefix, 0) != 0)
      throw_error(file.path, ": tensor ", in_quotes(tensor.name),
                  " belongs to no parameter of this model");
  }
  return result;
}

void check_finite(const std::string& path, const std::string& name, const Array& values) {
  const Real* const end = values.data() + values.size();
  const Real* const bad =
      std::find_if(values.data(), end, [](Real value) { return !std::isfinite(value); });
  if (bad != end)
    throw_error(path, ": tensor ", in_quotes(name), ": element ", bad - values.data(), " is ", *bad,
                ", which is not finite");
}

// Throws the error about a tensor whose target is not finite. Reads the tensor again, because the
// number can be finite in the file and too large for the target.
[[noreturn]] void throw_not_finite(const SafetensorsReader& file, std::size_t index) {
  constexpr std::size_t piece = 65536;
  const std::vector<std::size_t>& shape = file.tensors()[index].shape;
  const std::size_t size = numel(Shape(shape.begin(), shape.end()));
  std::vector<Real> values(std::min(piece, size));
  for (std::size_t first = 0; first < size; first += piece) {
    const std::size_t count = std::min(piece, size - first);
    file.read(index, first, count, values.data());  // throws if a number is not finite in Real
    for (std::size_t i = 0; i < count; ++i)
      if (std::isinf(float_of_bf16(bf16_of_float(static_cast<float>(values[i])))))
        throw_error(file.name(index), ": element ", first + i, " is ", values[i],
                    ", which is too large for BF16; use F32");
  }
  throw_error(file.path(), ": changed while it was read; read it again");
}

// Reads the file once. After an error about a number or the checksum, the targets are undefined.
void read_into(const SafetensorsReader& file, const std::vector<Target>& targets) {
  const std::vector<const Target*> of_tensor = matched(file.header(), targets);
  file.read_all([&](std::size_t i) { return of_tensor[i] != nullptr; },
                [&](std::size_t i, std::size_t first, const Real* values, std::size_t count) {
                  of_tensor[i]->set(first, values, count);
                });
  for (std::size_t i = 0; i < of_tensor.size(); ++i)
    if (of_tensor[i] != nullptr && !of_tensor[i]->is_finite()) throw_not_finite(file, i);
}

}  // namespace

void load_in_place(const SafetensorsReader& file, const Parameters& parameters,
                   const CompactMatrices& matrices) {
  std::vector<Target> targets;
  for (const Tensor& parameter : parameters)
    targets.push_back({parameter.name(), &parameter.mutable_value()});
  for (const auto& [name, matrix] : matrices) targets.push_back({name, nullptr, matrix.get()});
  read_into(file, targets);
}

std::vector<Array> parameter_values(const SafetensorsReader& file, const Parameters& parameters) {
  std::vector<Array> values;
  for (const Tensor& parameter : parameters) values.push_back(uninitialized(parameter.shape()));
  std::vector<Target> targets;
  for (const Tensor& parameter : parameters)
    targets.push_back({parameter.name(), &values[targets.size()]});
  read_into(file, targets);
  return values;
}

void save(const std::filesystem::path& path, const Parameters& parameters,
          SourceLocation location) {
  const CallSite site(location);
  std::vector<StoredTensor> tensors;
  for (const Tensor& parameter : parameters) {
    check_finite(path, parameter.name(), parameter.value());
    tensors.push_back(stored_tensor(parameter.name(), parameter.value()));
  }
  write_safetensors(path, {}, tensors);
}

void set_values(const Parameters& parameters, std::vector<Array> values, SourceLocation location) {
  const CallSite site(location);
  if (values.size() != parameters.size())
    throw_error("set_values: ", values.size(), " values for ", parameters.size(), " parameters");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const Tensor& parameter = parameters.tensors()[i]; values[i].shape() != parameter.shape())
      throw_error("set_values: the value of '", parameter.name(), "' has shape ",
                  str(values[i].shape()), ", the parameter ", str(parameter.shape()));
  std::size_t next = 0;
  for (const Tensor& parameter : parameters)
    parameter.mutable_value(location) = std::move(values[next++]);
}

void load(const SafetensorsFile& file, const Parameters& parameters, SourceLocation location) {
  const CallSite site(location);
  const std::shared_ptr<const SafetensorsFile> not_owned(std::shared_ptr<void>(), &file);
  set_values(parameters, parameter_values(SafetensorsReader(not_owned), parameters), location);
}

void load(const std::filesystem::path& path, const Parameters& parameters,
          SourceLocation location) {
  const CallSite site(location);
  set_values(parameters, parameter_values(SafetensorsReader(path), parameters), location);
}

}  // namespace HEED_NAMESPACE
