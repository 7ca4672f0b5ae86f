// recurrent.hpp: the recurrent layers GRU and LSTM.
#pragma once

#include <vector>

#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE::nn {

// Options of GRU and LSTM. The defaults are PyTorch's.
struct RecurrentOptions {
  std::size_t num_layers = 1;  // layer k > 0 reads the output of layer k - 1
  bool bias = true;            // whether the layers have biases
  bool bidirectional = false;  // whether a second layer beside each one reads from the end
};

// The parameters of one layer in one direction, which have the names and the initial values of
// PyTorch's: uniform in +-1 / sqrt(H). G is 3 for a GRU, 4 for an LSTM.
struct RecurrentWeights {
  Tensor
      weight_ih;  // (G H, in): "weight_ih_l0", or "weight_ih_l0_reverse" if it reads from the end
  Tensor weight_hh;  // (G H, H)
  Tensor bias_ih;    // (G H); undefined without bias
  Tensor bias_hh;    // (G H); undefined without bias
};

// Gated recurrent units (Cho et al. 2014, "Learning Phrase Representations using RNN
// Encoder-Decoder", section 2.3), as torch.nn.GRU with batch_first=True:
//   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
//   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//   n = tanh(W_in x + b_in + r (W_hn h + b_hn))
//   h = (1 - z) n + z h
// The rows of weight_ih and weight_hh belong to r, z and n, in this order.
struct GRU {
  // Throws Error if a size or num_layers is 0 or negative.
  GRU(Scope scope, std::size_t input_size, std::size_t hidden_size,
      const RecurrentOptions& options = {});

  // What a call returns.
  struct Result {
    Tensor output;  // (B, T, D H): the states of the last layer; D = 2 if bidirectional, else 1
    Tensor h_n;     // (D L, B, H): the last state of each of the L layers and directions
  };
  // Reads x (B, T, in) from the states h_0 (D L, B, H), zeros if omitted. Throws Error for other
  // shapes, and for T = 0.
  Result operator()(In x, In h_0 = {}) const;

  std::size_t hidden_size;  // H
  bool bidirectional;       // whether D is 2
  std::vector<RecurrentWeights>
      weights;  // D L: forwards and, if bidirectional, backwards per layer
};

// Long short-term memory (Hochreiter and Schmidhuber 1997; with forget gates, Gers et al. 2000), as
// torch.nn.LSTM with batch_first=True:
//   i, f, o = sigmoid(W_i x + b_i + W_h h + b_h) of their rows, g = tanh(...) of its rows
//   c = f c + i g
//   h = o tanh(c)
// The rows of weight_ih and weight_hh belong to i, f, g and o, in this order.
struct LSTM {
  // Throws Error if a size or num_layers is 0 or negative.
  LSTM(Scope scope, std::size_t input_size, std::size_t hidden_size,
       const RecurrentOptions& options = {});

  // What a call returns.
  struct Result {
    Tensor output;    // (B, T, D H): the states h of the last layer
    Tensor h_n, c_n;  // (D L, B, H): the last h and c of each of the L layers and directions
  };
  // Reads x (B, T, in) from the states h_0 and c_0 (D L, B, H), zeros if omitted. Throws Error for
  // other shapes, and for T = 0.
  Result operator()(In x, In h_0 = {}, In c_0 = {}) const;

  std::size_t hidden_size;  // H
  bool bidirectional;       // whether D is 2
  std::vector<RecurrentWeights>
      weights;  // D L: forwards and, if bidirectional, backwards per layer
};

}  // namespace HEED_NAMESPACE::nn
