// 25 from_gpt2_to_llama: RMSNorm, rotary embedding, SwiGLU, grouped queries, and induction heads.
//
// Before this lesson: 24_bytes_to_tokens, byte-pair encoding.
// A useful breakpoint: grouped_by_hand (in by_hand.hpp). Continue with `next`.

#include "by_hand.hpp"
#include "cuts.hpp"
#include "table.hpp"

using namespace heed;
const std::string lesson = "25_from_gpt2_to_llama";

void the_norm(const nn::Norm& norm, const Tensor& x) {
  section("RMSNorm");
  say("Llama's block is GPT-2's (lesson 12) with five changes. First: LayerNorm",
      "subtracts the mean of a row and divides by the standard deviation. RMSNORM only",
      "divides by the root mean square. It has a weight and no bias. It saves the",
      "computation of the mean (Zhang and Sennrich).", "");
  const Tensor one_line = x / sqrt(mean(x * x, {-1}, true) + 1e-5) * norm.weight;  // (T, C)
  check("by hand = in one line", rms_norm_by_hand(x.value(), norm.weight.value()), one_line);
  check("in one line = nn::Norm with NormKind::rms", one_line, norm(x));
  const Tensor centred = x - mean(x, {-1}, true);
  check("rows of mean 0: RMSNorm = LayerNorm", rms_norm(centred, {C}, {}, 1e-5),
        layer_norm(x, {C}));
}

void rotary_positions() {
  section("Rotary position embedding");
  say("Second: GPT-2 adds a learned vector for each position to the embeddings. Llama",
      "adds nothing. ROTARY POSITION EMBEDDING (RoPE; exercise 11), in every layer,",
      "rotates each pair of elements of a query at t by an angle proportional to t, and",
      "of a key at s by one proportional to s. The dot product then depends on the",
      "positions only through t - s. Values are not rotated.", "");
  Generator g(24);
  const std::int64_t N = 16, D = 12;
  const Tensor q(g.randn({16, 12})), k(g.randn({16, 12}));  // (N, D)
  const auto [cosines, sines] = rotary_tables(16, 12);      // (N, D / 2)
  const Tensor pairs = reshape(q, {N, D / 2, 2}), a = select(pairs, 2, 0), b = select(pairs, 2, 1);
  const Tensor rotated = stack({a * cosines - b * sines, a * sines + b * cosines}, 2);
  check("by hand = in one line", rotary_by_hand(q.value(), 1), reshape(rotated, {N, D}));
  check("in one line = rotary_embedding", reshape(rotated, {N, D}), rotary_embedding(q));
  const auto scores = [&](std::size_t first) {  // of the positions first, first + 1, ...
    return matmul(rotary_embedding(q, 1, first), transpose(rotary_embedding(k, 1, first), 0, 1));
  };
  check("scores: positions 0 to 15 = positions 1000 to 1015", scores(0), scores(1000), 1e-3);
  say("", "Now the same token stands at all 16 positions. With rotary embedding, scores on",
      "a diagonal of the matrix belong to the same t - s, so they are equal:", "");
  const Tensor x = expand(slice(q, 0, 0, 1), {16, 12}),
               sums = x + Tensor(g.normal({16, 12}, 0, 0.5));
  const Tensor r = rotary_embedding(x);
  const Array added = matmul(sums, transpose(sums, 0, 1)).value(),
              rotary = matmul(r, transpose(r, 0, 1)).value();  // (N, N)
  claim("rotary: equal on each diagonal", spread_on_diagonals(rotary) < 1e-4,
        decimal(spread_on_diagonals(rotary), 6));
  claim("random vectors added instead: not equal", spread_on_diagonals(added) > 1,
        decimal(spread_on_diagonals(added), 4));
  HeatmapOptions options{"scores of one token with itself, at all pairs of positions"};
  options.row_title = "query position t", options.column_title = "key position s";
  picture(lesson, "scores", {added, rotary}, {"a random vector added", "rotary"}, options, 2);
}

