// 08 causal_mask: no position attends to a later one; two tests for leaks, and a proof.
//
// Before this lesson: 09_scaling_and_saturation, which divided the scores by sqrt(d_k).
// After it: 05_autograd, how `backward` computes the derivatives that test 2 needs.
// Worth a breakpoint: causal_weights. Go on with `next`: in row t, s never exceeds t.

#include <cmath>

#include "leak_tests.hpp"
#include "masked_softmax.hpp"
#include "trained_leak.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};
const Names replaced = {"from the", "from cat", "from sat"};  // the tokens that test 1 replaces
const Array lower = tril(Tensor(ones({3, 3}))).value();       // 1 where a query may attend

// The softmax of the scores 0 to t of each row t. The other weights stay zero.
Array causal_weights(const Array& scores) {
  Array weights = zeros({3, 3});
  for (std::size_t t = 0; t < 3; ++t) {
    Real sum = 0;
    for (std::size_t s = 0; s <= t; ++s) {
      weights(t, s) = std::exp(scores(t, s));
      sum += weights(t, s);
    }
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) /= sum;
  }
  return weights;
}

// Counts the paths from token s to output t through four causal layers, then through four layers of
// which one has a wrong mask.
void paths_through_four_layers(const Array& X, const AttentionOptions& causal) {
  section("A proof for several layers");
  say("A model applies attention several times; each time is a LAYER. Everything else",
      "in a layer computes each position from this position alone (lesson 12). Can a",
      "later token reach an earlier output through several layers? No: after any number",
      "of causal layers, row t depends on the tokens 0 to t only. Proof by induction:",
      "before the first layer, row t is the embedding of token t. And if this holds for",
      "the input of a layer, it holds for its output, since output row t is computed",
      "from the input rows 0 to t, which depend on the tokens 0 to t only.", "",
      "The same with paths: token s can influence output t only along a path. In layer",
      "1 it leads from s to a position a, then to b and c, in layer 4 to t. No causal",
      "layer leads to an earlier position: s <= a <= b <= c <= t. The matrix L = tril",
      "has L(t, s) = 1 if s <= t, and 0 otherwise. Then", "",
      "  (L L)(t, s) = sum over a of L(t, a) L(a, s)", "",
      "is the number of paths through two layers, and L L L L counts those through",
      "four. By hand, the loops count them. In the last table the mask of the third",
      "layer is shifted by one position, as by a mistake in a program:");
  Array paths = zeros({3, 3});
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t c = 0; c <= t; ++c)
      for (std::size_t b = 0; b <= c; ++b)
        for (std::size_t a = 0; a <= b; ++a)
          for (std::size_t s = 0; s <= a; ++s) paths(t, s) += 1;
  Array two = xt::linalg::dot(lower, lower), four = xt::linalg::dot(two, two);
  Array shifted = tril(Tensor(ones({3, 3})), 1).value(), three = xt::linalg::dot(shifted, two);
  const Layer deep = [&](Tensor h) {
    for (int i = 0; i < 4; ++i) h = scaled_dot_product_attention(h, h, h, causal);
    return h;
  };
  show("paths through four layers", four, words, words);
  check("by hand = in one line", paths, four);
  check("changed, after four layers of attention = tril", changed_outputs(deep, X), lower);
  show("paths, third mask shifted", xt::linalg::dot(lower, three), words, words);
  say("", "With one wrong layer, one path leads from token 'cat' to output 'the' (thick in",
      "the picture). Arrows to an earlier position are orange:");
  draw_layers({lower, lower, shifted, lower}, {1, 1, 1, 0, 0}, words,
              xt::col(Array(xt::linalg::dot(lower, three)), 1));
}

