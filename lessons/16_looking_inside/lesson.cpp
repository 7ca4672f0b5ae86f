// 16 looking_inside: the attention patterns of a trained model's heads, and ablation of each head.
//
// Before this lesson: 15_your_text, which trains a character-level GPT.
// After it: 18_fill_in_the_blank, a bidirectional model that predicts a masked word.
// Worth a breakpoint: weights_by_hand. Continue with `next`: the loop fills the rows of one head.

#include <algorithm>
#include <cmath>

#include "ablation.hpp"
#include "heed/base/file.hpp"
#include "k_composition.hpp"

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

void show_weights(const nn::Gpt& model, const Vocabulary& vocabulary, const Indices& windows) {
  section("The attention weights of each head");
  say("capture_attention returns the attention weights of all heads. Here are those of",
      "layer 0, head 0 for a line of the play. (A layer is a block. Counts begin at 0.)",
      "Weights below 0.125 are drawn as blanks: a row that looks empty has many small", "weights.");
  const Indices ids = ids_of(vocabulary, "The lamp is out, Nell.");
  const Names letters = letters_of(vocabulary, ids);
  const std::vector<LayerAttention> layers = capture_attention(model, ids);
  std::vector<Array> all;
  for (std::size_t i = 0; i < 8; ++i) all.push_back(masked_weights(layers[i / 4].weights, i % 4));
  HeatmapOptions options{"attention weights of layer 0, head 0", letters, letters, "query position",
                         "key position"};
  options.low = 0, options.high = 1;
  picture_trained(lesson, "head", all[0], options);
  Array x = xt::view(model.blocks[0].norm1(model.embed(ids)).value(), 0);  // (T, C)
  for (std::size_t h = 0; h < 4; ++h)
    check("head " + std::to_string(h) + " by hand = capture_attention",
          weights_by_hand(model.blocks[0].attention, x, h),
          Array(xt::view(layers[0].weights, 0, h)));
  options.title = "attention weights of all heads";
  picture(lesson, "heads", all, heads, options, 4);
  const std::vector<LayerAttention> of_windows = capture_attention(model, windows);
  say("");
  quote("layer 0, head 0: mean weight on the last three tokens " +
        decimal(weight_on_last_three(of_windows[0].weights, 0), 2));
  say("", "In layer 1 the heads 0 and 3 have vertical stripes: many later queries attend to",
      "one key, less with distance. For each head of layer 1 and each character, we",
      "compare the mean weight on this character with that of uniform weights. The",
      "character with the largest difference:", "");
  for (std::size_t h = 0; h < 4; ++h)
    quote("head " + std::to_string(h) + ": " +
          most_attended(of_windows[1].weights, h, windows, vocabulary));
}

void score_patterns(const nn::Gpt& model, const Indices& windows, std::int64_t space) {
  section("Head patterns");
  say("A HEAD PATTERN is a rule that gives key positions S(t) for each query t. If S(t)",
      "is not empty, we sum the head's weights of query t on S(t). The pattern",
      "score is the mean of these sums over the queries of " + std::to_string(windows.shape(0)) +
          " windows of " + std::to_string(windows.shape(1)),
      "characters of the validation part. It must be compared with that of uniform", "weights.", "",
      "  previous   the previous token. A PREVIOUS TOKEN HEAD has most of its weight",
      "             there (Clark et al. 2019).",
      "  first      the first token. If many queries give it a large weight, it is an",
      "             ATTENTION SINK (Xiao et al. 2023).",
      "  same       earlier positions with the query's token. A head with most of its",
      "             weight there is a SAME TOKEN HEAD (duplicate token head, Wang et",
      "             al. 2022).",
      "  induction  the tokens that followed the query's token earlier, as 'a' for the",
      "             last 'c' of 'the cat. the c'. An INDUCTION HEAD (Elhage et al.",
      "             2021, Olsson et al. 2022) has most of its weight there.", "");
  std::vector<HeadKind> kinds = head_kinds();
  kinds.push_back(induction);
  const std::vector<LayerAttention> layers = capture_attention(model, windows);
  Array scores = zeros({9, 4}), by_hand = zeros({8, 3});
  for (std::size_t i = 0; i < 8; ++i)
    xt::view(by_hand, i) = scores_by_hand(layers[i / 4].weights, windows, i % 4);
  const PatternScores found = pattern_scores(kinds, layers, windows);
  Array all = zeros({10, 4});
  xt::view(scores, xt::range(0, 8)) = found.mean;
  for (std::size_t k = 0; k < 4; ++k) scores(8, k) = Real(uniform_score(kinds[k], windows, true));
  xt::view(all, xt::range(0, 9)) = scores;
  xt::row(all, 9) = xt::amax(found.error, {0});
  Names rows = heads;
  rows.insert(rows.end(), {"uniform weights", "largest st. error"});
  quote(table(all, {"pattern scores", rows, {"previous", "first", "same", "induction"}}));
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
      "do, but more than half of their weight is on other tokens. No head has an",
      "attention sink at the first token, and no induction score is far above uniform.");
  same_token_control(layers[1].weights, windows, 3, space);
}

