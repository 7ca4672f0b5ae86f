// parameters.hpp: Parameters (stores a model's parameters by name) and Scope (creates parameters).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"
#include "heed/gemm/compact.hpp"

namespace HEED_NAMESPACE {

// All parameters of a model in the order of their creation, as in PyTorch's state dict. Optimizers
// update the parameters, and checkpoints store them. No two tensors have the same name.
class Parameters {
 public:
  // Adds a parameter and returns it. Throws Error if a parameter of this name already exists.
  Tensor add(const std::string& name, Array value,
             SourceLocation location = SourceLocation::current());

  const std::vector<Tensor>& tensors() const { return tensors_; }   // tensors in order of creation
  operator const std::vector<Tensor>&() const { return tensors_; }  // for AdamW(parameters, ...)
  std::size_t size() const { return tensors_.size(); }              // number of tensors
  std::size_t count() const;                                        // total number of elements
  const Tensor* find(std::string_view name) const;  // nullptr if no parameter has this name
  // The parameter `name`. If there is none, throws Error with a list of all names.
  const Tensor& at(std::string_view name,
                   SourceLocation location = SourceLocation::current()) const;

  // Iterators over the tensors: for (const Tensor& p : parameters).
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

 private:
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string, std::size_t> index_;  // the position of each name in tensors_
};

// How linear layers and embeddings are initialised: as in PyTorch if std is 0; otherwise weights
// are drawn from normal(0, std) and biases are 0.
struct WeightInit {
  double std = 0;           // standard deviation of the weights; 0: PyTorch's default
  double residual_std = 0;  // std of layers whose output is added to the residual stream
  // If false, no random numbers are drawn: the weights and biases of linear layers and embeddings
  // are undefined until their values are loaded.
  bool draw = true;
};

// What a layer's constructor needs to create the layer's parameters: the Parameters object that
// stores them, a dotted prefix for their names, and the generator that draws their initial values.
// If the prefix of `scope` is empty, scope / "blocks" / "0" has the prefix "blocks.0".
struct Scope {
  // The outermost scope of a model. `parameters` and `random` must outlive the scope.
  Scope(Parameters& parameters, Generator& random, std::string name = "",
        SourceLocation current = SourceLocation::current())
      : store(parameters), generator(random), prefix(std::move(name)), location(current) {}

  // Returns the scope of a submodule: a copy whose prefix has the name or index appended.
  Scope operator/(std::string_view name) const;
  Scope operator/(std::size_t index) const { return *this / std::to_string(index); }
  // Adds a parameter to `store`, under the name PREFIX.name (or `name` if the prefix is empty).
  // Throws Error if `store` or `compact` has this name already.
  Tensor parameter(std::string_view name, Array value) const;
  // Throws Error, which names the layer, if a size is negative: a std::size_t near 2^64. Returns
  // the size.
  std::size_t checked_size(const char* layer, const char* name, std::size_t size) const;
  // Adds a matrix to `compact`, which must not be null, under the name PREFIX.name. Throws
  // Error if `store` or `compact` has this name already.
  std::shared_ptr<CompactMatrix> compact_matrix(std::string_view name, std::size_t rows,
                                                std::size_t columns) const;
  Scope ends_residual() const;  // returns a copy whose init.std is init.residual_std

  Parameters& store;        // the object to which parameters are added
  Generator& generator;     // the random generator of initial values
  std::string prefix;       // the prefix of parameter names, such as "blocks.0", or ""
  WeightInit init = {};     // the distribution of initial weights
  SourceLocation location;  // where the scope was created, for error messages
  // If not null, the weights of linear layers and embeddings are created here instead of in
  // `store`: their initial values are rounded, or to be set if init.draw is false.
  CompactMatrices* compact = nullptr;
};

}  // namespace HEED_NAMESPACE
