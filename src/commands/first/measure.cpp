// measure.cpp: measures a training step for a Condition.

#include "commands/first/measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "study/forward_record.hpp"
#include "train/batch_rows.hpp"

namespace heed::app {
namespace {

using Kind = Measurement::Kind;
using Reduction = Measurement::Reduction;

std::vector<Array> values_of(const std::vector<Tensor>& tensors) {
  std::vector<Array> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  return values;
}

// The mean entropy in nats of the rows of a head's attention weights, over all windows.
double attention_entropy(const nn::Gpt& model, const Batch& batch, std::size_t layer,
                         std::size_t head) {
  const NoGrad no_grad;
  const std::size_t B = batch.inputs.shape(0), T = batch.inputs.shape(1);
  double sum = 0;
  for (std::size_t b = 0; b < B; ++b) {
    const ForwardRecord record = record_forward(model, rows_of(batch, b, 1).inputs);
    const Real* const weights = record.layers[layer].weights.value().data() + head * T * T;
    for (std::size_t i = 0; i < T * T; ++i)
      if (const double p = weights[i]; p > 0) sum -= p * std::log(p);
  }
  return sum / static_cast<double>(B * T);
}

// The median of the train losses in the last 20 rows of the loss history; infinite if there is
// none.
double median_loss(const std::vector<LogRow>& history) {
  constexpr std::size_t rows = 20;
  std::vector<double> losses;
  for (std::size_t i = history.size() - std::min(rows, history.size()); i < history.size(); ++i)
    losses.push_back(history[i].train_loss);
  if (losses.empty()) return std::numeric_limits<double>::infinity();
  std::sort(losses.begin(), losses.end());
  return (losses[(losses.size() - 1) / 2] + losses[losses.size() / 2]) / 2;
}

double norm_of(const std::vector<Array>& arrays) { return reduced(Reduction::norm, arrays); }

}  // namespace

double reduced(Reduction reduction, const std::vector<Array>& arrays) {
  double squares = 0, sum = 0, count = 0;
  double largest = -std::numeric_limits<double>::infinity(), smallest = -largest, most = 0;
  bool has_nan = false;
  for (const Array& array : arrays)
    for (const Real element : array) {
      const double x = element;
      squares += x * x, sum += x, ++count;
      largest = std::max(largest, x), smallest = std::min(smallest, x);
      most = std::max(most, std::abs(x));
      has_nan = has_nan || std::isnan(x);
    }
  if (has_nan) return std::numeric_limits<double>::quiet_NaN();
  switch (reduction) {
    case Reduction::norm:
      return std::sqrt(squares);
    case Reduction::max:
      return largest;
    case Reduction::min:
      return smallest;
    case Reduction::mean:
      return sum / count;
    default:
      return most;
  }
}

std::vector<Tensor> selected(const Parameters& parameters, const std::string& name) {
  if (name.empty()) return parameters.tensors();
  return {parameters.at(name)};
}

std::vector<Array> gradients_of(const std::vector<Tensor>& tensors) {
  std::vector<Array> gradients;
  for (const Tensor& tensor : tensors)
    gradients.push_back(tensor.has_grad() ? tensor.grad() : zeros(tensor.shape()));
  return gradients;
}

void StepMeasures::measure_gradients(const Batch& batch, double loss) {
  const Parameters& parameters = trainer_->parameters();
  before_.clear();
  for (Measurement& m : condition_.measurements()) {
    switch (m.kind) {
      case Kind::train_loss:
        m.value = loss;
        break;
      case Kind::lr:
        m.value = trainer_->lr();
        break;
      case Kind::median:
        m.value = median_loss(trainer_->history());
        break;
      case Kind::grad_norm:
        m.value = norm_of(gradients_of(parameters.tensors()));
        break;
      case Kind::gradient:
        m.value = reduced(m.reduction, gradients_of(selected(parameters, m.parameter)));
        break;
      case Kind::entropy:
        m.value = attention_entropy(trainer_->model(), batch, m.layer, m.head);
        break;
      case Kind::update:
        if (before_.empty()) before_ = values_of(parameters.tensors());
        break;
      case Kind::weights:
        break;
    }
  }
}

void StepMeasures::measure_weights() {
  const Parameters& parameters = trainer_->parameters();
  for (Measurement& m : condition_.measurements()) {
    if (m.kind == Kind::weights)
      m.value = reduced(m.reduction, values_of(selected(parameters, m.parameter)));
    if (m.kind != Kind::update) continue;
    std::vector<Array> updates;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (const Tensor& tensor = parameters.tensors()[i];
          m.parameter.empty() || tensor.name() == m.parameter)
        updates.push_back(tensor.value() - before_[i]);
    m.value = reduced(m.reduction, updates);
  }
}

}  // namespace heed::app