void the_mlp(const nn::Mlp& mlp, const Tensor& x) {
  section("SwiGLU");
  say("Third: GPT-2's MLP is W_down gelu(W_up x). SWIGLU multiplies the outputs of two",
      "linear layers elementwise, one of them after the activation silu(z) =",
      "z sigmoid(z): W_down (silu(W_gate x) * W_up x). It has three matrices instead of",
      "two. So that they have as many elements, the hidden width is 2/3 of 4C (Touvron",
      "et al.): here C = 48, and 128 instead of 192.", "");
  const Tensor one_line = mlp.down(silu((*mlp.gate)(x)) * mlp.up(x));  // (T, C)
  check("by hand = in one line", swiglu_by_hand(mlp, x.value()), one_line);
  check("in one line = nn::Mlp with MlpKind::swiglu", one_line, mlp(x));
  check("elements: 3 C (8C/3) = 2 C (4C)", scalar(Real(3 * mlp.up.weight.value().size())),
        scalar(Real(2 * C * 4 * C)), 0);
}

void grouped_queries(const nn::MultiHeadAttention& attention, const Tensor& x) {
  section("Grouped queries");
  say("Fourth: a KV cache (exercise 15b) stores keys and values of all tokens. With",
      "GROUPED-QUERY ATTENTION (GQA; Ainslie et al.) H query heads share H_kv heads of",
      "keys and values: query head h = 0, ..., H - 1 uses head h / (H / H_kv), rounded",
      "down. Here H = 4 and H_kv = 2. H_kv = 1 is MULTI-QUERY ATTENTION (Shazeer 2019).",
      "Llama 2 with 70 billion parameters has H = 64 and H_kv = 8; the first Llama had",
      "no groups.", "");
  const nn::AttentionMask causal{true};
  const nn::Projections p = attention.project(x, x);  // (1, T, C), and (1, T, C / 2) twice
  AttentionOptions options;
  options.causal = true, options.num_heads = H;
  const auto shared = [](const Tensor& y) {
    return join_heads(repeat_kv_heads(split_heads(y, 2), H));
  };
  const Tensor one_line =
      attention.out(scaled_dot_product_attention(p.query, shared(p.key), shared(p.value), options));
  const Array by_hand = grouped_by_hand(attention, select(x, 0, 0).value());
  check("by hand = in one line", by_hand, select(one_line, 0, 0));
  check("in one line = nn::MultiHeadAttention", one_line, attention(x, causal));
  const auto output = [&](std::size_t kv_heads) {
    Generator g(3);
    Parameters parameters;
    return nn::MultiHeadAttention({parameters, g}, C, H, false, {kv_heads, true})(x, causal);
  };
  check("H_kv = H: the same bits as multi-head attention", output(H), output(0), 0);
  const auto cached = [](std::size_t kv_heads) {  // numbers per token in all layers
    nn::GptConfig c = variants_of(64)[5].config;
    c.kv_heads = kv_heads;
    return 2 * num_layers * nn::GptCache(c).blocks[0].keys.size(-1);
  };
  say("",
      "numbers in the KV cache for each token, 2 layers: H_kv = 4: " + std::to_string(cached(4)) +
          ", 2: " + std::to_string(cached(2)) + ", 1: " + std::to_string(cached(1)));
  for (const std::size_t kv : {2u, 1u})
    claim("H_kv = " + std::to_string(kv) + ": smaller by the factor H / H_kv",
          cached(kv) * (H / kv) == cached(H), std::to_string(cached(kv)));
}

void whole_block(const nn::Block& block, const Tensor& x) {
  section("The whole block");
  say("Fifth: Llama's linear layers have no biases. That is all:", "",
      "  x = x + attention(rms_norm(x))     grouped queries, rotary",
      "  x = x + swiglu(rms_norm(x))", "");
  check("Llama's block by hand = nn::Block", block_by_hand(block, select(x, 0, 0).value()),
        select(block(x, nn::AttentionMask{true}), 0, 0));
  say("", "heed has an option for each change; it has no biases by default:", "",
      "  ./heed train --norm rms --positions rotary --mlp swiglu --kv-heads 2");
}

