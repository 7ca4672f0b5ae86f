// train.hpp: trains the models of lesson 22 with several seeds and measures their accuracy.
#pragma once

#include <algorithm>
#include <cmath>

#include "estimate.hpp"
#include "vision_transformer.hpp"

namespace heed {

struct Evaluation {
  double loss, accuracy;
};

inline Evaluation evaluate(const Tensor& logits, const Indices& label) {
  const Indices predicted = argmax(logits, -1);  // (B)
  double correct = 0;
  for (std::size_t b = 0; b < label.size(); ++b) correct += predicted(b) == label(b);
  return {cross_entropy(logits, label).item(), correct / double(label.size())};
}

// How a kind of model is trained: its name, the learning rate, and how many steps and seeds.
struct Settings {
  std::string name;
  double lr;
  std::int64_t steps;
  std::uint64_t seeds;  // first_seed, first_seed + 1, ...
};
constexpr std::uint64_t first_seed = 1;

// Trains on 32 new images in each step. Returns the training loss, as means over 20 steps each.
template <class Model>
Series train(const Model& model, const Parameters& parameters, const Settings& settings,
             Generator& g) {
  optim::AdamW optimizer(parameters.tensors(), {settings.lr, 0.9, 0.999, 1e-8, 0});
  const optim::WarmupCosine rate{settings.lr, settings.lr / 20, 20, settings.steps};
  Series curve{settings.name, {}, {}};
  double sum = 0;
  for (std::int64_t step = 0; step < settings.steps; ++step) {
    const LabelledImages batch = new_images(g, 32);
    const Tensor loss = cross_entropy(model(Tensor(batch.images)), batch.label);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    sum += loss.item() / 20;
    if (step % 20 == 19) curve.append(double(step), sum), sum = 0;
  }
  return curve;
}

// One trained model for each seed, and what it reached on the held-out images.
template <class Model>
struct Runs {
  std::vector<Model> models = {};
  std::vector<double> losses = {}, accuracies = {};
  Series curve = {};           // of the first seed
  std::size_t parameters = 0;  // of one model

  double lowest() const { return *std::min_element(accuracies.begin(), accuracies.end()); }
  double highest() const { return *std::max_element(accuracies.begin(), accuracies.end()); }
};

// `arguments` are those of the model's constructor after the scope.
template <class Model, class... Arguments>
Runs<Model> train_seeds(const Settings& settings, const LabelledImages& test,
                        Arguments... arguments) {
  Runs<Model> runs;
  for (std::uint64_t seed = first_seed; seed < first_seed + settings.seeds; ++seed) {
    Parameters parameters;
    Generator initial(seed), g(1000 + seed);
    runs.models.emplace_back(Scope(parameters, initial), arguments...);
    const Series curve = train(runs.models.back(), parameters, settings, g);
    if (seed == first_seed) runs.curve = curve;
    const NoGrad no_grad;
    const Evaluation result = evaluate(runs.models.back()(Tensor(test.images)), test.label);
    runs.losses.push_back(result.loss), runs.accuracies.push_back(result.accuracy);
    runs.parameters = parameters.count();
  }
  return runs;
}

// "logistic regression   2,308   0.76   0.688 +- 0.001": name, parameters, loss, accuracy.
template <class Model>
std::string row_of(const Runs<Model>& runs) {
  const bool several = runs.losses.size() > 1;
  const Estimate loss = several ? estimate(runs.losses) : Estimate{runs.losses[0], 0},
                 accuracy = several ? estimate(runs.accuracies) : Estimate{runs.accuracies[0], 0};
  return pad_right(runs.curve.name, 26) + pad_left(grouped(double(runs.parameters)), 10) +
         pad_left(decimal(loss.mean, 2), 7) + pad_left(decimal(accuracy.mean, 3), 10) +
         (several ? " +- " + decimal(accuracy.standard_error, 3) : "");
}

}  // namespace heed
