// measures.hpp: accuracy, and how far the attention weights are from uniform, for lesson 21.
#pragma once

#include "pictures.hpp"

namespace heed {

struct Decoded {
  Tensor logits;           // (B, N, V) for N output characters
  Tensor scores, weights;  // (B, N, S); undefined for Score::none
};

// How far the softmax is from uniform weights: means over the output characters of held-out lines.
struct Sharpness {
  double deviation, largest;  // the standard deviation of the scores, and the largest weight
};

template <class Translator>
Sharpness sharpness(const Translator& model, const DateBatch& batch) {
  const NoGrad no_grad;
  const Decoded d = model.decode(batch.inputs, batch.targets.shape(1), &batch.targets);
  const Array deviations = xt::stddev(d.scores.value(), {2}),
              largest = xt::amax(d.weights.value(), {2});
  return {double(xt::mean(deviations)()), double(xt::mean(largest)())};
}

// The fraction of lines whose whole ISO form is right, for each trained model.
template <class Models>
std::vector<double> accuracies(const Models& models, const DateBatch& batch) {
  const NoGrad no_grad;
  std::vector<double> all;
  for (const auto& each : models) {
    const Tensor logits = each.model.decode(batch.inputs, batch.targets.shape(1)).logits;
    all.push_back(fraction_right(argmax(logits, -1), batch));
  }
  return all;
}

// The accuracies of models without and with a time, in a row that begins with `name`.
template <class Models>
std::string row_of(const std::string& name, const Models& models) {
  return pad_right(name, 30) +
         pad_right(mean_and_error(accuracies(models, test_lines(false))), 16) +
         mean_and_error(accuracies(models, test_lines(true)));
}

// a - b, seed by seed.
inline std::vector<double> differences(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

}  // namespace heed
