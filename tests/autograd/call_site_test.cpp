// call_site_test.cpp: an error of the library ends with the file and line of the caller.

#include <functional>
#include <vector>

#include "catch.hpp"
#include "heed/heed.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// A wrong call, and its line.
struct Wrong {
  int line;
  std::function<void()> call;
};

void check_lines(const std::vector<Wrong>& all) {
  for (const Wrong& wrong : all) {
    const std::string message = full_message_of(wrong.call);
    const std::string end = std::string(", at ") + __FILE__ + ":" + std::to_string(wrong.line);
    INFO("line " << wrong.line << ": " << message);
    CHECK(message.size() > end.size());
    CHECK((message.size() > end.size() && message.substr(message.size() - end.size()) == end));
    if (message.find(" made at ") == message.npos)
      CHECK(message.find(__FILE__) == message.rfind(__FILE__));  // only one location
  }
}

struct Store {
  Parameters parameters;
  Generator generator{1};
  Scope scope() { return Scope(parameters, generator); }
};

}  // namespace

// A call must stand on the line that its entry gives.
// clang-format off

TEST_CASE("the errors of operations end with the caller's line", "[autograd][call_site]") {
  const Tensor x(ones({2, 3}), true), y(ones({4})), cube(ones({2, 3, 4})), scalar_(scalar(1));
  const Array wrong = ones({5});
  Generator generator(1);
  AttentionOptions heads;
  heads.num_heads = 3;
  check_lines({
      {__LINE__, [&] { x + y; }},
      {__LINE__, [&] { x - y; }},
      {__LINE__, [&] { x * y; }},
      {__LINE__, [&] { x / y; }},
      {__LINE__, [&] { x + wrong; }},
      {__LINE__, [&] { x - wrong; }},
      {__LINE__, [&] { x * wrong; }},
      {__LINE__, [&] { x / wrong; }},
      {__LINE__, [&] { wrong + x; }},
      {__LINE__, [&] { wrong - x; }},
      {__LINE__, [&] { wrong * x; }},
      {__LINE__, [&] { wrong / x; }},
      {__LINE__, [&] { -Tensor(); }},
      {__LINE__, [&] { Tensor() + 1.0; }},
      {__LINE__, [&] { 1.0 - Tensor(); }},
      {__LINE__, [&] { Tensor() * x; }},
      {__LINE__, [&] { x * Tensor(); }},
      {__LINE__, [&] { power(Tensor(), 2); }},
      {__LINE__, [&] { exp(Tensor()); }},
      {__LINE__, [&] { log(Tensor()); }},
      {__LINE__, [&] { sqrt(Tensor()); }},
      {__LINE__, [&] { abs(Tensor()); }},
      {__LINE__, [&] { clamp(Tensor(), 0, 1); }},
      {__LINE__, [&] { tanh(Tensor()); }},
      {__LINE__, [&] { sigmoid(Tensor()); }},
      {__LINE__, [&] { relu(Tensor()); }},
      {__LINE__, [&] { gelu(Tensor()); }},
      {__LINE__, [&] { matmul(x, x); }},
      {__LINE__, [&] { linear(x, y); }},
      {__LINE__, [&] { einsum("ij,jk->ik", {x, x}); }},
      {__LINE__, [&] { reshape(x, {4, 2}); }},
      {__LINE__, [&] { squeeze(x, 2); }},
      {__LINE__, [&] { unsqueeze(x, 4); }},
      {__LINE__, [&] { expand(x, {2, 6}); }},
      {__LINE__, [&] { transpose(x, 0, 2); }},
      {__LINE__, [&] { permute(x, {0, 0}); }},
      {__LINE__, [&] { slice(x, 0, 0, 1, 0); }},
      {__LINE__, [&] { select(x, 0, 2); }},
      {__LINE__, [&] { concat({}, 0); }},
      {__LINE__, [&] { stack({x, y}, 0); }},
      {__LINE__, [&] { split(x, {1, 3}, 0); }},
      {__LINE__, [&] { sum(x, 2); }},
      {__LINE__, [&] { mean(x, {0, 0}); }},
      {__LINE__, [&] { max(Tensor(ones({0}))); }},
      {__LINE__, [&] { variance(x, -3); }},
      {__LINE__, [&] { argmax(x, 2); }},
      {__LINE__, [&] { topk(x, 4); }},
      {__LINE__, [&] { gather(x, 0, indices({1})); }},
      {__LINE__, [&] { softmax(x, 2); }},
      {__LINE__, [&] { log_softmax(x, 2); }},
      {__LINE__, [&] { logsumexp(x, 2); }},
      {__LINE__, [&] { masked_fill(x, mask({2}), 0); }},
      {__LINE__, [&] { where(mask({5}), x, x); }},
      {__LINE__, [&] { tril(y); }},
      {__LINE__, [&] { dropout(x, 1.5, generator); }},
      {__LINE__, [&] { layer_norm(x, {2}); }},
      {__LINE__, [&] { rms_norm(x, {2}); }},
      {__LINE__, [&] { cosine_similarity(x, y); }},
      {__LINE__, [&] { embedding(indices({1}, 9), x); }},
      {__LINE__, [&] { cross_entropy(x, indices({3})); }},
      {__LINE__, [&] { mse_loss(x, y); }},
      {__LINE__, [&] { binary_cross_entropy_with_logits(x, y); }},
      {__LINE__, [&] { huber_loss(x, y); }},
      {__LINE__, [&] { attention_weights(x, y); }},
      {__LINE__, [&] { scaled_dot_product_attention(x, x, y); }},
      {__LINE__, [&] { attention_with_weights(cube, cube, cube, heads); }},
      {__LINE__, [&] { split_heads(cube, 3); }},
      {__LINE__, [&] { join_heads(cube); }},
  });
}

