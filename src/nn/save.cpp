// save.cpp: saves and loads the parameters of a model as a safetensors file.

#include "heed/nn/save.hpp"

#include <utility>

#include "heed/array/reduce.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

std::vector<Array> parameter_values(const SafetensorsFile& file, const Parameters& parameters) {
  const auto stored = file.by_name();
  std::vector<Array> values;
  for (const Tensor& parameter : parameters) {
    const auto found = stored.find(parameter.name());
    if (found == stored.end()) throw_error(file.path, ": no tensor ", in_quotes(parameter.name()));
    values.push_back(file.array(*found->second));
    if (values.back().shape() != parameter.shape())
      throw_error(file.path, ": tensor '", parameter.name(), "' has shape ",
                  str(values.back().shape()), ", the model needs ", str(parameter.shape()));
    if (!all_finite(values.back()))
      throw_error(file.path, ": tensor '", parameter.name(), "' holds values that are not finite");
  }
  for (const StoredTensor& tensor : file.tensors)
    if (parameters.find(tensor.name) == nullptr && tensor.name.rfind(optimizer_prefix, 0) != 0)
      throw_error(file.path, ": tensor ", in_quotes(tensor.name),
                  " belongs to no parameter of this model");
  return values;
}

void save(const std::filesystem::path& path, const Parameters& parameters,
          SourceLocation location) {
  const CallSite site(location);
  std::vector<StoredTensor> tensors;
  for (const Tensor& parameter : parameters)
    tensors.push_back(stored_tensor(parameter.name(), parameter.value()));
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
  set_values(parameters, parameter_values(file, parameters), location);
}

void load(const std::filesystem::path& path, const Parameters& parameters,
          SourceLocation location) {
  const CallSite site(location);
  load(read_safetensors(path), parameters, location);
}

}  // namespace HEED_NAMESPACE