void ablate_heads(const nn::Gpt& model, const Indices& windows) {
  section("Ablation");
  say("A large weight does not prove that the output matters: the value may be small",
      "(Kobayashi et al. 2020, \"Attention is Not Only a Weight\"), or later layers may",
      "ignore it. (On this debate: Jain and Wallace 2019; Wiegreffe and Pinter 2019.)",
      "ABLATION removes a part of a model and measures the loss. ZERO ABLATION sets the",
      "output of a head to 0: its columns in the output projection become zero. But",
      "later layers may never have had such an input in training. MEAN ABLATION sets",
      "the output to its mean over all positions (Wang et al. 2022). Each increase of",
      "the loss is a mean over the windows:", "");
  const Array original = losses(model, windows);
  Array by_hand = zeros({2, 4}), costs = zeros({10, 4});
  for (std::size_t i = 0; i < 10; ++i)
    for (const bool with_mean : {false, true}) {
      std::vector<std::size_t> ablated = {i % 4};
      if (i >= 8) ablated = {0, 1, 2, 3};
      const Array increase =
          losses_without(model, i < 8 ? i / 4 : i - 8, ablated, windows, with_mean) - original;
      costs(i, with_mean ? 2 : 0) = Real(xt::mean(increase)());
      costs(i, with_mean ? 3 : 1) = Real(standard_error(increase));
    }
  for (std::size_t i = 0; i < 8; ++i)
    by_hand(i / 4, i % 4) = Real(xt::mean(losses_by_hand(model, i, windows))());
  const Ablation ablation = ablate(model, [&] { return next_token_loss(model, windows); });
  say("loss with all heads, nats per character: " + trained(ablation.baseline_loss));
  Names rows = heads;
  rows.insert(rows.end(), {"all of layer 0", "all of layer 1"});
  quote(
      table(costs, {"increase of the loss", rows, {"zero", "st. error", "mean", "st. error"}, 3}));
  check("zero ablation by hand = ablate", by_hand, ablation.ablated_loss);
  claim_less("mean: each increase in layer 1 is below each in layer 0",
             xt::amax(xt::view(costs, xt::range(4, 8), 2))(),
             xt::amin(xt::view(costs, xt::range(0, 4), 2))());
  const Array difference = xt::abs(xt::col(costs, 0) - xt::col(costs, 2));  // (10)
  claim_less("for each single head zero and mean ablation differ by less than 0.05",
             xt::amax(xt::view(difference, xt::range(0, 8)))(), 0.05);
  claim_less("mean: without layer 0 the loss rises more than without layer 1", costs(9, 2),
             costs(8, 2));
  const Array sums = xt::sum(xt::view(costs, xt::range(0, 4)), {0});
  quote("sum of the four rows of layer 0: zero " + decimal(sums(0), 2) + ", mean " +
        decimal(sums(2), 2));
  say("", "For single heads zero and mean ablation give nearly the same increases; for all",
      "of layer 0 they differ. A small increase does not prove that a head is useless:",
      "another head may do the same. So increases need not add up: without all of layer",
      "0 the loss rises by more than the sum of its four rows. Without all of layer 1",
      "it hardly rises: on this text the model almost works without its second",
      "attention layer. Which text needs two?");
}

int main() {
  set_num_threads(1);  // a model this small is not faster with two
  opening({"to measure which positions a head attends to, and to ablate it",
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
  const Indices windows = windows_of(corpus, corpus.validation(), 32);
  show_weights(saved.model, vocabulary, windows);
  score_patterns(saved.model, windows, vocabulary.find(' '));
  ablate_heads(saved.model, windows);
  induction_heads(lesson);

  section("Other texts");
  say("With --text, ./heed look computes pattern scores and ablation from this text",
      "alone, of up to 32 characters, so its numbers are less certain. The heat map of",
      "one head:", "", "  ./heed look " + folder + " --text Dunn. --layer 0 --head 2", "",
      "To see a row of weights being computed: HEED_BRIEF=1 ./heed debug 16 (it trains",
      "first), and in gdb: break weights_by_hand, continue, next, display t, display s.");
  questions("What are the pattern scores in windows of 16? In main, change 32 to 16.",
            "Do other initial weights give the same patterns? In main, change 42 to 43.",
            "Which claim fails after 120 steps? In main, change 1200 to 120.");
}
