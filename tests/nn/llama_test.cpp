// llama_test.cpp: the variants of Llama: grouped queries, rotary embedding, RMSNorm and SwiGLU.

#include <cmath>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/normalize.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/rotary.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

struct Store {
  Scope scope() { return Scope(parameters, generator); }
  std::string names() const {
    std::string text;
    for (const Tensor& p : parameters) text += p.name() + " " + str(p.shape()) + "\n";
    return text;
  }
  Parameters parameters;
  Generator generator{3};
};

nn::GptConfig small(bool bias = false, bool tied = true) {
  nn::GptConfig config = llama_like(small_config(65, {16, 32, 3, 4}));
  config.bias = bias;
  config.tied = tied;
  return config;
}

// The 16 combinations of the four variants.
std::vector<nn::GptConfig> all_variants(const nn::GptConfig& config) {
  std::vector<nn::GptConfig> all;
  for (unsigned i = 0; i < 16; ++i) {
    nn::GptConfig c = config;
    c.kv_heads = (i & 1) == 0 ? 0 : 2;
    c.norm = (i & 2) == 0 ? nn::NormKind::layer : nn::NormKind::rms;
    c.positions = (i & 4) == 0 ? nn::PositionKind::learned : nn::PositionKind::rotary;
    c.mlp = (i & 8) == 0 ? nn::MlpKind::gelu : nn::MlpKind::swiglu;
    all.push_back(c);
  }
  return all;
}

Indices some_tokens(std::size_t B, std::size_t T, std::uint64_t seed = 1) {
  return Generator(seed).randint(0, 65, {B, T});
}

nn::AttentionMask causal(std::size_t window = 0) {
  nn::AttentionMask mask;
  mask.causal = true;
  mask.window = window;
  return mask;
}

// The attention of `layer` from elementary operations, one query head after another.
Tensor by_hand(const nn::MultiHeadAttention& layer, const Tensor& x, const Tensor& memory,
               bool is_causal, std::size_t window = 0) {
  const int D = static_cast<int>(x.shape().back() / layer.num_heads);
  const int group = static_cast<int>(layer.num_heads / layer.num_kv_heads);
  std::vector<Tensor> outputs;
  for (int h = 0; h < static_cast<int>(layer.num_heads); ++h) {
    const int kv = h / group;
    Tensor q = slice(layer.query(x), -1, h * D, (h + 1) * D);
    Tensor k = slice(layer.key(memory), -1, kv * D, (kv + 1) * D);
    const Tensor v = slice(layer.value(memory), -1, kv * D, (kv + 1) * D);
    if (layer.rotary) {
      q = rotary_embedding(q);
      k = rotary_embedding(k);
    }
    Tensor scores = matmul(q, transpose(k, 1, 2)) / std::sqrt(static_cast<double>(D));
    if (is_causal)
      scores =
          masked_fill(scores, future_mask(x.shape()[1], memory.shape()[1], 0, window), -infinity);
    outputs.push_back(matmul(softmax(scores, -1), v));
  }
  return layer.out(concat(outputs, -1));
}

Tensor rows_of(const Tensor& x, std::size_t b, std::size_t T) {
  const auto at = static_cast<std::int64_t>(b);
  return slice(slice(x, 0, at, at + 1), 1, 0, static_cast<std::int64_t>(T));
}

}  // namespace

// ---- MultiHeadAttention

TEST_CASE("attention with grouped queries and rotary embedding equals its formula",
          "[nn][attention][llama]") {
  for (const bool rotary : {false, true})
    for (const std::size_t kv_heads : {0u, 1u, 2u, 4u}) {
      INFO("rotary " << rotary << ", kv_heads " << kv_heads);
      Store store;
      const nn::MultiHeadAttention layer(store.scope(), 8, 4, true, {kv_heads, rotary});
      const std::vector<Array> one{random_array({2, 5, 8}, 1, -2, 2)};
      const std::vector<Array> two{one[0], random_array({2, 7, 8}, 2, -2, 2)};
      CHECK(twin_difference([&](X x) { return layer(x[0], causal()); },
                            [&](X x) { return by_hand(layer, x[0], x[0], true); }, one) == "");
      CHECK(twin_difference([&](X x) { return layer(x[0], causal(2)); },
                            [&](X x) { return by_hand(layer, x[0], x[0], true, 2); }, one) == "");
      CHECK(twin_difference([&](X x) { return layer(x[0], x[1]); },
                            [&](X x) { return by_hand(layer, x[0], x[1], false); }, two) == "");
      CHECK(twin_difference([&](X x) { return layer.with_weights(x[0], x[1]).output; },
                            [&](X x) { return by_hand(layer, x[0], x[1], false); }, two) == "");
    }
}

