// by_hand.hpp: attention, cross-entropy and Adam, by hand, and the section on Adam of lesson 07.
#pragma once

#include <cmath>

#include "copy_task.hpp"

namespace heed {

// Causal attention: tokens (N, C), matrices (C, d), result (N, d).
inline Array outputs_by_hand(const Array& tokens, const Array& W_Q, const Array& W_K,
                             const Array& W_V) {
  const Array Q = xt::linalg::dot(tokens, W_Q), K = xt::linalg::dot(tokens, W_K),
              values = xt::linalg::dot(tokens, W_V);
  const Array scores = xt::linalg::dot(Q, xt::transpose(K)) / std::sqrt(Real(Q.shape(1)));
  const Array e = xt::tril(xt::exp(scores)), sums = xt::sum(e, {1});  // 0 for later keys
  return xt::linalg::dot(e, values) / xt::view(sums, xt::all(), xt::newaxis());
}

// Random embeddings (3, 5) of 'dog sees dog': both 'dog' have the same.
inline Array dog_sees_dog(Generator& g) {
  Array tokens = g.randn({3, 5});
  xt::row(tokens, 2) = xt::row(tokens, 0);
  return tokens;
}

// The mean of -ln p(target), where p is the softmax of the logits.
inline Real cross_entropy_by_hand(const Array& logits,
                                  const Indices& targets) {  // (B, N, V), (B, N)
  const std::size_t B = targets.shape(0), N = targets.shape(1);
  Real sum = 0;
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < N; ++t) {
      const Array e = xt::exp(xt::view(logits, b, t));
      sum -= std::log(e(std::size_t(targets(b, t))) / xt::sum(e)());
    }
  return sum / Real(B * N);
}

// Steps of Adam with the learning rate 0.05 for the loss 50 p^2, which change p. Row t of the
// result has the numbers of step t + 1: g, m', v', the change of p, then p and the loss after it.
inline Array adam_by_hand(double& p, std::size_t steps) {
  Array table = zeros({steps, 6});
  double m = 0, v = 0;
  for (std::size_t t = 1; t <= steps; ++t) {
    const double g = 100 * p;  // the derivative of 50 p^2
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double corrected_m = m / (1 - std::pow(0.9, t));
    const double corrected_v = v / (1 - std::pow(0.999, t));
    const double change = -0.05 * corrected_m / (std::sqrt(corrected_v) + 1e-8);
    p += change;
    xt::row(table, int(t) - 1) = Array{Real(g),      Real(corrected_m), Real(corrected_v),
                                       Real(change), Real(p),           Real(50 * p * p)};
  }
  return table;
}

// The same steps by heed's optimizer, without weight decay. Returns p after them.
inline Tensor p_by_adamw(double p, std::size_t steps) {
  Parameters parameters;
  const Tensor parameter = parameters.add("p", scalar(Real(p)));
  optim::AdamW optimizer(parameters.tensors(), {0.05, 0.9, 0.999, 1e-8, 0});
  for (std::size_t t = 1; t <= steps; ++t) {
    optim::zero_grad(parameters.tensors());
    backward(power(parameter, 2) * 50);
    optimizer.step();
  }
  return parameter;
}

// p after 20 steps from 0.1 with the learning rate 0.005. Rows: the losses 50 p^2 and 0.005 p^2.
// Columns: gradient descent, Adam.
inline Array after_20_steps() {
  Array result = zeros({2, 2});
  for (std::size_t row = 0; row < 2; ++row) {
    const double a = row == 0 ? 100 : 0.01;  // the gradient is a p
    double p = 0.1;
    for (int t = 0; t < 20; ++t) p -= 0.005 * a * p;
    result(row, 0) = Real(p);
    Parameters parameters;
    const Tensor parameter = parameters.add("p", scalar(Real(0.1)));
    optim::AdamW optimizer(parameters.tensors(), {0.005, 0.9, 0.999, 1e-8, 0});
    for (int t = 0; t < 20; ++t) {
      optim::zero_grad(parameters.tensors());
      backward(power(parameter, 2) * Real(a / 2));
      optimizer.step();
    }
    result(row, 1) = parameter.item();
  }
  return result;
}

// The training loss (means of 20 steps) and the validation loss, above the lower bound.
inline void picture_of_losses(const Series& training, const Series& validation, double bound) {
  picture_by_gnuplot(
      "07_attention_head", "loss",
      block_of_means("training", training, 20, bound) +
          block_of_means("validation", validation, 1, bound) +
          "set logscale y\nset format y '%g'\nset yrange [0.001:4]\nset xrange [-20:2050]\n" +
          "set title 'Predicting the previous word: the loss approaches its lower bound'\n" +
          "set xlabel 'step'\nset ylabel 'loss - ln 8 / 8 (nats), log scale'\n" +
          "set key at graph 0.98, 0.85\n" +
          "plot $training with lines lw 2 lc rgb '#56B4E9' title 'training, mean of 20 steps' " +
          ", $validation with points pt 7 ps 1 lc rgb '#D55E00' title " + "'validation', " +
          decimal(std::log(8.0) - bound, 4) +
          " dashtype 2 lw 2 lc rgb '#666666' title 'uniform predictions, loss ln 8'");
}

inline void adam_on_one_number() {
  section("Adam on one number");
  say("An OPTIMIZER computes the changes of the parameters from their gradients.",
      "Gradient descent subtracts learning rate * g from a parameter p. For the loss 50",
      "p^2 the gradient is g = 100 p, for 0.005 p^2 it is g = 0.01 p: one learning rate",
      "cannot fit both. So ADAM (Kingma and Ba 2015) divides by the size of g. It keeps",
      "exponential moving averages: the FIRST MOMENT m of g, the SECOND MOMENT v of",
      "g^2. Both start at 0; m' and v' correct this (bias correction). Step t:", "",
      "  m = 0.9 m + 0.1 g          m' = m / (1 - 0.9^t)",
      "  v = 0.999 v + 0.001 g^2    v' = v / (1 - 0.999^t)",
      "  change of p = -learning rate * m' / (sqrt(v') + 1e-8)");
  double p = 0.1;
  show("five steps of Adam from p = 0.1, learning rate 0.05, loss 50 p^2", adam_by_hand(p, 5),
       {"1", "2", "3", "4", "5"}, {"g", "m'", "v'", "change of p", "p", "50 p^2"});
  check("p after five steps by hand = by heed's AdamW", scalar(Real(p)), p_by_adamw(0.1, 5));
  show("p after 20 steps from 0.1, learning rate 0.005", after_20_steps(), {"50 p^2", "0.005 p^2"},
       {"gradient descent", "Adam"});
  say("", "Gradient descent solves the first task and hardly moves in the second. Adam",
      "makes the same steps for both: a factor in all g multiplies m' and sqrt(v')",
      "alike, so it cancels (but for the 1e-8). In step 1, m' = g and v' = g^2, so the",
      "change has the size of the learning rate. In the first table Adam overshoots 0,",
      "because m' has the gradients of earlier steps. AdamW (Loshchilov and Hutter",
      "2019) also keeps parameters small: each step multiplies p by 1 - learning rate *",
      "WEIGHT DECAY (PyTorch's form). Here the weight decay is 0.");
}

}  // namespace heed