void gradient_test(const Array& X, const Layer& open, const Layer& layer, const Layer& saturated,
                   const Tensor& W_V, const Tensor& weights) {
  section("Test 2: gradients");
  say("Test 2 tells which tokens count, and how much. For output t and token s,",
      "`backward` computes 4 * 5 = 20 derivatives (lesson 09): of the 4 numbers of",
      "output t with respect to the 5 numbers of token s. The tables have their",
      "Frobenius norms.");
  const Array open_norms = gradient_norms(open, X), norms = gradient_norms(layer, X);
  show("gradient norms, no mask", open_norms, words, words);
  show("gradient norms, causal mask", norms, words, words);
  check("1 where they are not 0 = tril", xt::not_equal(norms, 0), lower, 0);
  check("for output 'the', weight on later keys and gradient of 'cat' are 0",
        Array{future_weight(weights)(0), norms(0, 1)}, zeros({2}), 0);
  say("", "With the mask, 'the' attends to itself only. So output 'the' is token 'the'",
      "times W_V, and its derivatives are the numbers of W_V.");
  check("norm of W_V = gradient norm of 'the'", sqrt(sum(W_V * W_V)), scalar(norms(0, 0)));
  say("", "But test 2 can miss a dependence. Without a mask and with queries times 20,",
      "softmax is saturated (lesson 09), and in float some gradients are rounded to 0,",
      "such as that of output 'the' with respect to token 'sat'. Test 1 finds these",
      "dependences:");
  const Array rounded = gradient_norms(saturated, X);
  show("gradient norms, no mask, queries times 20", rounded, words, words);
  claim("some of these gradients are exactly 0", xt::amin(rounded)() == 0, "none is");
  check("test 1: every output changes", changed_outputs(saturated, X), ones({3, 3}));
}

void leak_outside_attention(const Layer& layer, const Array& X) {
  section("A leak outside attention");
  say("Models often subtract a mean (lesson 12). Here a mistake takes it over the three",
      "tokens. Each token's vector minus this mean is the input of masked attention.");
  const Layer centred = [&](const Tensor& h) { return layer(h - mean(h, {0}, true)); };
  const Layer each_alone = [&](const Tensor& h) { return layer(h - mean(h, {1}, true)); };
  show("output changed, after centring", changed_outputs(centred, X), words, replaced);
  say("", "The masked weights are zero, but the mean depends on later tokens. A test of the",
      "weights misses this leak, a test of the whole model finds it. Repair: subtract",
      "from each token the mean of its own five numbers.");
  check("changed, each token centred by itself = tril", changed_outputs(each_alone, X), lower);
}

