// 07 attention_head: one attention head, trained on the riddle of the bank and then on a play.
//
// Before this lesson: 06_backward_through_attention, the gradients of W_Q, W_K and W_V.
// After it: 08_causal_mask, why no query may attend to later tokens, and how to test it.
// A useful breakpoint: train. Step with `next`, and print a parameter before and after a step.

#include "harbour.hpp"
#include "pictures.hpp"
#include "test_texts.hpp"

using namespace heed;

// A parameter of a model: a matrix of random numbers near 0.
Tensor matrix(Parameters& parameters, const std::string& name, const Shape& shape, Generator& g) {
  return parameters.add(name, g.normal(shape, 0, 0.1));
}

struct Head {
  Tensor W_Q, W_K, W_V;               // (C, d_k) each
  AttentionOptions options = {true};  // causal

  Tensor operator()(const Tensor& X) const {  // (B, T, C) -> (B, T, d_k)
    return scaled_dot_product_attention(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V), options);
  }
};

Head new_head(Parameters& parameters, Generator& g, std::size_t C, std::size_t d_k) {
  const Tensor W_Q = matrix(parameters, "W_Q", {C, d_k}, g);
  const Tensor W_K = matrix(parameters, "W_K", {C, d_k}, g);
  return {W_Q, W_K, matrix(parameters, "W_V", {C, d_k}, g)};
}

using Model = std::function<Tensor(const Tensor& X)>;  // (B, T, 4) -> logits (B, T, 2)
double loss_at_last_bank(const Model& model, const BankBatch& texts) {
  return cross_entropy(model(texts.X), texts.last).item();
}

// A batch of 16 random texts that are not held out.
BankBatch random_texts(Generator& g) {
  std::vector<BankText> texts;
  while (texts.size() < 16) {
    const Indices n = g.randint(0, 9, {2});  // how often 'then' stands before each 'bank'
    const Names& topics = two_orders[std::size_t(g.randint(0, 2, {1})(0))];
    if (!is_held_out(n(0), n(1))) texts.push_back(bank_text(topics, {n(0), n(1)}));
  }
  return bank_batch(texts);
}

void random_bank_texts() {
  Generator g(1);
  Parameters parameters;
  const double loss = loss_at_last_bank(new_head(parameters, g, 4, 2), held_out_texts());
  section("Random bank texts", {{"loss", decimal(loss, 2)}});
}

