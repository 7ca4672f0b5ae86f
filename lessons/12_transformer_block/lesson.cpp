// 12 transformer_block: layer normalization, the MLP and residual connections around attention.
//
// Before this lesson: 11_positions, position encodings.
// After it: 14_how_low_can_it_go, a text with a known lower bound on the loss.
// Worth a breakpoint: block_without (in train_without.hpp). Continue with `next`.

#include <cmath>

#include "by_hand.hpp"
#include "heed/base/file.hpp"
#include "rank_collapse.hpp"

using namespace heed;
const Names words = {"the", "cat", "sat"};

void layer_normalization(const nn::Block& block, const Array& x, const Array& unscaled) {
  section("Layer normalization");
  say("A model with many layers needs more than attention. Without the residual",
      "connections of this lesson, our model with six blocks learns only how frequent",
      "each character is (last section). We begin with the norm. A block reads x (T,",
      "C): a row of C numbers for each token. A large row gives large queries and keys,",
      "so large scores, which can saturate the softmax (lesson 09). LAYER NORMALIZATION",
      "gives each row mean 0 and variance 1: it subtracts the mean and divides by the",
      "square root of the variance. Then it multiplies by learned weights, initially 1,",
      "and adds learned biases, initially 0. We have multiplied the row of 'cat' by 4:");
  show("x", x, words);
  const Array normed = block.norm1(Tensor(x)).value();
  show("norm1(x)", normed, words);
  check("norm1(x) by hand = the module's", norm_by_hand(x), normed);
  check("norm1 of the row of 'cat' without the factor 4 = with it", row_of(unscaled, 1),
        row_of(normed, 1), 1e-3);

  section("The MLP");
  say("Attention mixes rows, but for given attention weights it is linear in the",
      "values. The MLP (multi-layer perceptron; FEED-FORWARD NETWORK in Vaswani et al.",
      "2017, section 3.3) applies a nonlinearity to each row separately: a linear layer",
      "from C to 4C, the activation GELU(z) = z P(Z < z), where Z is normal(0, 1), and",
      "a linear layer back to C. Without GELU (Hendrycks and Gimpel 2016; Vaswani et",
      "al. use ReLU) both layers together would be one linear layer.");
  check("MLP by hand = the module's", mlp_by_hand(block.mlp, normed), block.mlp(Tensor(normed)));
}

void residual_connections(const nn::Block& block, const Array& x) {
  section("Residual connections");
  say("A RESIDUAL CONNECTION adds a layer's output to its input: y = x + layer(x). The",
      "rows of x stay different, although attention computes means of rows (last",
      "section). A TRANSFORMER BLOCK has two residual connections:", "",
      "  x = x + attention(norm1(x))", "  x = x + mlp(norm2(x))", "",
      "The x that all layers read and add to is called the RESIDUAL STREAM (Elhage et",
      "al. 2021). Vaswani et al. (2017) apply the norm to the sum: POST-NORM. GPT-2",
      "(Radford et al. 2019) applies it to the input of attention and of the MLP:",
      "PRE-NORM. With post-norm the first gradients near the output are large, so that",
      "it needs a warm-up of the learning rate (Xiong et al. 2020).", "");
  picture("12_transformer_block", "gpt", gpt_graph);
  const Tensor batch = unsqueeze(Tensor(x), 0);  // (1, 3, 8)
  const Array attended = (batch + block.attention(block.norm1(batch))).value();
  Array y = xt::view(attended, 0);                              // (3, 8)
  Array by_hand = y + mlp_by_hand(block.mlp, norm_by_hand(y));  // weights 1, biases 0
  check("block by hand = the module's", by_hand, select(block(batch), 0, 0));
}