TEST_CASE("the gradients of grouped projections equal those of the formula",
          "[nn][attention][llama]") {
  Store store;
  const nn::MultiHeadAttention layer(store.scope(), 8, 4, true, {2, true});
  const Tensor x(random_array({2, 5, 8}, 1));
  const Array up = random_array({2, 5, 8}, 2);
  std::vector<Array> expected;
  backward(by_hand(layer, x, x, true), up);
  for (Tensor p : store.parameters) {
    expected.push_back(p.grad());
    p.clear_grad();
  }
  backward(layer(x, causal()), up);
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(difference(store.parameters.tensors()[i].grad(), expected[i]) == "");
}

TEST_CASE("the names and shapes of grouped projections", "[nn][attention][llama]") {
  Store store;
  const nn::MultiHeadAttention layer(store.scope(), 8, 4, true, {2, true});
  CHECK(store.names() ==
        "query.weight (8, 8)\nquery.bias (8)\nkey.weight (4, 8)\nkey.bias (4)\n"
        "value.weight (4, 8)\nvalue.bias (4)\nout.weight (8, 8)\nout.bias (8)\n");
  CHECK(layer.num_kv_heads == 2);
  CHECK(layer.rotary);
  Store plain;
  CHECK(nn::MultiHeadAttention(plain.scope(), 8, 4).num_kv_heads == 4);
}

TEST_CASE("project gives the queries, keys and values that attention uses",
          "[nn][attention][llama]") {
  Store store;
  const nn::MultiHeadAttention layer(store.scope(), 8, 4, true, {2, true});
  const Tensor x(random_array({2, 3, 8}, 1)), memory(random_array({2, 5, 8}, 2));
  const nn::Projections p = layer.project(x, memory), later = layer.project(x, memory, 7);
  CHECK(same_bits(p.query.value(), rotary_embedding(layer.query(x), 4).value()));
  CHECK(same_bits(p.key.value(), rotary_embedding(layer.key(memory), 2).value()));
  CHECK(same_bits(p.value.value(), layer.value(memory).value()));
  CHECK(same_bits(later.query.value(), rotary_embedding(layer.query(x), 4, 7).value()));
  CHECK(same_bits(later.key.value(), rotary_embedding(layer.key(memory), 2, 7).value()));
  AttentionOptions options;
  options.num_heads = 4;
  options.num_kv_heads = 2;
  CHECK(difference(
            layer.out(scaled_dot_product_attention(later.query, later.key, later.value, options)),
            layer(x, memory).value(), 1e-5) == "");  // only position differences matter
}

TEST_CASE("with_weights and weights of grouped queries have a row for every query head",
          "[nn][attention][llama]") {
  Store store;
  const nn::MultiHeadAttention layer(store.scope(), 8, 4, true, {2, true});
  const Tensor x(random_array({2, 3, 8}, 1));
  const AttentionResult result = layer.with_weights(x, x, causal());
  CHECK(str(result.weights.shape()) == "(2, 4, 3, 3)");
  CHECK(same_bits(result.weights.value(), layer.weights(x, x, causal()).value()));
  CHECK(difference(result.output, layer(x, causal()).value()) == "");
  Generator one(9), two(9);
  const nn::TrainingMode first{0.5, &one}, second{0.5, &two};
  CHECK(same_bits(layer(x, causal(), &first).value(),
                  layer.with_weights(x, x, causal(), &second).output.value()));
}

TEST_CASE("rotary attention depends on the order of the keys, and without it does not",
          "[nn][attention][llama]") {
  for (const bool rotary : {false, true}) {
    Store store;
    const nn::MultiHeadAttention layer(store.scope(), 8, 2, true, {0, rotary});
    const Tensor x(random_array({1, 3, 8}, 1)), memory(random_array({1, 5, 8}, 2));
    const Tensor turned = concat({slice(memory, 1, 1), slice(memory, 1, 0, 1)}, 1);
    CHECK((difference(layer(x, turned), layer(x, memory).value(), 1e-4) == "") != rotary);
  }
}

