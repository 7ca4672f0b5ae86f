// 23 what_attention_costs: time and memory of attention against the length, and two remedies.
//
// Worth a breakpoint: add_block. Print row.m and row.l.

#include "costs.hpp"
#include "guess.hpp"
#include "in_threads.hpp"
#include "recall.hpp"
#include "tuning.hpp"

using namespace heed;
const std::string lesson = "23_what_attention_costs";

const std::size_t test_length = std::size_t(in_brief(8192, 1024));
const std::vector<std::size_t> fit_lengths =
    brief() ? std::vector<std::size_t>{256, 512} : std::vector<std::size_t>{256, 512, 1024, 2048};
std::vector<Costs> kinds;  // the rows of the table so far

// Causal attention with `past` keys in a cache, or with a sliding window.
AttentionOptions causal(std::size_t past = 0, std::size_t window = 0) {
  AttentionOptions options;
  options.causal = true, options.past = past, options.window = window;
  return options;
}

// Measures a kind of attention.
void add_row(const std::string& name, const Attend& attend, bool one_query = false) {
  std::vector<std::size_t> lengths = fit_lengths;
  lengths.push_back(test_length);
  kinds.push_back(costs_of(name, lengths, attend, one_query));
}

void the_price() {
  section("The price of n^2 scores");
  const std::string test = grouped(double(test_length));
  add_row("plain", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attention_with_weights(q, k, v, causal()).output;  // all weights, (n, n), are stored
  });
  quote(lengths_table(kinds[0]));
  say({{"test", test}});
  const Guess guess("milliseconds of plain attention for " + test + " tokens");
  say({{"test", test}});
  quote(table_of(kinds));
  guess.compare(decimal(kinds[0].milliseconds.back(), 1));
  const double matrices = kinds[0].bytes.back() / double(test_length * test_length * sizeof(Real));
  claim("at the peak there are four matrices (n, n): products, masked scores, two of softmax",
        matrices > 4 && matrices < 4.3, decimal(matrices, 2));
  say();
}

void where_time_goes() {
  const std::size_t n = fit_lengths.back();
  const double size = double(n * n), products = 2 * 64 * size;  // FLOPs of Q K^T
  section("Where the time goes", {{"n", grouped(double(n))}});
  const NoGrad no_grad;
  Generator g(1);
  const Tensor Q(g.randn({n, 64})), K(g.randn({n, 64})), V(g.randn({n, 64}));
  const Tensor scores = matmul(Q, transpose(K, 0, 1));
  const Mask mask = future_mask(n, n);
  std::vector<Operation> rows = {{"Q K^T", [&] { matmul(Q, transpose(K, 0, 1)); }, products, 1},
                                 {"/ sqrt(D)", [&] { scores / 8.0; }, size, 2},
                                 {"build the mask", [&] { future_mask(n, n); }, 0, 0.25},
                                 {"mask", [&] { masked_fill(scores, mask, -INFINITY); }, 0, 4.25},
                                 {"softmax", [&] { softmax(scores, -1); }, 4 * size, 2},
                                 {"A V", [&] { matmul(scores, V); }, products, 1}};
  quote(table_of(rows, double(n), kinds[0].milliseconds[fit_lengths.size() - 1]));
  say();
}

// What a query keeps of the keys so far: m, the largest score, l, the sum of exp(score - m), and o,
// the sum of exp(score - m) v. The attention of the keys so far is o / l.
struct OnlineSoftmax {
  Real m = -INFINITY, l = 0;
  Array o;  // (D_v)
};

// Adds a block of keys, with scores (b) and values V (b, D_v).
void add_block(OnlineSoftmax& row, const Array& scores, const Array& V) {
  const Real m = std::max(row.m, xt::amax(scores)());
  const Array e = xt::exp(scores - m);
  const Real rescale = std::exp(row.m - m);  // 1 if the maximum is still the same
  row.m = m;
  row.l = rescale * row.l + xt::sum(e)();
  row.o = rescale * row.o + xt::linalg::dot(e, V);
}

// softmax(scores) V, with `size` keys at a time: for each block m, l and o / l after it.
Array online_attention(const Array& scores, const Array& V, std::size_t size) {
  Array steps = zeros({scores.size() / size, 2 + V.shape(1)});
  OnlineSoftmax row{-INFINITY, 0, zeros({V.shape(1)})};
  for (std::size_t b = 0; b < steps.shape(0); ++b) {
    const std::size_t begin = b * size, end = begin + size;
    add_block(row, xt::view(scores, xt::range(begin, end)), xt::view(V, xt::range(begin, end)));
    steps(b, 0) = row.m, steps(b, 1) = row.l;
    for (std::size_t d = 0; d < row.o.size(); ++d) steps(b, 2 + d) = row.o(d) / row.l;
  }
  return steps;
}

