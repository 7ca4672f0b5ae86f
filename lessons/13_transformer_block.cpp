// 13 transformer_block: what stands around attention, and what each part of it is good for.
//
// Before this lesson: 12_positions, attention that knows where its tokens stand.
// After it: 14_how_low_can_it_go, a loss that no model can get below.
// Worth a breakpoint: block_without. Go on with `next`: see x grow, branch by branch.

#include <algorithm>
#include <cmath>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/file.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/text/corpus.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// Each row less its mean, divided by the root of its variance. (The 0.00001 keeps a row of equal
// numbers from being divided by zero.)
Array norm_by_hand(const Array& x) {
  Array y = x;
  for (std::size_t t = 0; t < x.shape(0); ++t) {
    double mean = 0, variance = 0;
    for (std::size_t d = 0; d < x.shape(1); ++d) mean += x(t, d) / double(x.shape(1));
    for (std::size_t d = 0; d < x.shape(1); ++d)
      variance += (x(t, d) - mean) * (x(t, d) - mean) / double(x.shape(1));
    for (std::size_t d = 0; d < x.shape(1); ++d)
      y(t, d) = Real((x(t, d) - mean) / std::sqrt(variance + 1e-5));
  }
  return y;
}

// x W^T + b. Then each number is bent: times the share of a normal distribution that lies below it.
Array linear_by_hand(const nn::Linear& layer, const Array& x, bool bent) {
  const Array &W = layer.weight.value(), &b = layer.bias.value();  // (out, in), (out)
  Array y = zeros({x.shape(0), W.shape(0)});
  for (std::size_t t = 0; t < y.shape(0); ++t)
    for (std::size_t o = 0; o < y.shape(1); ++o) {
      double sum = b(o);
      for (std::size_t d = 0; d < x.shape(1); ++d) sum += x(t, d) * W(o, d);
      y(t, o) = Real(bent ? sum * (1 + std::erf(sum / std::sqrt(2.0))) / 2 : sum);
    }
  return y;
}

// A block of a model that has lost a part; with part "" it is the block.
Tensor block_without(const std::string& part, const nn::Block& block, Tensor x) {
  nn::AttentionMask past;
  past.causal = true;
  const auto norm = [&](const nn::LayerNorm& n) { return part == "norms" ? x : n(x); };
  const auto add = [&](const Tensor& branch) { x = part == "residuals" ? branch : x + branch; };
  if (part != "attention") add(block.attention(norm(block.norm1), past));
  if (part != "MLPs") add(block.mlp(norm(block.norm2)));
  return x;  // (B, T, C)
}

Tensor scores_without(const std::string& part, const nn::Gpt& model, const Indices& tokens) {
  Tensor x = model.token(tokens);  // (B, T, C)
  if (part != "positions") x = x + slice(model.position.weight, 0, 0, int(tokens.shape(1)));
  for (const nn::Block& block : model.blocks) x = block_without(part, block, x);
  return linear(part == "norms" ? x : model.norm(x), model.head);  // (B, T, V)
}

// The best loss on these symbols by how often each comes, and by how often each follows another:
// the mean of -ln(count / of all), and of -ln(pairs / of all that begin alike).
std::pair<double, double> floors(const Indices& ids, std::size_t V) {
  Array single = zeros({V}), pairs = zeros({V, V});
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) ++single(ids(i)), ++pairs(ids(i), ids(i + 1));
  const double all = double(ids.size() - 1);
  double by_one = 0, by_two = 0;
  for (std::size_t a = 0; a < V; ++a) {
    if (single(a) > 0) by_one -= single(a) / all * std::log(single(a) / all);
    for (std::size_t b = 0; b < V; ++b)
      if (pairs(a, b) > 0) by_two -= pairs(a, b) / all * std::log(pairs(a, b) / single(a));
  }
  return {by_one, by_two};
}

// The mean loss over 128 windows of the text, the same for all.
double examine(const std::string& part, const nn::Gpt& model, const Split& text) {
  const NoGrad no_grad;
  Generator g(5);
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    const Batch batch = random_batch(text, 32, model.config.block_size, g);
    sum += cross_entropy(scores_without(part, model, batch.inputs), batch.targets).item() / 4;
  }
  return sum;
}