int main() {
  opening({"to hide later positions by a mask, and to test a model for leaks",
           "A = softmax(S + M), M(t, s) = 0 if s <= t, else -infinity\n"
           "S, M, A (T, T), T tokens: rows query t, columns key s",
           "masked self-attention: Vaswani et al. 2017, Attention Is All You\nNeed, section 3.2.3",
           "torch.nn.functional.scaled_dot_product_attention(...,\n"
           "is_causal=True) since version 2.0 (scale=... since 2.1), torch.tril"});
  section("A model that sees the answer");
  say("A language model predicts the next token: 'cat' after 'the', 'sat' after 'the",
      "cat'. If it predicts each token from the earlier ones only, it is",
      "AUTOREGRESSIVE. In training it gets the whole true text (TEACHER FORCING), and",
      "predicts at every position at the same time. So the token that position 0 must",
      "predict, 'cat', is in the input, at position 1. If an output depends on later",
      "tokens, this is a LEAK: the model can copy the next token instead of predicting",
      "it. When it writes a text, there is no next token to copy. These are lesson 04's",
      "attention weights without a mask. Rows are query positions, columns key",
      "positions, as in all tables of weights:");
  Generator random(42);
  Array X = random.randn({3, 5});
  Tensor W_K(random.randn({5, 4})), W_Q(random.randn({5, 4})), W_V(random.randn({5, 4}));
  Tensor Q = matmul(Tensor(X), W_Q), K = matmul(Tensor(X), W_K), V = matmul(Tensor(X), W_V);
  Tensor scores = matmul(Q, transpose(K, 0, 1)) / std::sqrt(4.0);  // (3, 3)
  Tensor unmasked = softmax(scores, -1);
  show("attention weights, no mask", unmasked, words, words);
  show("attention weight on later positions", future_weight(unmasked), {}, words);
  say("",
      "'the' must predict 'cat', and gives 'cat' the attention weight " +
          decimal(unmasked.value()(0, 1), 4) + ",",
      "here by chance: W_Q and W_K are random. Training would make use of it.");

  section("The causal mask");
  say("A CAUSAL MASK lets the query at position t attend only to the keys at positions",
      "0 to t. By hand: the loops of causal_weights end at s = t. In one line:",
      "masked_fill sets the other scores to minus infinity, and exp(-infinity) is 0.");
  Tensor masked = masked_fill(scores, future_mask(3), -INFINITY);
  Tensor weights = softmax(masked, -1);
  AttentionOptions causal;
  causal.causal = true;
  show("masked", masked, words, words);
  show("attention weights", weights, words, words);
  check("by hand = in one line", causal_weights(scores.value()), weights);
  check("weights V = scaled_dot_product_attention", matmul(weights, V),
        scaled_dot_product_attention(Q, K, V, causal));
  const Array grey = xt::where(xt::isinf(masked.value()), masked.value(), weights.value());
  picture("08_causal_mask", "weights", {unmasked.value(), grey}, {"no mask", "causal mask"},
          {"Attention weights: the causal mask removes the later keys", words, words,
           "query position", "key position", 0, 1},
          2);
  mask_as_a_triangle();

  section("Test 1: change the later tokens");
  say("Zero weights are not enough: a model may leak elsewhere. So test 1 replaces the",
      "tokens from position s on by random vectors, small and large, 100 times for each",
      "s. The table has 1 in row t if any bit of output t changes: then output t",
      "depends on these tokens. (The vectors are not infinite: zero times infinity is",
      "NaN, also in a correct model.) A test can find a leak. That there is none must",
      "be proved (below).");
  const Layer open = attention_layer(W_Q, W_K, W_V, {}),
              layer = attention_layer(W_Q, W_K, W_V, causal);
  check("without a mask every output changes", changed_outputs(open, X), ones({3, 3}));
  show("output changed, causal mask", changed_outputs(layer, X), words, replaced);
  check("changed = tril", changed_outputs(layer, X), lower);
  say("", "A causal mask has a merit, too. If the model gets only the tokens 0 to t, its",
      "last output equals output t for the whole text. So one pass trains the",
      "predictions at all positions. And a program that writes a text may keep the keys",
      "and values of earlier tokens, in a KV CACHE: they do not change when a token is",
      "appended.");
  check("output t = last output for the tokens 0 to t", outputs_of_prefixes(layer, X),
        layer(Tensor(X)));

  gradient_test(X, open, layer, attention_layer(W_Q * 20, W_K, W_V, {}), W_V, weights);
  paths_through_four_layers(X, causal);
  why_minus_infinity(scores);
  fully_masked_row();

  leak_outside_attention(layer, X);
  task_of_the_bank();
  trained_leak();
  say("", "How does `backward` of test 2 compute derivatives? See 05_autograd.", "",
      "To see the mask (repeat next until you are in the inner loop):", "",
      "  gdb build/release/lessons/08_causal_mask", "  break causal_weights", "  run", "  next",
      "  display s");
  questions(
      "In why_minus_infinity (masked_softmax.hpp), change the factors {1, 1000,\n"
      "2000, 4000}. At which does 'the' give later positions half of its weight?",
      "In the line of `shifted`, replace the 1 of tril by 2: the third layer has\n"
      "no mask. How many paths lead from token 'sat' to the output of 'the'?",
      "In main, replace the seed 42 by 7. Which zeros of the tables remain?");
}
