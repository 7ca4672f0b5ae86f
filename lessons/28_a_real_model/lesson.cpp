// 28 a_real_model: the reader's functions of four exercises on a model of somebody else.
//
// Before this lesson: all others, but only 14, 16, 17, 23 and 24 are needed.
// With a folder of GPT-2 or BERT, or a file of llama2.c: ./heed lesson 28 PATH
// Worth a breakpoint: update, which runs once for each block of 16 keys.

#include "guess.hpp"
#include "heed/array/parallel.hpp"
#include "heed/study/heads.hpp"
#include "heed/train/trainer.hpp"
#include "in_threads.hpp"
#include "models.hpp"

using namespace heed;

Tools your_tools() {
  section("Your instruments");
  return {yours_or_ours("first_leak", "14", first_leak, heeds_first_leak, leak_test),
          yours_or_ours("induction_scores", "17", induction_scores, heeds_induction_scores,
                        induction_test),
          yours_or_ours("update", "23", update, heeds_update, update_test),
          yours_or_ours("encode", "24", encode, heeds_encode, encode_test)};
}

// A GPT of two layers, trained on the first 90 % of the play.
nn::Gpt train(const Corpus& corpus, std::size_t V, std::uint64_t seed) {
  nn::GptConfig config;
  config.vocab_size = V, config.block_size = 64, config.embed_dim = 64;
  config.layers = 2, config.heads = 4;
  TrainOptions options;  // lesson 15
  options.steps = in_brief(500, 40), options.batch_size = 16, options.seed = seed;
  options.lr = 0.004, options.warmup = 20, options.eval_every = options.steps;
  Trainer trainer(corpus, config, options);
  while (!trainer.done()) trainer.step();
  return trainer.model();
}