TEST_CASE("the errors of a tensor's members end with the caller's line", "[autograd][call_site]") {
  const Tensor none, x(ones({2, 3}), true), constant(ones({2}));
  const Tensor y = x * 2.0;
  check_lines({
      {__LINE__, [&] { none.value(); }},
      {__LINE__, [&] { none.shape(); }},
      {__LINE__, [&] { none.dim(); }},
      {__LINE__, [&] { none.size(0); }},
      {__LINE__, [&] { x.size(2); }},
      {__LINE__, [&] { none.item(); }},
      {__LINE__, [&] { x.item(); }},
      {__LINE__, [&] { none.mutable_value(); }},
      {__LINE__, [&] { y.mutable_value(); }},
      {__LINE__, [&] { none.has_grad(); }},
      {__LINE__, [&] { none.grad(); }},
      {__LINE__, [&] { x.grad(); }},
      {__LINE__, [&] { constant.grad(); }},
      {__LINE__, [&] { none.mutable_grad(); }},
      {__LINE__, [&] { none.clear_grad(); }},
      {__LINE__, [&] { none.backward(); }},
      {__LINE__, [&] { x.backward(); }},
      {__LINE__, [&] { sum(constant).backward(); }},
      {__LINE__, [&] { backward(x); }},
      {__LINE__, [&] { backward(x, ones({3})); }},
      {__LINE__, [&] { detach(none); }},
      {__LINE__, [&] { none.name(); }},
      {__LINE__, [&] { Tensor().set_name("x"); }},
      {__LINE__, [&] { none.op(); }},
      {__LINE__, [&] { none.location(); }},
  });
}

