// 13 transformer_block: layer normalization, the MLP and residual connections around attention.
//
// Before this lesson: 12_positions, position encodings.
// After it: 14_how_low_can_it_go, a text with a known lower bound on the loss.
// Worth a breakpoint: block_without (in 13_train_without.hpp). Continue with `next`.

#include <cmath>

#include "13_train_without.hpp"
#include "heed/base/file.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

// (x - mean) / sqrt(variance + 1e-5) for each row. The 1e-5 prevents a division by zero.
Array norm_by_hand(const Array& x) {
  Array y = x;
  for (std::size_t t = 0; t < x.shape(0); ++t) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < x.shape(1); ++c) mean += x(t, c) / double(x.shape(1));
    for (std::size_t c = 0; c < x.shape(1); ++c)
      variance += (x(t, c) - mean) * (x(t, c) - mean) / double(x.shape(1));
    for (std::size_t c = 0; c < x.shape(1); ++c)
      y(t, c) = Real((x(t, c) - mean) / std::sqrt(variance + 1e-5));
  }
  return y;
}

// x W^T + b, and optionally GELU(z) = z P(Z < z), where Z has a standard normal distribution.
Array linear_by_hand(const nn::Linear& layer, const Array& x, bool with_gelu) {
  const Array &W = layer.weight.value(), &b = layer.bias.value();  // (out, in), (out)
  Array y = zeros({x.shape(0), W.shape(0)});
  for (std::size_t t = 0; t < y.shape(0); ++t)
    for (std::size_t o = 0; o < y.shape(1); ++o) {
      double z = b(o);
      for (std::size_t i = 0; i < x.shape(1); ++i) z += x(t, i) * W(o, i);
      y(t, o) = Real(with_gelu ? z * (1 + std::erf(z / std::sqrt(2.0))) / 2 : z);
    }
  return y;
}

Array mlp_by_hand(const nn::Mlp& mlp, const Array& x) {
  return linear_by_hand(mlp.down, linear_by_hand(mlp.up, x, true), false);  // (T, 4C), (T, C)
}

void layer_normalization(const nn::Block& block, const Array& x) {
  section("Layer normalization");
  say("A model has many attention layers. The parts of this lesson help it to train,",
      "and let it compute more than weighted sums. A block reads x (T, C): a row of C",
      "numbers for each token. A large row gives large queries and keys, so large",
      "scores, which can saturate the softmax (lesson 06). LAYER NORMALIZATION gives",
      "each row mean 0 and variance 1: it subtracts the mean and divides by the square",
      "root of the variance. Then it multiplies by learned weights, initially 1, and",
      "adds learned biases, initially 0. Here the row of 'cat' has been multiplied by", "4.");
  show("x", x, words);
  const Array normed = block.norm1(Tensor(x)).value();
  show("norm1(x)", normed, words);
  check("by hand = in one line", norm_by_hand(x), normed);

  section("The MLP");
  say("Attention mixes rows, but for given attention weights it is linear in the",
      "values. The MLP (multi-layer perceptron; FEED-FORWARD network in Vaswani et al.",
      "2017) applies a nonlinearity to each row separately: a linear layer from C to",
      "4C, the activation GELU(z) = z P(Z < z), where Z is normal(0, 1), and a linear",
      "layer back to C. Without GELU (Hendrycks and Gimpel 2016; Vaswani et al. use",
      "ReLU) both layers together would be one linear layer.");
  check("by hand = in one line", mlp_by_hand(block.mlp, normed), block.mlp(Tensor(normed)));
}