// The control: lesson 17's model as a GPT whose MLPs have only zeros, trained on repeated tokens.
Models trained_on_repeats() {
  nn::GptConfig config;
  config.vocab_size = 32, config.block_size = 48, config.embed_dim = 48;
  config.layers = 2, config.heads = 1;
  config.tied = false, config.positions = nn::PositionKind::rotary;
  Parameters parameters;
  Generator initial(1), g(17);
  const nn::Gpt model(Scope(parameters, initial), config);
  std::vector<Tensor> trained;
  for (Tensor p : parameters) {
    const bool in_mlp = p.name().find("mlp") != std::string::npos;
    if (p.dim() == 2) p.mutable_value() = initial.normal(p.shape(), 0, in_mlp ? 0 : 0.06);
    if (!in_mlp) trained.push_back(p);
  }
  const optim::WarmupCosine rate{0.005, 0.0005, 50, in_brief(450, 40)};
  optim::AdamW optimizer(trained, {0.005, 0.9, 0.98, 1e-8, /*weight_decay=*/0});
  for (std::int64_t step = 0; step < rate.decay_steps; ++step) {
    const Indices x = repeats(32, 49, g);  // (16, 49)
    optim::zero_grad(parameters.tensors());
    backward(model.loss(xt::view(x, xt::all(), xt::range(0, 48)),
                        xt::view(x, xt::all(), xt::range(1, 49))));
    optim::clip_grad_norm(trained, 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
  return {{model}, 0, "", {}, {}};
}

Models five_models() {
  const std::string play = read_text(HEED_DATA_DIR "/harbour.txt");
  const std::size_t end = training_bytes(play), V = 384;
  const Vocabulary tokens(BytePairs::trained_on(play.substr(0, end), V));
  const Corpus corpus(play, tokens);
  const auto models =
      in_threads<nn::Gpt>(5, [&](std::uint64_t seed) { return train(corpus, V, seed); });
  return with_text(models, tokens, play.substr(end, 400));
}

Models the_patient(const std::string& path) {
  section("The models");
  const Models all = path.empty() ? five_models() : read_model(path);
  quote(sizes_of(all.config()));
  say();
  return all;
}

// Eight tokens of the vocabulary, numbered 0 to 7: tokens (T) to logits (T, 8).
Array logits_of_eight(const nn::Gpt& model, const Indices& tokens) {
  const auto distance = std::int64_t(model.config.vocab_size / 8);
  Indices ids = tokens * distance;
  ids.reshape({1, tokens.size()});
  return xt::view(model(ids).value(), 0, xt::all(), xt::range(0, 8 * distance, distance));
}

void leaks(const Models& all, const Tools& tools) {
  section("Does it leak?");
  const std::size_t T = 12;
  const Indices tokens = Generator(1).randint(0, 8, {T});
  std::vector<std::size_t> with_mask, without_mask;  // the first row that leaks; T: none
  for (nn::Gpt model : all.models) {                 // a copy, which shares the weights
    const Model logits = [&](const Indices& x) { return logits_of_eight(model, x); };
    with_mask.push_back(tools.first_leak(logits, tokens, 8));
    model.config.causal = false;
    without_mask.push_back(tools.first_leak(logits, tokens, 8));
  }
  say("first row that leaks (12: none): " + numbers(with_mask));
  say("the same weights without a mask: " + numbers(without_mask));
  if (all.config().causal)
    claim("no causal model leaks", smallest(with_mask) == T, numbers(with_mask));
  claim("without the mask, row 0 leaks", smallest(without_mask) == 0, numbers(without_mask));
  say();
}

// The mean weight of the previous token.
Array previous_scores(const Array& weights, const std::vector<int>& tokens) {
  Array scores = zeros({weights.shape(0)});
  for (std::size_t h = 0; h < scores.size(); ++h)
    for (std::size_t t = 1; t < tokens.size(); ++t)
      scores(h) += weights(h, t, t - 1) / Real(tokens.size() - 1);
  return scores;
}

// The mean scores over the sequences x (B, T), for each head of each layer: (L, H).
Array scores_of(const nn::Gpt& model, const Indices& x, const HeadScores& score) {
  const std::vector<LayerAttention> layers = capture_attention(model, x);
  Array scores = zeros({layers.size(), model.config.heads});
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (std::size_t b = 0; b < x.shape(0); ++b) {
      const Indices row = xt::row(x, std::ptrdiff_t(b));
      const Array of_row = score(xt::view(layers[l].weights, b), {row.begin(), row.end()});
      xt::view(scores, l) += of_row / Real(x.shape(0));
    }
  return scores;
}

// The score of the head that is best on the sequences `choosing`, on the sequences x.
double score_of_best(const nn::Gpt& model, const Indices& choosing, const Indices& x,
                     const HeadScores& score) {
  const Head head = best_of(scores_of(model, choosing, score));
  return scores_of(model, x, score)(head.layer, head.number);
}

// Induction and previous token scores of the best heads, each beside that of equal weights.
std::vector<double> best_scores(const Models& all, const nn::Gpt& model, const Tools& tools) {
  const Indices choosing = repeats(all, 1), x = repeats(all, 2);
  const Indices texts = own_texts(model, all), half = xt::view(texts, xt::range(8, 16));
  return {score_of_best(model, choosing, x, tools.induction_scores),
          score_of_equal_weights(all, x, tools.induction_scores),
          score_of_best(model, xt::view(texts, xt::range(0, 8)), half, previous_scores),
          score_of_equal_weights(all, half, previous_scores)};
}

void which_heads_repeat(const Models& all, const Models& control, const Tools& tools,
                        const Guess& guess) {
  section("Which heads repeat?");
  const Array perfect = perfect_induction(24);  // 12 tokens, twice
  const Indices dozen = twice(xt::arange<std::int64_t>(12).reshape({1, 12}));
  check("the score of a perfect induction head = 1",
        tools.induction_scores(xt::view(perfect, xt::newaxis()), {dozen.begin(), dozen.end()}),
        ones({1}));
  std::vector<std::vector<double>> rows = {best_scores(control, control.models[0], tools)};
  std::vector<double> induction;
  for (const nn::Gpt& model : all.models) {
    rows.push_back(best_scores(all, model, tools));
    induction.push_back(rows.back()[0]);
  }
  quote(table_of(all, {"induction", "equal", "previous", "equal"}, rows));
  guard("the control has an induction head", brief() || rows[0][0] > 0.5, decimal(rows[0][0], 3));
  guess.compare(decimal(estimate(induction).mean, 2));
  say();
  const auto best_weights = [&](const Models& of, Head& head) {
    head = best_of(scores_of(of.models[0], repeats(of, 1), tools.induction_scores));
    const Indices few = twice(random_tokens(of, 12));
    return Array(
        xt::view(capture_attention(of.models[0], few)[head.layer].weights, 0, head.number));
  };
  Head of_control, of_first;
  const Array controls = best_weights(control, of_control), first = best_weights(all, of_first);
  draw(controls, "control, head " + name_of(of_control), first,
       all.names()[0] + ", head " + name_of(of_first));
  say();
}

// The loss of each text x (B, T / 2) after the text of the same number in `before`: (B).
Array losses_after(const Indices& before, const Indices& x, const nn::Gpt& model) {
  const auto half = std::int64_t(x.shape(1));
  const Indices targets = xt::view(x, xt::all(), xt::range(1, half));
  const Tensor logits = model(Indices(xt::concatenate(xt::xtuple(before, x), 1)));  // (B, T, V)
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  return xt::mean(cross_entropy(slice(logits, 1, half, 2 * half - 1), targets, each).value(), {1});
}

// The losses of a model's texts after others and after themselves, and the mean of the differences
// with its standard error over the texts.
std::vector<double> copying(const Models& all, const nn::Gpt& model) {
  const Indices x = own_texts(model, all), others = xt::roll(x, 1, 0);
  const Array other = losses_after(others, x, model), own = losses_after(x, x, model);
  const Array changes = own - other;
  const Estimate e = estimate({changes.begin(), changes.end()});
  return {xt::mean(other)(), xt::mean(own)(), e.mean, e.standard_error};
}

void does_it_copy(const Models& all, const Models& control) {
  section("Does it copy?");
  std::vector<std::vector<double>> rows = {copying(control, control.models[0])};
  std::vector<double> changes;
  for (const nn::Gpt& model : all.models) {
    if (!all.config().causal) break;  // it predicts no next token
    rows.push_back(copying(all, model));
    changes.push_back(rows.back()[2]);
  }
  quote(table_of(all, {"after another", "after itself", "change", "+-"}, rows));
  const Estimate e = estimate(changes);
  if (changes.size() > 1)
    quote("mean change of the models " + decimal(e.mean, 3) + " +- " +
          decimal(e.standard_error, 3));
  guard("the control copies", brief() || rows[0][2] < -1, decimal(rows[0][2], 3));
  say();
}

void the_same_tokens(const Models& all, const Tools& tools) {
  if (all.pairs.merges.empty()) return quote("encode is not tested: no merges in a merges.txt");
  Ids ids;
  for (const std::string_view chunk : BytePairs::chunks_of(all.text)) {  // words
    Ids bytes;
    for (const char c : chunk) bytes.push_back(all.pairs.id_of_byte[std::uint8_t(c)]);
    for (const std::int64_t id : tools.encode(all.pairs.merges, bytes)) ids.push_back(id);
  }
  claim("encode gives the ids of the model's own tokenizer", ids == all.ids, "other ids");
}

// The model's logits (1, T, V), but in each layer `add` reads the keys, 16 at a time.
Tensor logits_in_blocks(const nn::Gpt& model, const Indices& ids, decltype(&update) add) {
  const std::size_t T = ids.shape(1), H = model.config.heads, D = model.config.head_width();
  Tensor x = model.embed(ids);
  for (const nn::Block& block : model.blocks) {
    const Tensor input = block.attention_input(x);
    const nn::Projections p = block.attention.project(input, input);
    const auto heads = [&](const Tensor& y) {
      return repeat_kv_heads(split_heads(y, block.attention.num_kv_heads), H).value();
    };
    const Array Q = split_heads(p.query, H).value(), K = heads(p.key), V = heads(p.value);
    Array O = zeros({1, T, H * D});  // Q, K and V are (1, H, T, D)
    for (std::size_t h = 0; h < H; ++h)
      for (std::size_t t = 0; t < T; ++t) {
        Row row(D);
        for (std::size_t first = 0; first < T; first += 16) {
          const std::size_t end = std::min(first + 16, T);
          const Array k = xt::view(K, 0, h, xt::range(first, end));
          const Array v = xt::view(V, 0, h, xt::range(first, end)), q = xt::view(Q, 0, h, t);
          Array scores = xt::linalg::dot(k, q) / std::sqrt(Real(D));
          for (std::size_t j = 0; j < scores.size() && model.config.causal; ++j)
            if (first + j > t) scores(j) = -std::numeric_limits<Real>::infinity();
          add(row, scores, v);
        }
        xt::view(O, 0, t, xt::range(h * D, h * D + D)) = row.output / row.sum;
      }
    x = block.after_attention(x, block.attention.out(Tensor(O)));
  }
  return model.logits(x);
}

void tokens_and_logits(const Models& all, const Tools& tools) {
  section("The same tokens, the same logits?");
  the_same_tokens(all, tools);
  const nn::Gpt& model = all.models[0];
  const Indices ids = twice(random_tokens(all, all.window() / 2));
  const Array whole = model(ids).value();  // (1, T, V)
  const Array blocks = logits_in_blocks(model, ids, tools.update).value();
  const Real largest = xt::amax(xt::abs(whole))();
  check("logits in blocks = the model's logits, both divided by the largest", blocks / largest,
        whole / largest);
  quote("largest difference / largest logit: " +
        scientific(xt::amax(xt::abs(blocks - whole))() / largest, 1));
}

int main(int argc, char** argv) {
  set_num_threads(argc > 1 ? 2 : 1);  // our models are too small for a second thread
  opening();
  const Guess guess("the largest induction score of a head");
  const Tools tools = your_tools();
  const Models all = the_patient(argc > 1 ? argv[1] : ""), control = trained_on_repeats();
  const NoGrad no_grad;
  leaks(all, tools);
  which_heads_repeat(all, control, tools, guess);
  does_it_copy(all, control);
  tokens_and_logits(all, tools);
  section("What held");
  section("To remember");
  section("What to read next");
  ending();
}
