// 20 encoder_decoder: an encoder and a decoder with cross-attention, from one sequence to another.
//
// Before this lesson: 19_query_key_space, the queries and keys of one head as points.
// After it: 21_additive_attention, the attention before transformers.
// A useful breakpoint: Transformer::decode (in transformer.hpp), which reads the memory.

#include "alignment.hpp"
#include "architecture.hpp"
#include "by_hand.hpp"
#include "measures.hpp"

using namespace heed;
const std::string lesson = "20_encoder_decoder";
const std::int64_t main_steps = in_brief(1800, 1000);

void the_model(const Transformer& model, const Parameters& parameters, const Pair& pair) {
  section("Encoder, decoder, cross-attention");
  say("The ENCODER is a stack of blocks with self-attention over the whole source. Its",
      "output (S, C) is the MEMORY, a row for each source token. The DECODER predicts",
      "the next token of the target from the earlier ones and the memory. A block of it",
      "has causal self-attention, cross-attention (lesson 04) and the MLP; our stacks",
      "have one block each. The queries of cross-attention come from the decoder, keys",
      "and values from the memory: the weights are (T, S), and T need not be S. Vaswani",
      "et al. (2017, figure 1) apply each norm after its residual connection; we use",
      "pre-norm (lesson 12), which needs a final norm after each stack. The paper also",
      "multiplies embeddings by sqrt(C), and has ReLU for our GELU. The picture has the",
      "names and shapes of the weights; residual connections are orange:", "");
  picture(lesson, "architecture", architecture(parameters));
  const Batch one = batch_of({pair});
  const Tensor memory = model.encode(one.source), x = model.embed(one.input);  // (1, S or T, C)
  const nn::DecoderBlock& block = model.decoder.blocks[0];
  check("cross-attention by hand = the module's",
        cross_attention_by_hand(block.cross, select(x, 0, 0).value(), select(memory, 0, 0).value()),
        select(block.cross(x, memory), 0, 0));
  const nn::AttentionMask causal{true, {}, {}};
  const Tensor after_self = x + block.attention(block.norm1(x), causal);
  const Tensor after_cross = after_self + block.cross(block.norm2(after_self), memory);
  check("decoder from its layers = nn::Decoder",
        model.decoder.norm(after_cross + block.mlp(block.norm3(after_cross))),
        model.decoder(x, memory, causal));
}

void padded_batches(const Transformer& model, const std::vector<Pair>& pairs) {
  section("Padding");
  const Batch batch = batch_of(pairs);
  say("Sequences of different lengths become one batch with the token <pad>. The KEY",
      "PADDING MASK (B, S) is true where a key is padding: there the attention weights",
      "are 0, in the encoder and in cross-attention. So each sequence has the same",
      "logits in the batch as alone. The decoder's own padding is at the end, where the",
      "causal mask hides it:", "");
  for (std::size_t b = 0; b < pairs.size(); ++b)
    say("source " + std::to_string(b) + "  " + text_of(row_of(batch.source, b)));
  say("");
  const Tensor logits = model(batch.source, batch.input);  // (2, T, V)
  for (std::size_t b = 0; b < pairs.size(); ++b) {
    const Batch alone = batch_of({pairs[b]});
    const auto T = std::int64_t(alone.input.shape(1));
    check("source " + std::to_string(b) + ": logits alone = logits in the batch",
          select(model(alone.source, alone.input), 0, 0),
          slice(select(logits, 0, std::int64_t(b)), 0, 0, T));
  }
  const Tensor unmasked = model.head(model.decoder(
      model.embed(batch.input), model.encoder(model.embed(batch.source)), {true, {}, {}}));
  const Real change = largest_difference(select(unmasked, 0, 0), select(logits, 0, 0));
  claim("without the key padding mask a logit of source 0 changes by >= 0.01", change >= 0.01,
        decimal(change, 4));
}