void residual_connections(const nn::Block& block, const Array& x) {
  section("Residual connections");
  say("A RESIDUAL CONNECTION adds a layer's output to its input: y = x + layer(x). So a",
      "layer with output 0 passes x on. In the backward pass x gets the upstream",
      "gradient unchanged through the sum (lesson 08), and in addition the gradient",
      "through the layer. So the gradient reaches the first block even if the layers",
      "make it small. A TRANSFORMER BLOCK has two residual connections:", "",
      "  x = x + attention(norm1(x))", "  x = x + mlp(norm2(x))", "",
      "Vaswani et al. (2017) apply the norm to the sum. GPT-2 (Radford et al. 2019)",
      "applies it to the input of attention and of the MLP: PRE-NORM. Its gradients are",
      "better behaved at the start (Xiong et al. 2020).");
  const Tensor batch = unsqueeze(Tensor(x), 0);  // (1, 3, 8)
  const Array attended = (batch + block.attention(block.norm1(batch))).value();
  Array y = xt::view(attended, 0);                              // (3, 8)
  Array by_hand = y + mlp_by_hand(block.mlp, norm_by_hand(y));  // weights 1, biases 0
  check("by hand = in one line", by_hand, select(block(batch), 0, 0));
}

void initialisation(const nn::GptConfig& config, const Corpus& corpus, Generator& g) {
  section("Initialisation and the first loss");
  say("A GPT (generative pre-trained transformer) has token embeddings, learned",
      "position encodings (lesson 12), blocks, a final norm, and a linear output layer",
      "that gives the logits. nn::Gpt here has no biases, unlike GPT-2. To save",
      "parameters, the output layer's weight is the matrix of token embeddings (WEIGHT",
      "TYING). The INITIALISATION draws the weights before training, as in GPT-1",
      "(Radford et al. 2018) from a normal distribution with standard deviation 0.02.",
      "Then logits are close to 0, and the V tokens get nearly equal probabilities. So",
      "the loss is close to -ln(1 / V) = ln V. We also try embeddings 50 times as",
      "large. A token is a character of data/harbour.txt, a play with V = 64.");
  Parameters parameters;
  const nn::Gpt model(Scope(parameters, g), config);
  const Batch batch = random_batch(corpus.training(), 8, 32, g);
  check("a loop over the blocks = nn::Gpt", logits_without("nothing", model, batch.inputs),
        model(batch.inputs));
  const double start = mean_loss("nothing", model, corpus.validation());
  for (Tensor p : {model.token.weight, model.position.weight}) p.mutable_value() *= Real(50);
  const double large = mean_loss("nothing", model, corpus.validation());
  say("", "ln 64                                  " + decimal(std::log(64.0), 4),
      "initial loss                           " + decimal(start, 4),
      "initial loss, embeddings times 50      " + decimal(large, 1), "");
  claim("the initial loss is ln V within 1 %", std::abs(start / std::log(64.0) - 1) < 0.01,
        decimal(start, 4));
  say("", "The final norm removes the scale of its input. But with weight tying the output",
      "layer's weight is also 50 times as large. So logits are large, and wrong",
      "characters get probabilities close to 1. If your model's initial loss is far",
      "above ln V, check its initialisation.");
}

