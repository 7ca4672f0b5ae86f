// 10 multi_head: several heads in parallel, of together the size of one.
//
// Worth a breakpoint: head_by_hand, which runs once for each head.

#include <cmath>

#include "article.hpp"
#include "harbour.hpp"
#include "lesson.hpp"
#include "pictures.hpp"

using namespace heed;
using xt::linalg::dot;

const AttentionOptions causal = {/*causal=*/true};

// Your head of exercise 04b, in lessons/04_query_key_value/exercise_b.cpp.
Array attention_head(const Array& X, const Array& W_Q, const Array& W_K, const Array& W_V);

// One causal head: X (T, C), W_Q, W_K and W_V (C, d), result (T, d).
Array head_by_hand(const Array& X, const Array& W_Q, const Array& W_K, const Array& W_V) {
  const Array Q = dot(X, W_Q), K = dot(X, W_K), V = dot(X, W_V);
  const Array S = dot(Q, xt::transpose(K)) / std::sqrt(Real(K.shape(1)));
  const Tensor A = softmax(masked_fill(Tensor(S), future_mask(X.shape(0)), -INFINITY), -1);
  return dot(A.value(), V);
}

// Four heads, with the columns 8 h to 8 h + 7 of the weights (C, 32); concatenated: (T, 32).
template <class Head>
Array four_heads(const Head& head, const Array& X, const Array& W_Q, const Array& W_K,
                 const Array& W_V) {
  std::vector<Tensor> outputs;
  for (std::int64_t h = 0; h < 4; ++h) {
    const auto columns = [&](const Array& W) {
      return slice(Tensor(W), 1, 8 * h, 8 * h + 8).value();
    };
    outputs.push_back(Tensor(head(X, columns(W_Q), columns(W_K), columns(W_V))));
  }
  return concat(outputs, -1).value();
}

void a_loop_or_one_matrix() {
  section("A loop, or one matrix");
  Generator g(42);
  const Tensor X(g.randn({1, 3, 32}));
  Parameters parameters;
  const nn::MultiHeadAttention packed({parameters, g}, 32, 4, /*with_bias=*/false);
  // A layer computes X W^T, so W_Q is the transposed weight.
  const auto matrix = [](const nn::Linear& x) { return transpose(x.weight, 0, 1).value(); };
  const Array W_Q = matrix(packed.query), W_K = matrix(packed.key), W_V = matrix(packed.value);
  const Array W_O = matrix(packed.out), x = select(X, 0, 0).value();
  const Array O = four_heads(head_by_hand, x, W_Q, W_K, W_V);
  check("four heads in a loop, times W_O = nn::MultiHeadAttention", dot(O, W_O),
        select(packed(X, causal), 0, 0));
  say();
  const bool same = xt::allclose(four_heads(attention_head, x, W_Q, W_K, W_V), O, 1e-4, 1e-5);
  quote(same ? "your head, four times: the same as ours"
             : "your head: it runs here once you have written it, ./heed exercise 04b");
}

// AdamW for `steps` batches. WarmupCosine: the learning rate rises for 10 steps, then falls.
// `loss_of_batch` draws a batch and returns its loss.
void train(const Parameters& parameters, double lr, std::int64_t steps,
           const std::function<Tensor()>& loss_of_batch) {
  optim::AdamW adam(parameters.tensors(), {lr, 0.9, 0.99, 1e-8, /*weight_decay=*/0});
  const optim::WarmupCosine rate{lr, lr / 20, 10, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor loss = loss_of_batch();
    optim::zero_grad(parameters.tensors());
    backward(loss);
    adam.set_lr(rate.at(step));
    adam.step();
  }
}

constexpr std::size_t T = 8, D = 16, C = 32;  // positions, width of a word vector, of the model

// The vectors of eight words (8, D), in random directions: of length 1, orthogonal to each other.
Array word_vectors(Generator& g) {
  Array E = g.randn({8, D});
  for (int k = 0; k < 8; ++k) {  // the Gram-Schmidt process
    auto e = xt::row(E, k);
    for (int i = 0; i < k; ++i) e -= xt::sum(e * xt::row(E, i))() * xt::row(E, i);
    e /= std::sqrt(xt::sum(e * e)());
  }
  return E;
}

