// 10 multi_head: multi-head attention, several heads in parallel with the parameters of one.
//
// Before this lesson: 07_attention_head, one head that copies the previous token.
// After it: 11_positions, position encodings.
// A useful breakpoint: losses_of, the forward pass of the model. Step with `next`.

#include <cmath>

#include "copy_task.hpp"

using namespace heed;
using xt::linalg::dot;
const Names words = {"one", "dog", "ran"};

// One head by hand. It uses the columns first to first + size - 1 of Q, K and V: (N, size).
Array head_by_hand(const Array& Q, const Array& K, const Array& V, std::size_t first,
                   std::size_t size) {
  const auto part = [&](const Array& x) -> Array {
    return xt::view(x, xt::all(), xt::range(first, first + size));
  };
  const Array q = part(Q), k = part(K),
              e = xt::exp(dot(q, xt::transpose(k)) / std::sqrt(Real(size)));
  const Array sums = xt::sum(e, {1});
  return dot(e, part(V)) / xt::view(sums, xt::all(), xt::newaxis());
}

// The losses of the two targets: D numbers of the output predict one word, the other D the other.
std::vector<Tensor> losses_of(const nn::MultiHeadAttention& attention,
                              const TwoTargetBatch& batch) {
  const nn::AttentionMask causal{true, {}};
  const Tensor outputs = attention(batch.x, causal);                  // (B, T, C)
  const Tensor vectors = transpose(batch.vectors, 0, 1);              // (D, V)
  const Tensor logits_1 = matmul(slice(outputs, -1, 0, D), vectors);  // (B, T, V)
  const Tensor logits_2 = matmul(slice(outputs, -1, D), vectors);
  return {cross_entropy(logits_1, batch.back_1), cross_entropy(logits_2, batch.back_2)};
}

void set_one_head_by_hand(const TwoTargetBatch& validation) {
  const double differ = fraction_different(validation);
  section("A task with two targets");
  say("One head gives each query one weighted sum of the values. What if a prediction",
      "needs two tokens? Here each position predicts two words: u, one position back,",
      "and w, two positions back. (The loss leaves out positions 0 and 1.) One half of",
      "the output gives the logits of u, the other half those of w. Each batch has",
      "eight new, orthogonal word vectors: the dot product of two is 0.", "",
      "What can one head do? Suppose that its attention weights depend on the positions",
      "only: a on u and 1 - a on w. Suppose that its values are the words, scaled by c1",
      "in one half of the output and by c2 in the other:", "",
      "  logits of target 1: c1 a for u, c1 (1 - a) for w, 0 for the six other words",
      "  logits of target 2: c2 a for u, c2 (1 - a) for w, 0 for the six other words", "",
      "Let u and w differ, and let a >= 1/2. In target 2, w is correct:", "",
      "  c2 >= 0: the logit of u is at least that of w, so p(w) <= 1/2",
      "  c2 < 0:  six other logits are at least that of w, so p(w) <= 1/7", "",
      "The loss of target 2 is then ln 2 or more, that of target 1 near 0 at best. (If",
      "a < 1/2, exchange the targets.) u and w differ with probability 7/8; if they are",
      "equal, both losses can be near 0. So the expected mean of both is at least", "",
      "  7/8 * (ln 2 + 0) / 2 = 0.3033", "",
      "One head set by hand comes close to it. With c1 = 20 / (2 a - 1), the logit of u",
      "leads by 20 in target 1. With c2 = 20 and a near 1/2, u and w get about 1/2 each",
      "in target 2. In our 1,024 validation sentences u and w differ with frequency",
      decimal(differ, 4) + ", so the limit is " + decimal(differ * std::log(2.0) / 2, 4) +
          " there. The loss:",
      "", "     a     loss");
  Generator g(0);
  for (double a : {0.51, 0.501, 0.5001}) {
    Parameters parameters;
    nn::MultiHeadAttention attention({parameters, g}, C, 1, /*with_bias=*/false);
    set_to_two_words(attention, a, 20 / (2 * a - 1), 20);
    const std::vector<Tensor> both = losses_of(attention, validation);
    say(decimal(a, 4) + "   " + decimal((both[0].item() + both[1].item()) / 2, 4));
  }
}

