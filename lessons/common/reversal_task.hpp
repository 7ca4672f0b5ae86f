// reversal_task.hpp: the data and the model of lesson 11, which writes words backwards.
#pragma once

#include <set>

#include "heed/heed.hpp"
#include "lesson.hpp"

namespace heed {

constexpr std::size_t length = 8, alphabet = 26;  // of the words
constexpr std::size_t width = 32;                 // of the model

// Words of eight different random letters: (count, length).
inline Indices draw_words(Generator& g, std::size_t count) {
  return g.multinomial(ones({count, alphabet}), length);
}

inline Indices reversed(const Indices& words) { return xt::flip(words, 1); }

inline std::string text_of(const Indices& words, std::size_t row) {
  std::string text;
  for (std::size_t t = 0; t < length; ++t) text += char('a' + words(row, t));
  return text;
}

inline Indices indices_of(const std::string& word) {  // (1, length)
  Indices indices = Indices::from_shape({1, length});
  for (std::size_t t = 0; t < length; ++t) indices(0, t) = word[t] - 'a';
  return indices;
}

// How many of the words are among the words `seen`.
inline std::size_t count_seen(const Indices& words, const std::set<std::string>& seen) {
  std::size_t count = 0;
  for (std::size_t b = 0; b < words.shape(0); ++b) count += seen.count(text_of(words, b));
  return count;
}

// Each word in seven orders, such that each letter is once opposite each other letter: position t
// is opposite position 7 - t. These are the rounds of a round-robin tournament.
inline Indices all_opposites(const Indices& words) {
  const std::size_t rounds = length - 1;
  Indices all = Indices::from_shape({words.shape(0) * rounds, length});
  for (std::size_t b = 0; b < words.shape(0); ++b)
    for (std::size_t r = 0; r < rounds; ++r) {
      all(b * rounds + r, 0) = words(b, rounds);
      all(b * rounds + r, rounds) = words(b, r);
      for (std::size_t t = 1; t < length / 2; ++t) {
        all(b * rounds + r, t) = words(b, (r + t) % rounds);
        all(b * rounds + r, rounds - t) = words(b, (r + rounds - t) % rounds);
      }
    }
  return all;
}

// One head of attention that predicts, at each position, the letter opposite.
struct Reverser {
  Reverser(Scope scope, const Tensor& position_encodings)
      : letter(scope / "letter", alphabet, width),
        attention(scope / "attention", width, 1),
        head(scope / "head", width, alphabet),
        positions(position_encodings) {}

  Tensor embedded(const Indices& x) const {
    const Tensor letters = letter(x);  // (B, T, C)
    if (!positions.defined()) return letters;
    return letters + positions;  // positions (T, C), the same for each word
  }
  Tensor operator()(const Indices& x) const {
    const Tensor e = embedded(x);
    return head(e + attention(e));  // (B, T, V); lesson 12 explains the sum
  }

  nn::Embedding letter;
  nn::MultiHeadAttention attention;
  nn::Linear head;
  Tensor positions;  // undefined without position encodings
};

// The attention weights (length, length) of the model for one word.
inline Array weights_of(const Reverser& model, const Indices& word) {
  const Tensor e = model.embedded(word);  // (1, T, C)
  return select(select(model.attention.weights(e, e), 0, 0), 0, 0).value();
}

// Prints the second matrix of attention weights, and draws both side by side.
inline void picture_of_attention(const Array& without_positions, const Array& learned,
                                 const std::vector<std::string>& letters) {
  HeatmapOptions options{"attention weights, learned encodings", letters, letters};
  options.row_title = "query position", options.column_title = "key position";
  options.low = 0, options.high = 1;
  say("");
  quote(heatmap_text(learned, options));
  options.title = "writing a word backwards: attention weights";
  picture("11_positions", "backwards_attention", {without_positions, learned},
          {"without positions", "learned position encodings"}, options, 2);
}

struct Result {
  double loss, accuracy;
};

inline Result result_of(const Tensor& logits, const Indices& words) {
  const Indices predicted = argmax(logits, -1), targets = reversed(words);
  double correct = 0;
  for (std::size_t i = 0; i < targets.size(); ++i)
    correct += predicted.data()[i] == targets.data()[i];
  return {cross_entropy(logits, targets).item(), correct / double(targets.size())};
}

// Trains on new words in each step, returns the losses, and inserts the words into `seen`.
template <class Model>
Series train(const Parameters& parameters, const Model& model, const std::string& name,
             std::int64_t steps, std::set<std::string>& seen) {
  optim::AdamW optimizer(parameters.tensors(), {0.02, 0.9, 0.999, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine rate{0.02, 0.001, 10, steps};
  Generator g(12);
  Series losses{name, {}, {}};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Indices x = draw_words(g, 32);  // (B, T)
    for (std::size_t b = 0; b < 32; ++b) seen.insert(text_of(x, b));
    const Tensor loss = cross_entropy(model(x), reversed(x));
    losses.append(double(step), loss.item());
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
  return losses;
}

inline Array eighths(const Array& x) { return xt::round(x * Real(8)) / Real(8); }

// Rounds all parameters to multiples of 1/8, and makes the output projection the identity.
inline void round_to_eighths(const nn::MultiHeadAttention& attention,
                             const Parameters& parameters) {
  for (Tensor p : parameters) p.mutable_value() = eighths(p.value());
  Tensor out = attention.out.weight, out_bias = attention.out.bias;
  out.mutable_value() = xt::eye<Real>(out.value().shape(0));
  out_bias.mutable_value() = zeros(out_bias.shape());
}

// Given attention weights (length, length), returns the number of queries t whose largest weight is
// at the mirrored position length - 1 - t.
inline std::size_t count_opposite(const Array& weights) {
  const Indices largest = argmax(Tensor(weights), -1);  // (length)
  std::size_t count = 0;
  for (std::size_t t = 0; t < length; ++t) count += std::size_t(largest(t)) == length - 1 - t;
  return count;
}

// Row i of the result is row order[i] of x.
inline Array in_order(const Array& x, const std::vector<std::size_t>& order) {
  Array y = x;
  for (std::size_t i = 0; i < order.size(); ++i) xt::row(y, int(i)) = xt::row(x, int(order[i]));
  return y;
}

// The words in this order, with spaces between them.
inline std::string in_order(const Names& words, const std::vector<std::size_t>& order) {
  std::string text;
  for (const std::size_t i : order) text += (text.empty() ? "" : " ") + words[i];
  return text;
}

}  // namespace heed
