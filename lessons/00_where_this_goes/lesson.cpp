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
  guard("the loss is ln 64 = 4.16, within 1 %", std::abs(loss - std::log(64.0)) < 0.0416,
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
  guard("training lowers the held-out loss by more than 1", before - after > 1, decimal(after, 4));
  say();
}

struct Head {
  std::size_t layer, number;
};

// The mean attention weight of the previous character in the windows (N, T), for each head of each
// layer. Capturing the weights: lesson 16.
std::vector<Array> previous_character_scores(const nn::Gpt& model, const Indices& windows) {
  std::vector<Array> scores;
  for (const LayerAttention& layer : capture_attention(model, windows))
    scores.push_back(head_scores(head_kinds().front(), layer.weights, windows, true));
  return scores;
}

// The head with the largest score.
Head best_head(const std::vector<Array>& scores) {
  Head best{0, 0};
  for (std::size_t layer = 0; layer < scores.size(); ++layer)
    for (std::size_t h = 0; h < scores[layer].size(); ++h)
      if (scores[layer](h) > scores[best.layer](best.number)) best = {layer, h};
  return best;
}

void draw_weights(const nn::Gpt& model, const Head& head, const std::string& line) {
  Indices tokens = Indices::from_shape({1, line.size()});
  const std::vector<std::int64_t> ids = harbour.vocabulary.encode(line);
  std::copy(ids.begin(), ids.end(), tokens.begin());
  Names characters;
  for (const char c : line) characters.push_back(c == ' ' ? "␣" : std::string(1, c));
  const Array weights = capture_attention(model, tokens)[head.layer].weights;  // (1, H, 16, 16)
  HeatmapOptions map{"attention weights of one head", characters, characters, "query", "key"};
  map.low = 0, map.high = 1;
  picture_trained("00_where_this_goes", "attention", xt::view(weights, 0, head.number), map);
}

void where_it_looks(const nn::Gpt& model) {
  section("Where it looks");
  Generator generator(3);
  const Indices training_text = harbour.batch(128, T, generator).inputs;  // (128, T)
  const Indices held_out_text = harbour.held_out_windows(T).inputs;       // (N, T)
  const Head head = best_head(previous_character_scores(model, training_text));
  draw_weights(model, head, "The lamp is out.");
  const double score = previous_character_scores(model, held_out_text)[head.layer](head.number);
  const double equal = uniform_score(head_kinds().front(), held_out_text, true);
  say({{"score", trained(score)}, {"equal", decimal(equal, 2)}});
  guard("it attends to the previous character more than equal weights would", score > equal,
        decimal(score, 4));
}

int main() {
  set_num_threads(1);  // the model is too small for a second thread to save time
  opening();
  section("How to read a lesson");
  Parameters parameters;
  Generator generator(1);
  const nn::Gpt model(Scope(parameters, generator), config());
  const double loss = held_out_loss(model);
  before_training(model, parameters.count(), loss);
  training(model, parameters, loss);
  where_it_looks(model);
  section("The map of the course");
  ending();
}
