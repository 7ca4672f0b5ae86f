// forward_record_test.cpp: record_forward, gradients of the attention weights, and the logit lens.

#include "study/forward_record.hpp"

#include "catch.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/study/heads.hpp"
#include "small_model.hpp"

using namespace heed;
using namespace heed::test;

namespace {

const Indices tokens = indices_of({1, 5}, {0, 3, 1, 4, 2});

// A model of the variants of Llama, whose queries share keys and values.
struct LlamaModel : SmallModel {
  LlamaModel() : SmallModel(llama_like(small_config(5, {6, 8})), 3) {
    for (Tensor parameter : parameters)
      parameter.mutable_value() = generator.normal(parameter.shape(), 0, 0.5);
  }
};

void check_record(const nn::Gpt& model) {
  const ForwardRecord record = record_forward(model, tokens);
  CHECK(difference(record.logits.value(), model(tokens).value(), 1e-4) == "");
  const std::vector<LayerAttention> layers = capture_attention(model, tokens);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    CHECK(difference(record.layers[l].weights.value(), layers[l].weights, 1e-6) == "");
    CHECK(difference(record.layers[l].queries, Array(xt::view(layers[l].queries, 0)), 1e-5) == "");
    CHECK(difference(record.layers[l].keys, Array(xt::view(layers[l].keys, 0)), 1e-5) == "");
  }
}

}  // namespace

TEST_CASE("a recorded forward pass is that of the model", "[study][record]") {
  check_record(RandomModel(true, 7).gpt);
  check_record(RandomModel(false, 7).gpt);
  check_record(LlamaModel().gpt);
}

// dA(t, s) = sum_d dO(t, d) v(s, d), because O = A V. dO comes from the output projection: its
// gradient with respect to the head's output is the upstream gradient times the weight.
TEST_CASE("the gradient of the attention weights is dO V^T", "[study][record]") {
  const RandomModel small(GENERATE(true, false), 7);
  const ForwardRecord record = record_forward(small.gpt, tokens);
  const std::vector<Array> gradients = weight_gradients(record, loss_at(record, 3, 2));
  const LayerRecord& layer = record.layers[1];
  const Array dy = layer.residual.node()->inputs[0]->grad;  // (1, T, C): of x + attention(...)
  const Array& out = small.gpt.blocks[1].attention.out.weight.value();  // (C, C)
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t s = 0; s < (small.config.causal ? t + 1 : 5); ++s) {
        double expected = 0;
        for (std::size_t d = 0; d < 4; ++d)
          for (std::size_t c = 0; c < 8; ++c)
            expected +=
                double(dy(0, t, c)) * double(out(c, h * 4 + d)) * double(layer.values(h, s, d));
        CHECK(double(gradients[1](h, t, s)) == Approx(expected).margin(1e-4));
      }
}

TEST_CASE("in a causal model, a loss does not depend on later queries", "[study][record]") {
  const RandomModel small(true, 7);
  const ForwardRecord record = record_forward(small.gpt, tokens);
  weight_gradients(record, loss_at(record, 4, 0));  // a second loss replaces these gradients
  const std::vector<Array> gradients = weight_gradients(record, loss_at(record, 1, 2));
  for (const Array& layer : gradients) {
    CHECK(xt::amax(xt::abs(xt::view(layer, xt::all(), xt::range(2, 5))))() == 0);
    CHECK(xt::amax(xt::abs(xt::view(layer, xt::all(), 1)))() > 0);
  }
}

TEST_CASE("the last row of the logit lens is the model's prediction", "[study][record]") {
  const RandomModel small(true, 7);
  const Array lens = logit_lens(small.gpt, record_forward(small.gpt, tokens));
  CHECK(shape_of(lens) == Shape{3, 5, 5});
  const Array expected = softmax(small.gpt(tokens), -1).value();
  CHECK(difference(Array(xt::view(lens, 2)), Array(xt::view(expected, 0)), 1e-5) == "");
  CHECK(difference(Array(xt::view(lens, 1)), Array(xt::view(expected, 0)), 1e-3) != "");
}

TEST_CASE("record_forward and loss_at reject wrong shapes", "[study][record]") {
  const RandomModel small(true, 7);
  CHECK_THROWS_WITH(record_forward(small.gpt, indices_of({2, 2}, {0, 1, 2, 3})),
                    "record_forward: tokens must be (1, T), got (2, 2)");
  const ForwardRecord record = record_forward(small.gpt, tokens);
  CHECK_THROWS_WITH(loss_at(record, 5, 0), "loss_at: position 5 is not one of the 5 positions");
  CHECK_THROWS_WITH(loss_at(record, 0, -100), "loss_at: target -100 is not one of the 5 tokens");
}

TEST_CASE("weight_gradients rejects the loss of another record", "[study][record]") {
  const SmallModel small(small_config(5, {6, 8}), 3);
  const ForwardRecord record = record_forward(small.gpt, tokens);
  const ForwardRecord other = record_forward(small.gpt, tokens);
  weight_gradients(record, loss_at(record, 2, 0));
  CHECK_THROWS_WITH(weight_gradients(record, loss_at(other, 1, 3)),
                    "weight_gradients: the loss does not depend on this record's weights; compute "
                    "it from record.logits");
}

TEST_CASE("logit_lens rejects the record of a model with another vocabulary", "[study][record]") {
  const SmallModel small(small_config(5, {6, 8}), 3), large(small_config(7, {6, 8}), 3);
  CHECK_THROWS_WITH(logit_lens(large.gpt, record_forward(small.gpt, tokens)),
                    "logit_lens: the record has logits of 5 tokens, and the model has 7; give the "
                    "model of the record");
}
