// 10 attention_head: attention as a part, trained to find the word before, as well as can be done.
//
// Before this lesson: 09_backward_through_attention, which trained three loose matrices.
// After it: 11_multi_head, several heads, for one can ask only one thing.
// Worth a breakpoint: fits, the forward pass of the model. Go on with `next`, and print heard.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/optim/adamw.hpp"
#include "lesson.hpp"

using namespace heed;

const Real infinity = std::numeric_limits<Real>::infinity();
const Names words = {"the", "cat", "sat"};
const Names places = {"0", "1", "2", "3", "4", "5", "6", "7"};
constexpr std::size_t T = 8, V = 8, D = 16;  // places, words, numbers of a word's vector

// Causal attention, a token at a time: tokens (N, C), matrices (C, d), result (N, d).
Array heard_by_hand(const Array& tokens, const Array& W_Q, const Array& W_K, const Array& W_V) {
  Array Q = xt::linalg::dot(tokens, W_Q), K = xt::linalg::dot(tokens, W_K);
  Array values = xt::linalg::dot(tokens, W_V), heard = zeros(shape_of(values));
  for (std::size_t t = 0; t < Q.shape(0); ++t) {
    std::vector<Real> e(t + 1);  // exp(score); divided by their total they are the shares
    Real total = 0;
    for (std::size_t s = 0; s <= t; ++s) {
      Array products = xt::view(Q, t) * xt::view(K, s);
      e[s] = std::exp(xt::sum(products)() / std::sqrt(Real(Q.shape(1))));
      total += e[s];
    }
    for (std::size_t s = 0; s <= t; ++s) xt::view(heard, t) += e[s] / total * xt::view(values, s);
  }
  return heard;
}

struct Batch {
  Tensor x;        // (B, T, D + T): a word's vector, then the place, one-hot
  Tensor vectors;  // (V, D): the words of this batch
  Indices before;  // (B, T): which of them stands before
};

// V words that nobody has seen: random vectors, brought to length one.
Array new_words(Generator& g) {
  Array vectors = g.randn({V, D}), squares = xt::square(vectors);
  Array lengths = xt::sqrt(xt::sum(squares, {1}));
  return vectors / xt::view(lengths, xt::all(), xt::newaxis());
}

Batch new_batch(Generator& g, std::size_t B) {
  const Tensor vectors(new_words(g));
  Indices spoken = g.randint(0, V, {B, T + 1});  // one word more than is seen
  Indices seen = xt::view(spoken, xt::all(), xt::range(1, T + 1));
  Indices before = xt::view(spoken, xt::all(), xt::range(0, T));
  Array one_hot = xt::eye<Real>(T);
  const Tensor place = expand(Tensor(one_hot), {B, T, T});
  return {concat({embedding(seen, vectors), place}, -1), vectors, before};
}

// Only the places before one's own may be seen.
nn::AttentionMask earlier() {
  nn::AttentionMask visible;
  visible.mask = Mask(xt::transpose(causal_mask(T)));  // (T, T): true where s is before t
  return visible;
}

// How well each word fits what is heard: (B, T, V).
Tensor fits(const nn::AttentionHead& head, const Batch& batch) {
  const Tensor heard = head(batch.x, earlier());  // (B, T, D)
  return matmul(heard, transpose(batch.vectors, 0, 1));
}

// The loss: the mean of -ln share of the right word.
Tensor surprise(const nn::AttentionHead& head, const Batch& batch) {
  return cross_entropy(fits(head, batch), batch.before);
}

// Who listens to whom, as a mean over all sentences: (T, T). What is hidden is minus infinity.
Array mean_shares(const nn::AttentionHead& head, const Batch& batch) {
  const Array shares = mean(head.weights(batch.x, earlier()), {0}).value();
  return xt::where(*earlier().mask, shares, -infinity);
}

// The share that goes to the place before, where it is smallest.
double share_before(const Array& shares) {
  Real least = 1;
  for (std::size_t t = 1; t < T; ++t) least = std::min(least, shares(t, t - 1));
  return least;
}

Real largest(const Array& x) { return xt::amax(x)(); }