TEST_CASE("the errors of modules end with the caller's line", "[autograd][call_site]") {
  Store store;
  const Tensor x(ones({2, 3, 4})), wrong(ones({2, 3, 5})), vector(ones({4}));
  const nn::Linear linear(store.scope() / "linear", 4, 2);
  const nn::LayerNorm layer_norm(store.scope() / "layer_norm", 4);
  const nn::RMSNorm rms_norm(store.scope() / "rms_norm", 4);
  const nn::Dropout dropout(0.5, store.generator);
  const nn::Embedding embedding(store.scope() / "embedding", 3, 4);
  const nn::PatchEmbedding patches(store.scope() / "patches", 1, 2, 4);
  const nn::AttentionHead head(store.scope() / "head", 4, 2);
  const nn::MultiHeadAttention heads(store.scope() / "heads", 4, 2);
  const nn::Mlp mlp(store.scope() / "mlp", 4);
  const nn::Block block(store.scope() / "block", 4, 2);
  const nn::DecoderBlock decoder(store.scope() / "decoder", 4, 2);
  nn::GptConfig config;
  config.vocab_size = 5;
  config.block_size = 3;
  config.embed_dim = 4;
  config.heads = 2;
  config.layers = 1;
  const nn::Gpt gpt(store.scope() / "gpt", config);
  nn::GptCache cache(config);
  const nn::TrainingMode no_generator{0.5, nullptr};
  const nn::AttentionMask bad_padding{false, {}, mask({2, 5})};
  const nn::AttentionMask bad_masks{false, mask({2, 2}), mask({2, 3})};
  check_lines({
      {__LINE__, [&] { linear(wrong); }},
      {__LINE__, [&] { layer_norm(wrong); }},
      {__LINE__, [&] { rms_norm(wrong); }},
      {__LINE__, [&] { dropout(Tensor()); }},
      {__LINE__, [&] { nn::Dropout(1.5, store.generator); }},
      {__LINE__, [&] { nn::dropout(x, &no_generator); }},
      {__LINE__, [&] { embedding(indices({2}, 3)); }},
      {__LINE__, [&] { patches(x); }},
      {__LINE__, [&] { nn::PatchEmbedding(Scope(store.parameters, store.generator), 0, 2, 4); }},
      {__LINE__, [&] { head(wrong); }},
      {__LINE__, [&] { head.weights(wrong); }},
      {__LINE__, [&] { head(x, bad_padding); }},
      {__LINE__, [&] { heads(wrong); }},
      {__LINE__, [&] { heads(x, wrong); }},
      {__LINE__, [&] { heads(x, bad_padding); }},
      {__LINE__, [&] { heads(x, bad_masks); }},
      {__LINE__, [&] { heads.weights(x, wrong); }},
      {__LINE__, [&] { heads.with_weights(x, wrong); }},
      {__LINE__, [&] { heads.with_weights(x, x, bad_padding); }},
      {__LINE__, [&] { heads(x, cache.blocks[0]); }},
      {__LINE__, [&] { nn::MultiHeadAttention(Scope(store.parameters, store.generator), 4, 3); }},
      {__LINE__, [&] { mlp(wrong); }},
      {__LINE__, [&] { block(wrong); }},
      {__LINE__, [&] { decoder(wrong, x, {}); }},
      {__LINE__, [&] { decoder(x, wrong, {}); }},
      {__LINE__, [&] { decoder(x, x, bad_padding); }},
      {__LINE__, [&] { decoder(x, x, {}, bad_padding); }},
      {__LINE__, [&] { gpt(indices({1, 4})); }},
      {__LINE__, [&] { gpt(indices({1, 4}), cache); }},
      {__LINE__, [&] { gpt.loss(indices({1, 3}), indices({1, 2})); }},
      {__LINE__, [&] { gpt.embed(indices({3})); }},
      {__LINE__, [&] { nn::Gpt(Scope(store.parameters, store.generator), nn::GptConfig()); }},
      {__LINE__, [&] { nn::GptCache(nn::GptConfig{}); }},
      {__LINE__, [&] { store.parameters.at("none"); }},
      {__LINE__, [&] { store.parameters.add("linear.weight", ones({1})); }},
      {__LINE__, [&] { nn::Linear(Scope(store.parameters, store.generator, "linear"), 4, 2); }},
      {__LINE__, [&] { nn::init::uniform_(Tensor(), store.generator); }},
      {__LINE__, [&] { nn::init::uniform_(vector, store.generator, 1, 0); }},
      {__LINE__, [&] { nn::init::normal_(vector, store.generator, 0, -1); }},
      {__LINE__, [&] { nn::init::xavier_uniform_(vector, store.generator); }},
      {__LINE__, [&] { nn::init::kaiming_uniform_(vector, store.generator); }},
      {__LINE__, [&] { load("/nowhere/model.safetensors", store.parameters); }},
      {__LINE__, [&] { load(SafetensorsFile(), store.parameters); }},
      {__LINE__, [&] { save("/nowhere/model.safetensors", store.parameters); }},
  });
}

