// 07 causal_mask: no token may see what it is to predict, two tests and a proof that none does.
//
// Before this lesson: 06_scaling_and_saturation, in which scores got a size that can be learned.
// After it: 08_autograd, how `backward` finds the slopes that the second test asks it for.
// Worth a breakpoint: causal_weights. Go on with `next`: in row t, s never gets past t.

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "heed/autograd/backward.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "lesson.hpp"

using namespace heed;
using Layer = std::function<Tensor(const Tensor&)>;  // three tokens in, three rows out

const Names words = {"the", "cat", "sat"};
const Real infinity = std::numeric_limits<Real>::infinity();

// Softmax of each row's scores 0 to t. The later ones are not even looked at.
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

// The share that each token takes from later ones.
Array future_shares(const Tensor& weights) {
  const Array& w = weights.value();
  return Array{w(0, 1) + w(0, 2), w(1, 2), 0};
}

// (t, s): 1 if any bit of output t changes when the tokens from s on become others, in 100 ways.
Array touched(const Layer& layer, const Array& x) {
  Array result = zeros({3, 3});
  const Array before = layer(Tensor(x)).value();
  for (std::size_t i = 0; i < 300; ++i) {
    const std::size_t s = i % 3;
    Array changed = x, wild = Generator(i).normal({3, 5}, 0, std::pow(10, i % 8) / 100);
    xt::view(changed, xt::range(s, 3)) = xt::view(wild, xt::range(s, 3));
    const Array after = layer(Tensor(changed)).value();
    for (std::size_t t = 0; t < 3; ++t)
      if (std::memcmp(&before(t, 0), &after(t, 0), before.shape(1) * sizeof(Real)) != 0)
        result(t, s) = 1;
  }
  return result;
}

// (t, s): the length of all slopes of output t along token s.
Array slopes(const Layer& layer, const Array& x) {
  const Array out = layer(Tensor(x)).value();
  Array squares = zeros({3, 3});
  for (std::size_t i = 0; i < out.size(); ++i) {
    Tensor input(x, /*requires_grad=*/true);
    Array one_hot = zeros(out.shape());
    one_hot.data()[i] = 1;
    backward(layer(input), one_hot);  // the slopes of out's number i along all of x
    Array square = input.grad() * input.grad(), sums = xt::sum(square, {1});
    xt::view(squares, i / out.shape(1)) += sums;
  }
  return xt::sqrt(squares);
}

