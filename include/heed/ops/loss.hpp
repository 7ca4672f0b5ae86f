// loss.hpp: cross-entropy loss over class indices.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

enum class Reduction { mean, sum, none };

struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  std::int64_t ignore_index = -100;  // targets equal to ignore_index are ignored
  double label_smoothing = 0;        // probability that is spread evenly over all classes
};

// -ln softmax(logits)[target], in nats, over logits (..., V) and targets (...). The mean is over
// the targets that are not ignored; it is NaN if all are ignored, as in PyTorch.
// Throws Error if shapes do not fit or a target is neither in 0 to V - 1 nor ignore_index.
Tensor cross_entropy(const Tensor& logits, const Indices& targets,
                     const CrossEntropyOptions& options = {},
                     SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
