// encoder_decoder_test.cpp: the encoder and the decoder: their parts, padding, causality, names.

#include "heed/nn/encoder_decoder.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using nn::AttentionMask;

// An encoder and a decoder of width 4 with two blocks of two heads, and inputs for both.
struct TinyTranslator {
  Tensor operator()(const Tensor& source, const Tensor& target, const AttentionMask& padded) const {
    return decoder(target, encoder(source, padded), causal, padded);
  }

  Parameters parameters;
  Generator generator{3};
  Scope scope{parameters, generator};
  nn::Encoder encoder{scope / "encoder", 2, 4, 2};
  nn::Decoder decoder{scope / "decoder", 2, 4, 2};
  AttentionMask causal{true, {}, {}};
  Tensor x{random_array({2, 3, 4}, 1)}, y{random_array({2, 5, 4}, 2)};  // B = 2, S = 3, T = 5
};

// Row 0 has one position less than row 1, which has three.
AttentionMask padding_of_row_0() { return {false, {}, mask_of({2, 3}, {0, 0, 1, 0, 0, 0})}; }

// One element more than before: layer norms would remove a change that all elements have in common.
Array changed(const Array& x, std::size_t row, std::size_t position) {
  Array other = x;
  other(row, position, 1) += 1;
  return other;
}

Array at(const Tensor& x, std::size_t row, std::size_t position) {
  return select(select(x, 0, std::int64_t(row)), 0, std::int64_t(position)).value();
}

Tensor row_of(const Tensor& x, std::int64_t row, std::int64_t positions) {
  return slice(slice(x, 0, row, row + 1), 1, 0, positions);
}

}  // namespace

TEST_CASE("an encoder is its blocks in order, then the norm", "[nn][encoder]") {
  const TinyTranslator m;
  const AttentionMask padded = padding_of_row_0();
  const Tensor expected =
      m.encoder.norm(m.encoder.blocks[1](m.encoder.blocks[0](m.x, padded), padded));
  CHECK(same_bits(m.encoder(m.x, padded).value(), expected.value()));
  CHECK_FALSE(same_bits(m.encoder(m.x).value(), expected.value()));
}

TEST_CASE("a decoder is its blocks in order, all with the same memory, then the norm",
          "[nn][decoder]") {
  const TinyTranslator m;
  const AttentionMask padded = padding_of_row_0();
  const Tensor first = m.decoder.blocks[0](m.y, m.x, m.causal, padded);
  const Tensor expected = m.decoder.norm(m.decoder.blocks[1](first, m.x, m.causal, padded));
  CHECK(same_bits(m.decoder(m.y, m.x, m.causal, padded).value(), expected.value()));
  CHECK_FALSE(same_bits(m.decoder(m.y, m.x, m.causal).value(), expected.value()));
  CHECK_FALSE(same_bits(m.decoder(m.y, m.x, {}, padded).value(), expected.value()));
}

TEST_CASE("the parameters of encoder and decoder have names in this order", "[nn][encoder]") {
  const TinyTranslator m;
  std::vector<std::string> names;
  for (const Tensor& p : m.parameters) names.push_back(p.name());
  CHECK(names.size() == 2 * 16 + 2 + 2 * 26 + 2);
  CHECK(names.front() == "encoder.blocks.0.norm1.weight");
  CHECK(names[16] == "encoder.blocks.1.norm1.weight");
  CHECK(names[32] == "encoder.norm.weight");
  CHECK(names[34] == "decoder.blocks.0.norm1.weight");
  CHECK(names.back() == "decoder.norm.bias");
  CHECK(m.parameters.at("decoder.blocks.1.cross.query.weight").shape() == Shape({4, 4}));
  CHECK(m.parameters.at("encoder.norm.weight").shape() == Shape({4}));
  Parameters without_bias;
  Generator generator(3);
  const nn::Encoder encoder({without_bias, generator, "e"}, 1, 4, 2, false);
  const nn::Decoder decoder({without_bias, generator, "d"}, 1, 4, 2, false);
  CHECK(without_bias.size() == 8 + 1 + 13 + 1);
  for (const Tensor& p : without_bias) CHECK(p.name().find("bias") == std::string::npos);
}

TEST_CASE("the form of GELU is that of the blocks", "[nn][encoder]") {
  const TinyTranslator m;
  Parameters parameters;
  Generator generator(3);
  const nn::Encoder encoder({parameters, generator}, 1, 4, 2, true, Gelu::tanh);
  const nn::Decoder decoder({parameters, generator, "d"}, 1, 4, 2, true, Gelu::tanh);
  CHECK(encoder.blocks[0].mlp.gelu_form == Gelu::tanh);
  CHECK(decoder.blocks[0].mlp.gelu_form == Gelu::tanh);
  CHECK(m.decoder.blocks[0].mlp.gelu_form == Gelu::erf);
}