void train_without_each_part(nn::GptConfig config, const Corpus& corpus) {
  section("Training without each part");
  std::vector<double> rates = {0.005, 0.01, 0.02};
  if (brief()) rates = {0.01};
  const std::string text(corpus.text().substr(corpus.validation().begin));  // all ASCII
  const double unigram = entropy_of_counts(text, 0), bigram = entropy_of_counts(text, 1);
  const std::string steps = std::to_string(in_brief(600, 120));
  say("Six blocks of width C = 32 learn the play, each time without one part, for " + steps + "",
      "steps at each of three learning rates. Matrices start with standard deviation 1",
      "/ sqrt(C), not 0.02 (question 1). The blocks add 12 terms to x; the last layer",
      "of each term starts sqrt(12) times smaller (GPT-2, section 2.3). AdamW is set as",
      "in lesson 15. 'norms' includes the final norm. The loss is the mean over 128",
      "windows, pieces of 32 characters, of the validation part: the last tenth of the",
      "text, not used for training. 'best', the lowest of three, is slightly too low.", "",
      "The validation part gives two lower bounds on the mean loss there: the unigram",
      "entropy, if a model ignores its context, and the bigram entropy, if it uses the",
      "current character only.", "", "unigram entropy   " + decimal(unigram, 4),
      "bigram entropy    " + decimal(bigram, 4), "");
  say(table_head(rates));
  std::map<std::string, double> best;
  std::vector<Series> curves;
  const Trained all = train_at_rates("nothing", rates, config, corpus);
  for (const std::string part :
       {"nothing", "norms", "positions", "MLPs", "attention", "residuals"}) {
    const Trained model = part == "nothing" ? all : train_at_rates(part, rates, config, corpus);
    best[part] = model.loss, curves.push_back(model.curve);
    say(row_of(part, model, all.loss));
  }
  say("", "all parts, seeds 1 to 3  " + losses_of_seeds(all, config, corpus), "");
  const auto claim_part = [&](const std::string& what, const std::string& part, bool holds) {
    claim("without " + part + ", " + what, holds,
          decimal(best[part], 4) + ", with all parts " + decimal(all.loss, 4));
  };
  claim_part("the loss stays within 0.1 of the unigram entropy", "residuals",
             std::abs(best["residuals"] - unigram) < 0.1);
  claim_part("the loss stays above the bigram entropy", "attention", best["attention"] > bigram);
  for (const std::string part : {"residuals", "MLPs"})
    claim_part("the loss is higher by 0.1 or more", part, best[part] > all.loss + 0.1);
  claim_part("the loss is higher by less than 0.1", "norms", best["norms"] < all.loss + 0.1);
  CurveOptions axes{"training loss of a small GPT without one of its parts"};
  axes.lines = {{"unigram entropy", unigram}, {"bigram entropy", bigram}};
  picture("13_transformer_block", "without", curves, axes);
}

int main() {
  set_num_threads(1);  // the arrays are too small for a second thread to save time
  opening({"build a transformer block and measure what each part contributes",
           "norm(x) = (x - mean) / sqrt(variance + 1e-5) * weight + bias\n"
           "mlp(x) = gelu(x W1^T + b1) W2^T + b2, x (T, C), W1 (4C, C)\n"
           "y = x + attention(norm1(x)), block(x) = y + mlp(norm2(y))\n"
           "nn::Gpt below: bias = b1 = b2 = 0, also in attention",
           "block: Vaswani et al., \"Attention Is All You Need\", 3.1 (2017)\n"
           "layer norm: Ba et al., \"Layer Normalization\", section 3 (2016)\n"
           "residual connection: He et al., \"Deep Residual Learning for Image\n"
           "Recognition\", sections 3.1, 3.2 (2015); pre-norm: GPT-2, see below",
           "torch.nn.TransformerEncoderLayer(C, heads, 4 * C, dropout=0,\n"
           "activation=\"gelu\", batch_first=True, norm_first=True), nn.LayerNorm"});
  Generator g(42);
  Array x = g.randn({3, 8});
  xt::row(x, 1) *= 4;
  Parameters parameters;
  const nn::Block block(Scope(parameters, g), 8, 2);
  layer_normalization(block, x);
  residual_connections(block, x);
  const std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const Corpus corpus(text, Vocabulary::of_text(text));
  nn::GptConfig config;
  config.vocab_size = Vocabulary::of_text(text).size();
  config.layers = 6, config.embed_dim = 32, config.block_size = 32;
  initialisation(config, corpus, g);
  train_without_each_part(config, corpus);
  say("", "Without residual connections the loss is close to the unigram entropy at every",
      "rate: all signals and gradients pass through 12 layers, and the model learns",
      "only how frequent each character is. Without attention each position sees only",
      "its own character. The model without MLPs also has far fewer parameters. Without",
      "norms the loss is nearly the same: with this initialisation, six blocks train",
      "without them. A difference as small as between seeds is no evidence.", "",
      "Next lesson: 14_how_low_can_it_go, a text with a known lower bound on the loss.");
  questions("In train_without set scale to 1 (deviation 0.02). Which loss changes most?",
            "In main set config.layers to 2. What do residual connections gain now?",
            "Set rates to {0.05, 0.1, 0.2}. Which part matters more at these rates?");
}