void initialisation(const nn::GptConfig& config, const Corpus& corpus, Generator& g) {
  section("Initialisation and the first loss");
  say("A GPT (generative pre-trained transformer) has token embeddings, learned",
      "position embeddings (lesson 11), blocks, a final norm, and a linear output layer",
      "that gives the logits. It is DECODER-ONLY: all attention has a causal mask.",
      "(BERT of lesson 17 has none: encoder-only. Vaswani et al. have both:",
      "encoder-decoder.) nn::Gpt here has no biases, unlike GPT-2. To save parameters,",
      "the weight of the output layer is the matrix of token embeddings: WEIGHT TYING",
      "(Press and Wolf 2017). The INITIALISATION draws all weights from a normal",
      "distribution with standard deviation 0.02 (Radford et al. 2018, GPT-1). A row",
      "after the final norm has the length sqrt(32) = 5.7, so a logit has the size",
      "0.02 * 5.7 = 0.11: all V tokens have nearly equal probabilities, and the loss is",
      "close to -ln(1 / V) = ln V. We also try embeddings 50 times as large. A token is",
      "a character of the play data/harbour.txt: V = 64 characters.");
  Parameters parameters;
  const nn::Gpt model(Scope(parameters, g), config);
  const Batch batch = random_batch(corpus.training(), 8, 32, g);
  check("a loop over the blocks = nn::Gpt", logits_without("nothing", model, batch.inputs),
        model(batch.inputs));
  const double start = mean_loss("nothing", model, corpus.validation());
  for (Tensor p : {model.token.weight, model.position->weight}) p.mutable_value() *= Real(50);
  const double large = mean_loss("nothing", model, corpus.validation());
  const double own = mean_own_logit(model, windows_of(corpus.validation(), 32).inputs);
  say("", "ln 64                                  " + decimal(std::log(64.0), 4),
      "initial loss                           " + decimal(start, 4),
      "initial loss, embeddings times 50      " + decimal(large, 1),
      "mean logit of the current character    " + decimal(own, 1), "");
  claim("the initial loss is ln V within 1 %", std::abs(start / std::log(64.0) - 1) < 0.01,
        decimal(start, 4));
  say("", "The final norm removes the scale of its input. But with weight tying the output",
      "layer's weight is also 50 times as large. x contains the embedding of the",
      "current character, so this has the largest logit, and the model predicts it",
      "again with a probability close to 1. If the initial loss of a model is far above",
      "ln V, check its initialisation.");
}