TEST_CASE("padded sentences in a batch give the outputs that each sentence gives alone",
          "[nn][attention][llama]") {
  const std::vector<std::size_t> lengths{5, 2, 7};
  Mask padding = mask({3, 7});
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t s = lengths[b]; s < 7; ++s) padding(b, s) = true;
  for (const nn::AttentionVariant& variant :
       {nn::AttentionVariant{}, nn::AttentionVariant{2, true}, nn::AttentionVariant{1, false}})
    for (const bool is_causal : {false, true}) {
      Store store;
      const nn::MultiHeadAttention layer(store.scope(), 8, 4, true, variant);
      const Tensor x(random_array({3, 7, 8}, 1));
      nn::AttentionMask alone;
      alone.causal = is_causal;
      nn::AttentionMask together = alone;
      together.key_padding = padding;
      const Tensor y = layer(x, together);
      for (std::size_t b = 0; b < 3; ++b)
        CHECK(difference(rows_of(y, b, lengths[b]),
                         layer(rows_of(x, b, lengths[b]), alone).value()) == "");
    }
}

TEST_CASE("variants of attention that do not fit throw", "[nn][attention][llama]") {
  const auto error_of = [](std::size_t embed_dim, std::size_t heads,
                           const nn::AttentionVariant& variant) {
    return message_of([&] {
      Store store;
      nn::MultiHeadAttention(store.scope(), embed_dim, heads, true, variant);
    });
  };
  CHECK(error_of(8, 4, {3, false}) ==
        "MultiHeadAttention: num_heads 4 must be divisible by num_kv_heads 3");
  CHECK(error_of(8, 4, {8, false}) ==
        "MultiHeadAttention: num_heads 4 must be divisible by num_kv_heads 8");
  CHECK(error_of(6, 4, {2, false}) ==
        "MultiHeadAttention: embed_dim 6 must be divisible by num_heads 4");
  CHECK(error_of(8, 0, {2, true}) ==
        "MultiHeadAttention: embed_dim 8 must be divisible by num_heads 0");
  CHECK(error_of(12, 4, {0, true}) ==
        "MultiHeadAttention: rotary embedding needs heads of even width: embed_dim 12, num_heads "
        "4");
  CHECK(error_of(12, 4, {2, false}) == "");
}

TEST_CASE("a cache of another width is rejected", "[nn][cache][llama]") {
  const NoGrad no_grad;
  Store store;
  const nn::MultiHeadAttention layer(store.scope(), 8, 4, true, {2, true});
  nn::KeyValueCache wide(4, 8), narrow(4, 4);
  const Tensor x(zeros({1, 2, 8}));
  CHECK(message_of([&] { layer(x, wide); }) ==
        "MultiHeadAttention: x (1, 2, 8) does not fit after the 0 positions of a cache (1, 4, 8)");
  CHECK(str(layer(x, narrow).shape()) == "(1, 2, 8)");
  CHECK(narrow.size == 2);
}

// ---- Norm and Mlp

TEST_CASE("a Norm equals layer_norm or rms_norm with eps 1e-5", "[nn][llama]") {
  const Tensor x(random_array({2, 3, 4}, 1));
  for (const bool bias : {false, true}) {
    Store layer_store, rms_store;
    const nn::Norm layer(layer_store.scope(), 4, bias);
    const nn::Norm rms(rms_store.scope(), 4, bias, nn::NormKind::rms);
    CHECK(layer_store.names() == (bias ? "weight (4)\nbias (4)\n" : "weight (4)\n"));
    CHECK(rms_store.names() == "weight (4)\n");
    for (Store* store : {&layer_store, &rms_store})
      for (Tensor p : store->parameters) {
        CHECK((p.value() == filled({4}, p.name() == "bias" ? 0 : 1)));
        p.mutable_value() = random_array({4}, 5);
      }
    CHECK(same_bits(layer(x).value(), layer_norm(x, {4}, layer.weight, layer.bias, 1e-5).value()));
    CHECK(same_bits(rms(x).value(), rms_norm(x, {4}, rms.weight, 1e-5).value()));
    CHECK(layer.kind == nn::NormKind::layer);
    CHECK(rms.kind == nn::NormKind::rms);
  }
  Store store;
  const nn::Norm rms(store.scope(), 2, false, nn::NormKind::rms);  // rows 3 and 4: rms sqrt(12.5)
  CHECK(difference(rms(Tensor(array_of({1, 2}, {3, -4}))),
                   array_of({1, 2}, {0.848527798, -1.13137040})) == "");
}

