// 16 looking_inside: the attention patterns of a trained model's heads, and ablation of each head.
//
// Before this lesson: 15_your_text, which trains a character-level GPT.
// After it: 17_fill_in_the_blank, a bidirectional model that predicts a masked word.
// Worth a breakpoint: weights_by_hand. Continue with `next`: the loop fills the rows of one head.

#include <algorithm>
#include <cmath>

#include "heed/base/file.hpp"
#include "heed/report/table.hpp"
#include "looking_inside.hpp"

using namespace heed;

const std::string lesson = "16_looking_inside", folder = "runs/lessons/" + lesson;
const Names heads = {"layer 0, head 0", "layer 0, head 1", "layer 0, head 2", "layer 0, head 3",
                     "layer 1, head 0", "layer 1, head 1", "layer 1, head 2", "layer 1, head 3"};

// The attention weights (T, T) of one head of the first block. x is the block's input after layer
// normalization, (T, C).
Array weights_by_hand(const nn::MultiHeadAttention& attention, const Array& x, std::size_t head) {
  const std::size_t T = x.shape(0), C = x.shape(1), D = C / attention.num_heads;
  Array Q = xt::linalg::dot(x, xt::transpose(attention.query.weight.value()));  // (T, C)
  Array K = xt::linalg::dot(x, xt::transpose(attention.key.weight.value()));    // (T, C)
  Array weights = zeros({T, T});
  for (std::size_t t = 0; t < T; ++t) {
    Real sum = 0;
    for (std::size_t s = 0; s <= t; ++s) {
      Real score = 0;
      for (std::size_t d = head * D; d < (head + 1) * D; ++d) score += Q(t, d) * K(s, d);
      weights(t, s) = std::exp(score / std::sqrt(Real(D)));
      sum += weights(t, s);
    }
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) /= sum;
  }
  return weights;
}

// The weights of a head on the previous token, on the first token, and on earlier positions with
// the query's token: means over the rows that have such positions. A is (B, H, T, T), ids (B, T).
Array scores_by_hand(const Array& A, const Indices& ids, std::size_t head) {
  double previous = 0, first = 0, same = 0, rows = 0, rows_with_same = 0;
  for (std::size_t b = 0; b < A.shape(0); ++b)
    for (std::size_t t = 1; t < A.shape(2); ++t) {
      previous += A(b, head, t, t - 1);
      first += A(b, head, t, 0);
      rows += 1;
      bool any = false;
      for (std::size_t s = 0; s < t; ++s)
        if (ids(b, s) == ids(b, t)) same += A(b, head, t, s), any = true;
      if (any) rows_with_same += 1;
    }
  return Array{Real(previous / rows), Real(first / rows), Real(same / rows_with_same)};
}

// The loss of each window (B) without head i: its columns of the output projection are zero.
Array losses_without(const nn::Gpt& model, std::size_t i, const Indices& windows) {
  Tensor out = model.blocks[i / 4].attention.out.weight;  // (C, C)
  const Array original = out.value();
  const std::size_t D = model.config.embed_dim / 4, first = i % 4 * D;
  xt::view(out.mutable_value(), xt::all(), xt::range(first, first + D)) = Real(0);
  const Array result = losses(model, windows);
  out.mutable_value() = original;
  return result;
}

void show_weights(const nn::Gpt& model, const Vocabulary& vocabulary) {
  section("The attention weights of each head");
  say("capture_attention returns the attention weights of all heads. Here are those of",
      "layer 0, head 0 for a line of the play. (A layer is a block. Counts begin at 0.)",
      "Most of the weight is on the few tokens before the query. Weights below 0.125",
      "are drawn as blanks: a row that looks empty has many small weights.");
  const Indices ids = ids_of(vocabulary, "The lamp is out, Nell.");
  const Names letters = letters_of(vocabulary, ids);
  const std::vector<LayerAttention> layers = capture_attention(model, ids);
  std::vector<Array> all;
  for (std::size_t i = 0; i < 8; ++i) all.push_back(masked_weights(layers[i / 4].weights, i % 4));
  HeatmapOptions options{"attention weights", letters, letters, "query position", "key position"};
  options.low = 0, options.high = 1;
  picture_trained(lesson, "head", all[0], options);
  Array x = xt::view(model.blocks[0].norm1(model.embed(ids)).value(), 0);  // (T, C)
  for (std::size_t h = 0; h < 4; ++h)
    check("head " + std::to_string(h) + " by hand = capture_attention",
          weights_by_hand(model.blocks[0].attention, x, h),
          Array(xt::view(layers[0].weights, 0, h)));
  picture(lesson, "heads", all, heads, options, 4);
}

