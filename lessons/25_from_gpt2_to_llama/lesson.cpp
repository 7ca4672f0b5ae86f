// 25 from_gpt2_to_llama: the block of a GPT-2 becomes that of a Llama, in five changes.
//
// Before this lesson: 24_bytes_to_tokens, byte-pair encoding.
// After it: 26_inside_bert, the files of a published model.
// A useful breakpoint: rotated. Continue with `next`.

#include <cmath>

#include "guess.hpp"
#include "harbour.hpp"
#include "in_threads.hpp"
#include "pictures.hpp"
#include "tuning.hpp"

using namespace heed;

constexpr std::size_t C = 48, H = 4, H_kv = 2, D = C / H, T = 32;

// A model is a GptConfig: GPT-2, then each of the five changes, the last of which makes it Llama.
struct Variant {
  std::string name;
  nn::GptConfig config;
  double rate;  // the best of the sweep in the appendix
};

std::vector<Variant> variants_of(std::size_t vocab_size) {
  nn::GptConfig c;
  c.vocab_size = vocab_size, c.block_size = T, c.layers = 2, c.heads = H, c.embed_dim = C;
  c.bias = true;
  std::vector<Variant> all = {{"GPT-2", c, 0.012}};
  c.norm = nn::NormKind::rms;
  all.push_back({"+ RMSNorm", c, 0.012});
  c.mlp = nn::MlpKind::swiglu;
  all.push_back({"+ SwiGLU", c, 0.012});
  c.positions = nn::PositionKind::rotary;
  all.push_back({"+ rotary", c, 0.006});
  c.kv_heads = H_kv;
  all.push_back({"+ grouped queries", c, 0.024});
  c.bias = false;
  all.push_back({"- biases = Llama", c, 0.012});
  return all;
}

// ---- Llama's block by hand

// Each row of x (..., C) divided by its root mean square, times the weight (C).
Tensor rms_normed(const Tensor& x, const Tensor& weight) {
  return x / sqrt(mean(x * x, {-1}, true) + 1e-5) * weight;
}

// The vector (D) of a query or a key at position t: each pair of elements is rotated.
Array rotated(const Array& x, std::size_t t) {
  Array y = x;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const double angle = double(t) / std::pow(10000, double(i) / double(x.size()));
    y(i) = Real(x(i) * std::cos(angle) - x(i + 1) * std::sin(angle));
    y(i + 1) = Real(x(i) * std::sin(angle) + x(i + 1) * std::cos(angle));
  }
  return y;
}

// The same for all positions and heads: x (1, T, heads D).
Tensor all_rotated(const Tensor& x) {
  Array y = x.value();
  for (std::size_t t = 0; t < y.shape(1); ++t)
    for (std::size_t c = 0; c < y.shape(2); c += D)
      xt::view(y, 0, t, xt::range(c, c + D)) =
          rotated(xt::view(x.value(), 0, t, xt::range(c, c + D)), t);
  return Tensor(y);
}

Tensor swiglu(const nn::Mlp& mlp, const Tensor& x) {
  return mlp.down(silu((*mlp.gate)(x)) * mlp.up(x));
}

// H query heads, H_kv heads of keys and values: query head h uses head h / (H / H_kv).
Tensor grouped_attention(const nn::MultiHeadAttention& a, const Tensor& x) {
  const Tensor Q = all_rotated(a.query(x));                // (1, T, H D)
  const Tensor K = all_rotated(a.key(x)), V = a.value(x);  // (1, T, H_kv D)
  std::vector<Tensor> outputs;
  for (std::size_t h = 0; h < H; ++h) {
    const auto head = [](const Tensor& y, std::size_t i) {
      return slice(y, 2, std::int64_t(i * D), std::int64_t((i + 1) * D));
    };
    const std::size_t shared = h / (H / H_kv);
    outputs.push_back(
        scaled_dot_product_attention(head(Q, h), head(K, shared), head(V, shared), {true}));
  }
  return a.out(concat(outputs, 2));
}

Tensor llama_block(const nn::Block& block, const Tensor& input) {
  const Tensor x =
      input + grouped_attention(block.attention, rms_normed(input, block.norm1.weight));
  return x + swiglu(block.mlp, rms_normed(x, block.norm2.weight));
}