TEST_CASE("a Norm of kind layer equals LayerNorm", "[nn][llama]") {
  Store one, two;
  const nn::Norm norm(one.scope(), 4);
  const nn::LayerNorm layer(two.scope(), 4);
  const Tensor x(random_array({2, 3, 4}, 1));
  CHECK(same_bits(norm(x).value(), layer(x).value()));
}

TEST_CASE("an Mlp with SwiGLU computes down(silu(gate(x)) up(x)) by hand", "[nn][llama]") {
  Store store;
  const nn::Mlp mlp(store.scope(), 1, true, Gelu::erf, nn::MlpKind::swiglu);
  CHECK(store.names() ==
        "gate.weight (8, 1)\ngate.bias (8)\nup.weight (8, 1)\nup.bias (8)\n"
        "down.weight (1, 8)\ndown.bias (1)\n");
  for (Tensor p : store.parameters) p.mutable_value() = zeros(p.shape());
  const auto set = [&](const char* name, double value) {  // element 0 of a parameter
    store.parameters.at(name).mutable_value().data()[0] = static_cast<Real>(value);
  };
  set("gate.weight", 2);
  set("up.weight", 3);
  set("up.bias", 1);
  set("down.weight", 0.5);
  set("down.bias", 10);
  // x = 1: silu(2) (3 + 1) / 2 + 10, x = -1: silu(-2) (-3 + 1) / 2 + 10
  CHECK(difference(mlp(Tensor(array_of({2, 1}, {1, -1}))),
                   array_of({2, 1}, {13.5231883, 10.2384058})) == "");
}

TEST_CASE("an Mlp with SwiGLU equals its formula in value and gradient", "[nn][llama]") {
  for (const bool bias : {false, true}) {
    Store store;
    const nn::Mlp mlp(store.scope(), 6, bias, Gelu::erf, nn::MlpKind::swiglu);
    const Function formula = [&](X x) {
      const Tensor gate = (*mlp.gate)(x[0]);
      return mlp.down(gate * sigmoid(gate) * mlp.up(x[0]));
    };
    CHECK(twin_difference([&](X x) { return mlp(x[0]); }, formula,
                          {random_array({2, 3, 6}, 1, -2, 2)}) == "");
  }
  Store plain;
  CHECK_FALSE(nn::Mlp(plain.scope(), 6).gate);
}

TEST_CASE("the hidden width of SwiGLU is 8C/3, rounded up to a multiple of 8", "[nn][llama]") {
  for (const auto& [C, width] : {std::pair<std::size_t, std::size_t>{1, 8},
                                 {2, 8},
                                 {3, 8},
                                 {4, 16},
                                 {6, 16},
                                 {128, 344},
                                 {384, 1024},
                                 {768, 2048}})
    CHECK(nn::mlp_width(C, nn::MlpKind::swiglu) == width);
  CHECK(nn::mlp_width(128) == 512);
}

// ---- Gpt

TEST_CASE("the names and shapes of the parameters of a model like Llama", "[nn][gpt][llama]") {
  nn::GptConfig config = small();
  config.layers = 1;
  const SmallModel model(config);
  std::string names;
  for (const Tensor& p : model.parameters) names += p.name() + " " + str(p.shape()) + "\n";
  CHECK(names ==
        "token.weight (65, 32)\n"
        "blocks.0.norm1.weight (32)\n"
        "blocks.0.attention.query.weight (32, 32)\n"
        "blocks.0.attention.key.weight (16, 32)\n"
        "blocks.0.attention.value.weight (16, 32)\n"
        "blocks.0.attention.out.weight (32, 32)\n"
        "blocks.0.norm2.weight (32)\n"
        "blocks.0.mlp.gate.weight (88, 32)\n"
        "blocks.0.mlp.up.weight (88, 32)\n"
        "blocks.0.mlp.down.weight (32, 88)\n"
        "norm.weight (32)\n");
  CHECK_FALSE(model.gpt.position);
}

