// loss.hpp: cross-entropy over class indices, squared error, binary cross-entropy, Huber loss.
#pragma once

#include "heed/array/exact.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// How a loss function reduces the elementwise losses: to their mean or sum, or not at all (none).
enum class Reduction { mean, sum, none };

// Options of cross_entropy().
struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;  // `none` gives losses of the targets' shape
  std::int64_t ignore_index = -100;       // targets equal to ignore_index are ignored
  double label_smoothing = 0;             // probability that is spread evenly over all classes
};

// -ln softmax(logits)[target], in nats, for logits (..., V) and targets (...). The mean is over the
// targets that are not ignored; the mean is NaN if all targets are ignored, as in PyTorch.
// Throws Error if shapes do not fit or a target is neither in 0 to V - 1 nor ignore_index.
Tensor cross_entropy(In logits, const Exact<Indices>& targets,
                     const CrossEntropyOptions& options = {});

// The losses below are elementwise: input and target have equal shapes (...), and both may require
// gradients. The result is a scalar, or (...) without reduction. They throw Error if shapes differ.

// (input - target)^2
Tensor mse_loss(In input, In target, Reduction reduction = Reduction::mean);

// -target ln p - (1 - target) ln(1 - p) with p = sigmoid(input), in nats. Targets are
// probabilities; as in PyTorch, this is not checked.
Tensor binary_cross_entropy_with_logits(In input, In target, Reduction reduction = Reduction::mean);

// e^2 / 2 if |e| <= delta, else delta (|e| - delta / 2), where e = input - target. Huber 1964,
// "Robust Estimation of a Location Parameter". Throws Error unless delta is above 0.
Tensor huber_loss(In input, In target, Reduction reduction = Reduction::mean, double delta = 1);

}  // namespace HEED_NAMESPACE