void heads_in_a_loop_and_packed() {
  section("One head, four heads");
  say("Attention should reach u and w separately: \"With a single attention head,",
      "averaging inhibits this\" (Vaswani et al. 2017, 3.2.2). MULTI-HEAD ATTENTION runs",
      "several heads on the same input, each with its own projections: one can attend",
      "to u, another to w. Their outputs are concatenated, and a last linear layer, the",
      "OUTPUT PROJECTION, mixes them. The width of one head is the HEAD DIMENSION: with",
      "width 32 and four heads 32 / 4 = 8. One head, with random weights:");
  Generator g(89);  // the calls of article 3 in tests/lessons/articles.json
  g.randn({1, 3, 5});
  for (int n = 0; n < 3; ++n) nn::init::linear_weight(g, 5, 16);  // lesson 09
  const Tensor x_of_one(g.randn({1, 3, 32}));
  Parameters of_one, of_loop, of_packed;
  show("output of one head", nn::AttentionHead({of_one, g}, 32, 8)(x_of_one), words);
  const Tensor x(g.randn({1, 3, 32}));
  std::vector<nn::AttentionHead> heads;
  for (std::size_t h = 0; h < 4; ++h) heads.emplace_back(Scope(of_loop, g) / h, 32, 8);
  const nn::Linear projection(Scope(of_loop, g) / "out", 32, 32);
  std::vector<Tensor> outputs;
  for (const nn::AttentionHead& head : heads) outputs.push_back(head(x));  // (1, 3, 8) each
  const Tensor concatenated = concat(outputs, -1), out = projection(concatenated);
  say("", "x             " + str(x.shape()), "each head     " + str(outputs[0].shape()),
      "concatenated  " + str(concatenated.shape()), "out           " + str(out.shape()));
  show("the first eight columns of the output of four heads", slice(out, -1, 0, 8), words);

  section("The same in one module");
  say("nn::MultiHeadAttention has one weight for all heads: four matrices (8, 32), one",
      "below the other, are one matrix (32, 32). One matrix product computes the",
      "queries of all heads. Head h uses the columns 8 h to 8 h + 7 of queries, keys",
      "and values. (The module adds biases; we set those of Q, K and V to zeros.)");
  nn::MultiHeadAttention packed({of_packed, g}, 32, 4);
  set_weights(packed, heads, projection);
  const Array Q = select(packed.query(x), 0, 0).value(), K = select(packed.key(x), 0, 0).value();
  const Array values = select(packed.value(x), 0, 0).value();  // (3, 32)
  for (std::size_t h = 0; h < 4; ++h)
    check("head " + std::to_string(h) + " by hand from the packed weights = from the loop",
          head_by_hand(Q, K, values, 8 * h, 8), select(outputs[h], 0, 0));
  check("output of the loop = output of the module", out, packed(x));
  say("", "Column d of the output projection multiplies number d of the concatenation. So",
      "the output is a sum with one term for each head:");
  Tensor sum = projection.bias;
  for (std::int64_t h = 0; h < 4; ++h)  // (1, 3, 8) times (8, 32)
    sum = sum + linear(outputs[std::size_t(h)], slice(projection.weight, 1, 8 * h, 8 * h + 8));
  check("bias + the terms of the heads = output", sum, out);

  section("The head dimension");
  say("nn::MultiHeadAttention, like PyTorch's module, divides the width by the number",
      "of heads. Five heads of width 32:");
  Parameters wide;
  show_error([&] { nn::MultiHeadAttention({wide, g}, 32, 5); });
  say("", "But an output projection (32, 32) refuses four heads of dimension 32:");
  std::vector<Tensor> too_wide;
  for (std::size_t h = 0; h < 4; ++h)
    too_wide.push_back(nn::AttentionHead(Scope(wide, g) / h, 32, 32)(x));
  show_error([&] { projection(concat(too_wide, -1)); });
  const nn::Linear wide_projection(Scope(wide, g) / "out", 128, 32);
  say("", "A wider output projection accepts them. The model has almost four times as many",
      "parameters:", "", "four heads of 8    " + pad_left(grouped(double(of_loop.count())), 7),
      "four heads of 32   " + pad_left(grouped(double(wide.count())), 7) + "   out " +
          str(wide_projection(concat(too_wide, -1)).shape()));
}