Series train(const std::string& part, Parameters& parameters, const nn::Gpt& model,
             const Split& text) {
  optim::AdamWOptions options;
  options.beta2 = 0.99, options.weight_decay = 0.1, options.decay_vectors = false;
  optim::AdamW optimizer(parameters.tensors(), options);
  const optim::WarmupCosine rate{3e-3, 3e-4, 20, 800};
  Batches batches(text, 8, model.config.block_size, 1);
  Series curve{part.empty() ? "nothing taken out" : "without " + part, {}, {}};
  double sum = 0;
  for (std::int64_t step = 0; step < in_brief(800, 80); ++step) {
    const Batch batch = batches.next();  // (8, 32) twice
    const Tensor loss = cross_entropy(scores_without(part, model, batch.inputs), batch.targets);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
    sum += loss.item() / 20;
    if (step % 20 == 19) curve.append(double(step), sum), sum = 0;
  }
  return curve;
}

int main() {
  set_num_threads(1);  // so little work that a second thread would mostly wait

  section("Norm: nobody shouts");
  say("Layers are stacked, and each gets what the one below gives, however large it is.",
      "Scores that are too large leave nothing to learn (lesson 06). So before a layer",
      "reads a token, the token is normed (Ba et al. 2016): less its mean, and divided",
      "by its spread, the root of its variance. (A norm also has a weight for each",
      "number, 1 at first, and a bias, 0 at first, which are learned.) Here 'cat'",
      "shouts, four times as loud as it was drawn.");
  Generator g(42);
  Array T = g.randn({3, 8});
  xt::row(T, 1) *= 4;
  Parameters parameters;
  const nn::Block block(Scope(parameters, g), 8, 2);
  show("T", T, words);
  const Array normed = block.norm1(Tensor(T)).value();
  show("normed", normed, words);
  check("by hand = in one line", norm_by_hand(T), normed);

  section("MLP: each token by itself");
  say("Attention brings news together. What to make of it is for each token alone: a",
      "layer four times as wide, a bend (GELU, by Hendrycks and Gimpel 2016), and a",
      "layer back. MLP: multi-layer perceptron. Without the bend, two such layers would",
      "do no more than one.");
  const Array inner = linear_by_hand(block.mlp.up, normed, true);  // (3, 32)
  const Array mlp_by_hand = linear_by_hand(block.mlp.down, inner, false);
  check("by hand = in one line", mlp_by_hand, block.mlp(Tensor(normed)));

  section("Residual: add, do not replace");
  say("A layer's result is added to what was there (He et al. 2016). One that has",
      "learned nothing yet does no harm then, and the gradient has a straight way down:",
      "through a sum it passes unchanged (lesson 08). A block is that, twice:", "",
      "  x = x + attention(norm(x))", "  x = x + mlp(norm(x))", "",
      "Vaswani et al. (2017) normed after the sum; GPT-2 (Radford et al. 2019) norms",
      "before the layer, and so does heed.");
  const Tensor x = unsqueeze(Tensor(T), 0);  // (1, 3, 8)
  const Array attended = (x + block.attention(block.norm1(x))).value();
  Array after = xt::view(attended, 0);  // (3, 8)
  const Array thought =
      linear_by_hand(block.mlp.up, norm_by_hand(after), true);  // norms start alike
  Array block_by_hand = after + linear_by_hand(block.mlp.down, thought, false);
  check("by hand = in one line", block_by_hand, select(block(x), 0, 0));

  section("A model, before it has learned");
  say("From here on a token is one character, and called a symbol. Token and position",
      "vectors, some blocks, a last norm, a score for each symbol: this is nn::Gpt. A",
      "symbol's score is the dot product of what comes out with that symbol's own",
      "vector: one table serves at both ends. Its weights start small, so all scores",
      "start near zero, and all symbols get nearly equal shares. The loss is -ln(1 / V)",
      "then, which is ln V. The text is a play, data/harbour.txt, written with 64",
      "different symbols.");
  const std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const Corpus corpus(text, Vocabulary::of_text(text));
  nn::GptConfig config;
  config.vocab_size = Vocabulary::of_text(text).size();
  config.layers = 6, config.embed_dim = 32, config.block_size = 32;
  const double V = double(config.vocab_size);
  Parameters weights;
  const nn::Gpt model(Scope(weights, g), config);
  const Batch batch = random_batch(corpus.training(), 8, 32, g);
  check("with no part taken out, our model = nn::Gpt", scores_without("", model, batch.inputs),
        model(batch.inputs));
  const double start = examine("", model, corpus.validation());
  for (Tensor p : {model.token.weight, model.position.weight}) p.mutable_value() *= Real(50);
  const double loud = examine("", model, corpus.validation());
  say("", "ln 64                                  " + decimal(std::log(V), 4),
      "loss at the start                      " + decimal(start, 4),
      "with vectors fifty times as large      " + decimal(loud, 1), "");
  claim("the loss at the start is ln V, within 1 %", std::abs(start / std::log(V) - 1) < 0.01,
        decimal(start, 4));
  say("", "The last norm undoes the loudness of what comes out, but not of the table it is",
      "scored against. Large scores mean a model that is sure, and wrong. If a loss of",
      "yours starts far from ln V, look at its first weights.");

  section("Each part taken out");
  const Split unseen = corpus.validation();
  const auto [by_one, by_two] = floors(corpus.ids(unseen.begin, unseen.size), config.vocab_size);
  say("Six blocks of width 32 learn the play, " + std::to_string(in_brief(800, 80)) +
          " steps from the same first weights,",
      "each time without one part. Two levels to compare with come from counts in the",
      "text they are asked about then: who only knows how often each symbol comes can't",
      "get below the first, who only sees one symbol can't get below the second. (They",
      "are asked in 128 windows of that text, so the third digit is luck. Windows, and",
      "how such a training goes step by step: lesson 15.)", "",
      "how often each symbol comes     " + decimal(by_one, 4),
      "which follows which             " + decimal(by_two, 4), "",
      "taken out      loss on unseen text     costs");
  const Names parts = {"", "positions", "MLPs", "attention", "norms", "residuals"};
  std::vector<Series> curves;
  std::map<std::string, double> loss;
  for (const std::string& part : parts) {
    Generator first_weights(1);
    Parameters own;
    const nn::Gpt learner(Scope(own, first_weights), config);
    curves.push_back(train(part, own, learner, corpus.training()));
    loss[part] = examine(part, learner, unseen);
    const std::string costs = part.empty() ? "" : pad_left(trained(loss[part] - loss[""], 1), 10);
    say(pad_right(part.empty() ? "nothing" : part, 13) + pad_left(trained(loss[part]), 21) + costs);
  }
  const auto came = [&](const std::string& part) {
    return decimal(loss[part], 4) + ", with all parts " + decimal(loss[""], 4);
  };
  say("");
  claim("without residuals, it learns how often each symbol comes and no more",
        std::abs(loss["residuals"] - by_one) < 0.1, came("residuals"));
  claim("without attention, it stays above 'which follows which'", loss["attention"] > by_two,
        came("attention"));
  for (const std::string& part : Names{"residuals", "norms", "MLPs"})
    claim("without " + part + ", its loss is higher by 0.1 and more", loss[part] > loss[""] + 0.1,
          came(part));
  // "positions" moves behind "norms": it lies on the first curve, and gets a colour far from it.
  std::rotate(curves.begin() + 1, curves.begin() + 2, curves.begin() + 5);
  CurveOptions axes;
  axes.title = "a small GPT, each part taken out";
  axes.y_title = "training loss (nats per symbol)";
  axes.lines = {{"how often each comes", by_one}, {"which follows which", by_two}};
  picture("13_transformer_block", "without", curves, axes);
  say("", "Without residuals, twelve layers, two a block, must all work before any does.",
      "None begins. Without attention every symbol is alone. Without norms or MLPs the",
      "model learns too, but late: the curves first lie flat where it only knows how",
      "often symbols come. Positions cost least here, as the mask tells a little about",
      "order (lesson 12). Another seed moves most of these losses by a few hundredths,",
      "MLPs a tenth.", "",
      "With all parts, the model gets below 'which follows which'. How much further",
      "could it go? Of a play, nobody knows. So next we make a text of which we do:",
      "14_how_low_can_it_go.", "",
      "To see x grow: start gdb with ./heed debug 13, and in it: break block_without,",
      "continue, then next, again and again; print x before and after each add(...).");
}
