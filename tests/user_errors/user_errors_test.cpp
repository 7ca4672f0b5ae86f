// user_errors_test.cpp: common mistakes of a program that uses heed, and the message of each.

#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "catch.hpp"
#include "heed/heed.hpp"
#include "message_of.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"

namespace heed::test {

namespace {

struct Mistake {
  std::function<void()> make;
  std::string message;  // HERE stands for a line of this file
};

Tensor named(const char* name, const Shape& shape, bool requires_grad = false) {
  return Tensor(ones(shape), requires_grad).set_name(name);
}

const Tensor x = named("x", {2, 3}), y = named("y", {4}), cube = named("cube", {2, 3, 4}),
             hypercube = named("hypercube", {2, 2, 3, 4});
const auto minus_one = static_cast<std::size_t>(-1);

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

AttentionOptions grouped(std::size_t num_heads, std::size_t num_kv_heads) {
  AttentionOptions options = heads(num_heads);
  options.num_kv_heads = num_kv_heads;
  return options;
}

AttentionOptions window(std::size_t keys) {
  AttentionOptions options;
  options.window = keys;
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

AttentionOptions headed_bias(const Shape& shape) {
  AttentionOptions options = bias_of(shape);
  options.num_heads = 2;
  return options;
}

AttentionOptions masked_by(const Shape& shape) {
  AttentionOptions options;
  options.mask = mask(shape);
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
      {[] { x + y; }, "add: shapes do not broadcast: x (2, 3), y (4)"},
      {[] { x* Tensor(ones({2})); }, "multiply: shapes do not broadcast: x (2, 3), b (2)"},
      {[] { matmul(x, x); }, "matmul: inner sizes differ: x (2, 3), x (2, 3)"},
      {[] {
         matmul(cube, named("w", {3, 4, 2}));
       },
       "matmul: batches do not broadcast: cube (2, 3, 4), w (3, 4, 2)"},
      {[] { matmul(x, Tensor(scalar(2))); },
       "matmul: both factors need at least one axis: x (2, 3), b ()"},
      {[] {
         linear(x, named("weight", {3, 5}));
       },
       "linear: the last size of x must be the weight's second: x (2, 3), weight (3, 5)"},
      {[] {
         linear(x, named("weight", {5, 3}), named("bias", {3}));
       },
       "linear: the bias must have the weight's first size: weight (5, 3), bias (3)"},
      {[] {
         reshape(x, {4, 2});
       },
       "reshape: x (2, 3) cannot become (4, 2): the number of elements differs"},
      {[] {
         reshape(x, {-1, -1});
       },
       "reshape: x (2, 3) cannot become (-1, -1): only one size may be -1"},
      {[] {
         reshape(x, {4, -1});
       },
       "reshape: x (2, 3) cannot become (4, -1): the number of elements is not divisible by the "
       "product of the other sizes"},
      {[] {
         expand(x, {2, 6});
       },
       "expand: x (2, 3) does not broadcast to (2, 6): only axes of size 1 can be expanded"},
      {[] {
         expand(x, {-1, 2, 3});
       },
       "expand: size -1 for x (2, 3) must be 0 or more; -1 keeps the size of an axis that x has"},
      {[] { transpose(x, 0, 2); }, "transpose: axis 2 is out of range for x (2, 3); use -2 to 1"},
      {[] { permute(x, {0}); }, "permute: x (2, 3) has 2 axes, the order names 1"},
      {[] {
         permute(x, {0, 0});
       },
       "permute: axis 0 is given twice for x (2, 3)"},
      {[] { squeeze(x, 2); }, "squeeze: axis 2 is out of range for x (2, 3); use -2 to 1"},
      {[] { unsqueeze(x, 4); },
       "unsqueeze: axis 4 is out of range for the result (2, 3, 1); use -3 to 2"},
      {[] {
         concat({x, y}, 0);
       },
       "concat: sizes other than axis 0's must be equal: x (2, 3), y (4)"},
      {[] { concat({}, 0); }, "concat: needs at least one tensor"},
      {[] {
         concat({x, named("z", {2, 4})}, 0);
       },
       "concat: sizes other than axis 0's must be equal: x (2, 3), z (2, 4)"},
      {[] {
         stack({x, named("z", {3, 2})}, 0);
       },
       "stack: shapes must be equal: x (2, 3), z (3, 2)"},
      {[] {
         split(x, {1, 1}, 1);
       },
       "split: the pieces add up to 2, axis 1 of x (2, 3) has size 3"},
      {[] { slice(x, 1, 0, 3, 0); }, "slice: step 0 of x (2, 3) must be at least 1"},
      {[] { select(x, 1, 3); }, "select: index 3 is out of range for axis 1 of x (2, 3)"},
      {[] { sum(x, 2); }, "sum: axis 2 is out of range for x (2, 3); use -2 to 1"},
      {[] {
         sum(x, {0, 0});
       },
       "sum: axis 0 is given twice for x (2, 3)"},
      {[] {
         mean(x, {1, -1});
       },
       "mean: axis 1 is given twice for x (2, 3)"},
      {[] {
         max(named("empty", {0, 3}), 0);
       },
       "max: no elements to compare in empty (0, 3)"},
      {[] {
         argmax(named("empty", {2, 0}), 1);
       },
       "argmax: no elements to compare in empty (2, 0)"},
      {[] { topk(Tensor(scalar(1)), 0, 0); }, "topk: x () has no axis; give a tensor with one"},
      {[] { topk(x, 4); }, "topk: k = 4 must be from 0 to the size of axis -1 of x (2, 3)"},
      {[] { topk(x, minus_one); },
       "topk: k = -1 must be from 0 to the size of axis -1 of x (2, 3)"},
      {[] {
         masked_fill(x, array_of({3}, {0, 0.1, -3}), 0);
       },
       "mask: 0.1 is neither 0 nor 1. In attention, a mask is 1 (true) where the query may attend "
       "to "
       "the key; give scores to add, such as 0 and -infinity, as AttentionOptions::bias. In "
       "masked_fill, a mask is 1 where the value is filled in"},
      {[] { future_mask(minus_one); },
       "shape (-1, -1) has a negative size; give sizes of at least 0"},
      {[] {
         embedding(array_of({2}, {1.9, -0.5}), x);
       },
       "indices: 1.9 is not a whole number; give whole numbers, or round the array with xt::floor "
       "or xt::rint"},
      {[] {
         gather(x, 1, array_of({2, 1}, {0, not_a_number}));
       },
       "indices: nan is not a whole number; give whole numbers, or round the array with xt::floor "
       "or xt::rint"},
      {[] {
         generator().randn({2, minus_one});
       },
       "shape (2, -1) has a negative size; give sizes of at least 0"},
      {[] { generator().rand({minus_one}); },
       "shape (-1) has a negative size; give sizes of at least 0"},
      {[] { generator().randperm(minus_one); }, "randperm: n is -1; give 0 to 4294967295"},
      {[] {
         rotary_embedding(named("q", {2, 4}), 1, minus_one);
       },
       "rotary_embedding: first_position = -1 must be at least 0"},
      {[] { nn::Linear(Store().scope, 4, minus_one); },
       "Linear: out_features is -1; give a size of at least 0"},
      {[] { nn::Linear(Store().scope, minus_one, 4); },
       "Linear: in_features is -1; give a size of at least 0"},
      {[] { nn::Embedding(Store().scope, minus_one, 4); },
       "Embedding: num_embeddings is -1; give a size of at least 0"},
      {[] { nn::Embedding(Store().scope, 4, minus_one); },
       "Embedding: embed_dim is -1; give a size of at least 0"},
      {[] { nn::LayerNorm(Store().scope, minus_one); },
       "LayerNorm: width is -1; give a size of at least 0"},
      {[] { nn::RMSNorm(Store().scope, minus_one); },
       "RMSNorm: width is -1; give a size of at least 0"},
      {[] { nn::Norm(Store().scope, minus_one); }, "Norm: width is -1; give a size of at least 0"},
      {[] { nn::MultiHeadAttention(Store().scope, minus_one, 2); },
       "MultiHeadAttention: embed_dim is -1; give a size of at least 0"},
      {[] { nn::MultiHeadAttention(Store().scope, 4, minus_one); },
       "MultiHeadAttention: num_heads is -1; give a size of at least 0"},
      {[] { nn::PatchEmbedding(Store().scope, minus_one, 2, 4); },
       "PatchEmbedding: channels is -1; give a size of at least 0"},
      {[] {
         gather(x, 1, indices({2, 2}, 3));
       },
       "gather: index 3 is out of range for axis 1 of x (2, 3); use 0 to 2"},
      {[] {
         gather(x, 1, indices({3, 2}));
       },
       "gather: the indices (3, 2) and x (2, 3) must have equal sizes, except along axis 1"},
      {[] { gather(x, 1, indices({2})); },
       "gather: the indices (2) need as many axes as x (2, 3), at least one"},
      {[] { softmax(x, 2); }, "softmax: axis 2 is out of range for x (2, 3); use -2 to 1"},
      {[] { log_softmax(x, -3); },
       "log_softmax: axis -3 is out of range for x (2, 3); use -2 to 1"},
      {[] { masked_fill(x, mask({2}), 0); },
       "masked_fill: mask (2) does not broadcast to x (2, 3)"},
      {[] { where(mask({5}), x, x); },
       "where: shapes do not broadcast: condition (5), x (2, 3), x (2, 3)"},
      {[] {
         where(mask({2, 3}), x, y);
       },
       "where: shapes do not broadcast: condition (2, 3), x (2, 3), y (4)"},
      {[] { tril(y); }, "tril: y (4) needs at least two axes"},
      {[] {
         einsum("ij,jk->ik", {x, x});
       },
       "einsum: sizes 3 and 2 of one letter differ in \"ij,jk->ik\", of x (2, 3), x (2, 3)"},
      {[] { einsum("ij", {cube}); },
       "einsum: \"ij\" names 2 axes, cube (2, 3, 4) has 3, in \"ij\", of cube (2, 3, 4)"},
      {[] { einsum("ij,jk->ik", {x}); },
       "einsum: 2 operands are named and 1 given in \"ij,jk->ik\", of x (2, 3)"},
      {[] { einsum("ij->k", {x}); },
       "einsum: 'k' after the arrow is in no operand in \"ij->k\", of x (2, 3)"},
      {[] { cosine_similarity(x, y); },
       "cosine_similarity: shapes do not broadcast: x (2, 3), y (4)"},
      {[] { layer_norm(x, {2}); },
       "layer_norm: normalized_shape (2) must equal the last dimensions of x (2, 3): weight (not "
       "given), bias (not given)"},
      {[] { rms_norm(x, {2}); },
       "rms_norm: normalized_shape (2) must equal the last dimensions of x (2, 3): weight (not "
       "given)"},
      {[] { layer_norm(x, {3}, named("weight", {2})); },
       "layer_norm: weight (2) must have normalized_shape (3) of x (2, 3)"},
      {[] { rms_norm(x, {3}, named("weight", {4})); },
       "rms_norm: weight (4) must have normalized_shape (3) of x (2, 3)"},
      {[] {
         embedding(indices({2}, 5), named("weight", {5, 3}));
       },
       "embedding: index 5 among (2) indices is out of range for weight (5, 3)"},
      {[] { embedding(indices({2}), named("weight", {5})); },
       "embedding: the weight must be (V, C): weight (5)"},
      {[] { dropout(x, 1.5, generator()); }, "dropout: p = 1.5 for x (2, 3) is not in [0, 1]"},
      {[] { dropout(x, 1.0000001, generator()); },
       "dropout: p = 1.0000001 for x (2, 3) is not in [0, 1]"},
      {[] {
         array2d({{1, 2}, {3}});
       },
       "array2d: rows of 2 and of 1 numbers; all rows need the same length"},
  };
  return all;
}

const std::vector<Mistake>& losses_mistakes() {
  static const std::vector<Mistake> all{
      {[] {
         cross_entropy(x, array_of({2}, {1, 0.5}));
       },
       "indices: 0.5 is not a whole number; give whole numbers, or round the array with xt::floor "
       "or xt::rint"},
      {[] { cross_entropy(x, indices({3})); },
       "cross_entropy: the targets need the logits' shape without its last axis: x (2, 3), targets "
       "(3)"},
      {[] { cross_entropy(x, indices({2}, 3)); },
       "cross_entropy: target 3 among targets (2) is not a class of x (2, 3); classes are 0 to 2"},
      {[] { cross_entropy(x, indices({2}, -1)); },
       "cross_entropy: target -1 among targets (2) is not a class of x (2, 3); classes are 0 to 2"},
      {[] {
         cross_entropy(named("x", {2, 0}), indices({2}));
       },
       "cross_entropy: target 0 among targets (2) is not a class of x (2, 0); there are no "
       "classes"},
      {[] { cross_entropy(Tensor(scalar(1)), indices({})); },
       "cross_entropy: the targets need the logits' shape without its last axis: logits (), "
       "targets ()"},
      {[] { cross_entropy(x, indices({2}), smoothing(1.5)); },
       "cross_entropy: label_smoothing = 1.5 is not in [0, 1]"},
      {[] { mse_loss(x, y); }, "mse_loss: input and target need equal shapes: x (2, 3), y (4)"},
      {[] { binary_cross_entropy_with_logits(x, named("target", {2})); },
       "binary_cross_entropy_with_logits: input and target need equal shapes: x (2, 3), target "
       "(2)"},
      {[] { huber_loss(x, named("target", {3})); },
       "huber_loss: input and target need equal shapes: x (2, 3), target (3)"},
      {[] { huber_loss(x, x, Reduction::mean, 0); }, "huber_loss: delta = 0 must be above 0"},
  };
  return all;
}

const std::vector<Mistake>& attention_mistakes() {
  static const std::vector<Mistake> all{
      {[] {
         scaled_dot_product_attention(x, named("k", {5, 4}), named("v", {5, 4}));
       },
       "attention: queries and keys differ in width: x (2, 3), k (5, 4), v (5, 4)"},
      {[] {
         scaled_dot_product_attention(x, named("k", {5, 3}), named("v", {4, 3}));
       },
       "attention: there must be as many values as keys: x (2, 3), k (5, 3), v (4, 3)"},
      {[] { scaled_dot_product_attention(cube, x, x); },
       "attention: q, k and v need the same number of axes, at least two: cube (2, 3, 4), x (2, "
       "3), x (2, 3)"},
      {[] { scaled_dot_product_attention(cube, cube, cube, heads(3)); },
       "attention: cube (2, 3, 4) must be (B, T, C) with C divisible by num_heads = 3"},
      {[] { attention_weights(x, x, past(1, false)); },
       "attention: past = 1 needs causal attention; set causal, or set past to 0"},
      {[] { attention_weights(x, x, past(1, true)); },
       "attention: there must be at least past + T keys: past = 1, x (2, 3), x (2, 3)"},
      {[] {
         attention_weights(x, x, bias_of({3, 3}));
       },
       "attention: bias (3, 3) does not broadcast to the scores (2, 2)"},
      {[] { scaled_dot_product_attention(cube, cube, cube, grouped(4, 3)); },
       "attention: num_heads = 4 must be divisible by num_kv_heads = 3"},
      {[] { scaled_dot_product_attention(cube, cube, cube, grouped(4, 2)); },
       "attention: queries and keys differ in width: cube (2, 3, 4), cube (2, 3, 4), cube (2, 3, "
       "4), num_heads = 4, num_kv_heads = 2"},
      {[] {
         attention_weights(cube, cube, headed_bias({2, 3, 3}));
       },
       "attention: bias (2, 3, 3) is ambiguous for the scores (2, 2, 3, 3); give (B, 1, T, S) for "
       "one per batch item, (1, H, T, S) for one per head"},
      {[] {
         attention_weights(hypercube, hypercube, masked_by({2, 3, 3}));
       },
       "attention: mask (2, 3, 3) is ambiguous for the scores (2, 2, 3, 3); give (B, 1, T, S) for "
       "one per batch item, (1, H, T, S) for one per head"},
      {[] {
         AttentionOptions options;
         options.scale = infinity;
         attention_weights(x, x, options);
       },
       "attention: scale is inf; give a finite number"},
      {[] { attention_weights(x, x, window(2)); },
       "attention: window = 2 needs causal attention; set causal, or set window to 0"},
      {[] { rotary_embedding(x); },
       "rotary_embedding: x (2, 3) must be (..., T, C) with C divisible by 2 num_heads = 2"},
      {[] { split_heads(cube, 3); },
       "attention: cube (2, 3, 4) must be (B, T, C) with C divisible by num_heads = 3"},
      {[] { nn::MultiHeadAttention(Store().scope, 6, 4); },
       "MultiHeadAttention: embed_dim 6 must be divisible by num_heads 4"},
      {[] { nn::MultiHeadAttention(Store().scope, 8, 4, true, {3}); },
       "MultiHeadAttention: num_heads 4 must be divisible by num_kv_heads 3"},
      {[] { attention()(cube); },
       "linear: the last size of x must be the weight's second: cube (2, 3, 4), query.weight (8, "
       "8)"},
      {[] {
         attention()(named("x", {2, 3, 8}), {false, {}, mask({2, 4})});
       },
       "attention: key_padding (2, 4) must be (B, S) of key (2, 3, 8)"},
      {[] {
         const NoGrad no_grad;
         nn::KeyValueCache cache(2, 8);
         attention()(named("x", {1, 3, 8}), cache);
       },
       "MultiHeadAttention: x (1, 3, 8) does not fit after the 0 positions of a cache (1, 2, 8)"},
      {[] {
         nn::PatchEmbedding(Store().scope, 3, 4, 8)(named("images", {1, 3, 8, 6}));
       },
       "PatchEmbedding: images (1, 3, 8, 6) must be (B, 3, H, W) with H and W divisible by "
       "patch_size = 4"},
      {[] { nn::PatchEmbedding(Store().scope, 3, 0, 8); },
       "PatchEmbedding: patch_size must be at least 1"},
      {[] {
         gpt(8)(indices({1, 9}));
       },
       "Gpt: a window of 9 tokens is longer than block_size 8"},
      {[] { gpt(8)(indices({9})); }, "Gpt: tokens must be (B, T), got (9)"},
      {[] {
         gpt(8)(indices({1, 4}, 7));
       },
       "embedding: index 7 among (1, 4) indices is out of range for token.weight (5, 8)"},
      {[] { gpt(0); }, "Gpt: block_size is 0; it must be at least 1"},
  };
  return all;
}

const std::vector<Mistake>& gradients_mistakes() {
  static const std::vector<Mistake> all{
      {[] {
         backward(named("w", {2, 3}, true) * 2);
       },
       "backward: output (2, 3) has more than one element; reduce it to one, or give the upstream "
       "gradient"},
      {[] { backward(sum(x)); },
       "backward: output () depends on nothing that requires a gradient; make an input with "
       "requires_grad = true"},
      {[] { backward(leaf() * 2, ones({3})); },
       "backward: the upstream gradient has shape (3), output (2); they must be equal"},
      {[] {
         Tensor l = sum(leaf() * 2.0);
         backward(l);
         backward(l);
       },
       "backward: the graph behind Sum () made at HERE was freed by an earlier backward; call that "
       "one with keep_graph = true"},
      {[] {
         Tensor w = leaf();
         Tensor l = sum(w * w);
         w.mutable_value() += 1;
         backward(l);
       },
       "backward: Multiply made at HERE used w (2), which was changed at HERE since; change it "
       "after backward, or use a copy"},
      {[] {
         Tensor h = leaf() * 2.0;
         h.mutable_value() += 1;
       },
       "mutable_value: x (2) is the result of Scale made at HERE; change a detached copy"},
      {[] { leaf().grad(); }, "grad: w (2) has no gradient yet; call backward first"},
      {[] { x.grad(); },
       "grad: x (2, 3) has no gradient yet; it was made with requires_grad = false"},
      {[] { x.item(); }, "item: needs exactly one element: x (2, 3)"},
      {[] { x.size(2); }, "size: axis 2 is out of range for x (2, 3); use -2 to 1"},
      {[] { Tensor().value(); }, "the tensor is undefined; construct it with a value first"},
      {[] { relu(Tensor()); },
       "Relu: the first input is an undefined tensor; construct it with a value first"},
      {[] { x + Tensor(); }, "the tensor is undefined; construct it with a value first"},
      {[] { backward(sum(record(WrongShape{}, SourceLocation::current(), leaf()))); },
       "WrongShape: backward gave a gradient of shape (7) for input 0 of shape (2)"},
      {[] {
         nn::KeyValueCache cache(4, 8);
         attention()(named("x", {1, 3, 8}, true), cache);
       },
       "MultiHeadAttention: gradients cannot pass through a cache; use NoGrad"},
  };
  return all;
}

const std::vector<Mistake>& training_mistakes() {
  static const std::vector<Mistake> all{
      {[] { optim::AdamW({}); }, "AdamW: the list of parameters is empty"},
      {[] {
         optim::Sgd({leaf(), Tensor()});
       },
       "Sgd: parameter 1, x (not given), is undefined"},
      {[] {
         const Tensor w = leaf();
         optim::AdamW({w, w});
       },
       "AdamW: parameter 1, w (2), occurs twice"},
      {[] { optim::Sgd({leaf() * 2}); },
       "Sgd: parameter 0, x (2), is the result of Scale made at HERE; give the tensors that it "
       "depends on"},
      {[] { optim::AdamW({leaf()}, {/*lr=*/-1}); }, "AdamW: lr -1 must be 0 or more"},
      {[] { optim::Sgd({leaf()}).set_lr(-1); }, "Sgd: lr -1 must be 0 or more"},
      {[] { optim::AdamW({leaf()}, betas(0.9, 1)); }, "AdamW: beta2 1 must be in [0, 1)"},
      {[] { optim::Sgd({leaf()}, nesterov()); },
       "Sgd: nesterov needs momentum above 0 and no dampening"},
      {[] { optim::AdamW({leaf()}).set_state({}); }, "optimizer state: no 'w.exp_avg'"},
      {[] { optim::AdamW({Tensor(ones({2}), true)}).state(); },
       "optimizer state: a parameter (2) has no name; name every parameter whose state is saved"},
      {[] { optim::clip_grad_norm({x}, -1); }, "clip_grad_norm: max_norm -1 must be 0 or more"},
      {[] { nn::Dropout(-0.1, generator()); }, "Dropout: p = -0.1 is not in [0, 1]"},
      {[] {
         Store store;
         store.scope.parameter("w", ones({2}));
         store.scope.parameter("w", ones({2}));
       },
       "parameters: 'w' exists already; give it another name"},
      {[] { Store().parameters.at("head.weight"); },
       "parameters: no 'head.weight'; there are none"},
      {[] { nn::init::xavier_uniform_(y, generator()); },
       "xavier_uniform_: y (4) needs at least two axes, (out, in, ...)"},
      {[] { generator().uniform({2}, 1, 0); },
       "uniform: low is 1 and high is 0; give finite numbers, low <= high"},
      {[] { generator().randint(3, 3, {2}); },
       "randint: low is 3 and high is 3; high must be above low"},
      {[] { generator().multinomial(ones({2}), 3); },
       "multinomial: 3 draws without replacement, but row 0 has 2 weights above zero; draw fewer "
       "or with replacement"},
      {[] { nn::sinusoidal_positions(4, 3); },
       "sinusoidal_positions: width 3 must be even and at least 2: each frequency has a sine and a "
       "cosine"},
      {[] { set_num_threads(0); }, "set_num_threads: 0 is not in 1 to 1024"},
      {[] {
         Store store;
         store.scope.parameter("w", ones({3}));
         load(file_with({2, 3}), store.parameters);
       },
       "FOLDER/model.safetensors: tensor 'w' has shape (2, 3), the model needs (3)"},
      {[] {
         Store store;
         store.scope.parameter("v", ones({3}));
         load(file_with({3}), store.parameters);
       },
       "FOLDER/model.safetensors: no tensor 'v'"},
      {[] { load("/nowhere/model.safetensors", Parameters()); },
       "/nowhere/model.safetensors: No such file or directory"},
      {[] { save("/nowhere/model.safetensors", Parameters()); },
       "/nowhere/model.safetensors: No such file or directory"},
  };
  return all;
}

// The message with HERE for a line of this file, and FOLDER for the temporary folder.
std::string without_places(std::string message) {
  static const std::regex line(R"(tests/user_errors/user_errors_test\.cpp:\d+)"),
      folder(R"(/[^ ]*heed_test_\w+)");
  return std::regex_replace(std::regex_replace(message, line, "HERE"), folder, "FOLDER");
}

void check_mistakes(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string message = without_places(full_message_of(mistake.make));
    CHECK(message == mistake.message + ", at HERE");
    CHECK(message.find('\n') == message.npos);
  }
}

}  // namespace

TEST_CASE("a mistake with operations ends in one line that names what is wrong, and where",
          "[user_errors]") {
  check_mistakes(operations_mistakes());
}

TEST_CASE("a mistake with losses ends in one line that names what is wrong, and where",
          "[user_errors]") {
  check_mistakes(losses_mistakes());
}

TEST_CASE("a mistake with attention ends in one line that names what is wrong, and where",
          "[user_errors]") {
  check_mistakes(attention_mistakes());
}

TEST_CASE("a mistake with gradients ends in one line that names what is wrong, and where",
          "[user_errors]") {
  check_mistakes(gradients_mistakes());
}

TEST_CASE("a mistake with training ends in one line that names what is wrong, and where",
          "[user_errors]") {
  check_mistakes(training_mistakes());
}

}  // namespace heed::test
