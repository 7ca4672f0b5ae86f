// language_model.cpp: trains a GPT on one sentence, saves and loads the model and generates text.
#include <heed/heed.hpp>
#include <iostream>
using namespace heed;

const std::string text = "the cat sat on the mat and the dog ran to the red door . ";
const std::string letters = " .acdeghmnorst";

Indices window(std::int64_t first, std::size_t length) {  // token indices (1, length)
  Indices tokens = indices({1, length});
  for (std::size_t t = 0; t < length; ++t)
    tokens(0, t) = std::int64_t(letters.find(text[(std::size_t(first) + t) % text.size()]));
  return tokens;
}

struct Model {
  explicit Model(std::uint64_t seed) : generator(seed), gpt({parameters, generator}, config()) {}
  static nn::GptConfig config() {
    nn::GptConfig c;
    c.vocab_size = letters.size(), c.block_size = 32, c.layers = 2, c.heads = 4, c.embed_dim = 32;
    return c;
  }
  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

int main() {
  Model model(0);
  optim::AdamW optimizer(model.parameters, {/*lr=*/0.003});
  for (int step = 1; step <= 1200; ++step) {
    const std::int64_t first = model.generator.randint(0, std::int64_t(text.size()), {})();
    const Tensor loss = model.gpt.loss(window(first, 32), window(first + 1, 32));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 400 == 0) std::cout << "step " << step << "  loss " << loss.item() << '\n';
  }
  save("language_model.safetensors", model.parameters);
  Model copy(1);
  load("language_model.safetensors", copy.parameters);
  const NoGrad no_grad;
  nn::GptCache cache(copy.gpt.config);
  Tensor logits = copy.gpt(window(0, 8), cache);  // the prompt "the cat "
  std::cout << text.substr(0, 8);
  for (int t = 0; t < 24; ++t) {
    const Indices next = argmax(slice(logits, 1, -1), -1);  // (1, 1)
    std::cout << letters[std::size_t(next(0, 0))];
    logits = copy.gpt(next, cache);
  }
  std::cout << '\n';
}
