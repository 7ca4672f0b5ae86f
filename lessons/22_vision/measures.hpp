// measures.hpp: accuracy, the weight on lines, and deletion curves of lesson 22.
#pragma once

#include <functional>

#include "estimate.hpp"
#include "shapes.hpp"

namespace heed {

using Model = std::function<Tensor(const Tensor& images)>;  // (B, 1, side, side) -> logits (B, 4)

inline double accuracy(const Model& model, const LabelledImages& test) {
  const NoGrad no_grad;
  const Indices predicted = argmax(model(Tensor(test.images)), -1);  // (B)
  double correct = 0;
  for (std::size_t b = 0; b < predicted.size(); ++b) correct += predicted(b) == test.label(b);
  return correct / double(predicted.size());
}

// Of the shapes that are `columns` patches wide, the fraction that is predicted right, or the
// fraction that is taken for the shape with exchanged halves: a diamond for a cross, up for down.
inline double fraction_predicted(const Model& model, const LabelledImages& test,
                                 std::size_t columns, bool mirrored) {
  const NoGrad no_grad;
  const Indices predicted = argmax(model(Tensor(test.images)), -1);  // (B)
  double count = 0, all = 0;
  for (std::size_t b = 0; b < predicted.size(); ++b) {
    const auto lines = std::size_t(xt::sum(xt::row(test.lines, std::ptrdiff_t(b)))());
    if (lines != 2 * columns) continue;  // a shape has two diagonals
    all += 1, count += predicted(b) == (mirrored ? test.label(b) ^ 1 : test.label(b)) ? 1 : 0;
  }
  return count / all;
}

inline double loss(const Model& model, const LabelledImages& test) {
  const NoGrad no_grad;
  return cross_entropy(model(Tensor(test.images)), test.label).item();
}

// The fraction of the weights (B, N) of all patches that is on patches with lines.
inline double fraction_on_lines(const Array& weights, const Array& lines) {
  double on = 0, all = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    all += weights.data()[i];
    on += weights.data()[i] * lines.data()[i];
  }
  return on / all;
}

// The images with new noise in the `count` patches that have the largest priority (B, N).
inline Array replace_patches(const Array& images, const Array& priority, std::size_t count) {
  Generator g(7);
  const Array noise_only = g.randn(shape_of(images)) * Real(noise);
  const TopK chosen = topk(Tensor(priority), std::max<std::size_t>(count, 1), 1);
  Array result = images;
  for (std::size_t b = 0; b < images.shape(0); ++b)
    for (std::size_t i = 0; i < count; ++i) {
      const auto n = std::size_t(chosen.indices(b, i));
      copy_patch(&noise_only(b, 0, 0, 0), n, &result(b, 0, 0, 0), n);
    }
  return result;
}

const std::vector<std::size_t> replaced_patches = {0, 1, 2, 4, 8};

// The accuracy of one model after the replacement of 0 to 8 patches of largest priority (B, N).
inline std::vector<double> deletion_curve(const Model& model, const LabelledImages& test,
                                          const Array& priority) {
  std::vector<double> curve;
  for (const std::size_t count : replaced_patches)
    curve.push_back(
        accuracy(model, {replace_patches(test.images, priority, count), test.label, test.lines}));
  return curve;
}

}  // namespace heed