TEST_CASE("parameter_count equals the number of parameters of all variants", "[nn][gpt][llama]") {
  for (const bool bias : {false, true})
    for (const bool tied : {false, true})
      for (nn::GptConfig config : all_variants(small(bias, tied)))
        for (const std::size_t embed_dim : {8u, 24u, 32u}) {
          config.embed_dim = embed_dim;
          const std::size_t count = SmallModel(config).parameters.count();
          CHECK(nn::parameter_count(config) == count);
          CHECK(nn::parameter_count<double>(config) == static_cast<double>(count));
        }
}

TEST_CASE("initial weights of a model like Llama have the standard deviation of GPT-2",
          "[nn][gpt][llama]") {
  const SmallModel model(small(true));
  for (const Tensor& p : model.parameters) {
    if (p.dim() != 2) continue;
    INFO(p.name());
    const bool ends_residual = p.name().find("attention.out.weight") != std::string::npos ||
                               p.name().find("mlp.down.weight") != std::string::npos;
    const double deviation =
        std::sqrt(static_cast<double>(variance(Tensor(p.value()), {}, false).item()));
    CHECK(std::abs(deviation / (ends_residual ? 0.02 / std::sqrt(6.0) : 0.02) - 1) < 0.15);
  }
}

TEST_CASE("a Block of a model like Llama is pre-norm with residual connections",
          "[nn][gpt][llama]") {
  Store store;
  const nn::Block block(store.scope(), small());
  const Tensor x(random_array({2, 5, 32}, 1));
  const Tensor attended = x + block.attention(block.norm1(x), causal());
  CHECK(
      same_bits(block(x, causal()).value(), (attended + block.mlp(block.norm2(attended))).value()));
  CHECK(block.attention.num_kv_heads == 2);
  CHECK(block.attention.rotary);
  CHECK(block.mlp.gate);
}

TEST_CASE("with a cache, every variant has the logits of the whole window", "[nn][cache][llama]") {
  for (const bool bias : {false, true})
    for (const nn::GptConfig& config : all_variants(small(bias, !bias))) {
      const SmallModel model(config);
      for (Tensor p : model.parameters) p.mutable_value() *= 3;  // sharper attention
      const Indices tokens = some_tokens(1, 16);
      const Tensor expected = model.gpt(tokens);
      for (const std::vector<int>& parts : {std::vector<int>(16, 1), {5, 1, 1, 9}, {16}}) {
        nn::GptCache cache(config);
        int begin = 0;
        for (const int T : parts) {
          Indices part = Indices::from_shape({1, static_cast<std::size_t>(T)});
          std::copy_n(tokens.data() + begin, T, part.data());
          CHECK(difference(model.gpt(part, cache), slice(expected, 1, begin, begin + T).value(),
                           2e-5) == "");
          begin += T;
        }
        CHECK(cache.blocks[0].keys.shape()[2] == config.kv_width());
      }
    }
}

TEST_CASE("an empty cache changes no bit of the logits of a model like Llama",
          "[nn][cache][llama]") {
  const SmallModel model(small());
  const Indices tokens = some_tokens(1, 16);
  nn::GptCache cache(small());
  CHECK(same_bits(model.gpt(tokens, cache).value(), model.gpt(tokens).value()));
}

TEST_CASE("no logit of a model like Llama depends on a later token", "[nn][gpt][llama]") {
  const SmallModel model(small());
  Indices tokens = some_tokens(2, 16);
  const Tensor before = model.gpt(tokens);
  for (std::size_t b = 0; b < 2; ++b) tokens(b, 9) = (tokens(b, 9) + 1) % 65;
  const Tensor after = model.gpt(tokens);
  CHECK(same_bits(slice(after, 1, 0, 9).value(), slice(before, 1, 0, 9).value()));
  for (int t = 9; t < 16; ++t)
    CHECK_FALSE(same_bits(select(after, 1, t).value(), select(before, 1, t).value()));
}

TEST_CASE("a model with rotary positions distinguishes the order of earlier tokens",
          "[nn][gpt][llama]") {
  const SmallModel model(small());
  const Tensor one = model.gpt(indices_of({1, 4}, {5, 9, 9, 2}));
  const Tensor two = model.gpt(indices_of({1, 4}, {9, 9, 5, 2}));
  CHECK_FALSE(same_bits(select(one, 1, 3).value(), select(two, 1, 3).value()));
}

