// 11 multi_head: several heads ask several things at once, at the price of one.
//
// Before this lesson: 10_attention_head, a head that finds the word before, and nothing else.
// After it: 12_positions, how a token knows its place.
// Worth a breakpoint: two_answers, the forward pass. Print heard: one row for each place.

#include <cmath>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/error.hpp"
#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/embedding.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/optim/adamw.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"one", "dog", "ran"};
const Names places = {"0", "1", "2", "3", "4", "5", "6", "7"};
constexpr std::size_t T = 8, V = 8, D = 16, C = 32;  // places, words, a word's numbers, all numbers

// What each row of Q hears, on the columns first to first + size - 1 alone: (N, size).
Array heard_by_hand(const Array& Q, const Array& K, const Array& values, std::size_t first,
                    std::size_t size) {
  Array heard = zeros({Q.shape(0), size});
  for (std::size_t t = 0; t < Q.shape(0); ++t) {
    Array e = zeros({K.shape(0)});  // exp(score)
    for (std::size_t s = 0; s < K.shape(0); ++s) {
      Real score = 0;
      for (std::size_t d = first; d < first + size; ++d) score += Q(t, d) * K(s, d);
      e(s) = std::exp(score / std::sqrt(Real(size)));
    }
    const Real total = xt::sum(e)();
    for (std::size_t s = 0; s < K.shape(0); ++s)
      for (std::size_t d = 0; d < size; ++d) heard(t, d) += e(s) / total * values(s, first + d);
  }
  return heard;
}

// What `make` says when it refuses.
template <class Make>
void refused(const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    say("", "  heed: error: " + std::string(error.what()));
  }
}

struct Batch {
  Tensor x;                  // (B, T, C): a word's 16 numbers, 8 for the place, 8 zeros to spare
  Tensor vectors;            // (V, D): the words of this batch, random, of length one
  Indices before, before_2;  // (B, T): the word before, and the one before that
};

Batch new_batch(Generator& g, std::size_t B) {
  Array random = g.randn({V, D}), squares = xt::square(random);
  Array lengths = xt::sqrt(xt::sum(squares, {1})), vectors = random;
  for (std::size_t v = 0; v < V; ++v) xt::view(vectors, v) /= lengths(v);
  const Indices spoken = g.randint(0, V, {B, T});
  Batch batch{{}, Tensor(vectors), spoken, spoken};
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t) {  // -100: nothing is asked of places 0 and 1
      batch.before(b, t) = t < 2 ? -100 : spoken(b, t - 1);
      batch.before_2(b, t) = t < 2 ? -100 : spoken(b, t - 2);
    }
  Array place_and_spare = xt::eye<Real>({T, C - D});  // (8, 16): a 1 at the place
  const Tensor rest = expand(Tensor(place_and_spare), {B, T, C - D});
  batch.x = concat({embedding(spoken, batch.vectors), rest}, -1);
  return batch;
}

nn::AttentionMask causal() {
  nn::AttentionMask visible;
  visible.causal = true;
  return visible;
}

struct Answers {
  Tensor before, before_2;  // the surprise of each
};

Answers two_answers(const nn::MultiHeadAttention& heads, const Batch& batch) {
  const Tensor heard = heads(batch.x, causal());                // (B, T, C)
  const Tensor to_words = transpose(batch.vectors, 0, 1);       // (D, V)
  const Tensor one = matmul(slice(heard, -1, 0, D), to_words);  // (B, T, V)
  const Tensor two = matmul(slice(heard, -1, D), to_words);
  return {cross_entropy(one, batch.before), cross_entropy(two, batch.before_2)};
}

struct Trained {
  Answers answers;  // on sentences kept for testing
  Array shares;     // (H, T, T), their mean
  Series losses;

  double loss() const { return (answers.before.item() + answers.before_2.item()) / 2; }
};

// A model of that many heads, trained.
Trained train(std::size_t num_heads, const Batch& test) {
  Generator g(11);
  Parameters parameters;
  const nn::MultiHeadAttention heads({parameters, g}, C, num_heads, /*with_bias=*/false);
  optim::AdamWOptions options;
  options.lr = 0.02;
  options.weight_decay = 0;
  optim::AdamW optimizer(parameters.tensors(), options);
  Series losses{std::to_string(num_heads) + (num_heads == 1 ? " head" : " heads"), {}, {}};
  for (int step = 0; step < 1000; ++step) {
    const Answers answers = two_answers(heads, new_batch(g, 16));
    const Tensor loss = (answers.before + answers.before_2) / 2;
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.step();
    losses.append(step, loss.item());
  }
  const NoGrad nothing_more_to_learn;
  const Array shares = mean(heads.weights(test.x, test.x, causal()), {0}).value();
  return {two_answers(heads, test), shares, losses};
}

// Of one head, the places that are asked, what is hidden as minus infinity: (T - 2, T).
Array seen(const Array& shares, std::size_t head) {
  const Array all = xt::where(causal_mask(T), -INFINITY, xt::view(shares, head));
  return xt::view(all, xt::range(2, T));
}