TEST_CASE("what stands at padding of the source changes no output of the decoder",
          "[nn][encoder][decoder]") {
  const TinyTranslator m;
  const AttentionMask padded = padding_of_row_0();
  const Tensor outputs = m(m.x, m.y, padded);
  CHECK(same_bits(m(Tensor(changed(m.x.value(), 0, 2)), m.y, padded).value(), outputs.value()));
  for (std::size_t s = 0; s < 2; ++s) {  // but each token of row 0 changes every output of row 0
    const Tensor other = m(Tensor(changed(m.x.value(), 0, s)), m.y, padded);
    for (std::size_t t = 0; t < 5; ++t) CHECK_FALSE(same_bits(at(other, 0, t), at(outputs, 0, t)));
    CHECK(same_bits(row_of(other, 1, 5).value(), row_of(outputs, 1, 5).value()));
  }
}

TEST_CASE("a padded batch has the outputs of each sequence alone", "[nn][encoder][decoder]") {
  const TinyTranslator m;
  const Tensor memory = m.encoder(m.x, padding_of_row_0());
  const Tensor outputs = m(m.x, m.y, padding_of_row_0());
  for (const std::int64_t b : {0, 1}) {
    const std::int64_t S = b == 0 ? 2 : 3, T = b == 0 ? 5 : 4;  // T = 4: padding after it
    const Tensor source = row_of(m.x, b, S), target = row_of(m.y, b, T);
    CHECK(difference(row_of(memory, b, S), m.encoder(source).value()) == "");
    CHECK(difference(row_of(outputs, b, T), m(source, target, {}).value()) == "");
  }
}

TEST_CASE("no gradient reaches padding of the source", "[nn][encoder][decoder]") {
  const TinyTranslator m;
  const Tensor x(m.x.value(), true);
  const Tensor outputs = m(x, m.y, padding_of_row_0());
  backward(outputs, random_array(outputs.shape(), 4));
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(x.grad()(0, 2, c) == 0);
    CHECK(x.grad()(0, 1, c) != 0);
  }
}

TEST_CASE("with a causal mask no output of a decoder depends on later positions", "[nn][decoder]") {
  const TinyTranslator m;
  const Tensor outputs = m(m.x, m.y, {});
  for (std::size_t last = 0; last < 5; ++last) {
    const Tensor other = m(m.x, Tensor(changed(m.y.value(), 0, last)), {});
    for (std::size_t t = 0; t < 5; ++t)
      CHECK(same_bits(at(other, 0, t), at(outputs, 0, t)) == (t < last));
  }
}

TEST_CASE("encoder and decoder drop values in every block, and only in training",
          "[nn][encoder][decoder]") {
  const TinyTranslator m;
  Generator random(5), one(5), two(5);
  const nn::TrainingMode none{0, &random}, all{1, &random}, first{0.5, &one}, second{0.5, &two};
  CHECK(same_bits(m.encoder(m.x, {}, &none).value(), m.encoder(m.x).value()));
  CHECK(
      same_bits(m.encoder(m.x, {}, &all).value(), m.encoder.norm(m.x).value()));  // residuals only
  CHECK(same_bits(m.decoder(m.y, m.x, m.causal, {}, &none).value(),
                  m.decoder(m.y, m.x, m.causal).value()));
  CHECK(same_bits(m.decoder(m.y, m.x, m.causal, {}, &all).value(), m.decoder.norm(m.y).value()));
  const Array dropped = m.decoder(m.y, m.encoder(m.x, {}, &first), m.causal, {}, &first).value();
  CHECK(same_bits(dropped,
                  m.decoder(m.y, m.encoder(m.x, {}, &second), m.causal, {}, &second).value()));
  CHECK_FALSE(same_bits(dropped, m(m.x, m.y, {}).value()));
}

TEST_CASE("sizes and shapes that do not fit are rejected", "[nn][encoder][decoder]") {
  const TinyTranslator m;
  Parameters parameters;
  Generator generator(3);
  const Scope scope(parameters, generator);
  CHECK(message_of([&] { nn::Encoder(scope, 0, 4, 2); }) == "Encoder: layers must be at least 1");
  CHECK(message_of([&] { nn::Decoder(scope, 0, 4, 2); }) == "Decoder: layers must be at least 1");
  CHECK(message_of([&] { nn::Decoder(scope, 1, 4, 3); }) ==
        "MultiHeadAttention: embed_dim 4 must be divisible by num_heads 3");
  const Tensor wide(ones({2, 3, 5})), matrix(ones({3, 4})), three(ones({3, 3, 4}));
  CHECK(message_of([&] { m.encoder(wide); }) ==
        "Encoder: x (2, 3, 5) must have 3 axes, the last of size 4");
  CHECK(message_of([&] { m.encoder(matrix); }) ==
        "Encoder: x (3, 4) must have 3 axes, the last of size 4");
  CHECK(message_of([&] { m.decoder(wide, m.x, m.causal); }) ==
        "Decoder: x (2, 3, 5) must have 3 axes, the last of size 4");
  CHECK(message_of([&] { m.decoder(m.y, wide, m.causal); }) ==
        "Decoder: memory (2, 3, 5) must have 3 axes, the last of size 4");
  CHECK(message_of([&] { m.decoder(m.y, three, m.causal); }) ==
        "Decoder: memory (3, 3, 4) must have the batch size of x (2, 5, 4)");
  CHECK(message_of([&] {
          m.encoder(m.x, {false, {}, mask({2, 4})});
        }) ==
        "attention: key_padding (2, 4) must be (B, S) of encoder.blocks.0.attention.key (2, 3, 4)");
}