void online_softmax() {
  section("Softmax one block of keys at a time");
  draw_tiles(lesson);
  say();
  Generator g(22);
  const Tensor Q(g.randn({12, 4})), K(g.randn({12, 4})), V(g.randn({12, 2}));
  const Tensor scores = matmul(K, select(Q, 0, 0)) / std::sqrt(4.0);  // (12)
  const Array steps = online_attention(scores.value(), V.value(), 3);
  show("one query", steps, {"block 0", "block 1", "block 2", "block 3"},
       {"m", "l", "o / l: 0", "o / l: 1"});
  check("o / l after the last block = plain attention", Array(xt::view(steps, 3, xt::range(2, 4))),
        select(attention_with_weights(Q, K, V).output, 0, 0));
  check("12 blocks of 1 key = 4 blocks of 3",
        Array(xt::row(online_attention(scores.value(), V.value(), 1), 11)),
        Array(xt::row(steps, 3)));
  sliders("online", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"},
          {{"block size", filled({1, 1}, 3)},
           {"scores", reshape(scores, {1, 12}).value()},
           {"V", V.value()}});
  say();
  add_row("fused", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v, causal());
  });
  quote(table_of({kinds[1]}));
  const double growth =
      kinds[1].bytes.back() / kinds[1].bytes[1] * double(fit_lengths[1]) / double(test_length);
  claim("the memory of fused attention is proportional to n, within 5 %",
        std::abs(growth - 1) < 0.05, decimal(growth, 4));
  say();
}

// The feature map elu(x) + 1: x + 1 above 0, exp(x) below. It is always positive.
Tensor phi(const Tensor& x) { return relu(x) + exp(-relu(-x)); }

// The weights phi(q) . phi(k), divided by their sum: Q (..., T, D), K (..., S, D) -> (..., T, S).
Tensor linear_weights(const Tensor& Q, const Tensor& K, bool is_causal) {
  const Tensor products = matmul(phi(Q), transpose(phi(K), -1, -2));
  const Tensor allowed = is_causal ? tril(products) : products;
  return allowed / sum(allowed, {-1}, /*keepdim=*/true);
}

// Causal linear attention as a recurrence of `size` tokens at a time: q, k, v (1, n, D). A value 1
// is added to each v, so that the last column of S is z.
Tensor linear_recurrence(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t size) {
  const std::size_t n = v.shape()[1], D_v = v.shape()[2];
  const Tensor Q = phi(q), K = phi(k), V = concat({v, Tensor(ones({1, n, 1}))}, -1);
  Tensor S(zeros({1, k.shape()[2], D_v + 1}));
  std::vector<Tensor> outputs;
  for (std::int64_t t = 0; t < std::int64_t(n); t += size) {
    const auto chunk = [&](const Tensor& x) { return slice(x, 1, t, t + size); };
    const Tensor keys = transpose(chunk(K), 1, 2);
    outputs.push_back(matmul(chunk(Q), S) + matmul(tril(matmul(chunk(Q), keys)), chunk(V)));
    S = S + matmul(keys, chunk(V));
  }
  const Tensor sums = concat(outputs, 1);
  return slice(sums, 2, 0, std::int64_t(D_v)) / slice(sums, 2, std::int64_t(D_v));
}

void linear_attention() {
  section("Linear attention");
  Generator g(9);
  const Tensor Q(g.randn({1, 200, 8})), K(g.randn({1, 200, 8})), V(g.randn({1, 200, 8}));
  const Tensor by_weights = matmul(linear_weights(Q, K, /*is_causal=*/true), V);
  check("token by token = causal matrix of weights times V", linear_recurrence(Q, K, V, 1),
        by_weights);
  check("50 tokens at a time = the same", linear_recurrence(Q, K, V, 50), by_weights);
  say();
  add_row("linear", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return linear_recurrence(q, k, v, 128);
  });
  quote(table_of({kinds.back()}));
  say();
  draw_costs(lesson, kinds);
}

constexpr std::size_t C = 32, D_recall = 8;  // width of embeddings; of queries, keys and values
const std::vector<std::size_t> lengths = {4, 8, 16, 32};

// A kind of attention and how it is trained.
struct Variant {
  std::string name;
  bool is_softmax;
  std::int64_t steps;
  double rate;
};
const std::vector<Variant> variants = {
    {"softmax", true, in_brief(500, 100), 0.02},
    {"linear", false, in_brief(500, 100), 0.08},
    {"linear, 5 times the steps", false, in_brief(2500, 200), 0.04}};

// One layer of attention. The query and the key come from a key token, the value from a value
// token.
struct RecallModel {
  RecallModel(const Scope& scope, bool softmax_weights)
      : key_tokens(scope / "key_tokens", vocab, C),
        value_tokens(scope / "value_tokens", vocab, C),
        query(scope / "query", C, D_recall, false),
        key(scope / "key", C, D_recall, false),
        value(scope / "value", C, D_recall, false),
        head(scope / "head", D_recall, vocab),
        is_softmax(softmax_weights) {}
  Tensor weights(const Indices& keys) const {  // (B, n, n)
    const Tensor x = key_tokens(keys), q = query(x), k = key(x);
    return is_softmax ? attention_weights(q, k) : linear_weights(q, k, /*is_causal=*/false);
  }
  Tensor operator()(const RecallBatch& batch) const {  // logits (B, n, vocab)
    return head(matmul(weights(batch.key), value(value_tokens(batch.value))));
  }

