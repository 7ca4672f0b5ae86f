// copy_task.hpp: the data of lessons 07 and 10, whose models predict the words at earlier
// positions: sentences of random words.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "gnuplot_picture.hpp"
#include "heed/base/error.hpp"
#include "heed/heed.hpp"

namespace heed {

constexpr std::size_t T = 8, V = 8, D = 16;  // positions, words, width of a word vector
constexpr std::size_t C = 32;                // width of the model in lesson 10
inline const Names positions = {"0", "1", "2", "3", "4", "5", "6", "7"};

// V random vectors of length one: (V, D).
inline Array random_word_vectors(Generator& g) {
  Array vectors = g.randn({V, D}), squares = xt::square(vectors);
  Array lengths = xt::sqrt(xt::sum(squares, {1}));
  return vectors / xt::view(lengths, xt::all(), xt::newaxis());
}

// The same, made orthogonal to each other by the Gram-Schmidt process.
inline Array orthogonal_word_vectors(Generator& g) {
  Array vectors = random_word_vectors(g);
  for (std::size_t v = 0; v < V; ++v) {
    Array vector = xt::row(vectors, int(v));
    for (std::size_t u = 0; u < v; ++u) {
      const Array earlier = xt::row(vectors, int(u));
      vector -= xt::linalg::dot(vector, earlier)() * earlier;
    }
    xt::row(vectors, int(v)) = vector / std::sqrt(xt::linalg::dot(vector, vector)());
  }
  return vectors;
}

// The input (B, T, width) of a model for the words (B, T): at each position the word vector, the
// position as a one-hot vector, and zeros.
inline Tensor input_of(const Indices& words, const Tensor& vectors, std::size_t width) {
  Array position = xt::eye<Real>({T, width - D});
  const Tensor positions_of_all = expand(Tensor(position), {words.shape(0), T, width - D});
  return concat({embedding(words, vectors), positions_of_all}, -1);
}

// A batch of lesson 07.
struct CopyBatch {
  Tensor x;          // (B, T, D + T)
  Tensor vectors;    // (V, D): the word vectors of this batch
  Indices previous;  // (B, T): the targets, indices of the previous words
};

inline CopyBatch new_copy_batch(Generator& g, std::size_t B) {
  const Tensor vectors(random_word_vectors(g));
  const Indices drawn = g.randint(0, V, {B, T + 1});  // the first word is only a target
  const Indices words = xt::view(drawn, xt::all(), xt::range(1, T + 1));
  return {input_of(words, vectors, D + T), vectors, xt::view(drawn, xt::all(), xt::range(0, T))};
}

// Query t may attend to the keys 0 to t - 1.
inline nn::AttentionMask earlier_positions() {
  nn::AttentionMask mask;
  mask.mask = Mask(xt::transpose(future_mask(T)));  // (T, T): true where key s < query t
  return mask;
}

inline void set_weights(nn::AttentionHead& head, const Array& W_Q, const Array& W_K,
                        const Array& W_V) {  // (d, C) each
  head.query.weight.mutable_value() = W_Q;
  head.key.weight.mutable_value() = W_K;
  head.value.weight.mutable_value() = W_V;
}

// A head with the rule of lesson 07: the query of position t is the key of position t - 1, and the
// value is the word vector. The scale multiplies queries and values.
inline nn::AttentionHead previous_token_head(double scale, Generator& g) {
  Parameters parameters;
  nn::AttentionHead head({parameters, g}, D + T, D);
  Array W_Q = zeros({D, D + T}), W_K = W_Q, W_V = W_Q;
  for (std::size_t t = 0; t < T; ++t) W_K(t, D + t) = 1;
  for (std::size_t t = 1; t < T; ++t) W_Q(t - 1, D + t) = Real(scale * 4);  // 4 = sqrt(D)
  for (std::size_t d = 0; d < D; ++d) W_V(d, d) = Real(scale);
  set_weights(head, W_Q, W_K, W_V);
  return head;
}

// The attention weights (T, T), averaged over the batch. Masked ones are minus infinity.
inline Array mean_weights(const nn::AttentionHead& head, const CopyBatch& batch) {
  const Array weights = mean(head.weights(batch.x, earlier_positions()), {0}).value();
  return xt::where(*earlier_positions().mask, weights, -INFINITY);
}

// The smallest of the attention weights (T, T) on the previous position.
inline double smallest_on_previous(const Array& weights) {
  Real smallest = 1;
  for (std::size_t t = 1; t < T; ++t) smallest = std::min(smallest, weights(t, t - 1));
  return smallest;
}

// What tells whether a trained head follows the rule of previous_token_head.
struct CopyRule {
  Real lead = INFINITY;  // smallest margin of the previous position's score over another score
  Real word = 0;         // the largest absolute value of S in the rows and columns of word vectors
  Real diagonal = 0;     // the mean of the diagonal of W_V
  Real rest = 0;         // the largest absolute value of W_V elsewhere
  Real change = 0;       // the largest change of an attention weight if the scores ignore the words
};

// S = W_Q^T W_K / sqrt(D) (D + T, D + T): the score of query token x and key token y is x S y.
inline Array query_key(const nn::AttentionHead& head) {
  const Array &W_Q = head.query.weight.value(), &W_K = head.key.weight.value();  // (D, D + T)
  return xt::linalg::dot(xt::transpose(W_Q), W_K) / std::sqrt(Real(D));
}

inline CopyRule rule_of(const nn::AttentionHead& head, const CopyBatch& batch) {
  CopyRule rule;
  const Array S = query_key(head);
  const Array& W_V = head.value.weight.value();                               // (D, D + T)
  const Array A = head.weights(batch.x, earlier_positions()).value();         // (B, T, T)
  const Array block = xt::view(S, xt::range(D, D + T), xt::range(D, D + T));  // (T, T)
  for (std::size_t t = 1; t < T; ++t) {
    const Array e = xt::exp(xt::view(block, t, xt::range(0, t)) - block(t, t - 1));
    const Array without_words = e / xt::sum(e)();  // (t)
    for (std::size_t b = 0; b < A.shape(0); ++b)
      for (std::size_t s = 0; s < t; ++s)
        rule.change = std::max(rule.change, std::abs(A(b, t, s) - without_words(s)));
  }
  for (std::size_t t = 2; t < T; ++t)  // positions 0 and 1 have at most one key
    for (std::size_t s = 0; s + 1 < t; ++s)
      rule.lead = std::min(rule.lead, S(D + t, D + t - 1) - S(D + t, D + s));
  for (std::size_t d = 0; d < D; ++d) {
    rule.diagonal += W_V(d, d) / Real(D);
    for (std::size_t i = 0; i < D + T; ++i) {
      rule.word = std::max({rule.word, std::abs(S(i, d)), std::abs(S(d, i))});
      if (i != d) rule.rest = std::max(rule.rest, std::abs(W_V(d, i)));
    }
  }
  return rule;
}

// A batch of lesson 10: the targets are the previous word and the word two positions back.
struct TwoTargetBatch {
  Tensor x;                // (B, T, width)
  Tensor vectors;          // (V, D): the word vectors of this batch
  Indices back_1, back_2;  // (B, T): the targets; -100 (ignored) at positions 0 and 1
};

inline TwoTargetBatch new_two_target_batch(Generator& g, std::size_t B, std::size_t width) {
  const Tensor vectors(orthogonal_word_vectors(g));
  const Indices words = g.randint(0, V, {B, T});
  TwoTargetBatch batch{input_of(words, vectors, width), vectors, words, words};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t) {
      batch.back_1(b, t) = t < 2 ? -100 : words(b, t - 1);
      batch.back_2(b, t) = t < 2 ? -100 : words(b, t - 2);
    }
  return batch;
}