// Changes the optimizer's parameters `steps` times. Returns the loss of each step.
std::vector<double> train(optim::Optimizer& optimizer, std::int64_t steps,
                          const std::function<Tensor()>& loss_of_new_batch) {
  std::vector<double> losses;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor loss = loss_of_new_batch();
    optimizer.zero_grad();
    backward(loss);
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

using NewModel = std::function<Model(Parameters& parameters, Generator& g)>;

Model bank_head(Parameters& parameters, Generator& g) { return new_head(parameters, g, 4, 2); }

struct Trained {
  Model model;
  std::vector<Tensor> parameters;
  std::vector<double> losses;  // of each step
  double held_out, longer;     // losses at the second 'bank'; longer: than all texts of training
};

Trained train_on_texts(const NewModel& new_model, std::uint64_t seed, std::int64_t steps,
                       double rate = 0.05, bool is_descent = false) {
  Generator g(seed);
  Parameters parameters;
  const Model model = new_model(parameters, g);
  optim::Sgd descent(parameters.tensors(), {rate});
  optim::AdamW adamw(parameters.tensors(), {rate, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
  optim::Optimizer& optimizer = is_descent ? static_cast<optim::Optimizer&>(descent) : adamw;
  const std::vector<double> losses = train(optimizer, steps, [&] {
    const BankBatch texts = random_texts(g);
    return cross_entropy(model(texts.X), texts.next);
  });
  return {model, parameters.tensors(), losses, loss_at_last_bank(model, held_out_texts()),
          loss_at_last_bank(model, held_out_texts(9, 12))};
}

std::vector<Trained> five_seeds(const NewModel& new_model, std::int64_t steps, double rate = 0.05,
                                bool is_descent = false) {
  std::vector<Trained> all;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5})
    all.push_back(train_on_texts(new_model, seed, steps, rate, is_descent));
  return all;
}

std::vector<std::vector<Trained>> with_rates(const std::vector<double>& rates, bool is_descent) {
  std::vector<std::vector<Trained>> all;
  for (const double rate : rates) {
    all.push_back(five_seeds(bank_head, in_brief(300, 150), rate, is_descent));
    quote(row_of("learning rate " + decimal(rate, 2), {held_out_losses(all.back())}));
  }
  return all;
}

void descent_stands_still() {
  section("Gradient descent stands still");
  const auto descent = with_rates({0.1, 1, 10}, /*is_descent=*/true);
  const auto start = train_on_texts(bank_head, 1, /*steps=*/1, /*rate=*/0).parameters;
  say({{"small", trained(largest_entry(start[0].grad()), 4)},
       {"large", trained(largest_entry(start[2].grad()), 2)}});
  const auto adamw = with_rates({0.01, 0.1, 1}, /*is_descent=*/false);
  say();
  draw_curves({curve_of("gradient descent, 0.1", descent[0]),
               curve_of("gradient descent, 1", descent[1]), curve_of("AdamW, 0.01", adamw[0]),
               curve_of("AdamW, 0.1", adamw[1])});
}

const std::int64_t full = in_brief(500, 200);  // steps of training

std::vector<Trained> solved() {
  section("The second 'bank', solved");
  const std::vector<Trained> heads = five_seeds(bank_head, full);
  say(row_of("  before", {held_out_losses(five_seeds(bank_head, 0))}));
  say(row_of("  after", {held_out_losses(heads)}));
  claim("no seed fails: each loss after training is below 0.01",
        largest(held_out_losses(heads)) < 0.01, decimal(largest(held_out_losses(heads)), 4));
  say();
  std::vector<BankDot> dots;
  for (const std::int64_t steps : {0, 15, 25, 200})
    dots.push_back({std::to_string(steps) + " steps",
                    bank_output(weights_of(train_on_texts(bank_head, 1, steps).parameters))});
  draw_bank_plane("07_attention_head", dots);
  return heads;
}

// Lesson 04's matrices, for positions in tens. The values have the factor 8 of lesson 01.
const Head by_hand = {Tensor(Array{{0, 0}, {0, 0}, {24, 20}, {0, 0}}),
                      Tensor(Array{{1, 0}, {1, 0}, {-1, 0}, {0, 1}}),
                      Tensor(Array{{8, 0}, {0, 8}, {0, 0}, {0, 0}})};

Model without_positions(Parameters& parameters, Generator& g) {
  const Head head = new_head(parameters, g, 4, 2);
  return [head](const Tensor& X) { return head(X * Tensor(Array{1, 1, 1, 0})); };
}

Model without_W_Q_and_W_K(Parameters& parameters, Generator& g) {
  const Tensor W_V = matrix(parameters, "W_V", {4, 4}, g);
  const Tensor W_O = matrix(parameters, "W_O", {4, 2}, g);
  return [=](const Tensor& X) {
    return matmul(scaled_dot_product_attention(X, X, matmul(X, W_V), {true}), W_O);
  };
}

void controls(const std::vector<Trained>& heads) {
  section("Which parts are needed?");
  const std::vector<Trained> guess = five_seeds(without_positions, full),
                             other = five_seeds(without_W_Q_and_W_K, full);
  say(pad_left("held-out texts", 38) + pad_left("longer texts", 19));
  say(row_of("  by hand, lesson 04", {{loss_at_last_bank(by_hand, held_out_texts())},
                                      {loss_at_last_bank(by_hand, held_out_texts(9, 12))}}));
  say(row_of("  learned", {held_out_losses(heads), longer_losses(heads)}));
  say(row_of("  no positions", {held_out_losses(guess), longer_losses(guess)}));
  say(row_of("  no W_Q, no W_K", {held_out_losses(other), longer_losses(other)}));
  claim("without positions no loss is below ln 2",
        smallest(held_out_losses(guess)) > std::log(2) - 1e-4, "one is");
  claim("longer texts: each loss without W_Q and W_K is more than ten times each loss of the head",
        smallest(longer_losses(other)) > 10 * largest(longer_losses(heads)), "one is not");
  const Array dots =
      weights_of({Tensor(xt::eye<Real>(4)), Tensor(xt::eye<Real>(4))})(bank_texts()[0]);
  const Array learned = weights_of(heads[0].parameters)(bank_texts()[0]);
  const Array W_VO = matmul(other[0].parameters[0], other[0].parameters[1]).value();
  say({{"near", decimal(dots(10, 7), 2)},
       {"far", decimal(dots(10, 1), 2)},
       {"value", trained(W_VO(0, 0), 0)},
       {"learned_near", trained(learned(10, 7))},
       {"learned_value", trained(heads[0].parameters[2].value()(0, 0), 0)}});
}

void learned_matrices(const std::vector<Trained>& heads) {
  section("What the matrices have learned");
  std::vector<double> limits;
  bool same_signs = true;
  for (const Trained& head : heads) {
    const Array W = product_of(head.parameters);
    same_signs = same_signs && xt::all(W * Array{1, 1, -1, 1} > 0);
    limits.push_back(10 * (W(2, 0) + W(2, 1)) / 2 / W(2, 3));
  }
  draw_products(product_of({by_hand.W_Q, by_hand.W_K}), product_of(heads[0].parameters));
  claim("five seeds: each row has the signs + + - +", same_signs, "a sign differs");
  say({{"limit", trained(estimate(limits).mean, 1)},
       {"error", trained(estimate(limits).standard_error, 1)}});
  draw_limits(std::vector<std::pair<std::string, Model>>{{"by hand", by_hand},
                                                         {"learned", heads[0].model}});
}

// ---- the play

// The logits of a bigram table plus those of a head, which attends to the last `window` tokens.
LanguageModel play_model(Parameters& parameters, Generator& g, std::size_t V, std::size_t window) {
  const Tensor bigram = matrix(parameters, "bigram", {V, V}, g);
  const Tensor token = matrix(parameters, "token", {V, 32}, g);
  const Tensor position = matrix(parameters, "position", {16, 32}, g);
  const Tensor W_O = matrix(parameters, "W_O", {32, V}, g);
  Head head = new_head(parameters, g, 32, 32);
  head.options.window = window;
  return [=](const Indices& tokens) {
    if (window == 0) return embedding(tokens, bigram);
    const Tensor X = embedding(tokens, token) + slice(position, 0, 0, long(tokens.shape(1)));
    return embedding(tokens, bigram) + matmul(head(X), W_O);
  };
}

void play() {
  section("The same head reads a play");
  const Harbour harbour;
  const Batch held_out = harbour.held_out_windows(16);
  Names samples;
  for (const auto& [name, window] : std::vector<std::pair<std::string, std::size_t>>{
           {"  bigram", 0}, {"  with a head", 16}, {"  own token only", 1}}) {
    std::vector<double> losses;
    for (const std::uint64_t seed : {1, 2, 3}) {
      Generator g(seed);
      Parameters parameters;
      const LanguageModel model = play_model(parameters, g, harbour.vocab_size(), window);
      optim::AdamW adamw(parameters.tensors(), {0.02, 0.9, 0.999, 1e-8, 0});
      train(adamw, in_brief(1000, 200), [&] {
        const Batch batch = harbour.batch(32, 16, g);
        return cross_entropy(model(batch.inputs), batch.targets);
      });
      const NoGrad no_grad;
      losses.push_back(cross_entropy(model(held_out.inputs), held_out.targets).item());
      if (seed == 1) samples.push_back(harbour.sample(model, 180, 16, g));
    }
    say(row_of(name, {losses}));
  }
  say();
  quote(samples[0] + "\n----------\n" + samples[1]);
  say();
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening();
  random_bank_texts();
  descent_stands_still();
  const std::vector<Trained> heads = solved();
  controls(heads);
  learned_matrices(heads);
  play();
  ending();
}
