// 16 looking_inside: what the heads of a trained model look at, and which of them matter.
//
// Before this lesson: 15_your_text, in which a small GPT learned to write.
// After it: 17_fill_in_the_blank, a model that sees both ways and fills in a hidden word.
// Worth a breakpoint: shares_by_hand. Go on with `next`, and a head's row fills place by place.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/file.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/report/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/model_file.hpp"
#include "lesson.hpp"

using namespace heed;

const std::string lesson = "16_looking_inside";
const std::string folder = "runs/lessons/" + lesson;

// Two blocks of four heads that see 32 symbols, 64 numbers each.
nn::GptConfig small_model(std::size_t symbols) {
  nn::GptConfig config;
  config.vocab_size = symbols, config.block_size = 32, config.layers = 2, config.heads = 4;
  config.embed_dim = 64;
  return config;
}

void train(const nn::Gpt& model, const Parameters& parameters, const Split& part) {
  optim::AdamWOptions options;
  options.lr = 4e-3;
  optim::AdamW optimizer(parameters.tensors(), options);
  Batches batches(part, 16, model.config.block_size, std::uint64_t{1});
  const std::int64_t steps = in_brief(1200, 200);
  for (std::int64_t step = 1; step <= steps; ++step) {
    const Batch batch = batches.next();
    Tensor loss = model.loss(batch.inputs, batch.targets);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.step();
    if (step == 1 || step == steps / 10 || step == steps)
      quote("step " + pad_left(std::to_string(step), 4) + "   loss " + decimal(loss.item(), 2));
  }
}

// The shares (T, T) of one head of the first block, from its weights: x is (T, C), what the block
// was given, each row normalized.
Array shares_by_hand(const nn::MultiHeadAttention& attention, const Array& x, std::size_t head) {
  const std::size_t T = x.shape(0), C = x.shape(1), D = C / attention.num_heads;
  Array Q = xt::linalg::dot(x, xt::transpose(attention.query.weight.value()));  // (T, C)
  Array K = xt::linalg::dot(x, xt::transpose(attention.key.weight.value()));    // (T, C)
  Array shares = zeros({T, T});
  for (std::size_t t = 0; t < T; ++t) {
    Real sum = 0;
    for (std::size_t s = 0; s <= t; ++s) {
      Real score = 0;
      for (std::size_t d = head * D; d < (head + 1) * D; ++d) score += Q(t, d) * K(s, d);
      shares(t, s) = std::exp(score / std::sqrt(Real(D)));
      sum += shares(t, s);
    }
    for (std::size_t s = 0; s <= t; ++s) shares(t, s) /= sum;
  }
  return shares;
}