// The fraction of the targets at positions 2 to T - 1 whose two words differ.
inline double fraction_different(const TwoTargetBatch& batch) {
  double different = 0;
  const std::size_t B = batch.back_1.shape(0);
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 2; t < T; ++t) different += batch.back_1(b, t) != batch.back_2(b, t);
  return different / double(B * (T - 2));
}

// Copies the weights of four heads of width 8 and of their output projection. Biases of queries,
// keys and values are set to zeros.
inline void set_weights(nn::MultiHeadAttention& attention,
                        const std::vector<nn::AttentionHead>& heads, const nn::Linear& projection) {
  const auto stacked = [&](nn::Linear nn::AttentionHead::*layer) {
    std::vector<Tensor> parts;
    for (const nn::AttentionHead& head : heads) parts.push_back((head.*layer).weight);
    return concat(parts, 0).value();  // (C, C)
  };
  attention.query.weight.mutable_value() = stacked(&nn::AttentionHead::query);
  attention.key.weight.mutable_value() = stacked(&nn::AttentionHead::key);
  attention.value.weight.mutable_value() = stacked(&nn::AttentionHead::value);
  for (Tensor bias : {attention.query.bias, attention.key.bias, attention.value.bias})
    bias.mutable_value() = zeros(bias.shape());
  attention.out.weight.mutable_value() = projection.weight.value();
  attention.out.bias.mutable_value() = projection.bias.value();
}