void teacher_forcing(const Transformer& model, const std::vector<Pair>& pairs) {
  section("Teacher forcing");
  say("In training the model predicts each target token from the correct ones before",
      "it, not from its own predictions: teacher forcing (lesson 08; Williams and",
      "Zipser 1989). The input of the decoder is the target, shifted by one position,",
      "after <start>:", "");
  const Batch batch = batch_of(pairs);
  say("decoder input  " + text_of(row_of(batch.input, 0)),
      "target         " + text_of(row_of(batch.target, 0)), "",
      "The causal mask hides position t + 1 of the input, which is the target at t. So",
      "one forward pass gives the predictions after all T prefixes. The loss is the",
      "mean over target tokens that are not padding (ignore_index).");
  check("loss by hand, prefix by prefix without padding = loss of the batch",
        scalar(Real(loss_by_hand(model, pairs))), loss_of(model, batch));
}

void greedy_decoding(const Transformer& model, const Data& data) {
  section("Greedy decoding");
  say("We have trained one model (seed 1) for " + grouped(double(main_steps)) +
          " steps of 32 new pairs. Now it has",
      "no target to read. Greedy decoding starts with <start>, appends the most",
      "probable next token, and runs the decoder again, until <stop>. The measure is",
      "the EXACT MATCH, the fraction of 100 held-out sequences whose whole output is",
      "right:", "");
  const ByLength measured = exact_match_by_length(model, data);
  quote(measured.table);
  draw_by_length(lesson, measured);
  const std::vector<Pair> pairs = data.held_out(reverse, 2);
  const std::vector<Tokens> outputs = greedy_outputs(model, pairs);  // as one padded batch
  std::size_t same = 0;
  for (std::size_t b = 0; b < pairs.size(); ++b)
    same += outputs[b] == greedy_output(model, batch_of({pairs[b]}).source);
  say("");
  claim("each source alone gives the output that it has in a padded batch", same == pairs.size(),
        std::to_string(same) + " of " + std::to_string(pairs.size()));
  claim_less("trained lengths: the exact match of each task is above 0.9", 0.9,
             measured.lowest_trained);
  claim_less("reverse, two letters or more beyond training: below 0.1",
             measured.highest_reverse_beyond, 0.1);
  say("", "The length that we left out is no problem: it lies between trained lengths. But",
      "beyond them 'reverse' fails: no LENGTH GENERALIZATION. Sinusoidal encodings",
      "exist for any position (Vaswani et al., section 3.5, hoped that the model may",
      "extrapolate), but the model has learned only to use those that it has seen.",
      "'sort' and 'shuffle', whose targets have at most ten letters, fall less.");
}

void alignment(const Transformer& model, const Data& data) {
  section("The alignment");
  say("The attention weights of cross-attention are a soft ALIGNMENT: they tell from",
      "which source tokens each output token takes values (Bahdanau et al. 2014). These",
      "are the means over the four heads, for one held-out source. Each row is named",
      "after the token that its query predicts:");
  const Pair pair = data.held_out(reverse, longest - 1, 1)[0];
  picture_trained(lesson, "alignment", alignment_of(model, pair),
                  {"cross-attention weights", names_of(pair.target), names_of(pair.source),
                   "query position (the token it predicts)", "key position", 0, 1});
  const Aligned reversed = aligned(model, data.held_out(reverse, 25));
  say("", "What fraction of the output letters have their largest weight on the source",
      "letter that they copy? (For 'sort' any position of this letter counts.)", "");
  quote(table_of(reversed, aligned(model, data.held_out(sort, 25))));
  say("");
  claim_less("reverse: more than half of the letters", 0.5, reversed.mean_of_heads);
  say("", "'reverse' shows the anti-diagonal. For 'sort' the largest weight is mostly",
      "elsewhere, and yet the outputs are right. (In eight seeds the mean of the heads",
      "has 0.83 to 0.92 and 0.14 to 0.44.) So attention weights need not show what is",
      "copied (Jain and Wallace 2019, \"Attention is not Explanation\"). That the encoder",
      "mixes tokens cannot be the only reason: 'sort' is as good without the encoder's",
      "self-attention (next section).");
}

