// losses.hpp: negative log-likelihood, L1 loss, KL divergence, and cross-entropy with class weights
// or class probabilities.
#pragma once

#include "heed/array/exact.hpp"
#include "heed/autograd/tensor.hpp"
#include "heed/base/bool.hpp"
#include "heed/ops/loss.hpp"

namespace HEED_NAMESPACE {

// As in loss.hpp, classes are the last axis: logits (..., V) and targets (...). (In PyTorch they
// are axis 1.)

// cross_entropy() of loss.hpp with a reduction as its only option.
Tensor cross_entropy(In logits, const Exact<Indices>& targets, Reduction reduction);
// With class weights (V): the loss of each target is multiplied by its class's weight, and the mean
// is divided by the sum of these weights, as in PyTorch. Throws Error also if the weights are not
// (V).
Tensor cross_entropy(In logits, const Exact<Indices>& targets, const Array& class_weights,
                     const CrossEntropyOptions& options = {});
// With class probabilities (..., V) as targets: -sum_j target_j ln softmax(logits)_j. The mean is
// over the rows. ignore_index is not used. The sum of the probabilities is not checked. Throws
// Error if the shapes differ.
Tensor cross_entropy(In logits, In probabilities, const CrossEntropyOptions& options = {});
Tensor cross_entropy(In logits, In probabilities, const Array& class_weights,
                     const CrossEntropyOptions& options = {});

// -log_probabilities[target] for log_probabilities (..., V), such as log_softmax(logits, -1), and
// targets (...), with class weights (V) or without. As cross_entropy(); throws Error also for
// options.label_smoothing, which this loss has not.
Tensor nll_loss(In log_probabilities, const Exact<Indices>& targets,
                const CrossEntropyOptions& options = {});
Tensor nll_loss(In log_probabilities, const Exact<Indices>& targets, Reduction reduction);
Tensor nll_loss(In log_probabilities, const Exact<Indices>& targets, const Array& class_weights,
                const CrossEntropyOptions& options = {});

// The losses below are elementwise, as mse_loss() of loss.hpp: input and target have one shape.

// |input - target|, with derivative 0 at 0.
Tensor l1_loss(In input, In target, Reduction reduction = Reduction::mean);
// The target as an Array, which needs no gradient.
Tensor l1_loss(In input, const Array& target, Reduction reduction = Reduction::mean);
Tensor mse_loss(In input, const Array& target, Reduction reduction = Reduction::mean);

// target (ln target - input), where input has logarithms of probabilities; 0 where the target is 0.
// With log_target, target has logarithms too. Reduction::mean divides by the number of elements, as
// in PyTorch; the KL divergence of a batch, "batchmean" in PyTorch, is the sum divided by the
// number of rows. Throws Error if the shapes differ.
Tensor kl_div(In input, In target, Reduction reduction = Reduction::mean, Bool log_target = false);

}  // namespace HEED_NAMESPACE