// Sets the only head so that it gives attention weight a to the previous word, 1 - a to the word
// two positions back, and scales c1 and c2 to the two halves of the output.
inline void set_to_two_words(nn::MultiHeadAttention& attention, double a, double c1, double c2) {
  const double root = std::sqrt(double(C));  // undoes the division of the scores
  Array W_Q = zeros({C, C}), W_K = W_Q, W_V = W_Q, W_O = W_Q;
  for (std::size_t t = 0; t < T; ++t) W_K(t, D + t) = 1;
  for (std::size_t t = 2; t < T; ++t) {
    W_Q(t - 1, D + t) = Real(root * (30 + std::log(a / (1 - a))));
    W_Q(t - 2, D + t) = Real(root * 30);  // the weights elsewhere are exp(-30)
  }
  for (std::size_t d = 0; d < D; ++d) {
    W_V(d, d) = 1;
    W_O(d, d) = Real(c1), W_O(D + d, d) = Real(c2);
  }
  attention.query.weight.mutable_value() = W_Q;
  attention.key.weight.mutable_value() = W_K;
  attention.value.weight.mutable_value() = W_V;
  attention.out.weight.mutable_value() = W_O;
}

// The attention weights (H, T, T) of one head for the queries 2 to T - 1: (T - 2, T). Masked ones
// are minus infinity.
inline Array rows_of_head(const Array& weights, std::size_t head) {
  const Array all = xt::where(future_mask(T), -INFINITY, xt::view(weights, head));
  return xt::view(all, xt::range(2, T));
}

// The mean attention weight of these queries on the key that many positions back.
inline Real mean_weight(const Array& weights, std::size_t head, std::size_t back) {
  Real sum = 0;
  for (std::size_t t = 2; t < T; ++t) sum += weights(head, t, t - back);
  return sum / Real(T - 2);
}

// The mean weights on the targets: rows one head, head 0 and head 1 of two; columns one position
// back, two positions back.
inline Array mean_weight_table(const Array& one, const Array& two) {
  Array table = zeros({3, 2});
  for (std::size_t back : {1u, 2u}) {
    table(0, back - 1) = mean_weight(one, 0, back);
    for (std::size_t h = 0; h < 2; ++h) table(1 + h, back - 1) = mean_weight(two, h, back);
  }
  return table;
}

// Prints the error that `make` throws.
template <class Make>
void show_error(const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    say("", "  heed: error: " + std::string(error.what()));
  }
}

// A model of lesson 10 after training.
struct Trained {
  double back_1, back_2;  // validation losses
  Array weights;          // (H, T, T): attention weights, averaged over the validation sentences
  std::vector<Array> sentences;  // the same for each of the first two validation sentences
  Series losses;

  double loss() const { return (back_1 + back_2) / 2; }
};