Array score_patterns(const nn::Gpt& model, const Indices& windows) {  // (9, 4)
  section("Head patterns");
  say("A HEAD PATTERN is a rule that gives the key positions S(t) of each query t. For",
      "a head's pattern score, add its weights on S(t), and take the mean over all",
      "queries of 24 validation windows whose S(t) is not empty. The last row is for",
      "uniform weights ('uniform'): a score near it shows no pattern.", "",
      "previous   PREVIOUS TOKEN HEAD: mostly the previous token (Clark et al. 2019)",
      "first      ATTENTION SINK: often the first token (Xiao et al. 2023)",
      "same       SAME TOKEN HEAD: earlier positions with the query's token (also:",
      "           duplicate token head, Wang et al. 2022)",
      "induction  INDUCTION HEAD: what followed the query's token earlier: after 'the",
      "           cat. the c', position of the 'a' (Olsson et al. 2022)", "");
  std::vector<HeadKind> kinds = head_kinds();
  kinds.push_back(induction);
  const std::vector<LayerAttention> layers = capture_attention(model, windows);
  Array scores = zeros({9, 4}), by_hand = zeros({8, 3});
  for (std::size_t i = 0; i < 8; ++i)
    xt::view(by_hand, i) = scores_by_hand(layers[i / 4].weights, windows, i % 4);
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t l = 0; l < 2; ++l)
      xt::view(scores, xt::range(4 * l, 4 * l + 4), k) =
          head_scores(kinds[k], layers[l].weights, windows, true);
    scores(8, k) = Real(uniform_score(kinds[k], windows, true));
  }
  Names rows = heads;
  rows.push_back("uniform weights");
  quote(table(scores, {"pattern scores", rows, {"previous", "first", "same", "induction"}}));
  check("pattern scores by hand = head_scores", by_hand,
        Array(xt::view(scores, xt::range(0, 8), xt::range(0, 3))));
  const Array most = xt::amax(xt::view(scores, xt::range(0, 8)), {0});  // of each pattern
  const double least = xt::amin(xt::view(scores, xt::range(0, 4), 0))();
  claim_less("each previous score of layer 0 is over 1.5 times uniform", 1.5 * scores(8, 0), least);
  claim_less("the largest previous score is over twice uniform", 2 * scores(8, 0), most(0));
  claim_less("each previous score is below one half", most(0), 0.5);
  claim_less("each first score is below 1.25 times uniform", most(1), 1.25 * scores(8, 1));
  claim_less("each induction score is below twice uniform", most(3), 2 * scores(8, 3));
  say("", "The heads of layer 0 attend to the previous token much more than uniform weights",
      "do, but more than half of their weight is on other tokens. No head has a clear",
      "induction pattern on this text. (The usual test, on random text: exercise 16b.)");
  return scores;
}