int main() {
  section("The answer in plain sight");
  say("Lesson 05 hid from each token what comes later. Here is why. A language model",
      "guesses the next token: 'cat' from 'the', 'sat' from 'the cat'. It learns all",
      "guesses of a sentence at once, so the whole sentence is there, with the answers.",
      "Who looks at them? The scaled scores of lesson 05 as shares, nothing hidden:");
  Generator random(42);
  Array T = random.randn({3, 5});
  Tensor W_K(random.randn({5, 4})), W_Q(random.randn({5, 4})), W_V(random.randn({5, 4}));
  Tensor Q = matmul(Tensor(T), W_Q), K = matmul(Tensor(T), W_K), V = matmul(Tensor(T), W_V);
  Tensor scores = matmul(Q, transpose(K, 0, 1)) / std::sqrt(4.0);  // (3, 3)
  Tensor open = softmax(scores, -1);
  show("weights, nothing hidden", open, words, words);
  show("share taken from the future", future_shares(open), {}, words);
  say("", "'the' is to guess 'cat', and takes nearly all of its new vector from 'cat'.");

  section("Skip the future");
  say("The softmax of row t may go over the scores 0 to t only. By hand, the loop ends",
      "there. In one line, the later scores become minus infinity, and e to the power",
      "of that is zero. Rows still sum to one: what the future loses, the past gains.");
  Tensor masked = masked_fill(scores, causal_mask(3), -infinity);
  Tensor weights = softmax(masked, -1);
  show("masked", masked, words, words);
  show("weights", weights, words, words);
  check("by hand = in one line", causal_weights(scores.value()), weights);
  AttentionOptions causal;
  causal.causal = true;
  check("weights V = scaled_dot_product_attention", matmul(weights, V),
        scaled_dot_product_attention(Q, K, V, causal));

  section("Ones for what may be seen");
  say("The notebook of lesson 06, that of 'one dog ran', writes the mask another way.",
      "It first notes what may be seen, as ones: tril, the lower triangle. Then it",
      "hides the rest, as we did.");
  const Names others = {"one", "dog", "ran"};
  Generator notebook(89);
  Tensor x(notebook.randn({1, 3, 5}));
  Tensor query = linear(x, Tensor(nn::init::linear_weight(notebook, 5, 16)));  // (1, 3, 16)
  Tensor key = linear(x, Tensor(nn::init::linear_weight(notebook, 5, 16)));
  Tensor scaled = matmul(query, transpose(key, 1, 2)) / std::sqrt(16.0);  // (1, 3, 3)
  Array seen = tril(Tensor(ones({3, 3}))).value();
  Tensor hidden = masked_fill(scaled, xt::equal(seen, 0), -infinity);
  show("tril", seen, others, others);
  show("masked", hidden, others, others);
  show("weights", softmax(hidden, -1), others, others);
  check("in these steps = attention_weights", softmax(hidden, -1),
        attention_weights(query, key, causal));

  section("First test: change the future");
  say("Zeros in the weights are a good sign, but something may leak by another way. So",
      "let the tokens from s on become others, small and huge, 100 times. Whose output",
      "changes, if only by one bit? A 1 in row t, column s says: that of t does. (No",
      "infinite ones: the hidden count 0 times, and 0 times infinity is not a number.)");
  const auto attention = [&](const AttentionOptions& options) {
    return Layer([&W_Q, &W_K, &W_V, options](const Tensor& input) {
      return scaled_dot_product_attention(matmul(input, W_Q), matmul(input, W_K),
                                          matmul(input, W_V), options);
    });
  };
  const Layer unmasked = attention({}), layer = attention(causal);
  check("without a mask: ones everywhere", touched(unmasked, T), ones({3, 3}));
  show("changed, with the mask", touched(layer, T), words, words);
  check("changed = tril", touched(layer, T), seen);

  section("Second test: slopes");
  say("A hundred changes are not all changes. A slope speaks for every small one: nudge",
      "a number of token s, and see how fast a number of output t moves. For each t and",
      "s that makes 4 times 5 slopes. Here is the root of the sum of their squares; 0:",
      "nothing moves. (It is `backward` that finds slopes here: lesson 08.)");
  Array steep = slopes(layer, T);
  show("slopes, without a mask", slopes(unmasked, T), words, words);
  show("slopes, with the mask", steep, words, words);
  check("1 where they are not 0 = tril", xt::not_equal(steep, 0), seen, 0);
  say("", "One of them can be had by hand. 'the' hears only itself, so its output is its",
      "vector times W_V, and the slopes are W_V itself.");
  check("length of W_V = slope of 'the' along 'the'", sqrt(sum(W_V * W_V)), scalar(steep(0, 0)));
  picture("07_causal_mask", "slopes", steep, {"slopes", words, words, "output", "token"});

  section("A proof: no path leads there");
  say("So far for one sentence and one layer. Now for all. In a model tokens meet in",
      "attention only, but layers are stacked: might the future come by a detour? Token",
      "s reaches row t of layer four on a path s <= c <= b <= a <= t, no step back.",
      "Count the paths by hand, and in one line: tril times itself, once for a layer.");
  Array paths = zeros({3, 3});
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t a = 0; a <= t; ++a)
      for (std::size_t b = 0; b <= a; ++b)
        for (std::size_t c = 0; c <= b; ++c)
          for (std::size_t s = 0; s <= c; ++s) paths(t, s) += 1;
  Array two = xt::linalg::dot(seen, seen), four = xt::linalg::dot(two, two);
  show("paths through four layers", four, words, words);
  check("by hand = in one line", paths, four);
  const Layer deep = [&](Tensor h) {
    for (int i = 0; i < 4; ++i) h = scaled_dot_product_attention(h, h, h, causal);
    return h;
  };
  check("changed, after four layers of attention = tril", touched(deep, T), seen);
  say("", "No path can lead back when no step does, however many there are. But one wrong",
      "layer is enough. Let the mask of the third be off by one place:");
  Array off = tril(Tensor(ones({3, 3})), 1).value(), three = xt::linalg::dot(off, two);
  show("paths, one layer off by one", xt::linalg::dot(seen, three), words, words);

  section("Why minus infinity, and not -10000");
  say("Many programs add -10000 to a hidden score instead. Mostly that works. But",
      "queries can grow in training, and who sees the answer guesses well: a hole once",
      "found is kept open. What does 'the' take from the future, when all queries are",
      "so many times as large?", "", " times   -10000 added  -infinity put");
  for (const double times : {1, 1000, 2000, 4000}) {
    Tensor added = softmax(scores * times - Tensor(1 - seen) * 10000, -1);
    Tensor put = softmax(masked_fill(scores * times, causal_mask(3), -infinity), -1);
    say(pad_left(decimal(times, 0), 6) + pad_left(decimal(future_shares(added)(0), 4), 15) +
        pad_left(decimal(future_shares(put)(0), 4), 15));
  }
  say("", "At 2000 times, the hidden 'cat' has 4.4249 * 2000 - 10000 = -1150, and 'the',",
      "which alone may be seen, -1.2905 * 2000 = -2581. The mask has lost.");

  section("A row that may see nothing");
  say("Minus infinity has a trap of its own. A causal row sees at least itself. But",
      "where padding is hidden too, a row may be left with nothing. Its maximum is",
      "-inf, and -inf less -inf is NaN, not a number. In training, one such row can",
      "make every number of a model NaN in a single step. heed's softmax gives zeros:");
  Tensor row(filled({3}, -infinity), /*requires_grad=*/true);
  Tensor e = exp(row - max(row)), plain = e / sum(e), ours = softmax(row, 0);
  backward(plain, Array{1, 2, 3});
  show("plain formula", plain);
  show("its slopes", row.grad());
  row.clear_grad();
  backward(ours, Array{1, 2, 3});
  check("softmax = zeros", ours, zeros({3}), 0);
  check("its slopes = zeros", row.grad(), zeros({3}), 0);

  section("A leak that no mask shows");
  say("Centre the tokens first: from each, subtract the mean of all three. Then attend,",
      "with the mask. The weights are a perfect triangle. What changes?");
  const Layer centred = [&](const Tensor& h) { return layer(h - mean(h, {0}, true)); };
  const Layer each_alone = [&](const Tensor& h) { return layer(h - mean(h, {1}, true)); };
  show("changed, after centring", touched(centred, T), words, words);
  say("", "Everything: tokens have met outside of attention, in the mean. Only tests of all",
      "of a model find this. (In training, the hint is a loss too good to be true.)",
      "The cure: subtract from each token the mean of its own five numbers.");
  check("changed, each token centred by itself = tril", touched(each_alone, T), seen);

  section("Before and after");
  say("                              before    after",
      "'the' takes from the future   " + decimal(future_shares(open)(0), 4) + "   " +
          decimal(future_shares(weights)(0), 4),
      "slope of 'the' along 'cat'    " + decimal(slopes(unmasked, T)(0, 1), 4) + "   " +
          decimal(steep(0, 1), 4));
  check("after = 0, to the last bit", Array{future_shares(weights)(0), steep(0, 1)}, zeros({2}), 0);
  say("", "The second test asked `backward` for slopes, and believed it. How does it find",
      "them? That is the next lesson: 08_autograd.", "",
      "To see the future skipped: gdb build/release/lessons/07_causal_mask, and in it:",
      "break causal_weights, run, next until you are in the inner loop, display s, and",
      "next a few times more.");
}