  nn::Embedding key_tokens, value_tokens;
  nn::Linear query, key, value, head;
  bool is_softmax;
};

// Trains on 512 new questions in each step.
RecallModel train(const Variant& variant, std::size_t n, std::uint64_t seed) {
  Parameters parameters;
  Generator initial(seed), g(1000 + seed);
  const RecallModel model({parameters, initial}, variant.is_softmax);
  optim::AdamW optimizer(parameters.tensors(), {variant.rate, 0.9, 0.999, 1e-8, 0});
  const optim::WarmupCosine schedule{variant.rate, variant.rate / 20, 20, variant.steps};
  for (std::int64_t step = 0; step < variant.steps; ++step) {
    const RecallBatch batch = new_pairs(g, 512 / n, n);
    optimizer.zero_grad();
    backward(cross_entropy(model(batch), batch.value));
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
  return model;
}

// The scores of the seeds offset + 1, 2 and 3 on new sequences, which depend on `sequences`.
Scores train_seeds(const Variant& variant, std::size_t n, std::uint64_t offset,
                   std::uint64_t sequences) {
  return in_threads<RecallScore>(
      3, [&](std::uint64_t seed) { return score(train(variant, n, offset + seed), n, sequences); });
}

void what_a_fixed_state_forgets() {
  section("What a fixed state forgets");
  std::vector<RecallRow> rows;
  for (const Variant& variant : variants) {
    rows.push_back({variant.name});
    for (const std::size_t n : lengths)
      if (n == 32 || variant.steps == variants[0].steps)
        rows.back().scores.push_back(train_seeds(variant, n, 0, 22));
  }
  quote(table_of(rows, lengths, D_recall));
  const double largest = largest_over_bound(rows[1], lengths, D_recall);
  claim("linear attention: mean weight at most D / n, all seeds and lengths", largest < 1.0001,
        decimal(largest, 4));
  const double soft = rows[0].accuracy(3).mean, linear = rows[1].accuracy(3).mean;
  guard("n = 32: accuracy above 0.9 with softmax, below 0.3 with linear attention",
        soft > 0.9 && linear < 0.3, decimal(soft, 4) + " and " + decimal(linear, 4));
  const Estimate change = paired_change(rows[1].scores[3], rows[2].scores[0]);
  say({{"change", trained(change.mean, 3) + " +- " + trained(change.standard_error, 3)}});
  rows.pop_back();
  draw_recall(lesson, rows, lengths, D_recall);
  say();
  draw_weights(lesson,
               std::vector<RecallModel>{train(variants[0], 32, 1), train(variants[1], 32, 1)}, phi);
  say();
}

void window_and_cache() {
  Generator g(8);
  const Tensor x(g.randn({24, 8}));
  std::vector<Tensor> outputs;  // of one query at a time, with the keys and values so far
  for (std::int64_t t = 0; t < 24; ++t) {
    const Tensor cache = slice(x, 0, 0, t + 1), query = slice(x, 0, t, t + 1);
    outputs.push_back(scaled_dot_product_attention(query, cache, cache, causal(std::size_t(t))));
  }
  check("24 steps with a cache = causal attention of 24 queries", concat(outputs, 0),
        scaled_dot_product_attention(x, x, x, causal()));
  add_row("fused, window 128", [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v, causal(0, 128));
  });
  const auto last_query = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v, causal(k.shape()[1] - 1));
  };
  add_row("one query, cache", last_query, /*one_query=*/true);
  quote(table_of({kinds[3], kinds[4]}));
  say();
}

// The losses for n = 32 with several learning rates, on other seeds and sequences.
std::vector<TuningRow> sweep() {
  std::vector<TuningRow> rows;
  for (Variant variant : variants)
    for (const double rate : {0.005, 0.01, 0.02, 0.04, 0.08, 0.16}) {
      variant.rate = rate;
      const Estimate e = RecallRow{"", {train_seeds(variant, 32, 10, 99)}}.loss(0);
      rows.push_back({variant.name, rate, e.mean, e.standard_error});
    }
  return rows;
}

int main() {
  set_num_threads(1);  // the times are those of one thread
  if (tuning()) return write_tuning("loss for n = 32, other sequences, seeds 11 to 13", sweep());
  opening();
  the_price();
  where_time_goes();
  online_softmax();
  linear_attention();
  what_a_fixed_state_forgets();
  if (appendix("A window, and a cache")) window_and_cache();
  if (appendix("How the learning rates were chosen")) {
    std::vector<ChosenRate> chosen;
    for (const Variant& variant : variants) chosen.push_back({variant.name, variant.rate});
    show_tuning(chosen);
  }
  ending();
}
