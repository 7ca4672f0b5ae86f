// mistakes_test.cpp: common mistakes of a program that uses heed, and the message of each.

#include <functional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/heed.hpp"
#include "message_of.hpp"
#include "scratch_folder.hpp"

namespace heed::test {

namespace {

struct Mistake {
  std::function<void()> make;
  std::string message;  // without the location at its end
};

Tensor named(const char* name, const Shape& shape, bool requires_grad = false) {
  return Tensor(ones(shape), requires_grad).set_name(name);
}

const Tensor x = named("x", {2, 3}), y = named("y", {4}), cube = named("cube", {2, 3, 4});

// ---- what the calls below need

struct Store {
  Parameters parameters;
  Generator random{0};
  Scope scope{parameters, random};
};

Generator& generator() {
  static Generator random(0);
  return random;
}

CrossEntropyOptions smoothing(double label_smoothing) {
  CrossEntropyOptions options;
  options.label_smoothing = label_smoothing;
  return options;
}

AttentionOptions heads(std::size_t num_heads) {
  AttentionOptions options;
  options.num_heads = num_heads;
  return options;
}

AttentionOptions past(std::size_t keys, bool causal) {
  AttentionOptions options;
  options.past = keys;
  options.causal = causal;
  return options;
}

AttentionOptions bias_of(const Shape& shape) {
  AttentionOptions options;
  options.bias = named("bias", shape);
  return options;
}

nn::MultiHeadAttention attention() { return nn::MultiHeadAttention(Store().scope, 8, 2); }

nn::Gpt gpt(std::size_t block_size) {
  nn::GptConfig config;
  config.vocab_size = 5;
  config.block_size = block_size;
  config.embed_dim = 8;
  return nn::Gpt(Store().scope, config);
}

optim::AdamWOptions betas(double beta1, double beta2) {
  optim::AdamWOptions options;
  options.beta1 = beta1;
  options.beta2 = beta2;
  return options;
}

optim::SgdOptions nesterov() {
  optim::SgdOptions options;
  options.nesterov = true;
  return options;
}

Tensor leaf() { return named("w", {2}, true); }

struct WrongShape {
  static constexpr std::string_view name = "WrongShape";
  Array forward(const Array& in) const { return in; }
  Array backward(const Array&, const Array&, const Array&) const { return ones({7}); }
};

std::filesystem::path file_with(const Shape& shape) {
  static const heed_test::ScratchFolder folder;
  Store saved;
  saved.scope.parameter("w", ones(shape));
  save(folder.path / "model.safetensors", saved.parameters);
  return folder.path / "model.safetensors";
}

const std::vector<Mistake>& operations_mistakes() {
  static const std::vector<Mistake> all{
      {[] { x + y; }, "@0@"},
      {[] { x* Tensor(ones({2})); }, "@1@"},
      {[] { matmul(x, x); }, "@2@"},
      {[] {
         matmul(cube, named("w", {3, 4, 2}));
       },
       "@3@"},
      {[] { matmul(x, Tensor(scalar(2))); }, "@4@"},
      {[] {
         linear(x, named("weight", {3, 5}));
       },
       "@5@"},
      {[] {
         linear(x, named("weight", {5, 3}), named("bias", {3}));
       },
       "@6@"},
      {[] {
         reshape(x, {4, 2});
       },
       "@7@"},
      {[] {
         reshape(x, {-1, -1});
       },
       "@8@"},
      {[] {
         reshape(x, {4, -1});
       },
       "@9@"},
      {[] {
         expand(x, {2, 6});
       },
       "@10@"},
      {[] {
         expand(x, {-1, 3});
       },
       "@11@"},
      {[] { transpose(x, 0, 2); }, "@12@"},
      {[] { permute(x, {0}); }, "@13@"},
      {[] {
         permute(x, {0, 0});
       },
       "@14@"},
      {[] { squeeze(x, 2); }, "@15@"},
      {[] { unsqueeze(x, 4); }, "@16@"},
      {[] {
         concat({x, y}, 0);
       },
       "@17@"},
      {[] { concat({}, 0); }, "@18@"},
      {[] {
         concat({x, named("z", {2, 4})}, 0);
       },
       "@19@"},
      {[] {
         stack({x, named("z", {3, 2})}, 0);
       },
       "@20@"},
      {[] {
         split(x, {1, 1}, 1);
       },
       "@21@"},
      {[] { slice(x, 1, 0, 3, 0); }, "@22@"},
      {[] { select(x, 1, 3); }, "@23@"},
      {[] { sum(x, 2); }, "@24@"},
      {[] {
         sum(x, {0, 0});
       },
       "@25@"},
      {[] {
         mean(x, {1, -1});
       },
       "@26@"},
      {[] {
         max(named("empty", {0, 3}), 0);
       },
       "@27@"},
      {[] {
         argmax(named("empty", {2, 0}), 1);
       },
       "@28@"},
      {[] { topk(x, 4); }, "@29@"},
      {[] {
         gather(x, 1, indices({2, 2}, 3));
       },
       "@30@"},
      {[] {
         gather(x, 1, indices({3, 2}));
       },
       "@31@"},
      {[] { gather(x, 1, indices({2})); }, "@32@"},
      {[] { softmax(x, 2); }, "@33@"},
      {[] { log_softmax(x, -3); }, "@34@"},
      {[] { masked_fill(x, mask({2}), 0); }, "@35@"},
      {[] { where(mask({5}), x, x); }, "@36@"},
      {[] {
         where(mask({2, 3}), x, y);
       },
       "@37@"},
      {[] { tril(y); }, "@38@"},
      {[] {
         einsum("ij,jk->ik", {x, x});
       },
       "@39@"},
      {[] { einsum("ij", {cube}); }, "@40@"},
      {[] { einsum("ij,jk->ik", {x}); }, "@41@"},
      {[] { einsum("ij->k", {x}); }, "@42@"},
      {[] { cosine_similarity(x, y); }, "@43@"},
      {[] { layer_norm(x, {2}); }, "@44@"},
      {[] { layer_norm(x, {3}, named("weight", {2})); }, "@45@"},
      {[] { rms_norm(x, {3}, named("weight", {4})); }, "@46@"},
      {[] {
         embedding(indices({2}, 5), named("weight", {5, 3}));
       },
       "@47@"},
      {[] { embedding(indices({2}), named("weight", {5})); }, "@48@"},
      {[] { dropout(x, 1.5, generator()); }, "@49@"},
      {[] {
         array2d({{1, 2}, {3}});
       },
       "@50@"},
  };
  return all;
}

const std::vector<Mistake>& losses_mistakes() {
  static const std::vector<Mistake> all{
      {[] { cross_entropy(x, indices({3})); }, "@51@"},
      {[] { cross_entropy(x, indices({2}, 3)); }, "@52@"},
      {[] { cross_entropy(x, indices({2}, -1)); }, "@53@"},
      {[] { cross_entropy(Tensor(scalar(1)), indices({})); }, "@54@"},
      {[] { cross_entropy(x, indices({2}), smoothing(1.5)); }, "@55@"},
      {[] { mse_loss(x, y); }, "@56@"},
      {[] { binary_cross_entropy_with_logits(x, named("target", {2})); }, "@57@"},
      {[] { huber_loss(x, named("target", {3})); }, "@58@"},
      {[] { huber_loss(x, x, Reduction::mean, 0); }, "@59@"},
  };
  return all;
}

const std::vector<Mistake>& attention_mistakes() {
  static const std::vector<Mistake> all{
      {[] {
         scaled_dot_product_attention(x, named("k", {5, 4}), named("v", {5, 4}));
       },
       "@60@"},
      {[] {
         scaled_dot_product_attention(x, named("k", {5, 3}), named("v", {4, 3}));
       },
       "@61@"},
      {[] { scaled_dot_product_attention(cube, x, x); }, "@62@"},
      {[] { scaled_dot_product_attention(cube, cube, cube, heads(3)); }, "@63@"},
      {[] { attention_weights(x, x, past(1, false)); }, "@64@"},
      {[] { attention_weights(x, x, past(1, true)); }, "@65@"},
      {[] {
         attention_weights(x, x, bias_of({3, 3}));
       },
       "@66@"},
      {[] { split_heads(cube, 3); }, "@67@"},
      {[] { nn::MultiHeadAttention(Store().scope, 6, 4); }, "@68@"},
      {[] { attention()(cube); }, "@69@"},
      {[] {
         attention()(named("x", {2, 3, 8}), {false, {}, mask({2, 4})});
       },
       "@70@"},
      {[] {
         const NoGrad no_grad;
         nn::KeyValueCache cache(2, 8);
         attention()(named("x", {1, 3, 8}), cache);
       },
       "@71@"},
      {[] {
         nn::PatchEmbedding(Store().scope, 3, 4, 8)(named("images", {1, 3, 8, 6}));
       },
       "@72@"},
      {[] { nn::PatchEmbedding(Store().scope, 3, 0, 8); }, "@73@"},
      {[] {
         gpt(8)(indices({1, 9}));
       },
       "@74@"},
      {[] { gpt(8)(indices({9})); }, "@75@"},
      {[] {
         gpt(8)(indices({1, 4}, 7));
       },
       "@76@"},
      {[] { gpt(0); }, "@77@"},
  };
  return all;
}

const std::vector<Mistake>& gradients_mistakes() {
  static const std::vector<Mistake> all{
      {[] {
         backward(named("w", {2, 3}, true) * 2);
       },
       "@78@"},
      {[] { backward(sum(x)); }, "@79@"},
      {[] { backward(leaf() * 2, ones({3})); }, "@80@"},
      {[] {
         Tensor l = sum(leaf() * 2.0);
         backward(l);
         backward(l);
       },
       "@81@"},
      {[] {
         Tensor w = leaf();
         Tensor l = sum(w * w);
         w.mutable_value() += 1;
         backward(l);
       },
       "@82@"},
      {[] {
         Tensor h = leaf() * 2.0;
         h.mutable_value() += 1;
       },
       "@83@"},
      {[] { leaf().grad(); }, "@84@"},
      {[] { x.grad(); }, "@85@"},
      {[] { x.item(); }, "@86@"},
      {[] { x.size(2); }, "@87@"},
      {[] { Tensor().value(); }, "@88@"},
      {[] { relu(Tensor()); }, "@89@"},
      {[] { x + Tensor(); }, "@90@"},
      {[] { backward(sum(record(WrongShape{}, SourceLocation::current(), leaf()))); }, "@91@"},
      {[] {
         nn::KeyValueCache cache(4, 8);
         attention()(named("x", {1, 3, 8}, true), cache);
       },
       "@92@"},
  };
  return all;
}

const std::vector<Mistake>& training_mistakes() {
  static const std::vector<Mistake> all{
      {[] { optim::AdamW({}); }, "@93@"},
      {[] {
         optim::Sgd({leaf(), Tensor()});
       },
       "@94@"},
      {[] {
         const Tensor w = leaf();
         optim::AdamW({w, w});
       },
       "@95@"},
      {[] { optim::Sgd({leaf() * 2}); }, "@96@"},
      {[] { optim::AdamW({leaf()}, {/*lr=*/-1}); }, "@97@"},
      {[] { optim::Sgd({leaf()}).set_lr(-1); }, "@98@"},
      {[] { optim::AdamW({leaf()}, betas(0.9, 1)); }, "@99@"},
      {[] { optim::Sgd({leaf()}, nesterov()); }, "@100@"},
      {[] { optim::AdamW({leaf()}).set_state({}); }, "@101@"},
      {[] { optim::AdamW({Tensor(ones({2}), true)}).state(); }, "@102@"},
      {[] { optim::clip_grad_norm({x}, -1); }, "@103@"},
      {[] { nn::Dropout(-0.1, generator()); }, "@104@"},
      {[] {
         Store store;
         store.scope.parameter("w", ones({2}));
         store.scope.parameter("w", ones({2}));
       },
       "@105@"},
      {[] { Store().parameters.at("head.weight"); }, "@106@"},
      {[] { nn::init::xavier_uniform_(y, generator()); }, "@107@"},
      {[] { generator().uniform({2}, 1, 0); }, "@108@"},
      {[] { generator().randint(3, 3, {2}); }, "@109@"},
      {[] { generator().multinomial(ones({2}), 3); }, "@110@"},
      {[] { nn::sinusoidal_positions(4, 3); }, "@111@"},
      {[] { set_num_threads(0); }, "@112@"},
      {[] {
         Store store;
         store.scope.parameter("w", ones({3}));
         load(file_with({2, 3}), store.parameters);
       },
       "@113@"},
      {[] {
         Store store;
         store.scope.parameter("v", ones({3}));
         load(file_with({3}), store.parameters);
       },
       "@114@"},
      {[] { load("/nowhere/model.safetensors", Parameters()); }, "@115@"},
      {[] { save("/nowhere/model.safetensors", Parameters()); }, "@116@"},
  };
  return all;
}

// The message at the end of which stands a line of this file.
void check_mistakes(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string message = full_message_of(mistake.make);
    CHECK(message_of(mistake.make) == mistake.message);
    CHECK(message.find('\n') == message.npos);
    CHECK(message.find(", at tests/mistakes/mistakes_test.cpp:") != message.npos);
  }
}

}  // namespace

TEST_CASE("a mistake with operations ends in one line that names what is wrong, and where",
          "[mistakes]") {
  check_mistakes(operations_mistakes());
}

TEST_CASE("a mistake with losses ends in one line that names what is wrong, and where",
          "[mistakes]") {
  check_mistakes(losses_mistakes());
}

TEST_CASE("a mistake with attention ends in one line that names what is wrong, and where",
          "[mistakes]") {
  check_mistakes(attention_mistakes());
}

TEST_CASE("a mistake with gradients ends in one line that names what is wrong, and where",
          "[mistakes]") {
  check_mistakes(gradients_mistakes());
}

TEST_CASE("a mistake with training ends in one line that names what is wrong, and where",
          "[mistakes]") {
  check_mistakes(training_mistakes());
}

}  // namespace heed::test
