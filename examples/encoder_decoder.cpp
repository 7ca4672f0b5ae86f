// encoder_decoder.cpp: a transformer with encoder and decoder learns to reverse words of different
// lengths. Vaswani et al. 2017, "Attention Is All You Need", section 3.1.
#include <heed/heed.hpp>
#include <iostream>
using namespace heed;

constexpr std::size_t B = 32, longest = 8, C = 64, V = 13;  // V: 10 letters, 3 special tokens
constexpr std::int64_t padding = 10, start = 11, stop = 12;

struct Batch {
  explicit Batch(Generator& generator) {
    for (std::size_t b = 0; b < B; ++b) {
      const std::size_t n = static_cast<std::size_t>(generator.randint(1, longest + 1, {})());
      const Indices word = generator.randint(0, 10, {n});
      input(b, 0) = start;
      for (std::size_t i = 0; i < n; ++i) {
        source(b, i) = word(i);
        target(b, n - 1 - i) = input(b, n - i) = word(i);
      }
      target(b, n) = stop;
    }
  }
  Indices source = indices({B, longest}, padding);
  Indices input = indices({B, longest + 1}, padding), target = indices({B, longest + 1}, padding);
};

struct EncoderDecoder {
  explicit EncoderDecoder(const Scope& scope)
      : token(scope / "token", V, C),
        position(scope / "position", longest + 1, C),
        encoder(scope / "encoder", C, 4),
        decoder(scope / "decoder", C, 4),
        norm(scope / "norm", C),
        head(scope / "head", C, V) {}

  Tensor embed(const Indices& tokens) const {  // (B, T) -> (B, T, C)
    return token(tokens) + slice(position.weight, 0, 0, std::int64_t(tokens.shape(1)));
  }
  Tensor operator()(const Indices& source, const Indices& input) const {  // logits (B, T, V)
    nn::AttentionMask past, words;
    past.causal = true;
    words.key_padding = xt::equal(source, padding);
    const Tensor memory = encoder(embed(source), words);
    return head(norm(decoder(embed(input), memory, past, words)));
  }
  nn::Embedding token, position;
  nn::Block encoder;
  nn::DecoderBlock decoder;
  nn::LayerNorm norm;
  nn::Linear head;
};

int main() {
  Parameters parameters;
  Generator generator(0);
  const EncoderDecoder model({parameters, generator});
  optim::AdamW optimizer(parameters, {/*lr=*/0.002});
  CrossEntropyOptions options;
  options.ignore_index = padding;
  for (int step = 1; step <= 1000; ++step) {
    const Batch batch(generator);
    const Tensor loss = cross_entropy(model(batch.source, batch.input), batch.target, options);
    optimizer.zero_grad();
    loss.backward();
    optim::clip_grad_norm(parameters, 1);
    optimizer.step();
    if (step % 200 == 0) std::cout << "step " << step << "  loss " << loss.item() << '\n';
  }
}