// The share that goes that many places back, on average over the places that are asked.
Real share_of(const Array& shares, std::size_t head, std::size_t back) {
  Real sum = 0;
  for (std::size_t t = 2; t < T; ++t) sum += shares(head, t, t - back);
  return sum / Real(T - 2);
}

int main() {
  set_num_threads(1);  // what follows is so small that a second thread would only be in the way
  section("Four heads, one after the other");
  say("A head asks one thing. So take several, each with matrices of its own, lay what",
      "they hear side by side, and let one more Linear mix it (Vaswani et al. 2017).",
      "The notebook goes on: three tokens of 32 numbers, and four heads of 8.");
  Generator notebook(89);
  notebook.randn({1, 3, 5});  // lesson 06's x
  for (int n = 0; n < 3; ++n)
    nn::init::linear_weight(notebook, 5, 16);  // its queries, keys, values
  notebook.randn({1, 3, 32});                  // lesson 10's x, and its head
  for (int n = 0; n < 3; ++n) nn::init::linear_weight(notebook, 32, 8);
  const Tensor x(notebook.randn({1, 3, 32}));
  Parameters loose;
  const Scope scope(loose, notebook);
  std::vector<nn::AttentionHead> heads;
  for (std::size_t h = 0; h < 4; ++h) heads.emplace_back(scope / h, 32, 8);
  const nn::Linear mix(scope / "out", 32, 32);
  std::vector<Tensor> heard;
  for (const nn::AttentionHead& head : heads) heard.push_back(head(x));  // (1, 3, 8) each
  const Tensor side_by_side = concat(heard, -1), out = mix(side_by_side);
  say("", "x             " + str(x.shape()), "each head     " + str(heard[0].shape()),
      "side by side  " + str(side_by_side.shape()), "out           " + str(out.shape()));
  show("the first eight of each token's 32 numbers", slice(out, -1, 0, 8), words);

  section("The same, packed");
  say("Put the heads' matrices below each other: four of (8, 32) are one of (32, 32).",
      "Then one product makes the queries of all heads. Head 0 works on their numbers 0",
      "to 7, head 1 on 8 to 15, and so on. This is nn::MultiHeadAttention, the part",
      "that models use. (It has biases for queries, keys and values, too: zeros here.)");
  const auto stacked = [&](nn::Linear nn::AttentionHead::*layer) {
    std::vector<Tensor> parts;
    for (const nn::AttentionHead& head : heads) parts.push_back((head.*layer).weight);
    return concat(parts, 0).value();  // (32, 32)
  };
  Parameters together;
  nn::MultiHeadAttention packed({together, notebook}, 32, 4);
  packed.query.weight.mutable_value() = stacked(&nn::AttentionHead::query);
  packed.key.weight.mutable_value() = stacked(&nn::AttentionHead::key);
  packed.value.weight.mutable_value() = stacked(&nn::AttentionHead::value);
  for (Tensor bias : {packed.query.bias, packed.key.bias, packed.value.bias})
    bias.mutable_value() = zeros({32});
  packed.out.weight.mutable_value() = mix.weight.value();
  packed.out.bias.mutable_value() = mix.bias.value();
  const Array Q = select(packed.query(x), 0, 0).value(), K = select(packed.key(x), 0, 0).value();
  const Array values = select(packed.value(x), 0, 0).value();  // (3, 32)
  for (std::size_t h = 0; h < 4; ++h)
    check("head " + std::to_string(h) + ", by hand from the packed = from the loop",
          heard_by_hand(Q, K, values, 8 * h, 8), select(heard[h], 0, 0));
  check("out of the loop = out of the packed", out, packed(x));

  section("Heads add up");
  say("The last Linear has 32 columns, and head h only ever meets its own eight, 8 h to",
      "8 h + 7. So each head writes on its own, and what they write adds up:");
  Tensor sum_of_heads = mix.bias;
  for (std::size_t h = 0; h < 4; ++h) {
    const auto first = std::int64_t(8 * h);
    const Tensor columns = slice(mix.weight, 1, first, first + 8);  // (32, 8)
    sum_of_heads = sum_of_heads + linear(heard[h], columns);        // (1, 3, 32)
  }
  check("bias + what each head writes = out", sum_of_heads, out);

  section("Two mistakes");
  say("Heads share the width between them. Five heads and 32 numbers? That is refused:");
  Parameters others;
  refused([&] { nn::MultiHeadAttention({others, notebook}, 32, 5); });
  say("", "The other mistake is to forget the sharing: each head is given the whole width",
      "as its head_size. Four times 32 are 128 numbers side by side. The last Linear",
      "notices, for it was made for 32:");
  std::vector<Tensor> too_wide;
  for (std::size_t h = 0; h < 4; ++h)
    too_wide.push_back(
        nn::AttentionHead({others, notebook, "wide." + std::to_string(h)}, 32, 32)(x));
  refused([&] { mix(concat(too_wide, -1)); });
  const nn::Linear wide_mix({others, notebook, "wide.out"}, 128, 32);
  say("", "Who then makes the Linear wider gets (1, 3, 32) out and no error at all. That it",
      "is not what was meant shows only in how many numbers there are to learn:", "",
      "four heads of 8    " + pad_left(grouped(double(loose.count())), 7) + "   out " +
          str(out.shape()),
      "four heads of 32   " + pad_left(grouped(double(others.count())), 7) + "   out " +
          str(wide_mix(concat(too_wide, -1)).shape()));

  section("Two questions");
  const double guess = std::log(8.0), unordered = std::log(2.0) * 7 / 8;
  say("Lesson 10 ended with a token that needs two words. So let each say the word",
      "before it and the one before that. Its 32 numbers are 16 of the word, 8 of the",
      "place, and 8 zeros to spare. Of what comes out, 16 numbers are scored against",
      "the words for the first answer, the other 16 for the second. All words are new",
      "in every step, again. Only places with two words before them are asked, and",
      "these can know both: the floor is 0.", "",
      "Take one head of 32 numbers. It can give a half to each of the two words. Then",
      "it hears half of a and half of b, which is half of b and half of a: it knows the",
      "words, but not their order. Two orders, equally likely, are a surprise of ln 2.",
      "One time in eight both words are the same, so the mean is 7/8 ln 2 = " +
          decimal(unordered, 4) + ".",
      "", "Two heads of 16 can listen to one word each. And they cost the same: W_Q, W_K,",
      "W_V and the last W are (32, 32), however many heads share them. Here are three",
      "models of " + grouped(4 * C * C) + " numbers, each trained by a thousand steps of AdamW:");
  Generator g(1);
  const Batch test = new_batch(g, 64);
  const Trained one = train(1, test), two = train(2, test), four = train(4, test);
  say("", "heads  the word before  the one before that    loss");
  for (const auto& [name, model] :
       {std::pair("1", &one), std::pair("2", &two), std::pair("4", &four)})
    say(pad_left(name, 5) + pad_left(trained(model->answers.before.item(), 2), 17) +
        pad_left(trained(model->answers.before_2.item(), 2), 21) +
        pad_left(trained(model->loss(), 2), 8));
  CurveOptions curve;
  curve.title = "Two questions at once", curve.y_title = "surprise (nats an answer)";
  curve.lines = {{"guessing, ln 8", guess}, {"order unknown, 7/8 ln 2", unordered}};
  picture("11_multi_head", "loss", {one.losses, two.losses, four.losses}, curve);
  say("");
  claim("one head is left with more than 0.4", one.loss() > 0.4, decimal(one.loss(), 4));
  claim("two heads with less than 0.02", two.loss() < 0.02, decimal(two.loss(), 4));
  claim("four with less than 0.02", four.loss() < 0.02, decimal(four.loss(), 4));

  say("", "The one head leans to one of the two words, and pays for it with the other. (It",
      "could give 51 to 49, and be so loud that this decides one answer. The other",
      "still costs 7/8 ln 2, so the mean is above " + decimal(unordered / 2, 3) +
          ". Training does not get there.)");

  section("Side by side");
  say("Who listens to whom, on average over 64 sentences: the one head, then the two.",
      "The rows begin with place 2, the first that is asked.");
  const Names asked(places.begin() + 2, places.end());
  HeatmapOptions shades{"one head", asked, places, "asks", "answers"};
  shades.low = 0, shades.high = 1;
  picture_trained("11_multi_head", "one", seen(one.shares, 0), shades);
  shades.title = "two heads", shades.column_title = "answers: to head 0, then to head 1",
  shades.column_names.insert(shades.column_names.end(), places.begin(), places.end());
  const Array both = xt::hstack(xt::xtuple(seen(two.shares, 0), seen(two.shares, 1)));  // (6, 16)
  picture_trained("11_multi_head", "two", both, shades);
  Array to = zeros({3, 2});
  for (std::size_t back : {1u, 2u}) {
    to(0, back - 1) = share_of(one.shares, 0, back);
    for (std::size_t h = 0; h < 2; ++h) to(1 + h, back - 1) = share_of(two.shares, h, back);
  }
  show_trained("share, on average, of the word", to, {"one head", "of two: 0", "of two: 1"},
               {"before", "before that"});
  const Real right = std::max(std::min(to(1, 0), to(2, 1)), std::min(to(2, 0), to(1, 1)));
  say("");
  claim("each of the two heads gives a word of its own more than 0.9", right > 0.9,
        decimal(right, 4));
  say("", "Nobody told them who is to take which word. Heads start with different random",
      "numbers, and each goes where it helps most.", "",
      "One thing was always given: the eight numbers that say where a token stands.",
      "What would a head do without? And must they be one-hot? Go on: 12_positions.", "",
      "To see a step from the inside, start gdb with ./heed debug 11, and in it: break",
      "two_answers, continue, next twice, print heard.");
}
