// additive.hpp: the inputs and results of exercise 21.
#pragma once

#include <vector>

#include "lesson.hpp"

namespace heed {

// The inputs for B lines; line b has lengths[b] positions, at least one, then padding.
struct Inputs {
  Array s;        // (B, C): the decoder's state of each line
  Array H;        // (B, S, D): the encoder's states h_j
  Array W, U, v;  // (A, C), (A, D) and (A): A is the width of the hidden layer
  std::vector<std::size_t> lengths;
};

struct Attention {
  Array weights;  // (B, S), 0 at padding
  Array context;  // (B, D): the sums of the h_j with these weights
};

struct Gradients {
  Array s, H, W, U, v;  // gradients, with the shapes of the inputs
};

// Gradients of zeros.
inline Gradients no_gradients(const Inputs& x) {
  return {zeros(shape_of(x.s)), zeros(shape_of(x.H)), zeros(shape_of(x.W)), zeros(shape_of(x.U)),
          zeros(shape_of(x.v))};
}

}  // namespace heed