void without_each_attention(const Data& data) {
  section("What each attention is for");
  const std::int64_t steps = in_brief(900, 350);
  say("We ablate (lesson 16), here before training: each model lacks one attention.",
      std::to_string(steps) +
          " steps, three seeds, learning rate 0.01. (For 'reverse', on other held-out",
      "sequences, 0.02 is about as good in each row, 0.005 and 0.03 are not better.)",
      "Without a self-attention a query attends to its own position only; without",
      "cross-attention to no key, so that all weights are 0. Exact match on held-out",
      "sequences of the trained lengths, and loss of 'shuffle' (nats per token), with",
      "standard errors:", "");
  const Ablations results = train_without_each(data, brief() ? 1 : 3, steps);
  quote(table_of(results));
  say("", "Cross-attention is the only path from the source to the output. Without it all",
      "sources have the same output, which is rarely right.", "",
      "The encoder's self-attention mixes information from all source tokens. Number",
      "the n letters from 0: query t of 'reverse' needs the key of letter n - 1 - t. No",
      "query knows n, because the decoder has one block. Without self-attention the key",
      "of <stop>, at position n + 1, tells n, but no key of a letter does.", "",
      "The causal self-attention tells the decoder which tokens it has written. Without",
      "it the decoder knows only the last one and its position. That is enough for",
      "'reverse' and 'sort' ('reverse' even learns faster without it: after 1,800 steps",
      "the full model has 0.99, too). In 'shuffle', for d distinct letters, the d - 1",
      "others are then equally likely. So the expected loss, summed over the target, is",
      "at least ln d + (d - 1) ln(d - 1), and ln d + ln(d - 1) + ... + ln 1 if the",
      "decoder knows all letters so far. Means per token:", "");
  claim_parts(results, data);
}

int main() {
  const int threads = num_threads();
  set_num_threads(1);  // the arrays are too small for a second thread to save time
  opening({"to train an encoder-decoder, and to show what each attention is for",
           "cross-attention, one head: softmax(Q K^T / sqrt(D)) V\n"
           "Q (T, D) from the decoder's x (T, C)\n"
           "K and V (S, D) from the memory (S, C); D = C / number of heads",
           "encoder-decoder: Vaswani et al., \"Attention Is All You Need\" (2017),\n"
           "figure 1 and section 3.1; its three attentions: 3.2.3",
           "nn.TransformerEncoder, nn.TransformerDecoder, norm=nn.LayerNorm(C),\n"
           "of layers with norm_first=True, batch_first=True, activation=\"gelu\",\n"
           "dropout=0; tgt_mask, src_key_padding_mask, memory_key_padding_mask"});
  const Data data;
  show_tasks(data);
  const Trained untrained(1, Part::none);
  const std::vector<Pair> pairs = {data.held_out(sort, shortest, 1)[0], example(data, reverse)};
  the_model(untrained.model, *untrained.parameters, pairs[1]);
  padded_batches(untrained.model, pairs);
  teacher_forcing(untrained.model, pairs);
  const Trained trained = train(data, 1, Part::none, main_steps);
  loss_curves("training loss (nats per token)", {trained.losses});
  greedy_decoding(trained.model, data);
  alignment(trained.model, data);
  set_num_threads(threads);  // each thread trains a model of its own
  without_each_attention(data);
  say("", "Attention is older than the transformer: 21_additive_attention.");
  questions(
      "In Transformer::embed (transformer.hpp), return token(tokens). Which tasks\n"
      "need positions?",
      "In train_without_each (measures.hpp), pass a last argument 2 to train: two\n"
      "blocks in each stack. Can the decoder now find n by itself?",
      "In sequences.hpp, set longest to in_brief(12, 6). When does reverse fail?");
}
