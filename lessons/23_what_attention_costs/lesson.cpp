// 23 what_attention_costs: time and memory of attention against the length, and cheaper variants.
//
// Before this lesson: 22_vision, a transformer whose tokens are patches of an image.
// A useful breakpoint: heed::add_block (in softmax_in_blocks.hpp). Print row.m and row.l.

#include "cache.hpp"
#include "costs.hpp"
#include "recall.hpp"
#include "softmax_in_blocks.hpp"
#include "window.hpp"

using namespace heed;
const std::string lesson = "23_what_attention_costs";

void online_softmax() {
  section("Softmax one block of keys at a time");
  say("n queries and n keys have n^2 scores. The plain operations of lesson 04 store",
      "them all, in matrices (n, n). ONLINE SOFTMAX needs only a block of scores at a",
      "time. For each query it keeps three things: the row maximum m, the row sum l of",
      "exp(score - m), and o, the sum of exp(score - m) v. If a block has a larger",
      "maximum m', l and o are first multiplied by exp(m - m'). After the last block",
      "the output is o / l. Here is query 0 of 12 tokens, with blocks of 3 keys:");
  Generator g(22);
  const Array Q = g.randn({12, 4}), K = g.randn({12, 4}), V = g.randn({12, 2});
  show("query 0", online_steps(Q, K, V, 3), {"block 0", "block 1", "block 2", "block 3"},
       {"max of block", "m", "l", "o / l: 0", "o / l: 1"});
  const Tensor q(Q), k(K), v(V);
  const Array online = online_attention(Q, K, V, 3);
  say("");
  check("online softmax by hand = softmax(Q K^T / sqrt(D)) V", online,
        matmul(softmax(matmul(q, transpose(k, 0, 1)) / std::sqrt(4.0), -1), v));
  check("online softmax by hand = fused attention", online, scaled_dot_product_attention(q, k, v));
  check("blocks of 1 key = blocks of 5 keys", online_attention(Q, K, V, 1),
        online_attention(Q, K, V, 5));
  say("", "So this is no approximation. FLASHATTENTION works in this way on a GPU, with",
      "blocks that fit into its fast memory. The FUSED ATTENTION of heed is simpler: it",
      "reads at most 64 queries at a time, with all of their keys. So it stores at most",
      "(64, n) scores, never (n, n).");
}

void one_token_at_a_time() {
  section("One new token: the KV cache");
  say("A model that generates text gets one new token at a time. The keys and values of",
      "the earlier tokens stay the same, so a KV cache stores them (lesson 15). The new",
      "token then needs one query, one key and one value. Without a cache, the model",
      "computes all tokens again for each new one. Multiplications of 64 steps of a",
      "head with C = D = 16, projections included:", "");
  Generator g(7);
  const Array X = g.randn({64, 16});
  const HeadWeights w{g.randn({16, 16}) / 4, g.randn({16, 16}) / 4, g.randn({16, 16}) / 4};
  const Steps cached = with_cache(X, w), recomputed = without_cache(X, w);
  say("without a cache   " + grouped(recomputed.multiplications),
      "with a cache        " + grouped(cached.multiplications), "");
  const Tensor q = matmul(Tensor(X), Tensor(w.W_Q)), k = matmul(Tensor(X), Tensor(w.W_K)),
               v = matmul(Tensor(X), Tensor(w.W_V));
  check("64 steps by hand: with = without a cache", cached.outputs, recomputed.outputs);
  check("64 steps by hand = causal attention of all 64 queries at once", cached.outputs,
        scaled_dot_product_attention(q, k, v, causal()));
  check("the last step = attention of one query, with past = 63",
        xt::view(cached.outputs, xt::range(63, 64)),
        scaled_dot_product_attention(slice(q, 0, 63), k, v, causal(63)));
}

