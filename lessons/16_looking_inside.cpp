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
      "layer 0, head 0 for a line of the play. (A layer is a block. Counts begin at 0.)");
  const Indices ids = ids_of(vocabulary, "The lamp is out, Nell.");
  Names letters;
  for (const std::int64_t id : ids) letters.push_back(vocabulary.decode(id));
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
  say("A HEAD PATTERN is a rule for the key positions of each query. A head's score is",
      "its attention weight on these positions, a mean over the queries of 24",
      "validation windows. The last row is for uniform weights: only a score far from",
      "it is evidence.", "",
      "previous   PREVIOUS TOKEN HEAD: the token before the query (Clark et al. 2019)",
      "first      ATTENTION SINK: often the first token (Xiao et al. 2023)",
      "same       SAME TOKEN HEAD: earlier positions with the query's token (also:",
      "           duplicate token head, Wang et al. 2022)",
      "induction  INDUCTION HEAD: the token that followed an earlier occurrence of the",
      "           query's token (Olsson et al. 2022)", "");
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
  quote(table(scores, {"scores", rows, {"previous", "first", "same", "induction"}}));
  check("scores by hand = head_scores", by_hand,
        Array(xt::view(scores, xt::range(0, 8), xt::range(0, 3))));
  const Array most = xt::amax(xt::view(scores, xt::range(0, 8)), {0});  // of each pattern
  const double least = xt::amin(xt::view(scores, xt::range(0, 4), 0))();
  claim_less("each previous score of layer 0 is over 1.5 times uniform", 1.5 * scores(8, 0), least);
  claim_less("the largest previous score is over twice uniform", 2 * scores(8, 0), most(0));
  claim_less("each first score is below 1.25 times uniform", most(1), 1.25 * scores(8, 1));
  claim_less("each induction score is below twice uniform", most(3), 2 * scores(8, 3));
  say("", "Layer 0 attends to the previous token. No head has a clear induction pattern.");
  return scores;
}

void ablate_heads(const nn::Gpt& model, const Indices& windows, const Array& scores) {
  section("Ablation");
  say("A large weight does not prove that the output matters (Jain and Wallace 2019):",
      "the values may be small, or later layers may ignore them. ABLATION removes a",
      "part of a model and measures the loss. We set a head's columns in the output",
      "projection to zero. The standard error is that of the mean increase over 24", "windows.",
      "");
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
  Array increases = xt::view(costs, xt::all(), 0), sorted = increases;
  std::sort(sorted.begin(), sorted.end());
  const Array previous = xt::view(scores, xt::range(0, 8), 0);
  const auto best = std::max_element(previous.begin(), previous.end()) - previous.begin();
  const double median = (sorted(3) + sorted(4)) / 2, cost = increases(std::size_t(best));
  const double layer_1 = xt::amax(xt::view(increases, xt::range(4, 8)))();
  quote("the head with the largest previous score  " + decimal(cost, 3) +
        "\nthe median of all heads                   " + decimal(median, 3) +
        "\nthe largest increase in layer 1           " + decimal(layer_1, 3));
  claim_less("largest previous score: its increase is above the median", median, cost);
  claim_less("the largest increase in layer 1 is below a fifth of that", layer_1, cost / 5);
  const AblatedHead a(model, 0, 0), b(model, 0, 1), c(model, 0, 2), d(model, 0, 3);
  const Array together = losses(model, windows) - all_heads;
  say("", "A small increase does not prove that a head is useless, because another head may",
      "replace it. So increases need not add up. Here are the increase without all four",
      "heads of layer 0, its standard error, and the sum of the four increases:");
  quote(decimal(xt::mean(together)(), 2) + " (" + decimal(standard_error(together), 2) + "), " +
        decimal(xt::sum(xt::view(increases, xt::range(0, 4)))(), 2));
}

int main() {
  set_num_threads(1);  // a model this small is not faster with two
  opening({"measure which positions a head attends to, and ablate it",
           "score(h) = mean over t of sum over s in S(t) of A[h,t,s] A (H, T, T)\n"
           "increase(h) = loss without head h - loss",
           "Clark et al., \"What Does BERT Look At?\", section 3, 2019; Michel et\n"
           "al., \"Are Sixteen Heads Really Better than One?\", section 3, 2019",
           "nn.MultiheadAttention(need_weights=True, average_attn_weights=False)"});
  section("The model");
  say("A GPT with 2 blocks of 4 heads and embed_dim 64, trained on lesson 15's play:", "");
  std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(std::move(text), vocabulary);
  train_and_save(corpus, vocabulary, 42, in_brief(1200, 200), folder);
  const LoadedModel saved(ModelFile::open(folder + "/checkpoint.safetensors"));
  const Indices windows = Batches(corpus.validation(), 24, 32, std::uint64_t{2}).next().inputs;
  show_weights(saved.model, vocabulary);
  ablate_heads(saved.model, windows, score_patterns(saved.model, windows));

  section("Other texts");
  say("./heed look computes scores and ablation from one text of up to 32 characters.",
      "They are less certain than those above. The heat map of one head:", "",
      "  ./heed look " + folder + " --text Dunn. --layer 0 --head 2", "",
      "To see a row of weights being computed: HEED_BRIEF=1 ./heed debug 16 (it trains",
      "first), and in gdb: break weights_by_hand, continue, next, display t, display s.");
  questions("What are the standard errors with 96 windows? In main, change 24 to 96.",
            "Do other initial weights give the same patterns? In main, change 42 to 43.",
            "Which claim fails after 120 steps? In main, change 1200 to 120.");
}