TEST_CASE("the errors of optimizers end with the caller's line", "[autograd][call_site]") {
  const Tensor w = tensor_of({2}, {1, 2}).set_name("w"), none;
  const Tensor result = w * 2.0;
  optim::Sgd sgd({w});
  optim::AdamW adamw({w});
  optim::Optimizer& base = adamw;
  const optim::SgdOptions negative{-1};
  optim::AdamWOptions beta;
  beta.beta1 = 1;
  optim::State unknown;
  unknown.arrays.emplace_back("v.momentum", ones({2}));
  check_lines({
      {__LINE__, [&] { optim::Sgd({}); }},
      {__LINE__, [&] { optim::AdamW({}); }},
      {__LINE__, [&] { optim::Sgd({w, w}); }},
      {__LINE__, [&] { optim::AdamW({w, w}); }},
      {__LINE__, [&] { optim::Sgd({none}); }},
      {__LINE__, [&] { optim::AdamW({result}); }},
      {__LINE__, [&] { optim::Sgd({w}, negative); }},
      {__LINE__, [&] { optim::AdamW({w}, beta); }},
      {__LINE__, [&] { sgd.set_lr(-1); }},
      {__LINE__, [&] { adamw.set_lr(-1); }},
      {__LINE__, [&] { base.set_lr(not_a_number); }},
      {__LINE__, [&] { sgd.set_state(unknown); }},
      {__LINE__, [&] { adamw.set_state(unknown); }},
      {__LINE__, [&] { base.set_state(unknown); }},
      {__LINE__, [&] { optim::clip_grad_norm({w}, -1); }},
      {__LINE__, [&] { optim::clip_grad_norm({none}, 1); }},
      {__LINE__, [&] { optim::zero_grad({none}); }},
  });
}

// clang-format on

TEST_CASE("after an error the next error has its own line", "[autograd][call_site]") {
  const Tensor x(ones({2, 3}));
  const std::string first = full_message_of([&] { softmax(x, 7); });
  const std::string second = full_message_of([&] { softmax(x, 7); });
  CHECK(first != second);
  CHECK(message_of([&] { softmax(x, 7); }) == first.substr(0, first.find(", at ")));
}

namespace {

// The line that the message of a call names.
int line_in(const std::function<void()>& call) {
  const std::string message = full_message_of(call);
  const std::string at = std::string(", at ") + __FILE__ + ":";
  const std::size_t found = message.rfind(at);
  return found == message.npos ? 0 : std::stoi(message.substr(found + at.size()));
}

Tensor wrong_inside(In x) { return softmax(exp(x), 7); }
const int inside = __LINE__ - 1;

}  // namespace

// clang-format off

TEST_CASE("an error in an expression of several lines names the line of the wrong call",
          "[autograd][call_site]") {
  Store store;
  const nn::Linear linear(store.scope() / "linear", 3, 2);
  const Tensor x(ones({2, 3}), true);
  const int first = line_in([&] {
    softmax(relu(x),
            7);
  });
  CHECK(first == __LINE__ - 3);
  const int second = line_in([&] {
    matmul(relu(x),
           reshape(x, {4, 2}));
  });
  CHECK(second == __LINE__ - 2);
  const int third = line_in([&] {
    matmul(reshape(x, {3, 3}),
           relu(x));
  });
  CHECK(third == __LINE__ - 3);
  const int fourth = line_in([&] {
    linear(x) +
        linear(reshape(x, {3, 2})) +
        linear(x);
  });
  CHECK(fourth == __LINE__ - 3);
  const int fifth = line_in([&] {
    sum(linear(x) * 2.0 +
        log(softmax(x, 3)));
  });
  CHECK(fifth == __LINE__ - 2);
}

TEST_CASE("a node records the line of its call in an expression of several lines",
          "[autograd][call_site]") {
  const Tensor x(ones({2, 3}), true);
  const Tensor y = exp(
      relu(x)
      + x);
  const int line = __LINE__ - 1;
  CHECK(y.location().line == line - 2);
  const Tensor sum_of_two(y.node()->inputs[0]), relu_of_x(sum_of_two.node()->inputs[0]);
  CHECK(relu_of_x.location().line == line - 1);
  const Tensor product = matmul(x, Tensor(ones({3})));  // reshapes the vector
  CHECK(product.location().line == __LINE__ - 1);
  CHECK(std::string(product.location().file) == __FILE__);
}

// clang-format on

TEST_CASE("an error in a function that takes In names the line inside", "[autograd][call_site]") {
  const Tensor x(ones({2, 3}));
  const int found = line_in([&] { wrong_inside(x); });
  CHECK(found == inside);
}