void show_attention(const Trained& one, const Trained& two) {
  section("The attention weights");
  say("The first picture shows one head: the means over the validation sentences, and",
      "two of the sentences. Their weights differ: they depend on the words, too. The",
      "second picture shows the means of two heads. The rows are the positions 2 to 7.");
  picture_of_heads("one", "one head: attention weights",
                   {rows_of_head(one.weights, 0), rows_of_head(one.sentences[0], 0),
                    rows_of_head(one.sentences[1], 0)},
                   {"mean of all sentences", "sentence 0", "sentence 1"});
  picture_of_heads("two", "two heads: mean attention weights",
                   {rows_of_head(two.weights, 0), rows_of_head(two.weights, 1)},
                   {"head 0", "head 1"});
  const Array table = mean_weight_table(one.weights, two.weights);  // (3, 2)
  show_trained("mean attention weight", table, {"one head", "of two: 0", "of two: 1"},
               {"one back", "two back"});
  const Real right =
      std::max(std::min(table(1, 0), table(2, 1)), std::min(table(2, 0), table(1, 1)));
  claim("each of two heads has a weight above 0.9 on its word", right > 0.9, decimal(right, 4));
  say("", "If we exchange two heads together with their columns of W_O, the output does not",
      "change. So the initial weights and the batches decide which head attends to",
      "which word, not the task.",
      "The input has always had the position, one-hot. Without it? 11_positions.");
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening({"to split attention into heads, and to train one, two and four heads",
           "O = concat(O_0, ..., O_(H-1)) W_O^T + b   O_h (T, C / H), W_O (C, C)",
           "multi-head attention, Attention Is All You Need, section 3.2.2\n"
           "(Vaswani et al. 2017)",
           "torch.nn.MultiheadAttention(embed_dim, num_heads)"});
  Generator g(1);
  const TwoTargetBatch validation = new_two_target_batch(g, 1024, C);
  set_one_head_by_hand(validation);
  heads_in_a_loop_and_packed();

  section("Training");
  say("W_Q, W_K, W_V and W_O are (32, 32) for any number of heads: without biases all",
      "three models have " + grouped(4 * C * C) +
          " parameters. They train with the same settings, one head",
      "also for twice as many steps:");
  const auto steps = in_brief(4000, 1000), more_steps = 2 * steps;
  const Trained one = train(1, steps, losses_of, validation);
  const Trained two = train(2, steps, losses_of, validation);
  const Trained four = train(4, steps, losses_of, validation);
  const Trained longer = train(1, more_steps, losses_of, validation);
  say("", "heads  steps loss of u loss of w    mean", row_of(1, one), row_of(1, longer),
      row_of(2, two), row_of(4, four));
  picture_of_losses({one, longer, two, four}, std::log(2.0) * 7 / 16);
  say("");
  claim("the loss of one head is above 0.1", one.loss() > 0.1, decimal(one.loss(), 4));
  claim("with more steps it is lower", longer.loss() < one.loss(), decimal(longer.loss(), 4));
  const double most = std::max(two.loss(), four.loss());
  claim("the losses of two and of four heads are below 0.02", most < 0.02, decimal(most, 4));
  say("", "With this seed one head is far above two after 8,000 steps. The bound 0.3033 is",
      "for heads of the form above; one head can get below it (question 2).");
  show_attention(one, two);
  questions(
      "In main, write train(3, ...) in place of train(4, ...). What happens, and\n"
      "why?",
      "In main, change 2 * steps to 8 * steps. How low is the loss of one head,\n"
      "and how can it be below 0.3033?",
      "In new_two_target_batch (copy_task.hpp), use random_word_vectors in place of\n"
      "orthogonal_word_vectors. Which losses change?");
}