void compare_variants(const Text& text, const std::vector<Variant>& variants) {
  section("Which change matters?");
  const std::int64_t steps = in_brief(400, 60);
  say("We make the changes one after the other and train each model on lesson 15's",
      "play, with the same batches and number of steps. Each model has the best of six",
      "learning rates from 0.004 to 0.0226: 0.0057 with grouped queries and for Llama,",
      "0.016 for the others. We chose them with other seeds, but by the loss on the",
      "same validation windows, so the losses below are slightly too low. The initial",
      "weights are three times as large as GPT-2's, because our width is 48, not 768.",
      "Losses are those of the validation part, in nats per character: means of 3 seeds",
      "+- standard error. 'change' is the difference from the row above, of the same",
      "seeds. 'time' is the processor time of a step, relative to GPT-2's. In the last",
      "row Llama trains for as much time as GPT-2:", "");
  check("changes of the number of parameters by hand = counted", parameter_changes_by_hand(),
        parameter_changes(variants), 0);
  const std::vector<double> ratios = time_ratios(text, variants, brief() ? 4 : 40);
  std::vector<Losses> all;
  for (const Variant& variant : variants)
    all.push_back(train_seeds(text, variant, steps, brief() ? 1 : 3));
  const auto equal_time = std::int64_t(double(steps) / ratios.back());
  const Losses longer = brief() ? all.back() : train_seeds(text, variants.back(), equal_time, 3);
  quote(table_of_variants(variants, all, ratios, steps, longer, equal_time));
  claim("rotary: each seed's loss falls by more than 0.05", least_fall(all[1], all[2]) > 0.05,
        decimal(least_fall(all[1], all[2]), 4));
  claim("Llama: each seed's loss is lower than GPT-2's", least_fall(all[0], all[5]) > 0,
        decimal(least_fall(all[0], all[5]), 4));
  picture(lesson, "variants",
          {all[0].curve, all[1].curve, all[2].curve, all[3].curve, all[5].curve},
          {"training loss, first seed: rotary positions make the largest difference", "step"});
  say("", "Rotary positions are the only change with a clear effect on the loss here. The",
      "likely reason: rotary scores contain distances from the first step, GPT-2 must",
      "learn them. The other four changes are within about one standard error of 0: 400",
      "steps on this text do not show whether they help. (The change in the last row is",
      "the effect of more steps.) Nor were all made for the loss: RMSNorm is meant to",
      "save time, grouped queries save memory. Llama also has 12 % fewer parameters. A",
      "longer training may give another table.");
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening({"to turn GPT-2's block into Llama's, and when induction heads appear",
           "rms_norm(x) = x / sqrt(mean(x^2) + eps) * weight     x (C): a row\n"
           "(R_t q_t) . (R_s k_s) = q_t . (R_(s-t) k_s)          q_t, k_s (D)\n"
           "R_t: the rotation by the angles of position t\n"
           "swiglu(x) = W_down (silu(W_gate x) * W_up x)         W_up (8C/3, C)",
           "Touvron et al., \"LLaMA: Open and Efficient Foundation Language\n"
           "Models\", 2.2 (2023); Zhang and Sennrich, \"Root Mean Square Layer\n"
           "Normalization\" (2019); Su et al., \"RoFormer: Enhanced Transformer\n"
           "with Rotary Position Embedding\", 3.2 (2021); Shazeer, \"GLU Variants\n"
           "Improve Transformer\" (2020); Ainslie et al., \"GQA: Training\n"
           "Generalized Multi-Query Transformer Models from Multi-Head\n"
           "Checkpoints\", 2.2 (2023); Olsson et al., \"In-context Learning and\n"
           "Induction Heads\" (2022)",
           "nn.RMSNorm; F.silu; F.scaled_dot_product_attention(enable_gqa=True)"});
  const Text text;
  const std::vector<Variant> variants = variants_of(text.vocabulary.size());
  Generator g(5);
  Parameters parameters;
  const nn::Block block({parameters, g}, variants.back().config);
  for (Tensor p : parameters)  // norms with weights other than 1
    if (p.dim() == 1) p.mutable_value() = g.uniform({C}, 0.5, 1.5);
  const Tensor x(g.randn({1, 10, C}));  // (1, T, C)
  the_norm(block.norm1, select(x, 0, 0));
  rotary_positions();
  the_mlp(block.mlp, select(x, 0, 0));
  grouped_queries(block.attention, x);
  whole_block(block, x);
  compare_variants(text, variants);
  Generator fresh(7);
  const Repeats test = new_repeats(fresh, 64);
  remove_heads_and_keys(phase_change(lesson, test), test);
  say("", "The next lesson reads the files of a published model: 26_inside_bert.");
  questions(
      "In new_repeats (repeats.hpp) write g.randint(16, 17, {B}): all periods are\n"
      "16. What does one layer learn now?",
      "In InductionModel::llama (repeats.hpp) delete the line of c.positions: the\n"
      "positions are then learned. When does the loss fall now?",
      "In triple_weights (variants.hpp) write Real(1) in place of Real(3). What\n"
      "changes in both tables?");
}
