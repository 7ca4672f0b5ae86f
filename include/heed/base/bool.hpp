// bool.hpp: Bool, the type of a parameter that accepts a bool, but no number.
#pragma once

#include <type_traits>

namespace heed {

// A parameter of type bool would accept any number: nn::LayerNorm(scope, 4, 0.1) would have a bias,
// and the default epsilon. With a parameter of type Bool, the call does not compile.
class Bool {
 public:
  // true or false
  template <class T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  constexpr Bool(T value) : value_(value) {}
  template <class T, std::enable_if_t<!std::is_same_v<T, bool> && std::is_arithmetic_v<T>, int> = 0>
  Bool(T) = delete;  // rejects a number

  constexpr operator bool() const { return value_; }  // true or false

 private:
  bool value_;
};

}  // namespace heed