void sliding_window() {
  section("A sliding window");
  const std::size_t n = 24, window = 4, layers = 3;
  Generator g(8);
  const Tensor q(g.randn({n, 4})), k(g.randn({n, 4})), v(g.randn({n, 4}));
  AttentionOptions by_hand;
  by_hand.mask = window_by_hand(n, window);
  say("In a SLIDING WINDOW (Mistral 7B, Jiang et al. 2023; Longformer's is on both",
      "sides of the query) a query attends to the last w keys only, its own included.",
      "About n w pairs remain, not n^2 / 2. For n = 24 and w = 4: " +
          std::to_string(number_of_pairs(*by_hand.mask)) + " in place of " +
          std::to_string(number_of_pairs(window_by_hand(n, n))) + ".",
      "");
  check("mask by hand = option `window`", scaled_dot_product_attention(q, k, v, by_hand),
        scaled_dot_product_attention(q, k, v, causal(0, window)));
  const std::string field = receptive_field(n, layers, window, g);
  say("", "Each layer reaches w - 1 positions further back. So the output of L layers",
      "depends on the last L (w - 1) + 1 inputs: its RECEPTIVE FIELD. With L = 3, #",
      "marks the inputs for which the gradient of the last output is not exactly 0:", "", field,
      "");
  claim("the gradient is 0 except at the last L (w - 1) + 1 = 10 inputs",
        field == std::string(n - 10, '.') + std::string(10, '#'), field);
}

void linear_attention_is_a_recurrence() {
  section("Linear attention");
  say("The softmax weights are proportional to exp(q . k / sqrt(D)). LINEAR ATTENTION",
      "uses phi(q) . phi(k) instead. The FEATURE MAP phi has positive elements, here",
      "phi(x) = elu(x) + 1: x + 1 if x > 0, else exp(x). This does not approximate",
      "softmax. A query needs only two sums over all earlier tokens, of fixed size:",
      "  S = sum of phi(k) v^T  (D, D_v)     z = sum of phi(k)  (D)",
      "The output is phi(q)^T S / (phi(q) . z). So this attention is a recurrent neural",
      "network (lesson 21) with the hidden state S, z.", "");
  Generator g(9);
  const Array Q = g.randn({200, 8}), K = g.randn({200, 8}), X = g.randn({200, 8});
  const Tensor q(Q), k(K), v(X);
  LinearState state(8, 8);
  check("recurrence by hand, 200 tokens = causal matrix of weights times V",
        linear_by_hand(Q, K, X, state), matmul(linear_weights(q, k, /*causal=*/true), v));
  check("without a mask: phi(Q) (phi(K)^T V) = matrix of weights times V",
        linear_attention(q, k, v), matmul(linear_weights(q, k, /*causal=*/false), v));
  say("", "numbers after 200 tokens   state " + std::to_string(state.S.size() + state.z.size()) +
              "   KV cache " + grouped(double(K.size() + X.size())));
}

void costs_against_length() {
  section("Time and memory against the length");
  say("For large n the costs are about a constant times n^slope. We fit the slopes to",
      "the logarithms by least squares; R^2 is 1 for a perfect fit. Width 64, one",
      "thread. All kinds are causal except linear attention. The last row is one new",
      "token with n keys in the cache. Bytes (1 kB = 1024) are those of all arrays at",
      "the peak, q, k and v included. The last three columns are at the largest n:", "");
  const std::vector<Costs> all = measured_costs();
  quote(table_of(all));
  draw_costs(lesson, all);
  say("");
  const double plain = byte_slope(all[0]), fused = byte_slope(all[1]), cached = byte_slope(all[4]);
  claim("bytes: slope 1.8 to 2 for plain attention", plain > 1.8 && plain < 2, decimal(plain, 4));
  claim("bytes: slope 0.95 to 1.05 for fused attention and for the cache",
        std::abs(fused - 1) < 0.05 && std::abs(cached - 1) < 0.05,
        decimal(fused, 4) + " and " + decimal(cached, 4));
  say("", "Fused attention allocates less memory, and reads and writes memory less often.",
      "But its multiplications still grow with n^2. With a cache the cost of one token",
      "is proportional to n, so that of n tokens to n^2. With a window or a fixed state",
      "the cost of one token does not depend on n.");
}

