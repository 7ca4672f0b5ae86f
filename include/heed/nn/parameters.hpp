// parameters.hpp: the numbers a model learns, by name; creating one registers it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"

namespace heed {

// All parameters of a model, in the order they were made: the state dict, what an optimizer takes,
// and what a checkpoint saves. Each tensor carries its own name.
class Parameters {
 public:
  // Throws Error when the name is taken.
  Tensor add(const std::string& name, Array value);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  std::size_t size() const { return tensors_.size(); }
  std::size_t count() const;                        // numbers in all of them
  const Tensor* find(std::string_view name) const;  // nullptr when there is none
  const Tensor& at(std::string_view name) const;    // throws Error, with the names there are

  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

 private:
  std::vector<Tensor> tensors_;
};

// Where a layer puts its parameters: the store, a dotted prefix, and the generator that draws
// their first values. scope / "blocks" / "0" has the prefix "blocks.0".
struct Scope {
  Scope(Parameters& parameters, Generator& random, std::string name = "")
      : store(parameters), generator(random), prefix(std::move(name)) {}

  Scope operator/(std::string_view name) const;
  Scope operator/(std::size_t index) const { return *this / std::to_string(index); }
  Tensor parameter(std::string_view name, Array value) const;

  Parameters& store;
  Generator& generator;
  std::string prefix;
};

}  // namespace heed