void train_without_each_part(nn::GptConfig config, const Corpus& corpus) {
  section("Training without each part");
  std::vector<double> rates = {0.01, 0.05};
  if (brief()) rates = {0.01};
  const Entropies validation = entropies_of(corpus.validation(), config.block_size),
                  training = entropies_of(corpus.training(), config.block_size);
  const std::string steps = std::to_string(in_brief(600, 120));
  say("A GPT with six blocks of width C = 32 learns the play, each time without one of",
      "its parts: " + steps + " steps at each of two learning rates. Here the matrices start with",
      "standard deviation 1 / sqrt(C), not 0.02 (question 1). Twelve outputs are added",
      "to x, and their variances add. So the last layer of each attention and of each",
      "MLP starts smaller by the factor 1 / sqrt(12) (GPT-2, section 2.3). Without",
      "'norms' the final norm is missing, too. The optimizer is AdamW with weight decay",
      "0.1. The loss is the mean over the validation part, the last tenth of the text,",
      "in windows (pieces) of 32 characters. 'best' is the lower of the losses.", "",
      "Counts in the validation part give two lower bounds on the loss there. The",
      "unigram entropy is the mean of -ln p(next): no model that ignores its input has",
      "a lower loss. The bigram entropy is the mean of -ln p(next | current), for",
      "models that use only the current character. (Lesson 14 explains entropy.)", "",
      "unigram entropy   " + decimal(validation.unigram, 4),
      "bigram entropy    " + decimal(validation.bigram, 4), "", "losses with seed 1:");
  say(table_head(rates));
  std::map<std::string, Trained> best;
  std::vector<Series> curves;
  for (const std::string& part : parts) {
    best[part] = train_at_rates(part, rates, config, corpus);
    curves.push_back(best[part].curve);
    say(row_of(part, best[part], best["nothing"].loss));
  }
  say("", "seeds 1 to 3, all parts          " + losses_of_seeds("nothing", best, config, corpus),
      "seeds 1 to 3, without positions  " + losses_of_seeds("positions", best, config, corpus), "");
  const double all = best["nothing"].loss;
  const auto claim_part = [&](const std::string& what, const std::string& part, bool holds) {
    claim("without " + part + ", " + what, holds,
          decimal(best[part].loss, 4) + ", with all parts " + decimal(all, 4));
  };
  claim_part("the loss stays within 0.1 of the unigram entropy", "residuals",
             std::abs(best["residuals"].loss - validation.unigram) < 0.1);
  claim_part("the loss stays above the bigram entropy", "attention",
             best["attention"].loss > validation.bigram);
  for (const std::string part : {"residuals", "MLPs"})
    claim_part("the loss is higher by 0.1 or more", part, best[part].loss > all + 0.1);
  claim_part("the loss is higher by less than 0.1", "norms", best["norms"].loss < all + 0.1);
  picture_of_training(curves, training);
  say("", "Without attention each position sees only its own character and position. The",
      "model without MLPs also has far fewer parameters. Without norms the best loss is",
      "nearly the same: the difference is not larger than between two seeds. But at the",
      "rate 0.05 the loss without norms is far higher (seed 1). Without positions the",
      "loss is only a little higher. One reason may be the causal mask: with equal",
      "weights the first token's weight at position t is 1 / (t + 1), which tells t",
      "(Haviv et al. 2022 suspect this).");
  why_residual_connections(best, config, corpus);
}

int main() {
  set_num_threads(1);  // the arrays are too small for a second thread to save time
  opening({"to build a transformer block and measure what each part contributes",
           "norm(x) = (x - mean) / sqrt(variance + 1e-5) * weight + bias\n"
           "mlp(x) = gelu(x W1^T + b1) W2^T + b2, x (T, C), W1 (4C, C)\n"
           "y = x + attention(norm1(x)), block(x) = y + mlp(norm2(y))\n"
           "nn::Gpt below: bias = b1 = b2 = 0, also in attention",
           "block: Vaswani et al., \"Attention Is All You Need\", 3.1 (2017)\n"
           "layer norm: Ba et al., \"Layer Normalization\", section 3 (2016)\n"
           "residual connection: He et al., \"Deep Residual Learning for Image\n"
           "Recognition\", sections 3.1, 3.2 (2015); pre-norm: GPT-2, see below",
           "torch.nn.TransformerEncoderLayer(C, heads, 4 * C, dropout=0,\n"
           "activation=\"gelu\", batch_first=True, norm_first=True); causal with\n"
           "layer(x, src_mask=mask, is_causal=True); nn.LayerNorm"});
  Generator g(42);
  const Array unscaled = g.randn({3, 8});
  Array x = unscaled;
  xt::row(x, 1) *= 4;
  Parameters parameters;
  const nn::Block block(Scope(parameters, g), 8, 2);
  layer_normalization(block, x, block.norm1(Tensor(unscaled)).value());
  residual_connections(block, x);
  const std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const Corpus corpus(text, Vocabulary::of_text(text));
  nn::GptConfig config;
  config.vocab_size = Vocabulary::of_text(text).size();
  config.layers = 6, config.embed_dim = 32, config.block_size = 32;
  initialisation(config, corpus, g);
  train_without_each_part(config, corpus);

  say("", "Next lesson: 14_how_low_can_it_go, a text with a known lower bound.");
  questions("In initialise set scale to 1 (deviation 0.02). Which loss changes most?",
            "In main set config.layers to 2. What do residual connections gain now?",
            "Set rates to {0.005, 0.02}. Is any loss lower than at the rate 0.01?");
}