void ablate_heads(const nn::Gpt& model, const Indices& windows, const Array& scores) {
  section("Ablation");
  say("A large weight does not prove that the output matters (Jain and Wallace 2019):",
      "the values may be small, or later layers may ignore them. ABLATION removes a",
      "part of a model and measures the loss. We set a head's columns in the output",
      "projection to zero. Each increase of the loss is a mean over these windows.", "");
  const Ablation ablation = ablate(model, [&] { return next_token_loss(model, windows); });
  const Array all_heads = losses(model, windows);
  Array ablated = zeros({2, 4}), costs = zeros({8, 2});
  for (std::size_t i = 0; i < 8; ++i) {
    const Array without = losses_without(model, i, windows), increase = without - all_heads;
    ablated(i / 4, i % 4) = Real(xt::mean(without)());
    costs(i, 0) = Real(xt::mean(increase)()), costs(i, 1) = Real(standard_error(increase));
  }
  say("loss with all heads, nats per character: " + trained(ablation.baseline_loss));
  quote(table(costs, {"without this head", heads, {"increase", "standard error"}}));
  check("ablation by hand = ablate", ablated, ablation.ablated_loss);
  check("the losses afterwards = the losses before", losses(model, windows), all_heads, 0);
  const Array increases = xt::view(costs, xt::all(), 0);
  const Array layer_0 = xt::view(increases, xt::range(0, 4));
  const double layer_1 = xt::amax(xt::view(increases, xt::range(4, 8)))();
  claim_less("each increase in layer 1 is below a fifth of each in layer 0", layer_1,
             xt::amin(layer_0)() / 5);
  const auto most = std::size_t(std::max_element(layer_0.begin(), layer_0.end()) - layer_0.begin());
  say("", "Layer 0 has the larger previous scores and the larger increases. But within",
      "layer 0 the order differs. The head with the largest increase:");
  quote(heads[most] + ": previous score " + decimal(scores(most, 0), 2) + ", number " +
        std::to_string(rank_in_layer_0(scores, most)) + " of the 4 by previous score");
  const AblatedHead a(model, 0, 0), b(model, 0, 1), c(model, 0, 2), d(model, 0, 3);
  const Array together = losses(model, windows) - all_heads;
  say("", "A small increase does not prove that a head is useless: another head may replace",
      "it. A large increase can have another cause: later layers never saw zeros in",
      "training. (Wang et al. 2022 insert a mean output.) Increases need not add up:");
  quote("without all four heads of layer 0  " + decimal(xt::mean(together)(), 2) +
        " (standard error " + decimal(standard_error(together), 2) +
        ")\nsum of their four increases        " + decimal(xt::sum(layer_0)(), 2));
}

int main() {
  set_num_threads(1);  // a model this small is not faster with two
  opening({"measure which positions a head attends to, and ablate it",
           "pattern score(h) = mean over t of sum over s in S(t) of A[h,t,s]\n"
           "increase(h) = loss without head h - loss          A (H, T, T)",
           "Clark et al., \"What Does BERT Look At?\", section 3, 2019; Michel et\n"
           "al., \"Are Sixteen Heads Really Better than One?\", section 3, 2019",
           "mha(x, x, x, need_weights=True, average_attn_weights=False), with\n"
           "mha = nn.MultiheadAttention(64, 4, batch_first=True)"});
  section("The model");
  say("What has a trained model learned? We can read its attention weights and remove",
      "its parts. A GPT of width 64 with 2 blocks of 4 heads learns lesson 15's play:", "");
  std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(std::move(text), vocabulary);
  train_and_save(corpus, vocabulary, 42, in_brief(1200, 200), folder);
  const LoadedModel saved(ModelFile::open(folder + "/checkpoint.safetensors"));
  const Indices windows = Batches(corpus.validation(), 24, 32, std::uint64_t{2}).next().inputs;
  show_weights(saved.model, vocabulary);
  ablate_heads(saved.model, windows, score_patterns(saved.model, windows));

  section("Other texts");
  say("./heed look computes pattern scores and ablation from one text of up to 32",
      "characters, so its numbers are less certain. The heat map of one head:", "",
      "  ./heed look " + folder + " --text Dunn. --layer 0 --head 2", "",
      "To see a row of weights being computed: HEED_BRIEF=1 ./heed debug 16 (it trains",
      "first), and in gdb: break weights_by_hand, continue, next, display t, display s.");
  questions("What are the standard errors with 96 windows? In main, change 24 to 96.",
            "Do other initial weights give the same patterns? In main, change 42 to 43.",
            "Which claim fails after 120 steps? In main, change 1200 to 120.");
}