void norm_and_mlp(const nn::Block& block, const Tensor& x) {
  section("The norm and the MLP");
  check("RMSNorm in one line = nn::Norm", rms_normed(x, block.norm1.weight), block.norm1(x));
  const Tensor centred = x - mean(x, {-1}, true);
  check("rows of mean 0: RMSNorm = LayerNorm", rms_norm(centred, {C}, {}, 1e-5),
        layer_norm(x, {C}));
  say();
  check("SwiGLU in one line = nn::Mlp", swiglu(block.mlp, x), block.mlp(x));
}

void rotary_positions() {
  section("Positions by rotation");
  const Array q = {1, 0}, k = {1, 1};
  Array rows = zeros({5, 5});
  Names names;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t s = i, t = i + 2;
    names.push_back("t = " + std::to_string(t) + ", s = " + std::to_string(s));
    const Array R_q = rotated(q, t), R_k = rotated(k, s);
    xt::row(rows, int(i)) =
        Array{R_q(0), R_q(1), R_k(0), R_k(1), R_q(0) * R_k(0) + R_q(1) * R_k(1)};
  }
  show_rotations(rows, names);
  say();
  const Array pairs = {{1, 0, 1, 0, 1, 0, 1, 0}};  // (1, 8)
  sliders("rotary", {},
          {{"query position", filled({1, 1}, 6)},
           {"key position", filled({1, 1}, 2)},
           {"q", pairs},
           {"k", pairs}});
  Generator g(24);
  const Tensor Q(g.randn({1, 16, D})), K(g.randn({1, 16, D}));
  check("rotated in loops = rotary_embedding", all_rotated(Q), rotary_embedding(Q));
  const auto scores = [&](std::size_t first) {  // of the positions first, first + 1, ...
    return matmul(rotary_embedding(Q, 1, first), transpose(rotary_embedding(K, 1, first), 1, 2));
  };
  check("scores at positions 0 to 15 = scores at 1000 to 1015", scores(0), scores(1000), 1e-3);
  say();
  const Tensor same = expand(slice(Q, 1, 0, 1), {1, 16, D}), R = rotary_embedding(same);
  const Tensor sums = same + Tensor(g.normal({1, 16, D}, 0, 0.5));
  const auto products = [](const Tensor& y) {
    return Array(xt::view(matmul(y, transpose(y, 1, 2)).value(), 0));
  };
  picture_of_scores(products(sums), products(R));
}

void grouped_queries(const nn::Block& block, const Tensor& x) {
  section("Grouped queries");
  check("grouped attention by hand = nn::MultiHeadAttention", grouped_attention(block.attention, x),
        block.attention(x, {true}));
  std::vector<std::size_t> numbers;
  for (const std::size_t kv_heads : {4u, 2u, 1u}) {
    nn::GptConfig config = variants_of(64).back().config;
    config.kv_heads = kv_heads;
    numbers.push_back(2 * config.layers * nn::GptCache(config).blocks[0].keys.size(-1));
  }
  show_cache(numbers);
  say();
  check("Llama's block by hand = nn::Block", llama_block(block, x), block(x, {true}));
  say();
}

// ---- which change matters?

// The play in three parts: 80 % to train, 10 % to choose learning rates, 10 % to report.
struct Text {
  Harbour play;
  std::size_t size = play.training.size * 8 / 9;
  Split training{&play.corpus, 0, size, "training"};
  Split tuning{&play.corpus, size, play.training.size - size, "tuning"};

  Batch windows(const Split& part) const {
    const std::size_t N = (part.size - 1) / T;
    Batch b{play.corpus.ids(part.begin, N * T), play.corpus.ids(part.begin + 1, N * T)};
    b.inputs.reshape({N, T}), b.targets.reshape({N, T});
    return b;
  }
};

