// recurrent.cpp: the recurrent layers GRU and LSTM.

#include "heed/extra/recurrent.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/error.hpp"
#include "heed/extra/indexing.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE::nn {

// The states of a layer after each step, and the second state of an LSTM after the last.
struct RecurrentStates {
  std::vector<Tensor> h;  // T states (B, H)
  Tensor c;               // (B, H); undefined for a GRU
};

static std::vector<RecurrentWeights> recurrent_weights(const char* layer, const Scope& scope,
                                                       std::size_t gates, std::size_t in,
                                                       std::size_t H,
                                                       const RecurrentOptions& options) {
  const CallSite site(scope.location);
  scope.checked_size(layer, "input_size", in);
  scope.checked_size(layer, "hidden_size", H);
  if (H == 0 || options.num_layers == 0 || static_cast<std::ptrdiff_t>(options.num_layers) < 0)
    throw_error(layer, ": hidden_size = ", H, " and num_layers = ", options.num_layers,
                " must be at least 1");
  const double limit = 1 / std::sqrt(static_cast<double>(H));
  std::vector<RecurrentWeights> all;
  for (std::size_t k = 0; k < options.num_layers; ++k)
    for (const char* direction : {"", "_reverse"}) {
      if (*direction != 0 && !options.bidirectional) continue;
      const auto draw = [&](const char* name, const Shape& shape) {
        return scope.parameter(name + ("_l" + std::to_string(k)) + direction,
                               scope.generator.uniform(shape, -limit, limit));
      };
      const std::size_t width = k == 0 ? in : options.bidirectional ? 2 * H : H;
      RecurrentWeights weights;
      weights.weight_ih = draw("weight_ih", {gates * H, width});
      weights.weight_hh = draw("weight_hh", {gates * H, H});
      if (options.bias) weights.bias_ih = draw("bias_ih", {gates * H});
      if (options.bias) weights.bias_hh = draw("bias_hh", {gates * H});
      all.push_back(weights);
    }
  return all;
}

// The states h_0 or c_0 of each layer and direction, (B, H): parts of `given` (D L, B, H), or
// zeros.
static std::vector<Tensor> first_states(const char* layer, const char* name, const Tensor& given,
                                        const Tensor& x, std::size_t count, std::size_t H) {
  const Shape shape{count, x.shape()[0], H};
  if (!given.defined()) return {count, Tensor(zeros({shape[1], H}))};
  if (given.shape() != shape)
    throw_error(layer, ": ", describe(given, name), " must be (D L, B, H) = ", str(shape), " for ",
                describe(x, "x"));
  return unbind(given, 0);
}

static void check_sequence(const char* layer, const Tensor& x, std::size_t width) {
  if (x.dim() != 3 || x.shape()[1] == 0 || x.shape()[2] != width)
    throw_error(layer, ": ", describe(x, "x"), " must be (B, T, ", width, ") with T at least 1");
}

// Runs step(a, h, c), which returns the next h and c, over the times in order, or from the end. a
// (B, G H) is W_ih x + b_ih at a time.
template <class Step>
static RecurrentStates run(const Tensor& x, const RecurrentWeights& weights, bool from_the_end,
                           Tensor h, Tensor c, const Step& step) {
  const Tensor projected = linear(x, weights.weight_ih, weights.bias_ih);  // (B, T, G H)
  std::vector<Tensor> inputs = unbind(projected, 1);
  if (from_the_end) std::reverse(inputs.begin(), inputs.end());
  RecurrentStates states;
  for (const Tensor& a : inputs) {
    step(a, linear(h, weights.weight_hh, weights.bias_hh), h, c);
    states.h.push_back(h);
  }
  states.c = c;
  return states;
}

// The output of all layers, and the last h and c of each layer and direction.
struct RecurrentResult {
  Tensor output;
  std::vector<Tensor> h, c;
};

template <class Step>
static RecurrentResult run_layers(const Tensor& x, const std::vector<RecurrentWeights>& weights,
                                  bool bidirectional, const std::vector<Tensor>& h_0,
                                  const std::vector<Tensor>& c_0, const Step& step) {
  RecurrentResult result{x, {}, {}};
  const std::size_t directions = bidirectional ? 2 : 1;
  for (std::size_t k = 0; k < weights.size(); k += directions) {
    std::vector<Tensor> outputs;
    for (std::size_t d = 0; d < directions; ++d) {
      RecurrentStates states =
          run(result.output, weights[k + d], d == 1, h_0[k + d], c_0[k + d], step);
      result.h.push_back(states.h.back());
      result.c.push_back(states.c);
      if (d == 1) std::reverse(states.h.begin(), states.h.end());
      outputs.push_back(stack(states.h, 1));  // (B, T, H)
    }
    result.output = bidirectional ? concat(outputs, -1) : outputs[0];  // (B, T, D H)
  }
  return result;
}

GRU::GRU(Scope scope, std::size_t input_size, std::size_t size, const RecurrentOptions& options)
    : hidden_size(size),
      bidirectional(options.bidirectional),
      weights(recurrent_weights("GRU", scope, 3, input_size, size, options)) {}

GRU::Result GRU::operator()(In x, In h_0) const {
  check_sequence("GRU", x, weights[0].weight_ih.size(1));
  const std::vector<Tensor> first = first_states("GRU", "h_0", h_0, x, weights.size(), hidden_size);
  const auto H = static_cast<std::int64_t>(hidden_size);
  const auto step = [H](const Tensor& a, const Tensor& b, Tensor& h, Tensor&) {
    const Tensor gates = sigmoid(slice(a, 1, 0, 2 * H) + slice(b, 1, 0, 2 * H));  // (B, 2 H)
    const Tensor r = slice(gates, 1, 0, H), z = slice(gates, 1, H);               // (B, H)
    const Tensor n = tanh(slice(a, 1, 2 * H) + r * slice(b, 1, 2 * H));           // (B, H)
    h = n + z * (h - n);                                                          // (1 - z) n + z h
  };
  const RecurrentResult result = run_layers(x, weights, bidirectional, first, first, step);
  return {result.output, stack(result.h, 0)};
}

LSTM::LSTM(Scope scope, std::size_t input_size, std::size_t size, const RecurrentOptions& options)
    : hidden_size(size),
      bidirectional(options.bidirectional),
      weights(recurrent_weights("LSTM", scope, 4, input_size, size, options)) {}

LSTM::Result LSTM::operator()(In x, In h_0, In c_0) const {
  check_sequence("LSTM", x, weights[0].weight_ih.size(1));
  const auto first = [&](const char* name, const Tensor& given) {
    return first_states("LSTM", name, given, x, weights.size(), hidden_size);
  };
  const auto H = static_cast<std::int64_t>(hidden_size);
  const auto step = [H](const Tensor& a, const Tensor& b, Tensor& h, Tensor& c) {
    const Tensor gates = a + b;                                 // (B, 4 H)
    const Tensor i_and_f = sigmoid(slice(gates, 1, 0, 2 * H));  // (B, 2 H)
    const Tensor i = slice(i_and_f, 1, 0, H), f = slice(i_and_f, 1, H);
    const Tensor g = tanh(slice(gates, 1, 2 * H, 3 * H));  // (B, H)
    c = f * c + i * g;
    h = sigmoid(slice(gates, 1, 3 * H)) * tanh(c);
  };
  const RecurrentResult result =
      run_layers(x, weights, bidirectional, first("h_0", h_0), first("c_0", c_0), step);
  return {result.output, stack(result.h, 0), stack(result.c, 0)};
}

}  // namespace HEED_NAMESPACE::nn
