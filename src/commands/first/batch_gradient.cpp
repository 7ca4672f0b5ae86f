// batch_gradient.cpp: BatchGradient, which divides the gradient of a training step among the
// windows and tokens of its batch, and among the operations that use a parameter.

#include "commands/first/batch_gradient.hpp"

#include <algorithm>
#include <iostream>

#include "commands/first/measure.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/autograd/observer.hpp"
#include "heed/base/text.hpp"
#include "heed/ops/loss.hpp"
#include "heed/optim/optimizer.hpp"
#include "train/batch_rows.hpp"

namespace heed::app {
namespace {

using Gradient = std::vector<Array>;
using Reduction = Measurement::Reduction;

constexpr std::size_t parts_shown = 5;

double inner_product(const Gradient& a, const Gradient& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j)
      sum += static_cast<double>(a[i].data()[j]) * static_cast<double>(b[i].data()[j]);
  return sum;
}

// Adds up parts of a gradient, and compares their sum with the whole.
class Division {
 public:
  Division(const std::string& name, const Gradient& total, const Gradient& whole)
      : total_(total), whole_(whole), rest_(whole), result_{name, {}} {}

  void add(GradientPart part, const Gradient& gradient) {
    const double square = inner_product(total_, total_);
    for (std::size_t i = 0; i < rest_.size(); ++i) rest_[i] -= gradient[i];
    part.norm = reduced(Reduction::norm, gradient);
    part.share = square > 0 ? inner_product(gradient, total_) / square : 0;
    result_.parts.push_back(part);
  }

  GradientParts finish() {
    const double largest = reduced(Reduction::max_abs, whole_);
    result_.difference = largest > 0 ? reduced(Reduction::max_abs, rest_) / largest : 0;
    std::stable_sort(result_.parts.begin(), result_.parts.end(),
                     [](const auto& a, const auto& b) { return a.norm > b.norm; });
    return result_;
  }

 private:
  const Gradient &total_, &whole_;
  Gradient rest_;
  GradientParts result_;
};

// Records what each operation of a backward pass adds to the gradient of a parameter.
struct Contributions : Observer {
  Contributions(const Tensor& parameter, const GradientElements& divided, Division& sum)
      : leaf(parameter.node().get()), elements(divided), division(sum) {}

  void add(const Node& from, std::size_t i, const Array& part) override {
    if (from.inputs[i].get() != leaf) return;
    const std::string name = from.name.empty() ? "" : " '" + from.name + "'";
    division.add({std::string(from.op) + name + ", made at " + str(from.location)},
                 elements.of(part));
  }

  const Node* leaf;
  const GradientElements& elements;
  Division& division;
};

// Keeps the targets at `begin` to begin + count - 1; the loss ignores the others.
Batch with_targets(Batch batch, std::size_t begin, std::size_t count) {
  std::int64_t* const targets = batch.targets.data();
  std::fill(targets, targets + begin, CrossEntropyOptions().ignore_index);
  std::fill(targets + begin + count, targets + batch.targets.size(),
            CrossEntropyOptions().ignore_index);
  return batch;
}

std::string decoded(const Vocabulary& vocabulary, const std::int64_t* begin, std::size_t count) {
  return "\"" + truncated(printable(vocabulary.decode({begin, begin + count})), 62) + "\"";
}

}  // namespace

std::vector<Array> GradientElements::of(const Array& array) const {
  if (!index) return {array};
  Array element = zeros({1});
  element.data()[0] = array.data()[*index];
  return {element};
}

std::vector<Array> GradientElements::of(const Trainer& trainer) const {
  const std::vector<Array> gradients = gradients_of(selected(trainer.parameters(), parameter));
  return index ? of(gradients[0]) : gradients;
}

BatchGradient::BatchGradient(const ReplayedRun& run, const Batch& batch,
                             const GradientElements& elements, const std::string& dropout)
    : run_(run),
      batch_(batch),
      elements_(elements),
      dropout_(dropout),
      num_windows_(batch.inputs.shape(0)),
      num_tokens_(batch.inputs.shape(1)),
      total_(elements.of(run.trainer())) {}

Tensor BatchGradient::loss_of(const Batch& batch) const {
  const Trainer& trainer = run_.trainer();
  Generator generator(0);
  if (!dropout_.empty()) generator.set_state(dropout_);
  const nn::TrainingMode training{trainer.options().dropout, &generator};
  return trainer.model().loss(batch.inputs, batch.targets, dropout_.empty() ? nullptr : &training);
}