nn::Gpt train(const Variant& variant, double lr, std::uint64_t seed, std::int64_t steps,
              const Text& text) {
  Generator g(seed), windows(1000 + seed);  // all variants of a seed see the same windows
  Parameters parameters;
  const nn::Gpt model(Scope(parameters, g), variant.config);
  for (Tensor p : parameters)  // GPT-2's 0.02 is meant for a width of 768, not of 48
    if (p.dim() == 2) p.mutable_value() *= 3;
  optim::AdamWOptions options;
  options.beta2 = 0.99, options.weight_decay = 0.1, options.decay_vectors = false;
  optim::AdamW optimizer(parameters.tensors(), options);
  const optim::WarmupCosine rate{lr, lr / 10, 30, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = random_batch(text.training, 12, T, windows);
    optim::zero_grad(parameters.tensors());
    backward(model.loss(batch.inputs, batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
  return model;
}

// The losses of several seeds on the windows of one part of the text.
std::vector<double> losses(const Variant& variant, double lr, std::uint64_t seeds,
                           std::uint64_t first_seed, std::int64_t steps, const Text& text,
                           const Split& part) {
  const Batch windows = text.windows(part);
  return in_threads<double>(seeds, [&](std::uint64_t seed) {
    const nn::Gpt model = train(variant, lr, first_seed + seed - 1, steps, text);
    const NoGrad no_grad;
    return model.loss(windows.inputs, windows.targets).item();
  });
}

const std::int64_t steps = in_brief(400, 80);

void which_change(const Text& text, const Guess& guess) {
  section("Which change matters?");
  const std::vector<Variant> variants = variants_of(text.play.vocab_size());
  const std::vector<double> times = time_ratios(variants.size(), [&](std::size_t v) {
    train(variants[v], variants[v].rate, 1, in_brief(10, 2), text);
  });
  std::vector<Row> rows;
  for (std::size_t v = 0; v < variants.size(); ++v)
    rows.push_back({variants[v].name, nn::parameter_count(variants[v].config), times[v], steps,
                    losses(variants[v], variants[v].rate, 5, 1, steps, text, text.play.held_out)});
  const auto equal_time = std::int64_t(double(steps) / times.back());
  const Variant& llama = variants.back();
  rows.push_back({"Llama, equal time", rows.back().parameters, times.back(), equal_time,
                  losses(llama, llama.rate, 5, 1, equal_time, text, text.play.held_out)});
  quote(table_of_rows(rows));
  quote(table_of_changes(rows));
  claim_fall("rotary positions lower the loss", rows[2].losses, rows[3].losses);
  claim_fall("Llama's loss is below GPT-2's", rows[0].losses, rows[5].losses);
  guess.compare(trained(estimate(rows[5].losses).mean));
  say();
  picture_of_changes(rows);
  const double half = losses(variants[2], 0.006, 1, 1, steps, text, text.play.held_out)[0];
  say({{"seed_1", trained(rows[2].losses[0])},
       {"half", trained(half)},
       {"gpt2", trained(rows[1].losses[0])},
       {"rotary", trained(-estimate(changes(rows[2], rows[3])).mean)},
       {"biases", trained(estimate(changes(rows[4], rows[5])).mean)}});
}

std::vector<TuningRow> sweep(const Text& text) {
  std::vector<TuningRow> rows;
  for (const Variant& v : variants_of(text.play.vocab_size()))
    for (const double rate : {0.003, 0.006, 0.012, 0.024, 0.048}) {
      const Estimate e = estimate(losses(v, rate, 3, 11, steps, text, text.tuning));
      rows.push_back({v.name, rate, e.mean, e.standard_error});
    }
  return rows;
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  const Text text;
  if (tuning()) return write_tuning("loss on the tuning part, seeds 11 to 13", sweep(text));
  opening();
  const Guess guess("the loss of the Llama");
  Generator g(5);
  Parameters parameters;
  const nn::Block block({parameters, g}, variants_of(64).back().config);
  for (Tensor p : parameters)  // norms with weights other than 1
    if (p.dim() == 1) p.mutable_value() = g.uniform({C}, 0.5, 1.5);
  const Tensor x(g.randn({1, 10, C}));  // (1, T, C)
  section("Side by side");
  picture("25_from_gpt2_to_llama", "blocks", blocks_graph);
  norm_and_mlp(block, x);
  rotary_positions();
  grouped_queries(block, x);
  which_change(text, guess);
  if (appendix("How the learning rates were chosen")) {
    std::vector<ChosenRate> chosen;
    for (const Variant& v : variants_of(64)) chosen.push_back({v.name, v.rate});
    show_tuning(chosen);
  }
  ending();
}
