// 20 encoder_decoder: an encoder and a decoder with cross-attention, from one sequence to another.
//
// Worth a breakpoint: Transformer::decode, which reads the memory. Continue with `next`.

#include "architecture.hpp"
#include "guess.hpp"
#include "heed/nn/encoder_decoder.hpp"
#include "measures.hpp"
#include "models_in_threads.hpp"
#include "pictures.hpp"

using namespace heed;

constexpr std::size_t C = 32, H = 4;  // width and heads
const std::int64_t steps = in_brief(1800, 1000);
const std::size_t seeds = std::size_t(in_brief(5, 2));

// An attention that a model lacks: a query then attends to its own position only, and in
// cross-attention to no key at all.
enum class Part { none, encoder_self, causal_self, cross };

struct Transformer {
  explicit Transformer(const Scope& scope, Part removed = Part::none, std::size_t layers = 1)
      : token(scope / "token", V, C),
        encoder(scope / "encoder", layers, C, H),
        decoder(scope / "decoder", layers, C, H),
        head(scope / "head", C, V),
        without(removed) {}

  Tensor embed(const Indices& tokens) const {  // (B, T) -> (B, T, C)
    return token(tokens) + nn::sinusoidal_positions(tokens.shape(1), C);
  }
  nn::AttentionMask mask_of(const Indices& source) const {
    nn::AttentionMask m;
    m.key_padding = xt::equal(source, padding);  // (B, S), true (hidden) at padding
    return m;
  }
  Tensor encode(const Indices& source) const {  // (B, S) -> the memory (B, S, C)
    nn::AttentionMask m = mask_of(source);
    if (without == Part::encoder_self) m.mask = only_own_position(source.shape(1));
    return encoder(embed(source), m);
  }
  // The memory (B, S, C) of the source (B, S), and the decoder's input (B, T) -> logits (B, T, V)
  Tensor decode(const Tensor& memory, const Indices& source, const Indices& input) const {
    nn::AttentionMask causal, m = mask_of(source);
    causal.causal = without != Part::causal_self;
    if (without == Part::causal_self) causal.mask = only_own_position(input.shape(1));
    if (without == Part::cross) m.key_padding->fill(true);
    return head(decoder(embed(input), memory, causal, m));
  }
  Tensor operator()(const Indices& source, const Indices& input) const {
    return decode(encode(source), source, input);
  }

  nn::Embedding token;
  nn::Encoder encoder;
  nn::Decoder decoder;
  nn::Linear head;
  Part without;
};

Tensor loss_of(const Transformer& model, const Batch& batch) {
  CrossEntropyOptions options;
  options.ignore_index = padding;  // no loss where the target is padding
  return cross_entropy(model(batch.source, batch.input), batch.target, options);
}

