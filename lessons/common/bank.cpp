// bank.cpp: a small task for lessons 01 to 09: predict the word after the ambiguous word 'bank'.

#include <cmath>

#include "bank.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

Array equal_weights(const BankText& text) {
  return filled({text.X.shape(0), text.X.shape(0)}, Real(1) / Real(text.X.shape(0)));
}

Array no_mixing(const BankText& text) { return xt::eye<Real>(text.X.shape(0)); }

Array divided_by_row_sums(const Array& weights) {
  Array sums = xt::maximum(xt::sum(weights, {1}), Real(1e-9));  // a row of zeros remains zero
  return weights / xt::view(sums, xt::all(), xt::newaxis());
}

Array causal_mean(const BankText& text) {
  return divided_by_row_sums(xt::tril(ones({text.X.shape(0), text.X.shape(0)})));
}

Array dot_products(const BankText& text) {
  return xt::linalg::dot(text.X, xt::transpose(text.X));  // (N, N)
}

Array dot_products_over_sum(const BankText& text) {
  return divided_by_row_sums(xt::tril(dot_products(text)));
}

// Each 'bank' uses the word three positions before it.
Array chosen_by_hand(const BankText& text) {
  Array weights = zeros({text.X.shape(0), text.X.shape(0)});
  for (const std::size_t bank : text.banks) weights(bank, bank - 3) = 1;
  return weights;
}

Array causal_softmax(const Array& scores) {
  return softmax(masked_fill(Tensor(scores), future_mask(scores.shape(0)), -INFINITY), -1).value();
}

struct Row {
  int lesson;
  std::string name;
  BankWeights weights_of;
};

// The attention weights of lesson 04's queries and keys, on the causal graph.
Array query_key_weights(const BankText& text) {
  const Array W_Q = {{0, 0}, {0, 0}, {24, 2}, {0, 0}};  // only 'bank' has a query: topic, position
  const Array W_K = {{1, 0}, {1, 0}, {-1, 0}, {0, 1}};  // the key of 'bank' has no topic: 1 - 1
  const Array X = bank_with_positions(text);
  AttentionOptions options;
  options.causal = true;
  const Tensor Q(xt::linalg::dot(X, W_Q)), K(xt::linalg::dot(X, W_K));  // (N, 2)
  return attention_weights(Q, K, options).value();
}

const std::vector<Row>& rows() {
  using Text = BankText;
  static const std::vector<Row> all = {
      {1, "bigram: 'bank' alone, no mixing", no_mixing},
      {1, "mean of all tokens", equal_weights},
      {1, "causal mean", causal_mean},
      {2, "dot products / row sum", dot_products_over_sum},
      {2, "weights chosen by hand", chosen_by_hand},
      {3, "softmax of dot products", [](const Text& t) { return causal_softmax(dot_products(t)); }},
      {4, "query, key and value", query_key_weights},
  };
  return all;
}

const Row& row_of(const std::string& name) {
  for (const Row& row : rows())
    if (row.name == name) return row;
  throw_error("bank: no row ", name);
}

// The mean over the texts of -ln p(next word) at the first (0) or second (1) 'bank'.
double loss_at_bank(std::size_t which, const BankWeights& weights_of,
                    const std::vector<BankText>& texts, double factor = 8) {
  double sum = 0;
  for (const BankText& text : texts) {
    const Array context = xt::linalg::dot(weights_of(text), text.X);  // (N, 2)
    const std::size_t bank = text.banks[which], target = text.targets[which];
    const double difference = context(bank, 1 - target) - context(bank, target);
    sum += std::log1p(std::exp(factor * difference));  // -ln softmax(factor c)(target)
  }
  return sum / double(texts.size());
}

}  // namespace