TEST_CASE("every parameter of every variant gets a gradient, with the same bits on two threads",
          "[nn][gpt][llama]") {
  const int threads = num_threads();
  for (const nn::GptConfig& config : all_variants(small(true, false))) {
    std::vector<Array> first;
    for (const int n : {1, 2}) {
      set_num_threads(n);
      const SmallModel model(config);
      backward(model.gpt.loss(some_tokens(4, 16), some_tokens(4, 16, 2)));
      std::size_t i = 0;
      for (const Tensor& p : model.parameters) {
        REQUIRE(p.has_grad());
        if (n == 1) first.push_back(p.grad());
        if (n == 2) CHECK(same_bits(first[i++], p.grad()));
      }
    }
  }
  set_num_threads(threads);
}

TEST_CASE("heads and MLPs of any width, and partly rotated heads", "[nn][gpt][llama]") {
  nn::GptConfig config = small();
  config.head_dim = 6, config.rotary_dim = 4, config.intermediate_size = 10;
  config.rotary_pairs = RotaryPairs::halves, config.rope_theta = 500, config.qkv_bias = true;
  const SmallModel model(config);
  CHECK(model.parameters.count() == nn::parameter_count(config));
  const nn::Block& block = model.gpt.blocks[0];
  CHECK(str(block.attention.query.weight.shape()) == "(24, 32)");
  CHECK(str(block.attention.key.bias.shape()) == "(12)");
  CHECK(str(block.attention.out.weight.shape()) == "(32, 24)");
  CHECK_FALSE(block.attention.out.bias.defined());
  CHECK(str(block.mlp.gate->weight.shape()) == "(10, 32)");
  const RotaryOptions options{500, RotaryPairs::halves, 4};
  const Tensor x(random_array({2, 5, 32}, 1));
  CHECK(same_bits(block.attention.project(x, x, 3).key.value(),
                  rotary_embedding(block.attention.key(x), 2, 3, options).value()));
  const Indices tokens = some_tokens(1, 16);
  nn::GptCache cache(config);
  CHECK(same_bits(model.gpt(tokens, cache).value(), model.gpt(tokens).value()));
}

TEST_CASE("a model like Llama that is not causal, and one with dropout", "[nn][gpt][llama]") {
  const SmallModel model(bidirectional(small()));
  Indices tokens = some_tokens(1, 16);
  const Tensor before = model.gpt(tokens);
  tokens(0, 15) = (tokens(0, 15) + 1) % 65;
  CHECK_FALSE(same_bits(select(before, 1, 0).value(), select(model.gpt(tokens), 1, 0).value()));
  const SmallModel other(small());
  Generator one(9), two(9);
  const nn::TrainingMode first{0.2, &one}, second{0.2, &two};
  const Array dropped = other.gpt(tokens, &first).value();
  CHECK(same_bits(dropped, other.gpt(tokens, &second).value()));
  CHECK_FALSE(same_bits(dropped, other.gpt(tokens).value()));
}

TEST_CASE("invalid variants of a model throw", "[nn][gpt][llama]") {
  const auto error_of = [](const nn::GptConfig& config) {
    const std::string text = message_of([&] { SmallModel{config}; });
    CHECK(message_of([&] { nn::GptCache{config}; }) == text);
    return text;
  };
  nn::GptConfig config = small();
  config.kv_heads = 3;
  CHECK(error_of(config) == "Gpt: heads 4 must be divisible by kv_heads 3");
  config.kv_heads = 8;
  CHECK(error_of(config) == "Gpt: heads 4 must be divisible by kv_heads 8");
  config = small();
  config.embed_dim = 36;
  CHECK(error_of(config) ==
        "Gpt: rotary positions need heads of even width: embed_dim 36, heads 4");
  config.positions = nn::PositionKind::learned;
  CHECK(error_of(config) == "");
  config = small();
  config.head_dim = 5;
  CHECK(error_of(config) == "Gpt: rotary positions need heads of even width: head_dim 5, heads 4");
  config.head_dim = 8, config.intermediate_size = 1'000'000'000'000;
  CHECK(error_of(config) ==
        "Gpt: vocab_size 65, block_size 16, layers 3 and embed_dim 32, with head_dim, "
        "intermediate_size, give more than 1e13 parameters");
  const SmallModel model(small());
  CHECK(message_of([&] { model.gpt(some_tokens(1, 17)); }) ==
        "Gpt: a window of 17 tokens is longer than block_size 16");
}