// What a head gives to the place before, to place 0, and to earlier places with the row's symbol:
// means over the rows that have such places. A is (B, H, T, T), ids (B, T).
Array kinds_by_hand(const Array& A, const Indices& ids, std::size_t head) {
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

// The loss with one head of a layer made silent: its columns of the last Linear are zero.
double loss_without(const nn::Gpt& model, std::size_t layer, std::size_t head,
                    const std::function<double()>& loss) {
  Tensor out = model.blocks[layer].attention.out.weight;  // (C, C)
  const Array before = out.value();
  const std::size_t D = model.config.embed_dim / model.config.heads;
  xt::view(out.mutable_value(), xt::all(), xt::range(head * D, (head + 1) * D)) = Real(0);
  const double came = loss();
  out.mutable_value() = before;
  return came;
}

Names names_of(const Indices& ids, const Vocabulary& vocabulary) {
  Names names;
  for (const std::int64_t id : ids) names.push_back(vocabulary.decode(id));
  return names;
}

// One head's (T, T) of a window's (1, H, T, T); what may not be seen is minus infinity, for
// pictures.
Array head_of(const Array& weights, std::size_t head) {
  Array shares = xt::view(weights, 0, head);
  for (std::size_t t = 0; t < shares.shape(0); ++t)
    for (std::size_t s = t + 1; s < shares.shape(1); ++s)
      shares(t, s) = -std::numeric_limits<Real>::infinity();
  return shares;
}

std::size_t largest(const Array& x) {
  return static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
}

Real median(Array x) {  // of an even number
  std::sort(x.begin(), x.end());
  return (x(x.size() / 2 - 1) + x(x.size() / 2)) / 2;
}

int main() {
  set_num_threads(1);  // so small a model is not worth sharing
  section("A model to open");
  say("Lesson 15 taught a model to write. Its loss fell, so its heads must have learned",
      "to look at something. At what? Nothing of that is hidden: the shares that a head",
      "gives are numbers, and any of them can be read. First a model to read them in,",
      "two layers of four heads, 64 numbers for a symbol, the same play. (A layer here",
      "is a block of lesson 13. Layers and heads are counted from 0.)", "");
  std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const Vocabulary vocabulary = Vocabulary::of_text(text);
  const Corpus corpus(std::move(text), vocabulary);
  Parameters parameters;
  Generator generator(42);
  const nn::Gpt fresh(Scope(parameters, generator), small_model(vocabulary.size()));
  train(fresh, parameters, corpus.training());
  say("", "It goes into a file, and all that follows looks at the file's model.");
  std::filesystem::create_directories(folder);
  save_model(folder + "/checkpoint.safetensors", parameters, fresh.config, vocabulary);
  const LoadedModel saved(ModelFile::open(folder + "/checkpoint.safetensors"));
  const nn::Gpt& model = saved.model;
  const Indices windows = Batches(corpus.validation(), 24, 32, std::uint64_t{2}).next().inputs;
  check("scores of the file's model = of the model", model(windows), fresh(windows), 0);

  section("What a head looks at");
  say("A head's shares are those of lesson 05: queries times keys, divided by a root,",
      "softmax over what may be seen. Here are all shares of layer 0, head 0, for a",
      "line of the play: row by row, who asks; column by column, who answers.");
  const std::vector<std::int64_t> line = vocabulary.encode("The lamp is out, Nell.");
  Indices ids = Indices::from_shape({1, line.size()});
  std::copy(line.begin(), line.end(), ids.begin());
  const std::vector<LayerAttention> seen = capture_attention(model, ids);
  const Names letters = names_of(ids, vocabulary);
  HeatmapOptions options{"layer 0, head 0", letters, letters, "asks", "answers", 0, 1};
  picture_trained(lesson, "head", head_of(seen[0].weights, 0), options);
  const nn::Block& block = model.blocks[0];
  Array x = xt::view(block.norm1(model.embed(ids)).value(), 0);  // (T, C)
  for (std::size_t h = 0; h < 4; ++h) {
    Array one = xt::view(seen[0].weights, 0, h);  // (T, T)
    check("head " + std::to_string(h) + " by hand = look_inside",
          shares_by_hand(block.attention, x, h), one);
  }
  std::vector<Array> all;
  Names heads;
  for (std::size_t i = 0; i < 8; ++i) {
    all.push_back(head_of(seen[i / 4].weights, i % 4));
    heads.push_back("layer " + std::to_string(i / 4) + ", head " + std::to_string(i % 4));
  }
  options.title = "The lamp is out, Nell.";
  say("", "All eight, side by side:");
  picture(lesson, "heads", all, heads, options, 4);

  section("Kinds of heads");
  say("One line of text invites stories. Numbers over many lines are safer. Some habits",
      "are known from larger models: to look at the previous place (Clark et al. 2019;",
      "Elhage et al. 2021), at the first place (Vig and Belinkov 2019), and at earlier",
      "places with the same symbol (Wang et al. 2022). What share of its attention does",
      "each head give to these, in 24 windows of text that the model has not learned?",
      "Below them, what a head would give that spreads its attention evenly: only what",
      "is far from that says anything.", "");
  const std::vector<LayerAttention> layers = capture_attention(model, windows);
  Array scores = zeros({9, 3}), by_hand = zeros({8, 3});  // the last row: evenly
  for (std::size_t i = 0; i < 8; ++i)
    xt::view(by_hand, i) = kinds_by_hand(layers[i / 4].weights, windows, i % 4);
  for (std::size_t k = 0; k < 3; ++k) {
    const HeadKind& kind = head_kinds()[k];
    for (std::size_t l = 0; l < 2; ++l)
      xt::view(scores, xt::range(4 * l, 4 * l + 4), k) =
          head_scores(kind, layers[l].weights, windows, model.config.causal);
    scores(8, k) = Real(uniform_score(kind, windows, model.config.causal));
  }
  Names rows = heads;
  rows.push_back("evenly");
  quote(table(scores, {"shares", rows, {"previous", "first", "same"}}));
  Array of_heads = xt::view(scores, xt::range(0, 8));
  check("by hand = head_scores", by_hand, of_heads);
  Array previous = xt::view(of_heads, xt::all(), 0), first = xt::view(of_heads, xt::all(), 1);
  Array of_layer_0 = xt::view(previous, xt::range(0, 4));
  const Real least_back = *std::min_element(of_layer_0.begin(), of_layer_0.end());
  const std::size_t back = largest(previous), resting = largest(first);
  say("", "The heads of layer 0 look back, to the previous letter, far more than by chance.",
      "None of the eight rests on the first place.");
  claim("each head of layer 0 looks back over 1.5 times as much as an even head",
        least_back > 1.5 * scores(8, 0), decimal(least_back, 4));
  claim("none gives the first place a quarter more than an even head",
        first(resting) < 1.25 * scores(8, 1), decimal(first(resting), 4));
  say("", "Of all eight, this one looks back most:");
  quote(heads[back] + ": " + decimal(previous(back), 2) + ", evenly " + decimal(scores(8, 0), 2));
  claim("it does more than twice as much as an even head", previous(back) > 2 * scores(8, 0),
        decimal(previous(back), 4));

  section("Does it matter?");
  say("Shares tell where a head looks, not what comes of it: what it fetches there may",
      "be next to nothing, and later layers may not care. Attention is not by itself an",
      "explanation (Jain and Wallace 2019). So ask the model: what is its loss without",
      "the head? Put zeros into the columns of the last Linear (lesson 11) that the",
      "head's result meets, and it adds nothing. All else stays.", "");
  const std::function<double()> loss = [&] { return next_token_loss(model, windows); };
  const Ablation ablation = ablate(model, loss);  // (L, H)
  Array removed = zeros({2, 4});
  for (std::size_t i = 0; i < 8; ++i)
    removed(i / 4, i % 4) = Real(loss_without(model, i / 4, i % 4, loss));
  Array costs = ablation.ablated_loss - Real(ablation.baseline_loss);
  say("with all heads, nats per symbol: " + trained(ablation.baseline_loss));
  quote(table(costs, {"without a head, more by",
                      {"layer 0", "layer 1"},
                      {"head 0", "head 1", "head 2", "head 3"}}));
  check("by hand = ablate", removed, ablation.ablated_loss);
  check("put back, the loss is as before", scalar(Real(loss())),
        scalar(Real(ablation.baseline_loss)), 0);
  costs.reshape({8});
  Array second_layer = xt::view(costs, xt::range(4, 8));
  const Real costliest = second_layer(largest(second_layer));
  say("", "The head that looks back most, the median of all eight, and the costliest of",
      "layer 1:");
  quote(decimal(costs(back), 3) + ", " + decimal(median(costs), 3) + ", " + decimal(costliest, 3));
  claim("the head that looks back most costs more than the median head",
        costs(back) > median(costs), decimal(costs(back), 4));
  claim("the costliest head of layer 1 costs less than a fifth of it", costliest < costs(back) / 5,
        decimal(costliest, 4));
  const AblatedHead a(model, 0, 0), b(model, 0, 1), c(model, 0, 2), d(model, 0, 3);
  Array first_layer = xt::view(costs, xt::range(0, 4));
  const Array sum = xt::sum(first_layer);
  say("", "To look back most and to cost most are two things: compare the tables. And take",
      "no cost as the last word. Zeros bring the model where it never was in training,",
      "which can cost more than the head is worth. A cost near 0 may mean that another",
      "head stands in.");
  say("", "The costs of two heads do not add up, since what one fetches another may fetch",
      "too, or may build on. All heads of layer 0 removed at once, and the sum of their",
      "four costs:");
  quote(decimal(loss() - ablation.baseline_loss, 2) + ", " + decimal(sum(), 2));

  section("Look for yourself");
  say("The file is still there. For any text of up to 32", "symbols:", "",
      "  ./heed look runs/lessons/16_looking_inside --text \"Fetch me the bailer.\"",
      "  ./heed look runs/lessons/16_looking_inside --text \"Dunn. Dunn.\" --layer 0 --head 2", "",
      "prints the tables above for it, shows its heat maps, and draws them all in",
      "runs/lessons/16_looking_inside/look.svg. To watch a head's row fill, start gdb",
      "with: HEED_BRIEF=1 ./heed debug 16 (it trains first, for a minute)", "",
      "  break shares_by_hand", "  continue", "  next                  until you are in the loop",
      "  display t             and s, and sum", "",
      "These heads see the past alone, so they can only guess what comes next. What do",
      "heads learn that see both ways? Hide a word and ask: 17_fill_in_the_blank.");
}