Transformer train(const Data& data, Part removed, std::uint64_t seed, double rate) {
  Parameters parameters;
  Generator g(seed);  // draws the initial weights, then the batches
  const Transformer model({parameters, g}, removed);
  optim::AdamW optimizer(parameters, {rate, 0.9, 0.98, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine schedule{rate, rate / 100, steps / 10, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor loss = loss_of(model, data.training_batch(g, 32));
    optimizer.zero_grad();
    loss.backward();
    optim::clip_grad_norm(parameters, 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
  return model;
}

// Greedy decoding: the decoder reads <start> and its own predictions, up to <stop>.
std::vector<Tokens> greedy_outputs(const Transformer& model, const std::vector<Pair>& pairs) {
  const NoGrad no_grad;
  const Indices source = batch_of(pairs).source;  // (B, S)
  const std::size_t B = pairs.size(), S = source.shape(1);
  const Tensor memory = model.encode(source);  // computed once
  Indices input = indices({B, S}, start);
  std::vector<Tokens> outputs(B);
  for (std::size_t t = 0; t + 1 < S; ++t) {  // a right output is shorter than its source
    const Indices prefix = xt::view(input, xt::all(), xt::range(0, t + 1));
    const Indices next = argmax(select(model.decode(memory, source, prefix), 1, int(t)), -1);
    xt::col(input, int(t + 1)) = next;  // (B)
    for (std::size_t b = 0; b < B; ++b)
      if (outputs[b].empty() || outputs[b].back() != stop) outputs[b].push_back(next(b));
  }
  return outputs;
}

struct Setting {
  std::string name;  // what the model lacks
  Part without;
  double rate;  // the learning rate
  std::size_t seeds;
};
const std::vector<Setting> settings = {{"none", Part::none, 0.02, seeds},
                                       {"encoder self-attention", Part::encoder_self, 0.01, seeds},
                                       {"causal self-attention", Part::causal_self, 0.005, seeds},
                                       {"cross-attention", Part::cross, 0.02, 1}};
using Models = std::vector<Transformer>;  // one for each seed

std::vector<Models> train_all(const Data& data, const std::vector<Setting>& all,
                              std::uint64_t first_seed) {
  std::vector<std::size_t> number;
  for (const Setting& setting : all) number.push_back(setting.seeds);
  return models_in_threads<Transformer>(number, [&](std::size_t i, std::size_t seed) {
    return train(data, all[i].without, first_seed + seed, all[i].rate);
  });
}

std::vector<TuningRow> sweep(const Data& data) {
  std::vector<Setting> all = {settings.begin(), settings.begin() + 3};  // the last learns nothing
  for (Setting& setting : all) setting.seeds = 2;
  const Batch batch = batch_of(data.tuning_pairs());
  return losses_of_rates(
      all, {0.005, 0.01, 0.02},
      [&](const std::vector<Setting>& changed) { return train_all(data, changed, 11); },
      [&](const Transformer& model) { return loss_of(model, batch).item(); });
}

void one_sequence_to_another(const Data& data) {
  section("From one sequence to another");
  for (const std::int64_t task : {reverse, sort, shuffle}) {
    const Pair pair = data.held_out_of_length(task, 5, 3, 1)[0];
    say(pad_right(text_of(pair.source), 29) + "->  " + text_of(pair.target));
  }
  say({{"shortest", shortest}, {"longest", longest}, {"left_out", left_out}});
}

void two_stacks(const Transformer& model, const Parameters& parameters, const Pair& pair) {
  section("Two stacks, and what joins them");
  picture("20_encoder_decoder", "architecture", architecture(parameters));
  const Batch one = batch_of({pair});
  const Tensor memory = model.encode(one.source), x = model.embed(one.input);  // (1, S or T, C)
  const nn::DecoderBlock& block = model.decoder.blocks[0];
  const nn::AttentionMask causal{true, {}, {}};
  const Tensor after_self = x + block.attention(block.norm1(x), causal);
  const Tensor after_cross = after_self + block.cross(block.norm2(after_self), memory);
  check("the decoder from its layers = nn::Decoder",
        model.decoder.norm(after_cross + block.mlp(block.norm3(after_cross))),
        model.decoder(x, memory, causal));
  say();
}

void training_on_a_batch(const Transformer& model, const std::vector<Pair>& pairs) {
  section("Training on a batch");
  const Batch batch = batch_of(pairs);
  for (std::size_t b = 0; b < pairs.size(); ++b)
    say("source         " + text_of(row_of(batch.source, b)));
  say("decoder input  " + text_of(row_of(batch.input, 0)),
      "target         " + text_of(row_of(batch.target, 0)));
  say();
  const Tensor logits = model(batch.source, batch.input);  // (2, T, V)
  for (std::size_t b = 0; b < pairs.size(); ++b) {
    const Batch alone = batch_of({pairs[b]});
    check("source " + std::to_string(b) + ": logits alone = logits in the batch",
          select(model(alone.source, alone.input), 0, 0),
          slice(select(logits, 0, int(b)), 0, 0, int(alone.input.shape(1))));
  }
  say();
}

void greedy_decoding(const Models& models, const Data& data, const Guess& guess) {
  section("Greedy decoding");
  const std::vector<LengthRow> rows = matches_by_length(models, data);
  quote(table_of_lengths(rows));
  guess.compare(decimal(estimate(rows[longest + 2 - shortest].matches[0]).mean, 2));
  guard("trained lengths: the mean exact match of each task is above 0.9",
        lowest_trained(rows) > 0.9, decimal(lowest_trained(rows), 4));
  say();
  draw_lengths(rows);
  say();
}

// The weights of the cross-attention, (B, H, T, S).
Array cross_weights(const Transformer& model, const Batch& batch) {
  const NoGrad no_grad;
  const nn::DecoderBlock& block = model.decoder.blocks[0];
  Tensor x = model.embed(batch.input);
  x = x + block.attention(block.norm1(x), nn::AttentionMask{true, {}, {}});
  const Tensor memory = model.encode(batch.source);
  return block.cross.weights(block.norm2(x), memory, model.mask_of(batch.source)).value();
}

// The source position with the largest weight of head h, for each target token: (B, T). With h = H
// it is that of the mean of the heads.
Indices attended(const Transformer& model, const std::vector<Pair>& pairs, std::size_t h = H) {
  const Tensor A(cross_weights(model, batch_of(pairs)));
  return argmax(h == H ? mean(A, {1}) : select(A, 1, int(h)), -1);
}

void where_it_looks(const Models& full, const Models& no_mixing, const Data& data) {
  section("Where does the decoder look?");
  const Pair pair = data.held_out_of_length(reverse, longest - 1, 0, 1)[0];
  const Array weights = xt::mean(cross_weights(full[0], batch_of({pair})), {0, 1});  // (T, S)
  picture_trained("20_encoder_decoder", "alignment", weights,
                  {"cross-attention weights", names_of(pair.target), names_of(pair.source),
                   "query position (the token it predicts)", "key position", 0, 1});
  say();
  quote("         reverse            sort");
  quote("         mean   best head   mean   best head");
  for (std::size_t s = 0; s < seeds; ++s)
    quote(row_of_seed(s, {aligned(full[s], data, reverse), aligned(full[s], data, sort)}));
  say();
  quote(table_of_interventions(interventions(full, data)));
  say();
  quote("         mean   best head   exact match");
  for (std::size_t s = 0; s < seeds; ++s)
    quote(row_of_seed(s, {aligned(no_mixing[s], data, sort)}) + "        " +
          decimal(exact_match(no_mixing[s], data.held_out(sort, 0, 25)), 2));
  say();
}

void what_each_is_for(const std::vector<Models>& models, const Data& data) {
  section("What each attention is for");
  std::vector<AblationRow> rows;
  for (std::size_t i = 0; i < models.size(); ++i)
    rows.push_back(ablation_row(settings[i].name, models[i], data));
  quote(table_of_ablations(rows));
  for (std::size_t task = 0; task < 3; ++task) {
    const double most = best_constant(data.held_out(reverse + std::int64_t(task), 0, 50)),
                 match = largest(rows[3].matches[task]);
    claim("without cross-attention, " + task_names[task] + ": at most the best constant output",
          match <= most, decimal(match, 4));
  }
  const ShuffleBounds bounds = shuffle_bounds(data.held_out(shuffle, 0, 50));
  say({{"all", decimal(bounds.all_letters, 4)}, {"last", decimal(bounds.previous_letter, 4)}});
  claim("without causal self-attention, each seed: the loss is above this bound",
        smallest(rows[2].losses) > bounds.previous_letter, decimal(smallest(rows[2].losses), 4));
  claim("with all parts, each seed: below it", largest(rows[0].losses) < bounds.previous_letter,
        decimal(largest(rows[0].losses), 4));
  say();
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  const Data data;
  if (tuning())
    return write_tuning("loss of all tasks on the tuning sequences, seeds 11 and 12", sweep(data));
  opening();
  const Guess guess("the fraction of sequences of 11 letters that are reversed without an error");
  Parameters parameters;
  Generator g(1);
  const Transformer untrained({parameters, g});
  const std::vector<Pair> pairs = {data.held_out_of_length(sort, shortest, 0, 1)[0],
                                   data.held_out_of_length(reverse, 5, 3, 1)[0]};
  one_sequence_to_another(data);
  two_stacks(untrained, parameters, pairs[1]);
  training_on_a_batch(untrained, pairs);
  const std::vector<Models> models = train_all(data, settings, 1);
  greedy_decoding(models[0], data, guess);
  where_it_looks(models[0], models[1], data);
  what_each_is_for(models, data);
  if (appendix("How the learning rates were chosen"))
    show_tuning({{settings[0].name, settings[0].rate, /*open_edge=*/true},
                 {settings[1].name, settings[1].rate},
                 {settings[2].name, settings[2].rate, /*open_edge=*/true}});
  ending();
}
