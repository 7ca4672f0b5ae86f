// 00 where_this_goes: a small GPT writes five lines before and after training; the course's map.
//
// Before this lesson: nothing. You need not understand this program yet.
// After it: 01_averaging, the first of the parts from which this program is made.
// Worth a breakpoint: heed::backward. From there on, the gradients of the model are computed.

#include <cmath>

#include "harbour.hpp"
#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/study/heads.hpp"
#include "lesson.hpp"

using namespace heed;

const std::size_t T = 64;  // the model sees at most so many characters
const Harbour harbour;

nn::GptConfig config() {
  nn::GptConfig gpt;
  gpt.vocab_size = harbour.vocab_size();  // one token for each character
  gpt.block_size = T;                     // positions: lesson 11
  gpt.layers = 2;                         // blocks: lesson 12
  gpt.heads = 4;                          // heads: lessons 03 to 10
  gpt.embed_dim = 64;                     // embeddings: lesson 01
  return gpt;
}

// The first five lines that the model writes, cut after 72 characters.
std::string five_lines(const nn::Gpt& model) {
  Generator generator(2);
  const std::string text = harbour.sample(model, 600, T, generator);  // sampling: lesson 05
  std::string lines;
  std::size_t count = 0;
  for (const std::string& line : lines_of(text))
    if (!line.empty() && count++ < 5) lines += line.substr(0, 72) + "\n";
  return lines;
}

// The mean loss on text that the model never trains on.
double held_out_loss(const nn::Gpt& model) {
  const NoGrad no_grad;
  const Batch windows = harbour.held_out_windows(T);
  return double(model.loss(windows.inputs, windows.targets).item());  // the loss: lessons 01, 05
}

void before_training(const nn::Gpt& model, std::size_t parameters, double loss) {
  section("A model that has learned nothing", {{"parameters", grouped(double(parameters))}});
  quote(five_lines(model));
  claim("the loss is ln 64 = 4.16, within 1 %", std::abs(loss - std::log(64.0)) < 0.0416,
        decimal(loss, 4));
  say();
}

void training(const nn::Gpt& model, Parameters& parameters, double before) {
  section("Some seconds of training");
  optim::AdamW optimizer(parameters);  // lesson 07
  Generator generator(1);
  const std::int64_t steps = in_brief(1000, 150);
  for (std::int64_t step = 1; step <= steps; ++step) {
    optimizer.set_lr(0.004 * double(steps + 1 - step) / double(steps));  // lesson 15
    const Batch batch = harbour.batch(16, T, generator);
    const Tensor loss = model.loss(batch.inputs, batch.targets);  // attention: lessons 02 to 13
    optimizer.zero_grad();
    backward(loss);  // lessons 05 and 06
    optimizer.step();
    if (step == 1 || step == steps / 10 || step == steps)
      quote("step " + pad_left(std::to_string(step), 4) + "   loss " + decimal(loss.item(), 2));
  }
  const double after = held_out_loss(model);
  say({{"loss", trained(after)}});
  quote(five_lines(model));
  claim("training lowers the held-out loss by more than 1", before - after > 1, decimal(after, 4));
  say();
}

struct Head {
  std::size_t layer, number;
  double score;  // the mean attention weight of the previous character
};

// The head that attends most to the previous character, in held-out text.
Head previous_character_head(const nn::Gpt& model, const Indices& windows) {
  Head best{0, 0, 0};
  const std::vector<LayerAttention> layers = capture_attention(model, windows);  // lesson 16
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Array scores = head_scores(head_kinds().front(), layers[l].weights, windows, true);
    for (std::size_t h = 0; h < scores.size(); ++h)
      if (scores(h) > best.score) best = {l, h, scores(h)};
  }
  return best;
}

void attention_map(const nn::Gpt& model) {
  section("Where it looks");
  const Indices windows = harbour.held_out_windows(T).inputs;  // (N, T)
  const Head head = previous_character_head(model, windows);
  const std::string line = "The lamp is out.";
  Indices tokens = Indices::from_shape({1, line.size()});
  const std::vector<std::int64_t> ids = harbour.vocabulary.encode(line);
  std::copy(ids.begin(), ids.end(), tokens.begin());
  Names characters;
  for (const char c : line) characters.push_back(c == ' ' ? "␣" : std::string(1, c));
  const Array weights = capture_attention(model, tokens)[head.layer].weights;  // (1, H, 16, 16)
  HeatmapOptions map{"attention weights of one head", characters, characters, "query", "key"};
  map.low = 0, map.high = 1;
  picture_trained("00_where_this_goes", "attention", xt::view(weights, 0, head.number), map);
  const double equal = uniform_score(head_kinds().front(), windows, true);
  say({{"score", trained(head.score)}, {"equal", decimal(equal, 2)}});
  claim("it attends to the previous character more than equal weights would", head.score > equal,
        decimal(head.score, 4));
}

int main() {
  set_num_threads(1);  // the model is too small for a second thread to save time
  opening();
  Parameters parameters;
  Generator generator(1);
  const nn::Gpt model(Scope(parameters, generator), config());
  const double loss = held_out_loss(model);
  before_training(model, parameters.count(), loss);
  training(model, parameters, loss);
  attention_map(model);
  section("The map of the course");
  ending();
}