// With dropout, a window has its masks only in its batch.
Batch BatchGradient::window(std::size_t row) const {
  if (dropout_.empty()) return rows_of(batch_, row, 1);
  return with_targets(batch_, row * num_tokens_, num_tokens_);
}

std::vector<Array> BatchGradient::gradient_of(const Batch& batch, double divisor,
                                              GradientPart& part) const {
  optim::zero_grad(run_.trainer().parameters().tensors());
  const Tensor loss = loss_of(batch);
  part.loss = loss.item();
  backward(loss);
  Gradient gradient = elements_.of(run_.trainer());
  for (Array& array : gradient) array /= static_cast<Real>(divisor);
  return gradient;
}

GradientParts BatchGradient::windows() const {
  const Vocabulary vocabulary = run_.vocabulary();
  Division division("the batch's gradient", total_, total_);
  for (std::size_t row = 0; row < num_windows_; ++row) {
    const std::int64_t* const inputs = batch_.inputs.data() + row * num_tokens_;
    GradientPart part{decoded(vocabulary, inputs, num_tokens_), row};
    const Gradient gradient = gradient_of(window(row), static_cast<double>(num_windows_), part);
    division.add(part, gradient);
  }
  return division.finish();
}

GradientParts BatchGradient::tokens(std::size_t row) const {
  constexpr std::size_t context = 20;  // number of tokens shown before the predicted one
  const Vocabulary vocabulary = run_.vocabulary();
  const Batch batch = window(row);
  const auto windows = static_cast<double>(num_windows_), tokens = static_cast<double>(num_tokens_);
  GradientPart all;
  const Gradient whole = gradient_of(batch, windows, all);
  Division division("its gradient", total_, whole);
  const std::size_t first = dropout_.empty() ? 0 : row * num_tokens_;
  for (std::size_t t = 0; t < num_tokens_; ++t) {
    const std::int64_t* const input = batch.inputs.data() + first + t;
    const std::size_t before = std::min(t + 1, context);
    GradientPart part{decoded(vocabulary, batch_.targets.data() + row * num_tokens_ + t, 1) +
                          " after " + decoded(vocabulary, input + 1 - before, before),
                      row};
    const Gradient gradient =
        gradient_of(with_targets(batch, first + t, 1), windows * tokens, part);
    division.add(part, gradient);
  }
  return division.finish();
}

GradientParts BatchGradient::operations() const {
  Division division("the batch's gradient", total_, total_);
  const Parameters& parameters = run_.trainer().parameters();
  Contributions contributions(parameters.at(elements_.parameter), elements_, division);
  optim::zero_grad(parameters.tensors());
  BackwardOptions options;
  options.observer = &contributions;
  backward(loss_of(batch_), options);
  return division.finish();
}

void show_gradient(ReplayedRun& run, std::int64_t step, const GradientElements& elements,
                   const std::function<void(const BatchGradient&)>& show) {
  run.set_hook({});
  run.start_before(step - 1);
  run.go_to(step - 1);
  const Trainer& trainer = run.trainer();
  const bool has_dropout = trainer.options().dropout > 0;
  if (has_dropout && trainer.options().shards > 1) {
    std::cout << "\nA window alone has other dropout masks than in one of several shards, so its "
                 "gradient is not shown.\n";
    return;
  }
  const std::string dropout = has_dropout ? trainer.state().dropout_generator : "";
  run.set_hook([&](const Batch& batch, double) {
    show(BatchGradient(run, batch, elements, dropout));
    throw Diverged("the gradients of this step are used up");
  });
  try {
    run.step();
  } catch (const Diverged&) {
  }
}

void print_parts(const GradientParts& parts, const std::string& kind, const std::string& gradient) {
  const bool has_loss = !parts.parts.empty() && parts.parts[0].loss;
  std::cout << "\nThe " << parts.parts.size() << ' ' << kind << ", by the norm of " << gradient
            << " (they add up to " << parts.whole << "\nto within "
            << significant(parts.difference, 3) << " of its largest element):\n"
            << "   norm   share" << (has_loss ? "    loss" : "") << "  text\n";
  for (std::size_t i = 0; i < std::min(parts_shown, parts.parts.size()); ++i) {
    const GradientPart& part = parts.parts[i];
    std::cout << pad_left(significant(part.norm, 3), 7) << pad_left(decimal(100 * part.share, 0), 6)
              << " %" << (part.loss ? pad_left(decimal(*part.loss, 3), 8) : "") << "  " << part.text
              << '\n';
  }
}

}  // namespace heed::app
