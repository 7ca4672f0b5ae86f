// parameters.hpp: Parameters, a model's parameters by name, and Scope, which creates them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// All parameters of a model in the order of their creation, as in PyTorch's state dict. Optimizers
// update the parameters, and checkpoints store them. No two tensors have the same name.
class Parameters {
 public:
  // Adds a parameter. Throws Error when a parameter of this name exists.
  Tensor add(const std::string& name, Array value,
             SourceLocation location = SourceLocation::current());

  const std::vector<Tensor>& tensors() const { return tensors_; }   // in order of creation
  operator const std::vector<Tensor>&() const { return tensors_; }  // AdamW(parameters, options)
  std::size_t size() const { return tensors_.size(); }              // number of tensors
  std::size_t count() const;                                        // total number of elements
  const Tensor* find(std::string_view name) const;  // nullptr if no parameter has this name
  // Throws Error with all names for an unknown name.
  const Tensor& at(std::string_view name,
                   SourceLocation location = SourceLocation::current()) const;

  // Iterators over the tensors: for (const Tensor& p : parameters).
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

 private:
  std::vector<Tensor> tensors_;
};

// How linear layers and embeddings are initialised: as in PyTorch if std is 0; otherwise weights
// are drawn from normal(0, std) and biases are 0.
struct WeightInit {
  double std = 0;           // standard deviation; 0: PyTorch's default
  double residual_std = 0;  // std for each layer whose output is added to the residual stream
};

// What a layer's constructor needs to create the layer's parameters: the Parameters object that
// stores them, a dotted prefix for their names, and the generator that draws their initial values.
// scope / "blocks" / "0" has the prefix "blocks.0".
struct Scope {
  // The outermost scope of a model. Parameters and generator must live longer than the scope.
  Scope(Parameters& parameters, Generator& random, std::string name = "",
        SourceLocation current = SourceLocation::current())
      : store(parameters), generator(random), prefix(std::move(name)), location(current) {}

  // The scope of a part of the module: appends a name or index to the prefix.
  Scope operator/(std::string_view name) const;
  Scope operator/(std::size_t index) const { return *this / std::to_string(index); }
  // Adds a parameter of this name, after the prefix, to the store.
  Tensor parameter(std::string_view name, Array value) const;
  Scope ends_residual() const;  // a copy in which residual_std replaces init.std

  Parameters& store;        // receives the parameters
  Generator& generator;     // draws initial values
  std::string prefix;       // "blocks.0", or ""
  WeightInit init = {};     // how layers draw initial weights
  SourceLocation location;  // the call that made the scope, for error messages
};

}  // namespace HEED_NAMESPACE
