// Tests exercise 14 find_the_leak with eight models of a text of known entropy, and with models
// that have a single small leak.

#include <algorithm>
#include <cmath>
#include <functional>

#include "exercise.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/study/markov_source.hpp"

using namespace heed;
using Model = std::function<Array(const Indices&)>;  // tokens (T) to logits (T, V)

bool proves_leak(const Array& losses, double entropy_rate);
std::size_t first_leak(const Model& model, const Indices& tokens, std::size_t V);

namespace {

constexpr std::size_t letters = 3, window = 12;  // in the eight models' text

// ---- part 1: the loss

// Losses with exactly this mean and standard error: half of them below the mean, half above.
Array losses_with(double mean, double standard_error, std::size_t W) {
  Array losses = zeros({W});
  for (std::size_t w = 0; w < W; ++w)
    losses(w) = Real(mean + (w % 2 == 0 ? 1 : -1) * standard_error * std::sqrt(double(W)));
  return losses;
}

void judge_loss(double distance, std::size_t W, double standard_error, bool expected) {
  const double bound = 0.8;
  const bool got =
      proves_leak(losses_with(bound + distance * standard_error, standard_error, W), bound);
  expect("proves_leak: " + std::to_string(W) + " windows, mean " + decimal(std::abs(distance), 1) +
             " standard errors " + (distance < 0 ? "below" : "above"),
         got == expected, got ? "you returned true" : "you returned false");
}

void judge_losses() {
  judge_loss(-4, 100, 0.01, true);
  judge_loss(-2, 100, 0.01, false);
  judge_loss(2, 100, 0.01, false);
  judge_loss(4, 100, 0.01, false);
  judge_loss(-3.5, 400, 0.002, true);
  judge_loss(-2.5, 400, 0.002, false);
  judge_loss(-4, 4, 0.1, true);
}

// ---- part 2: models with one leak each, or none, with five tokens

constexpr std::size_t V = 5;

// Row t depends on the tokens 0 to t only; some logits are minus infinity.
Array causal_logits(const Indices& tokens) {
  Array logits = zeros({tokens.size(), V});
  for (std::size_t t = 0; t < tokens.size(); ++t)
    for (std::size_t v = 0; v < V; ++v) {
      Real sum = 0;
      for (std::size_t s = 0; s <= t; ++s)
        sum += std::sin(Real((s + 1) * (v + 2)) + Real(tokens(s)));
      logits(t, v) = tokens(t) == std::int64_t(v) ? -INFINITY : sum;
    }
  return logits;
}

// The causal model, with a leak: row `row` changes if the token at position `from` is `value`.
Model with_leak(std::size_t row, std::size_t from, std::int64_t value, Real size) {
  return [=](const Indices& tokens) {
    Array logits = causal_logits(tokens);
    if (tokens(from) == value) {
      Real& logit = logits(row, (tokens(row) + 2) % std::int64_t(V));
      logit = size == 0 ? std::nextafter(logit, Real(9)) : logit + size;
    }
    return logits;
  };
}

// The causal model, with a leak: row `row` changes if one of two tokens is `value`, but not if both
// are. A test that replaces all later tokens by the same value does not find it.
Model with_leak_of_one(std::size_t row, std::size_t first, std::size_t second, std::int64_t value) {
  return [=](const Indices& tokens) {
    Array logits = causal_logits(tokens);
    logits(row, 0) += Real((tokens(first) == value) != (tokens(second) == value));
    return logits;
  };
}

// The causal model, with a leak: row `row` depends on the difference of two tokens. A test that
// adds the same number to all later tokens does not find it.
Model with_leak_of_difference(std::size_t row, std::size_t first, std::size_t second) {
  return [=](const Indices& tokens) {
    Array logits = causal_logits(tokens);
    logits(row, 0) += Real((tokens(first) - tokens(second) + std::int64_t(V)) % std::int64_t(V));
    return logits;
  };
}

// The causal model, with a leak that no single token shows: row `row` changes if two tokens differ
// from those of `text`.
Model with_leak_of_both(std::size_t row, std::size_t first, std::size_t second,
                        const Indices& text) {
  return [=](const Indices& tokens) {
    Array logits = causal_logits(tokens);
    logits(row, 0) += Real(tokens(first) != text(first) && tokens(second) != text(second));
    return logits;
  };
}

// The causal model, but logit 0 of row `row` is `before`, or `after` if the token at position
// `from` is `value`.
Model with_logit(std::size_t row, std::size_t from, std::int64_t value, Real before, Real after) {
  return [=](const Indices& tokens) {
    Array logits = causal_logits(tokens);
    logits(row, 0) = tokens(from) == value ? after : before;
    return logits;
  };
}

std::string row_name(std::size_t t, std::size_t T) {
  return t == T ? "no leak (" + std::to_string(T) + ")" : "row " + std::to_string(t);
}

// Calls first_leak with such a model, which also notices tokens outside the vocabulary.
void judge_model(const std::string& what, const Model& model, const Indices& tokens,
                 std::size_t vocabulary, std::size_t expected) {
  std::string invalid;
  const Model checked = [&](const Indices& given) {
    Indices valid = given.size() == tokens.size() ? given : tokens;
    if (given.size() != tokens.size()) invalid = "you called the model with another T";
    for (std::int64_t& token : valid)
      if (token < 0 || token >= std::int64_t(vocabulary)) {
        invalid = "you called the model with the token " + std::to_string(token);
        token = 0;
      }
    return model(valid);
  };
  const std::size_t T = tokens.size(), got = first_leak(checked, tokens, vocabulary);
  const std::string wrong = "expected " + row_name(expected, T) + ", got " + row_name(got, T);
  expect(what, got == expected && invalid.empty(), invalid.empty() ? wrong : invalid);
}

void judge_single_leaks() {
  const Indices seven = {0, 3, 1, 2, 1, 2, 1}, two = {4, 2}, one = {3};
  const auto judge = [](const std::string& what, const Model& model, const Indices& tokens,
                        std::size_t expected) {
    judge_model("first_leak: " + what, model, tokens, V, expected);
  };
  judge("a causal model with minus infinities", causal_logits, seven, 7);
  judge("a causal model, two tokens", causal_logits, two, 2);
  judge("a single token", causal_logits, one, 1);
  judge("row 0 reads the last token", with_leak(0, 6, 1, 1), seven, 0);
  judge("row 3 reads the next token", with_leak(3, 4, 1, 1), seven, 3);
  judge("row 5 reads the last token", with_leak(5, 6, 0, 1), seven, 5);
  judge("row 2 reacts to the value 4 of token 4", with_leak(2, 4, 4, 1), seven, 2);
  judge("row 1 reacts to the value 0 of token 3", with_leak(1, 3, 0, 1), seven, 1);
  judge("one bit of row 4 changes", with_leak(4, 6, 1, 0), seven, 4);
  judge("a logit of row 2 becomes minus infinity", with_leak(2, 5, 3, -INFINITY), seven, 2);
  judge("of two tokens, row 0 reads the second", with_leak(0, 1, 2, 1), two, 0);
  judge(
      "row 4 reads the next token, row 1 the last",
      [](const Indices& tokens) {
        Array logits = with_leak(4, 5, 2, 1)(tokens);
        logits(1, 0) += Real(tokens(6));
        return logits;
      },
      seven, 1);
  judge("row 3 changes if token 5 or 6, but not both, is 4", with_leak_of_one(3, 5, 6, 4), seven,
        3);
  judge("row 3 reads the difference of tokens 5 and 6", with_leak_of_difference(3, 5, 6), seven, 3);
  judge("row 1 changes only if tokens 5 and 6 both change", with_leak_of_both(1, 5, 6, seven),
        seven, 7);
  judge("a logit of row 2 changes from 0 to -0", with_logit(2, 5, 1, Real(0), -Real(0)), seven, 2);
  judge("a logit of row 2 becomes NaN", with_logit(2, 5, 1, Real(0), NAN), seven, 2);
  judge("a causal model with a NaN", with_logit(2, 5, 1, NAN, NAN), seven, 7);
  judge(
      "a causal model whose logits depend on T",
      [](const Indices& tokens) { return Array(causal_logits(tokens) * Real(tokens.size())); },
      seven, 7);
}

// ---- part 2: eight models of a text

// Logits ln p(next letter | context), counted in a text, by the number of the context.
using Context = std::function<std::size_t(const Indices&, std::size_t t)>;

std::size_t letter(const Indices& tokens, std::size_t t) { return std::size_t(tokens(t)); }

Array counted_logits(const Indices& text, std::size_t contexts, const Context& context) {
  Array counts = ones({contexts, letters});
  for (std::size_t t = 1; t + 2 < text.size(); ++t)
    counts(context(text, t), letter(text, t + 1)) += 1;
  Array sums = xt::sum(counts, {1});
  return xt::log(counts / xt::view(sums, xt::all(), xt::newaxis()));
}

// Uses the context where all of it is in the window, else the letter alone.
Model model_of(const Indices& text, std::size_t contexts, const Context& context,
               std::size_t later_letters) {
  const Context alone = letter;
  const Array table = counted_logits(text, contexts, context);
  const Array bigram = counted_logits(text, letters, alone);
  return [=](const Indices& tokens) {
    const std::size_t T = tokens.size();
    Array logits = zeros({T, letters});
    for (std::size_t t = 0; t < T; ++t) {
      const bool inside = t > 0 && t + later_letters < T;
      for (std::size_t v = 0; v < letters; ++v)
        logits(t, v) = inside ? table(context(tokens, t), v) : bigram(letter(tokens, t), v);
    }
    return logits;
  };
}

// ln of the proportion of each letter among the letters 0 to t, or among all letters.
Array frequencies(const Indices& tokens, bool causal) {
  const std::size_t T = tokens.size();
  Array logits = zeros({T, letters});
  for (std::size_t t = 0; t < T; ++t) {
    for (std::size_t s = 0; s < (causal ? t + 1 : T); ++s) logits(t, letter(tokens, s)) += 1;
    for (std::size_t v = 0; v < letters; ++v) logits(t, v) = std::log(logits(t, v) + 1);
  }
  return logits;
}

// Attention over random vectors. With the softmax over the query positions, the wrong axis, a
// weight depends on the scores of later queries, although the mask is causal.
Array attention_logits(const Indices& tokens, bool wrong_axis) {
  const std::size_t T = tokens.size();
  const Array vectors = Generator(4).randn({letters, 4}), positions = Generator(5).randn({99, 4});
  Array x = zeros({T, 4});
  for (std::size_t t = 0; t < T; ++t)
    xt::row(x, int(t)) = xt::row(vectors, int(tokens(t))) + Real(0.3) * xt::row(positions, int(t));
  const Tensor X(x);
  const Tensor scores = matmul(X, transpose(X, 0, 1)) / 2;  // (T, T), rows are query positions
  const Tensor weights =
      softmax(masked_fill(scores, future_mask(T), -INFINITY), wrong_axis ? 0 : 1);
  return matmul(matmul(weights, X), transpose(Tensor(vectors), 0, 1)).value();
}

struct Candidate {
  Model model;
  bool leaks;
};

// The models A to H.
std::vector<Candidate> candidates(const Indices& text) {
  const Context alone = letter;
  const Context pair = [](const Indices& x, std::size_t t) {
    return letters * letter(x, t - 1) + letter(x, t);
  };
  const Context around = [=](const Indices& x, std::size_t t) {
    return letters * pair(x, t) + letter(x, t + 2);
  };
  const Context next = [](const Indices& x, std::size_t t) {
    return letters * letter(x, t) + letter(x, t + 1);
  };
  const Model bigram = model_of(text, letters, alone, 0);
  const Model centred = [=](const Indices& x) {
    const Array logits = bigram(x);
    return Array(logits - xt::mean(logits, {0}));  // the mean over all positions
  };
  return {{bigram, false},
          {model_of(text, 27, around, 2), true},
          {[](const Indices& x) { return frequencies(x, true); }, false},
          {centred, true},
          {model_of(text, 9, pair, 0), false},
          {[](const Indices& x) { return frequencies(x, false); }, true},
          {model_of(text, 9, next, 1), true},
          {[](const Indices& x) { return attention_logits(x, true); }, true}};
}

Indices tokens_of(const std::string& text) {
  Indices tokens = xt::zeros<std::int64_t>({text.size()});
  for (std::size_t i = 0; i < text.size(); ++i) tokens(i) = text[i] - 'a';
  return tokens;
}

// The mean loss of each window, over the letters with a context of two letters or more.
Array losses_of(const Model& model, const Indices& text) {
  Array losses = zeros({text.size() / window});
  for (std::size_t w = 0; w < losses.size(); ++w) {
    const Indices tokens = xt::view(text, xt::range(w * window, (w + 1) * window));
    const Array p = softmax(Tensor(model(tokens)), -1).value();
    for (std::size_t t = 1; t + 1 < window; ++t)
      losses(w) -= std::log(p(t, letter(tokens, t + 1))) / Real(window - 2);
  }
  return losses;
}

// The first row that depends on a later token, from the definition of the model.
std::size_t leaking_row(const Candidate& candidate, char name) {
  if (!candidate.leaks) return window;
  return name == 'B' || name == 'G' ? 1 : 0;  // B and G use the letter alone at position 0
}

void judge_models_of_text() {
  const MarkovSource source = chain_source();
  Generator g(14), new_g(15);
  const std::string text = source.draw(30'000, g), new_text = source.draw(300 * window, new_g);
  const Indices training = tokens_of(text), fresh = tokens_of(new_text);
  const Indices tokens = xt::view(fresh, xt::range(0, window));
  say("\nentropy rate  " + decimal(source.entropy_rate(), 4));
  say("\nmodel   loss     standard error   your first_leak");
  std::vector<Candidate> all = candidates(training);
  for (std::size_t m = 0; m < all.size(); ++m) {
    const Array losses = losses_of(all[m].model, fresh);
    const double error = xt::stddev(losses)() / std::sqrt(double(losses.size()));
    const std::size_t row = first_leak(all[m].model, tokens, letters);
    say(std::string(1, char('A' + m)) + "       " + decimal(xt::mean(losses)(), 4) + "   " +
        decimal(error, 4) + "           " + (row == window ? "none" : std::to_string(row)));
  }
  say("");
  for (std::size_t m = 0; m < all.size(); ++m) {
    const char name = char('A' + m);
    judge_model(std::string("first_leak: model ") + name, all[m].model, tokens, letters,
                leaking_row(all[m], name));
    const bool below = name == 'B' || name == 'G';
    const bool got = proves_leak(losses_of(all[m].model, fresh), source.entropy_rate());
    expect(std::string("proves_leak: the loss of model ") + name, got == below,
           got ? "you returned true" : "you returned false");
  }
}

}  // namespace

int main() {
  judge_losses();
  judge_single_leaks();
  judge_models_of_text();
  return verdict();
}