BankText bank_text(const Names& topics, const std::vector<std::int64_t>& fillers) {
  BankText text;
  for (std::size_t i = 0; i < topics.size(); ++i) {
    text.words.insert(text.words.end(), {"the", topics[i], "and"});
    text.words.insert(text.words.end(), std::size_t(fillers[i]), "then");
    text.words.insert(text.words.end(), {"a", "bank", topics[i] == "river" ? "floods" : "lends"});
  }
  text.X = zeros({text.words.size(), 2});
  for (std::size_t t = 0; t < text.words.size(); ++t) {
    const std::string& word = text.words[t];
    if (word == "river" || word == "bank") text.X(t, 0) = word == "bank" ? Real(0.5) : Real(1);
    if (word == "money" || word == "bank") text.X(t, 1) = word == "bank" ? Real(0.5) : Real(1);
    if (word != "bank") continue;
    text.banks.push_back(t);
    text.targets.push_back(text.words[t + 1] == "floods" ? 0 : 1);
  }
  return text;
}

const std::vector<BankText>& bank_texts() {
  static const std::vector<BankText> texts = {bank_text({"river", "money"}, {0, 0}),
                                              bank_text({"money", "river"}, {0, 0})};
  return texts;
}

const std::vector<BankText>& longer_bank_texts() {
  static const std::vector<BankText> texts = {bank_text({"river", "money"}, {1, 1}),
                                              bank_text({"money", "river"}, {1, 1})};
  return texts;
}

Array bank_with_positions(const BankText& text) {
  Array X = zeros({text.X.shape(0), 4});
  xt::view(X, xt::all(), xt::range(0, 2)) = text.X;
  for (std::size_t t = 0; t < X.shape(0); ++t) {
    X(t, 2) = text.words[t] == "bank" ? 1 : 0;
    X(t, 3) = Real(t);
  }
  return X;
}

double bank_loss(const BankWeights& weights_of, const std::vector<BankText>& texts, double factor) {
  return (loss_at_bank(0, weights_of, texts, factor) + loss_at_bank(1, weights_of, texts, factor)) /
         2;
}

Array bank_output(const BankWeights& weights_of) {
  const BankText& text = bank_texts()[0];
  const Array outputs = xt::linalg::dot(weights_of(text), text.X);  // (12, 2)
  return xt::view(outputs, text.banks[1]);
}

Array bank_output(const std::string& row) { return bank_output(row_of(row).weights_of); }

void show_bank_losses(int lesson, const BankWeights& weights_of, SourceLocation location) {
  show_bank_losses(lesson, std::vector<BankWeights>{weights_of}, location);
}

void show_bank_losses(int lesson, const std::vector<BankWeights>& own, SourceLocation location) {
  print_text(
      "\n                                  mean  at the 'bank'   longer\n"
      "next word after 'bank'            loss  first   second   texts   lesson\n",
      /*hides_call=*/false, location);
  std::size_t count = 0;  // rows of lessons up to this one
  for (const Row& row : rows()) count += row.lesson <= lesson ? 1 : 0;
  for (std::size_t r = 0; r < count; ++r) {
    const Row& row = rows()[r];
    const bool is_own = r + own.size() >= count;
    const BankWeights& weights = is_own ? own[r + own.size() - count] : row.weights_of;
    say(pad_right(row.name, 31) + pad_left(decimal(bank_loss(weights, bank_texts()), 4), 7) +
        pad_left(decimal(loss_at_bank(0, weights, bank_texts()), 4), 8) +
        pad_left(decimal(loss_at_bank(1, weights, bank_texts()), 4), 8) +
        pad_left(decimal(bank_loss(weights, longer_bank_texts()), 4), 9) + "   0" +
        std::to_string(row.lesson));
  }
}

void show_bank_losses(const std::vector<BankRow>& rows, SourceLocation location) {
  Array losses = zeros({rows.size(), 4});
  Names names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BankWeights& weights = rows[i].weights_of;
    names.push_back(rows[i].name);
    losses(i, 0) = Real(bank_loss(weights));
    losses(i, 1) = Real(loss_at_bank(0, weights, bank_texts()));
    losses(i, 2) = Real(loss_at_bank(1, weights, bank_texts()));
    losses(i, 3) = Real(bank_loss(weights, longer_bank_texts()));
  }
  show(losses,
       {"loss of the word after 'bank'", names, {"mean", "first", "second", "longer texts"}},
       location);
}

}  // namespace heed
