// pictures.hpp: the plots and table rows of lesson 07.
#pragma once

#include <algorithm>

#include "bank_batch.hpp"
#include "bank_plane.hpp"
#include "estimate.hpp"

namespace heed {

// "learned       0.7069 +- 0.0074": the mean of each column and its standard error, if it has one.
inline std::string row_of(const std::string& name,
                          const std::vector<std::vector<double>>& columns) {
  std::string row = pad_right(name, 24);
  for (const std::vector<double>& column : columns) {
    if (column.size() == 1) {
      row += pad_right(decimal(column[0], 4), 21);
      continue;
    }
    const Estimate e = estimate(column);
    const bool small = e.standard_error < 0.00005;
    row += pad_right(decimal(e.mean, 4) + (small ? "" : " +- " + decimal(e.standard_error, 4)), 21);
  }
  return row.substr(0, row.find_last_not_of(' ') + 1);
}

// The losses of trained models at the second 'bank'.
template <class Models>
std::vector<double> training_losses(const Models& models) {
  std::vector<double> losses;
  for (const auto& model : models) losses.push_back(model.training);
  return losses;
}
template <class Models>
std::vector<double> held_out_losses(const Models& models) {
  std::vector<double> losses;
  for (const auto& model : models) losses.push_back(model.held_out);
  return losses;
}
template <class Models>
std::vector<double> longer_losses(const Models& models) {
  std::vector<double> losses;
  for (const auto& model : models) losses.push_back(model.longer);
  return losses;
}

inline double smallest(const std::vector<double>& x) {
  return *std::min_element(x.begin(), x.end());
}
inline double largest(const std::vector<double>& x) {
  return *std::max_element(x.begin(), x.end());
}

// The loss of each training step, averaged over the models and over five steps.
template <class Models>
Series curve_of(const std::string& name, const Models& models) {
  Series curve{name, {}, {}};
  for (std::size_t step = 0; step + 5 <= models[0].losses.size(); step += 5) {
    double sum = 0;
    for (const auto& model : models)
      for (std::size_t i = 0; i < 5; ++i) sum += model.losses[step + i];
    curve.append(double(step) + 2, sum / 5 / double(models.size()));
  }
  return curve;
}

// Plots the loss curves for two learning rates of gradient descent and of AdamW.
template <class Models>
void draw_curves(const std::vector<Models>& descent, const std::vector<Models>& adamw) {
  picture(
      "07_attention_head", "descent",
      {curve_of("gradient descent, 0.1", descent[0]), curve_of("gradient descent, 1", descent[1]),
       curve_of("AdamW, 0.01", adamw[0]), curve_of("AdamW, 0.1", adamw[1])},
      CurveOptions{"The bank texts: loss during training, mean of five seeds", "step",
                   "loss (nats) at both 'bank's"});
}

// Prints the losses at the second 'bank' of several kinds of models.
template <class Model>
void show_controls(const std::vector<std::pair<std::string, std::vector<Model>>>& kinds) {
  std::string text = std::string(24, ' ') + "held-out texts       longer texts";
  for (const auto& [name, models] : kinds)
    text += "\n" + row_of(name, {held_out_losses(models), longer_losses(models)});
  quote(text);
}

// The attention weights of a head whose first two parameters are W_Q and W_K.
inline BankWeights weights_of(const std::vector<Tensor>& parameters) {
  return [parameters](const BankText& text) {
    const Tensor X(bank_embeddings(text));
    return attention_weights(matmul(X, parameters[0]), matmul(X, parameters[1]), {true}).value();
  };
}

inline Real largest_entry(const Array& x) { return xt::amax(Array(xt::abs(x)))(); }

// W_Q W_K^T of a head whose first two parameters are W_Q and W_K.
inline Array product_of(const std::vector<Tensor>& parameters) {
  return matmul(parameters[0], transpose(parameters[1], 0, 1)).value();
}

// Plots both products W_Q W_K^T, each divided by its largest absolute value.
inline void draw_products(Array by_hand, Array learned) {
  HeatmapOptions options{"W_Q W_K^T, divided by its largest entry"};
  options.row_names = options.column_names = {"water", "money", "ambiguous", "position"};
  options.row_title = "number of the query's token";
  options.column_title = "number of the key's token";
  options.diverging = true, options.low = -1, options.high = 1;
  by_hand /= largest_entry(by_hand), learned /= largest_entry(learned);
  picture("07_attention_head", "products", {by_hand, learned}, {"by hand (lesson 04)", "learned"},
          options, 2);
}

// Plots the loss at the second 'bank' against the number of times 'then' before each 'bank'.
template <class Model>
void draw_limits(const std::vector<std::pair<std::string, Model>>& models) {
  std::vector<Series> series;
  for (const auto& [name, model] : models) {
    Series one{name, {}, {}};
    for (std::int64_t n = 0; n <= 24; ++n) {
      const BankBatch texts = bank_batch(
          {bank_text({"river", "money"}, {n, n}), bank_text({"money", "river"}, {n, n})});
      one.append(double(n), cross_entropy(model(texts.X), texts.last).item());
    }
    series.push_back(one);
  }
  CurveOptions options{"Where each rule breaks", "words 'then' before each 'bank'",
                       "loss at the second 'bank' (nats)"};
  options.lines = {{"ln 2", std::log(2.0)}};
  picture("07_attention_head", "limits", series, options);
}

}  // namespace heed