// The loss of a trained model on new sentences; `weights` gets its attention weights.
double predict_two_words(std::size_t num_heads, std::int64_t steps, std::uint64_t seed,
                         Array& weights) {
  Generator g(seed);
  Parameters parameters;
  const Scope scope(parameters, g);
  const nn::Linear query(scope / "query", D + T, C, false), key(scope / "key", D + T, C, false);
  const nn::Linear value(scope / "value", D + T, C, false), out(scope / "out", C, 2 * D, false);
  AttentionOptions options = causal;
  options.num_heads = num_heads;
  const auto loss_of_batch = [&] {
    const Tensor E(word_vectors(g));                                               // (8, D)
    const Indices ids = g.randint(0, 8, {16, T});                                  // (B, T)
    const Tensor words = embedding(ids, E);                                        // (B, T, D)
    const Tensor positions = expand(Tensor(Array(xt::eye<Real>(T))), {16, T, T});  // (B, T, T)
    const Tensor x = concat({words, positions}, -1);                               // (B, T, D + T)
    const Tensor where = concat({words * 0, positions}, -1);  // queries and keys read no words
    const auto [O, A] = attention_with_weights(query(where), key(where), value(x), options);
    weights = select(A, 0, 0).value();
    const Tensor output = slice(out(O), 1, 2, T), E_T = transpose(E, 0, 1);  // from position 2 on
    const Indices u = xt::view(ids, xt::all(), xt::range(1, T - 1)),
                  w = xt::view(ids, xt::all(), xt::range(0, T - 2));  // one and two positions back
    return (cross_entropy(matmul(slice(output, -1, 0, D), E_T), u) +
            cross_entropy(matmul(slice(output, -1, D), E_T), w)) /
           2;
  };
  train(parameters, 0.02, in_brief(steps, 400), loss_of_batch);
  const NoGrad no_grad;
  double loss = 0;
  for (int i = 0; i < 64; ++i) loss += loss_of_batch().item() / 64;
  return loss;
}

void one_head_against_two() {
  section("One head against two");
  std::vector<std::vector<double>> losses(3);
  std::vector<Array> weights(3);  // of the last seed
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    losses[0].push_back(predict_two_words(1, 2000, seed, weights[0]));
    losses[1].push_back(predict_two_words(2, 2000, seed, weights[1]));
    if (seed <= 3) losses[2].push_back(predict_two_words(1, 8000, seed, weights[2]));
  }
  show_losses({"1 head", "2 heads"}, {losses[0], losses[1]});
  claim("each loss of one head is above 0.3033", least(losses[0]) > 0.3033, "");
  guard("each loss of two heads is below 0.02", most(losses[1]) < 0.02, "");
  say({{"u", trained(weights[0](7, 6))}, {"w", trained(weights[0](7, 5))}});
  show_losses({"1 head, 8,000 steps"}, {losses[2]});
  claim("it is still above 0.3033", least(losses[2]) > 0.3033, "");
  say({{"u", trained(weights[2](7, 6), 3)}, {"w", trained(weights[2](7, 5), 3)}});
  weights.pop_back();
  picture_of_weights(weights);
  say();
}

void read_the_play() {
  const Harbour harbour;
  const std::size_t window = 16, V = harbour.vocab_size();
  const Batch held_out = harbour.held_out_windows(window);
  std::vector<std::string> texts;
  std::vector<std::vector<double>> losses(3);
  for (const std::size_t m : {0, 1, 2})
    for (const std::uint64_t seed : {1, 2, 3}) {
      Generator g(seed);
      Parameters parameters;
      const Scope scope(parameters, g);
      const Tensor bigram = parameters.add("bigram", g.normal({V, V}, 0, 0.1));
      const nn::Embedding characters(scope / "character", V, C), positions(scope / "at", window, C);
      const nn::MultiHeadAttention attention(scope / "attention", C, m == 2 ? 4 : 1);
      const nn::Linear logits(scope / "logits", C, V);
      AttentionOptions mask = causal;
      mask.window = m == 0 ? 1 : window;  // 1: each query attends to its own token only
      const LanguageModel model = [&](const Indices& tokens) {  // (B, T) to (B, T, V)
        const Tensor x = characters(tokens) + slice(positions.weight, 0, 0, tokens.shape(1));
        return embedding(tokens, bigram) + logits(attention(x, mask));
      };
      train(parameters, 0.01, in_brief(2000, 600), [&] {
        const Batch batch = harbour.batch(16, window, g);
        return cross_entropy(model(batch.inputs), batch.targets);
      });
      const NoGrad no_grad;
      losses[m].push_back(cross_entropy(model(held_out.inputs), held_out.targets).item());
      if (seed == 1 && m > 0) texts.push_back(harbour.sample(model, 180, window, g));
    }
  section("Four heads read the play");
  show_losses({"own token", "1 head", "4 heads"}, losses);
  claim("each loss of four heads is below each of one head", most(losses[2]) < least(losses[1]),
        "");
  for (const std::string& text : texts) {
    say();
    quote(text);
  }
  say();
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening();
  section("Two positions at once");
  picture_of_the_split();
  a_loop_or_one_matrix();
  section("What one head cannot do");
  one_head_against_two();
  read_the_play();
  article_numbers();
  ending();
}