void what_a_fixed_state_forgets() {
  section("What a fixed state forgets");
  say("ASSOCIATIVE RECALL: a sequence has n pairs of a key token and a value token. For",
      "each key token the model predicts its value token. The optimum is accuracy 1 and",
      "loss 0; guessing one of the n value tokens has accuracy 1/n. We train one layer",
      "of softmax or linear attention, without a mask, with equally many parameters and",
      "D = 8. A pair is one position here: its attention key comes from the key token,",
      "its attention value from the value token. (A transformer first joins the two",
      "tokens, as in lesson 16.)", "",
      "Linear attention has a bound. Row i of its weights A (n, n) is the query of key",
      "token i, column j the key of pair j, so the right keys are on the diagonal. A is",
      "phi(Q) phi(K)^T with each row divided by its sum. So its rank is at most D, and",
      "at most D of its eigenvalues c (A x = c x for some x, not 0) are not 0. Its",
      "elements are positive, its rows sum to 1, so |c| <= 1. The sum of the diagonal",
      "is the sum of the eigenvalues, at most D. So the mean weight on the right key is",
      "at most D / n, for any positive phi (with D elements) and any training.", "",
      "Means of three seeds +- standard error. For each kind the learning rate is the",
      "best of five on another seed:", "");
  const std::vector<std::size_t> lengths = {2, 4, 8, 16, 32};
  const RecallRuns soft = train_recall(Kind::softmax, lengths),
                   linear = train_recall(Kind::linear, lengths);
  quote(table_of(soft, linear));
  loss_curves("training loss (nats per question)", {soft.losses, linear.losses});
  picture(lesson, "recall", {soft.curve("softmax"), linear.curve("linear"), guessing(lengths)},
          {"associative recall with D = 8", "log2 of the number of pairs n", "accuracy"});
  draw_weights(lesson, soft.longest[0], linear.longest[0], lengths.back());
  say("");
  claim("softmax attention: accuracy above 0.97 for each n, all seeds",
        lowest_accuracy(soft) > 0.97, decimal(lowest_accuracy(soft), 4));
  const double last = linear.largest(&RecallScore::accuracy, 4),
               weight = soft.smallest(&RecallScore::weight, 4);
  claim("linear attention: accuracy below 0.3 for n = 32, all seeds", last < 0.3, decimal(last, 4));
  claim("linear attention: mean weight on the right key at most D / n",
        largest_over_bound(linear) < 1.0001, decimal(largest_over_bound(linear), 4));
  claim("softmax attention, n = 32: mean weight above 3 D / n, all seeds",
        weight > 3 * weight_bound(32), decimal(weight, 4));
  say("", "In the picture of the weights, linear attention puts the keys into about D",
      "groups and gives the keys of a group nearly equal weights. (The bound is on",
      "weights, not on accuracy: a later layer may find the right value among several.)",
      "A larger D helps, but any state of fixed size is too small for some n. Recurrent",
      "networks and Mamba (Gu and Dao 2023) have the same limit, and in return a",
      "constant cost per token. Arora et al. attribute 82 % of the gap in perplexity",
      "between language models with gated convolutions and with attention to recall.");
}

int main() {
  set_num_threads(1);  // the times below are those of one thread
  opening({"to measure what attention costs, and what its cheaper kinds give up",
           "online softmax, for a block with scores s (b) and values V (b, D_v):\n"
           "m' = max(m, max s), l' = exp(m - m') l + sum_j exp(s_j - m')\n"
           "o' = exp(m - m') o + sum_j exp(s_j - m') V_j   output o / l (D_v)\n"
           "linear attention: phi(q)^T S / (phi(q) . z)   S (D, D_v), z (D)",
           "Milakov and Gimelshein, \"Online normalizer calculation for softmax\",\n"
           "section 3 (2018); Dao et al., \"FlashAttention: Fast and\n"
           "Memory-Efficient Exact Attention with IO-Awareness\", section 3.1\n"
           "(2022); Beltagy et al., \"Longformer: The Long-Document Transformer\",\n"
           "section 3.1 (2020); Katharopoulos et al., \"Transformers are RNNs:\n"
           "Fast Autoregressive Transformers with Linear Attention\", section 3\n"
           "(2020); Arora et al., \"Zoology: Measuring and Improving Recall in\n"
           "Efficient Language Models\" (2023)",
           "F.scaled_dot_product_attention, with fused kernels (FlashAttention)"});
  online_softmax();
  one_token_at_a_time();
  sliding_window();
  linear_attention_is_a_recurrence();
  costs_against_length();
  what_a_fixed_state_forgets();
  say("", "Longer tokens make a text shorter: 24_bytes_to_tokens.");
  questions(
      "In measured_costs (costs.hpp), begin with n = 8 in place of 256. What are\n"
      "the slopes of the time now?",
      "In recall.hpp, set D = 32. What happens to accuracy and weights?",
      "In linear_attention.hpp, let phi return exp(x). Is the recall better?");
}
