// 20 encoder_decoder: an encoder and a decoder with cross-attention, from one sequence to another.
//
// Worth a breakpoint: Transformer::decode, which reads the memory. Continue with `next`.

#include "guess.hpp"
#include "training.hpp"

using namespace heed;

void one_sequence_to_another(const Data& data) {
  section("From one sequence to another");
  for (const std::int64_t task : {reverse, sort, shuffle}) {
    const Pair pair = data.held_out_of_length(task, 5, 3, 1)[0];
    say(pad_right(text_of(pair.source), 29) + "->  " + text_of(pair.target));
  }
  say({{"shortest", shortest}, {"longest", longest}, {"left_out", left_out}});
}

void two_stacks(const Transformer& model, const std::vector<Pair>& pairs) {
  section("Two stacks, and what joins them");
  picture("20_encoder_decoder", "architecture", architecture);
  say();
  const Batch batch = batch_of(pairs);  // padded
  const Tensor memory = model.encode(batch.source), x = model.embed(batch.input);
  const nn::AttentionMask causal{true, {}, {}}, padded = model.mask_of(batch.source);
  const nn::DecoderBlock& block = model.decoder.blocks[0];
  const Tensor after_self = x + block.attention(block.norm1(x), causal);
  const Tensor after_cross = after_self + block.cross(block.norm2(after_self), memory, padded);
  const Tensor decoded = model.decoder.norm(after_cross + block.mlp(block.norm3(after_cross)));
  check("the decoder from its layers = nn::Decoder", decoded,
        model.decoder(x, memory, causal, padded));
  const Batch alone = batch_of({pairs[0]});
  check("logits of a sequence alone = in the batch", select(model(alone.source, alone.input), 0, 0),
        slice(select(model.head(decoded), 0, 0), 0, 0, int(alone.input.shape(1))));
}

// Greedy decoding: the decoder reads <start> and its own predictions, up to <stop>.
std::vector<Tokens> heed::greedy_outputs(const Transformer& model, const std::vector<Pair>& pairs) {
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

// The logits (B, T, V) if one head of the first cross-attention adds nothing (no head: H), and the
// weights (B, H, T, S) of its heads.
Decoded heed::decoded_without(std::size_t head, const Transformer& model, const Batch& batch) {
  const NoGrad no_grad;
  const nn::AttentionMask causal{true, {}, {}}, padded = model.mask_of(batch.source);
  const Tensor memory = model.encode(batch.source);
  const nn::DecoderBlock& block = model.decoder.blocks[0];
  Tensor x = model.embed(batch.input);
  x = x + block.attention(block.norm1(x), causal);
  const AttentionResult cross = block.cross.with_weights(block.norm2(x), memory, padded);
  x = x + cross.output;
  if (head < H) {
    const auto first = int(head * C / H), last = int((head + 1) * C / H);
    const Tensor values = slice(block.cross.value(memory), -1, first, last);
    x = x - linear(matmul(select(cross.weights, 1, int(head)), values),
                   slice(block.cross.out.weight, 1, first, last));
  }
  x = x + block.mlp(block.norm3(x));
  for (std::size_t l = 1; l < model.decoder.blocks.size(); ++l)  // none, except in question 2
    x = model.decoder.blocks[l](x, memory, causal, padded);
  return {model.head(model.decoder.norm(x)), cross.weights};
}

void where_it_looks(const Models& full, const Data& data) {
  section("Where does the decoder look?");
  const Batch batch = batch_of(data.held_out(sort, 0, 1));
  check("no head removed: the logits = the model's", decoded_without(H, full[0], batch).logits,
        full[0](batch.source, batch.input));
  picture_of_alignment(full[0], data);
  say();
  const std::vector<HeadRow> rows = {rows_of_heads(full, data, reverse),
                                     rows_of_heads(full, data, sort)};
  quote(table_of_weights(rows, data));
  say();
  quote(table_of_heads(full, data));
  std::vector<double> next;
  for (const Transformer& model : full) next.push_back(looks_at_next_letter(model, data));
  say({{"next", trained(estimate(next).mean)}});
  quote(table_of_accuracies(rows));
  const Estimate more = estimate(differences(rows[1].without_another, rows[1].without_own));
  claim("sort: a letter needs its head more than another, by 2.8 standard errors",
        more.mean > 2.8 * more.standard_error, decimal(more.mean, 4));
  say({{"own", trained(estimate(rows[1].without_own).mean)},
       {"another", trained(estimate(rows[1].without_another).mean)}});
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
  one_sequence_to_another(data);
  Parameters parameters;
  Generator g(1);
  two_stacks(Transformer({parameters, g}), {data.held_out_of_length(sort, shortest, 0, 1)[0],
                                            data.held_out_of_length(reverse, 5, 3, 1)[0]});
  const std::vector<Models> models = train_all(data, settings, 1);
  greedy_decoding(models[0], data, guess);
  where_it_looks(models[0], data);
  what_each_is_for(models, data);
  if (appendix("How the learning rates were chosen"))
    show_tuning({{settings[0].name, settings[0].rate},
                 {settings[1].name, settings[1].rate},
                 {settings[2].name, settings[2].rate}});
  ending();
}