// Trains attention with that many heads. losses_of returns the losses of both targets.
inline Trained train(std::size_t num_heads, std::int64_t steps,
                     const std::function<std::vector<Tensor>(const nn::MultiHeadAttention&,
                                                             const TwoTargetBatch&)>& losses_of,
                     const TwoTargetBatch& validation) {
  Generator g(11);
  Parameters parameters;
  const nn::MultiHeadAttention attention({parameters, g}, C, num_heads, /*with_bias=*/false);
  optim::AdamW optimizer(parameters.tensors(), {0.02, 0.9, 0.999, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine rate{0.02, 0.001, 10, steps};
  Series losses{std::to_string(num_heads) + (num_heads == 1 ? " head, " : " heads, ") +
                    grouped(double(steps)) + " steps",
                {},
                {}};
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::vector<Tensor> both = losses_of(attention, new_two_target_batch(g, 16, C));
    const Tensor loss = (both[0] + both[1]) / 2;
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    losses.append(double(step), loss.item());
  }
  const NoGrad no_grad;
  nn::AttentionMask causal;
  causal.causal = true;
  const Tensor weights = attention.weights(validation.x, validation.x, causal);  // (B, H, T, T)
  const std::vector<Tensor> both = losses_of(attention, validation);
  return {both[0].item(),
          both[1].item(),
          mean(weights, {0}).value(),
          {select(weights, 0, 0).value(), select(weights, 0, 1).value()},
          losses};
}

// "    1   4000     ~0.68     ~0.04   ~0.36": heads, steps, both losses and their mean.
inline std::string row_of(int heads, const Trained& model) {
  return pad_left(std::to_string(heads), 5) + pad_left(std::to_string(model.losses.x.size()), 7) +
         pad_left(trained(model.back_1), 10) + pad_left(trained(model.back_2), 10) +
         pad_left(trained(model.loss()), 8);
}

// A gnuplot data block: the means of the loss over `each` steps, minus a bound.
inline std::string block_of_means(const std::string& name, const Series& losses, std::size_t each,
                                  double bound = 0) {
  Array points = zeros({losses.x.size() / each, 2});
  for (std::size_t i = 0; i < points.shape(0); ++i)
    for (std::size_t j = 0; j < each; ++j) {
      points(i, 0) += Real(losses.x[each * i + j] / double(each));
      points(i, 1) += Real((losses.y[each * i + j] - bound) / double(each));
    }
  return gnuplot_block(name, points);
}

// Lesson 10's training losses on a logarithmic axis, with the bound of heads of the form set by
// hand.
inline void picture_of_losses(const std::vector<Trained>& models, double bound) {
  const Names colors = {"#0072B2", "#56B4E9", "#D55E00", "#009E73"};
  std::string data, plots;
  for (std::size_t m = 0; m < models.size(); ++m) {
    const std::string name = "model" + std::to_string(m);
    data += block_of_means(name, models[m].losses, 50);
    plots += (m == 0 ? "plot $" : ", $") + name + " with lines lw 2 lc rgb '" + colors[m] +
             "' title '" + models[m].losses.name + "'";
  }
  picture_by_gnuplot(
      "10_multi_head", "loss",
      data + "set logscale y\nset format y '%g'\nset yrange [0.0003:4]\n" +
          "set title 'Predicting two earlier words: one head learns far more slowly than two'\n" +
          "set xlabel 'step'\nset ylabel 'training loss (nats), mean of 50 steps, log scale'\n" +
          "set key at graph 0.98, 0.62\n" + plots + ", " + decimal(bound, 4) +
          " dashtype 2 lw 2 lc rgb '#666666' title 'bound of the form set by hand, 7/16 ln 2'");
}

// Draws heat maps (T - 2, T) side by side, and prints them.
inline void picture_of_heads(const std::string& name, const std::string& title,
                             const std::vector<Array>& panels, const Names& titles) {
  HeatmapOptions options{title};
  options.row_names = Names(positions.begin() + 2, positions.end());  // 0 and 1 have no targets
  options.column_names = positions, options.low = 0, options.high = 1;
  options.row_title = "query position", options.column_title = "key position";
  say("");
  quote(heatmap_sheet_text(panels, titles, options, panels.size()));
  picture("10_multi_head", name, panels, titles, options, panels.size());
}

}  // namespace heed