int main() {
  set_num_threads(1);  // what follows is so small that a second thread would only be in the way
  section("Attention as a part");
  say("Lesson 09 left three matrices that had learned three words by heart. To learn",
      "more, attention becomes a part that can be built in anywhere: nn::AttentionHead.",
      "It is made of three Linear layers, whose matrices are drawn as it is made. All",
      "that can learn goes into one list, under a name. Five numbers in, four out:");
  Generator g(42);
  const Array tokens = g.randn({3, 5});
  const Array W_K = g.randn({5, 4}), W_Q = g.randn({5, 4}), W_V = g.randn({5, 4});
  Parameters list;
  nn::AttentionHead head({list, g}, 5, 4);
  say("");
  for (const Tensor& parameter : list)
    say("  " + pad_right(parameter.name(), 14) + str(parameter.shape()));
  say("", "A Linear keeps its matrix turned, (out, in), as PyTorch does. So lesson 05's",
      "matrices go in turned. And a part takes a batch: several sentences, one behind",
      "the other. Ours has one, (1, 3, 5).");
  head.query.weight.mutable_value() = xt::transpose(W_Q);
  head.key.weight.mutable_value() = xt::transpose(W_K);
  head.value.weight.mutable_value() = xt::transpose(W_V);
  nn::AttentionMask causal;
  causal.causal = true;
  const Tensor batch = unsqueeze(Tensor(tokens), 0);  // (1, 3, 5)
  const Tensor R = head(batch, causal);               // (1, 3, 4)
  show("weights", head.weights(batch, causal), words, words);
  show("R", R, words);
  const Array by_hand = heard_by_hand(tokens, W_Q, W_K, W_V);
  check("lesson 05's R, by hand = out of the part", by_hand, select(R, 0, 0));
  const Array others = g.randn({3, 5});
  const Tensor two = head(stack({Tensor(tokens), Tensor(others)}, 0), causal);  // (2, 3, 4)
  check("in a batch of two, the first sentence hears the same", by_hand, select(two, 0, 0));
  check("and the second only itself", heard_by_hand(others, W_Q, W_K, W_V), select(two, 0, 1));

  section("The notebook's head");
  say("The notebook of lesson 06 goes on drawing: a matrix for the values, a new batch",
      "of one sentence, and a head that makes 8 numbers of its 32. No mask.");
  Generator notebook(89);
  notebook.randn({1, 3, 5});  // lesson 06's x
  for (int n = 0; n < 3; ++n)
    nn::init::linear_weight(notebook, 5, 16);  // for queries, keys, values
  const Tensor x(notebook.randn({1, 3, 32}));
  Parameters theirs;
  const nn::AttentionHead small({theirs, notebook}, 32, 8);
  const Tensor out = small(x);
  say("", "x (1, 3, 32)");
  show("head(x)", out, {"one", "dog", "ran"});

  section("A rule to learn");
  say("Now the question of lesson 09: a rule that holds for words never seen before. It",
      "shall be: say the word before yours. A sentence has eight places, and each of",
      "its words is one of eight, drawn at random. A word is a vector of 16 random",
      "numbers, of length one. And every batch gets eight new words! What is learned by",
      "heart is worth nothing in the next step.", "",
      "A token has to know its place, too (why: lesson 12). So eight numbers more, all",
      "0 but a 1 at its place. What the head hears, 16 numbers, is scored against each",
      "of the eight words as in lesson 02, by dot products. Softmax makes them shares.",
      "The loss is the surprise, in nats: -ln of the share that the right word gets, on",
      "average. (The natural logarithm, ln, counts in nats, as the one of base 2 counts",
      "in bits.) A token may see the places before its own, but not itself. A small", "batch:");
  const Batch tiny = new_batch(g, 2);
  Parameters parameters;
  const nn::AttentionHead copier({parameters, g}, D + T, D);  // (B, 8, 24) -> (B, 8, 16)
  const Array scores = fits(copier, tiny).value();            // (2, 8, 8)
  Real sum_of_surprise = 0;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t t = 0; t < T; ++t) {
      Array e = xt::exp(xt::view(scores, b, t));
      sum_of_surprise -= std::log(e(std::size_t(tiny.before(b, t))) / xt::sum(e)());
    }
  say("", "x " + str(tiny.x.shape()) + ", scores " + str(scores.shape()));
  check("surprise by hand = in one line", scalar(sum_of_surprise / 16), surprise(copier, tiny));

  section("How low can the loss go?");
  const double guess = std::log(8.0), floor = guess / 8;
  say("Place 0 sees nobody. The word before it was spoken, but outside of the sentence.",
      "heed lets it hear zeros. So all scores are 0, each word gets 1/8, and the",
      "surprise is ln 8 = " + decimal(guess, 4) +
          ". Nobody does better: all eight are equally likely, so",
      "to give one more than 1/8 costs more in the other cases than it saves in this.");
  const Array first = xt::view(scores, xt::all(), 0);
  check("the scores at place 0 = zeros", first, zeros({2, V}), 0);
  say("", "The seven other places can know. At best their surprise is 0, on average",
      "(ln 8 + 7 times 0) / 8 = " + decimal(floor, 4) +
          ". This is the floor. Can a head get there? Let us",
      "set one: place t asks for place t - 1, places offer themselves, and words are",
      "handed over as they are. All of it times a loudness:", "", "loudness    loss");
  const Batch test = new_batch(g, 64);
  for (double loudness : {0, 3, 10, 30, 100}) {
    Parameters set;
    nn::AttentionHead by_rule({set, g}, D + T, D);
    Array asks = zeros({D, D + T}), offers = asks, hands = asks;
    for (std::size_t t = 0; t < T; ++t) offers(t, D + t) = 1;
    for (std::size_t t = 1; t < T; ++t) asks(t - 1, D + t) = Real(loudness * 4);  // 4: root of D
    for (std::size_t d = 0; d < D; ++d) hands(d, d) = Real(loudness);
    by_rule.query.weight.mutable_value() = asks;
    by_rule.key.weight.mutable_value() = offers;
    by_rule.value.weight.mutable_value() = hands;
    say(pad_left(decimal(loudness, 0), 8) +
        pad_left(decimal(surprise(by_rule, test).item(), 4), 8));
  }
  say("", "Silent, it guesses: ln 8. The louder, the nearer it comes to the floor, at 30 to",
      "four decimals. It never gets there, for softmax never gives all to one, but as",
      "near as you like.");

  section("Training");
  say("Now without being told. Each step: new words, the loss, the gradients, and a",
      "step downhill. Lesson 09 took a hundredth of each gradient. Adam (Kingma and Ba",
      "2015) gives each number a step of about the same size, here 0.05, or less where",
      "its gradients disagree; 0.05 is the learning rate. (heed has it as AdamW, by",
      "Loshchilov and Hutter 2019, with a weight decay, 0 here.) Below: the loss on 64",
      "sentences, kept for testing, of words that no step has seen; and of the shares",
      "that go to the place before, the smallest. (~ marks what training led to:",
      "elsewhere it may differ a little, and what stands behind a bar by more.)");
  optim::AdamWOptions options;
  options.lr = 0.05;
  options.weight_decay = 0;  // nothing pulls the matrices back to zero
  optim::AdamW optimizer(parameters.tensors(), options);
  std::map<int, Array> shares;  // by step: who listens to whom
  Series losses{"new words in every step", {}, {}};
  say("", "step   loss   share");
  for (int step = 0; step <= 2000; ++step) {
    if (step <= 20 ? step % 5 == 0 : step == 100 || step == 500 || step == 2000) {
      shares[step] = mean_shares(copier, test);
      say(pad_left(std::to_string(step), 4) + "  " + trained(surprise(copier, test).item()) + "  " +
          trained(share_before(shares[step])));
    }
    const Tensor loss = surprise(copier, new_batch(g, 16));
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.step();
    losses.append(step, loss.item());
  }
  CurveOptions curve;
  curve.title = "Saying the word before", curve.y_title = "surprise (nats a place)";
  curve.lines = {{"guessing, ln 8", guess}, {"the floor, ln 8 / 8", floor}};
  picture("10_attention_head", "loss", {losses}, curve);
  const double rest = surprise(copier, test).item() - floor;
  say("", "left above the floor  " + trained(rest, 3));
  claim("the loss is at most 0.01 above the floor, and not below", rest > 0 && rest <= 0.01,
        decimal(rest, 4));

  section("Where the shares went");
  say("Before the first step each place listens to all it may see. After 15 steps",
      "they prefer one. At the end they hear nobody else: a stripe beside the diagonal.");
  HeatmapOptions shades{"before training", places, places, "asks", "answers"};
  shades.low = 0, shades.high = 1;
  picture_trained("10_attention_head", "before", shares.at(0), shades);
  shades.title = "after 15 steps";
  picture_trained("10_attention_head", "halfway", shares.at(15), shades);
  shades.title = "after 2000 steps";
  picture_trained("10_attention_head", "after", shares.at(2000), shades);
  const double least = share_before(shares.at(2000));
  claim("every place gives the one before it more than 0.98", least > 0.98, decimal(least, 4));

  section("What query and key have learned");
  say("A score is x W_Q^T W_K y / 4, of who asks, x, and who answers, y. The matrix in",
      "the middle says which number of x meets which of y, and how much of that goes",
      "into the score. The first 16 rows and columns are of the word, the others of the",
      "eight places. Shades for the size, up or down:");
  const Array &W_q = copier.query.weight.value(), &W_k = copier.key.weight.value();  // (16, 24)
  const Array meet = xt::linalg::dot(xt::transpose(W_q), W_k) / 4;                   // (24, 24)
  HeatmapOptions sizes{"size of W_Q^T W_K / 4", {}, {}, "number of x", "number of y"};
  sizes.low = 0, sizes.high = 15;
  picture_trained("10_attention_head", "query_key", xt::abs(meet), sizes);
  const Array from_words = xt::abs(xt::view(meet, xt::range(0, D)));
  const Array to_words = xt::abs(xt::view(meet, xt::all(), xt::range(0, D)));
  const Real words_most = std::max(largest(from_words), largest(to_words));
  Real least_lead = infinity;
  for (std::size_t t = 2; t < T; ++t)  // places 0 and 1 have no choice, and learn none
    for (std::size_t s = 0; s + 1 < t; ++s)
      least_lead = std::min(least_lead, meet(D + t, D + t - 1) - meet(D + t, D + s));
  say("", "What the words are hardly matters, neither of who asks nor of who answers. Place",
      "t asks for place t - 1: its score leads that of any other that may be seen.");
  claim("the lead is more than 5 everywhere", least_lead > 5, decimal(least_lead, 2));
  claim("no number that meets a word is above 3", words_most < 3, decimal(words_most, 2));

  section("What value has learned");
  say("W_V has 16 rows, the numbers that are heard, and 24 columns, those of y:");
  const Array& W_v = copier.value.weight.value();  // (16, 24)
  sizes.title = "size of W_V", sizes.row_title = "number heard", sizes.column_title = "number of y";
  picture_trained("10_attention_head", "value", xt::abs(W_v), sizes);
  Array rest_of_it = xt::abs(W_v);
  Real loudness = 0;  // the mean of the diagonal
  for (std::size_t d = 0; d < D; ++d) {
    loudness += W_v(d, d) / Real(D);
    rest_of_it(d, d) = 0;
  }
  say("", "It hands over the word as it is, nothing of the place, and loud:", "",
      "mean of the diagonal        " + trained(loudness, 1),
      "largest of the rest         " + trained(largest(rest_of_it), 1));
  claim("the diagonal is more than ten times that", loudness > 10 * largest(rest_of_it),
        decimal(largest(rest_of_it), 2));
  say("", "That is the rule that was set by hand above, found by 2000 steps downhill. It",
      "is a rule, for it holds for words that no step has seen.", "",
      "Yet a head shares out one whole. What goes to the word before goes to nobody",
      "else. A token that needs two words is better served by two: 11_multi_head.", "",
      "To see what a head hears, start gdb with ./heed debug 10, and in it: break fits,",
      "continue, next twice, print heard. To stop in each step of the training: break",
      "heed::optim::AdamW::step.");
}
