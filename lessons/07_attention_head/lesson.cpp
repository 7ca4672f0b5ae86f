// 07 attention_head: one attention head, trained on the riddle of the bank.
//
// Before this lesson: 06_backward_through_attention, the gradients of W_Q, W_K and W_V.
// After it: 08_causal_mask, why no query may attend to later tokens, and how to test it.
// A useful breakpoint: train. Step with `next`, and print a parameter before and after a step.

#include "pictures.hpp"
#include "test_texts.hpp"

using namespace heed;

// A parameter of a model: a matrix of random numbers near 0.
Tensor matrix(Parameters& parameters, const std::string& name, const Shape& shape, Generator& g) {
  return parameters.add(name, g.normal(shape, 0, 0.1));
}

struct Head {
  Tensor W_Q, W_K, W_V;  // (C, d_k) each

  Tensor operator()(const Tensor& X) const {  // (B, T, C) -> (B, T, d_k)
    return scaled_dot_product_attention(matmul(X, W_Q), matmul(X, W_K), matmul(X, W_V),
                                        {/*causal=*/true});
  }
};

Head new_head(Parameters& parameters, Generator& g) {
  const Tensor W_Q = matrix(parameters, "W_Q", {4, 2}, g);
  const Tensor W_K = matrix(parameters, "W_K", {4, 2}, g);
  return {W_Q, W_K, matrix(parameters, "W_V", {4, 2}, g)};
}

using Model = std::function<Tensor(const Tensor& X)>;  // (B, T, 4) -> logits (B, T, 2)
using NewModel = std::function<Model(Parameters& parameters, Generator& g)>;

// The loss at the second 'bank'.
double loss_on(const Model& model, const BankBatch& texts) {
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

void random_bank_texts() { section("Random bank texts"); }

struct Trained {
  Model model;
  std::vector<Tensor> parameters;
  std::vector<double> losses;         // of each step
  double training, held_out, longer;  // at the second 'bank'; longer: than all texts of training
};

// Trains a model with each of five seeds.
std::vector<Trained> train(const NewModel& new_model, std::int64_t steps, double rate = 0.05,
                           bool is_descent = false) {
  std::vector<Trained> all;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Generator g(seed);
    Parameters parameters;
    const Model model = new_model(parameters, g);
    optim::Sgd descent(parameters.tensors(), {rate});
    optim::AdamW adamw(parameters.tensors(), {rate, 0.9, 0.999, 1e-8, /*weight_decay=*/0});
    optim::Optimizer& optimizer = is_descent ? static_cast<optim::Optimizer&>(descent) : adamw;
    std::vector<double> losses;
    for (std::int64_t step = 0; step < steps; ++step) {
      const BankBatch texts = random_texts(g);
      const Tensor loss = cross_entropy(model(texts.X), texts.next);
      optimizer.zero_grad();
      backward(loss);
      optimizer.step();
      losses.push_back(loss.item());
    }
    all.push_back({model, parameters.tensors(), losses, loss_on(model, training_texts()),
                   loss_on(model, held_out_texts()), loss_on(model, held_out_texts(9, 12))});
  }
  return all;
}

std::vector<std::vector<Trained>> with_rates(bool is_descent, const std::vector<double>& rates) {
  std::vector<std::vector<Trained>> all;
  for (const double rate : rates) {
    all.push_back(train(new_head, in_brief(300, 150), rate, is_descent));
    quote(row_of("learning rate " + decimal(rate, 2), {training_losses(all.back())}));
  }
  return all;
}

void descent_needs_luck() {
  section("Gradient descent needs luck with its rate");
  const auto descent = with_rates(/*is_descent=*/true, {0.1, 1, 10});
  const auto start = train(new_head, /*steps=*/1, /*rate=*/0)[0].parameters;
  say({{"small", trained(largest_entry(start[0].grad()), 4)},
       {"large", trained(largest_entry(start[2].grad()), 2)}});
  const auto adamw = with_rates(/*is_descent=*/false, {0.01, 0.1, 1});
  say();
  draw_curves(descent, adamw);
}

const std::int64_t full = in_brief(500, 200);  // steps of training

std::vector<Trained> solved() {
  section("The second 'bank', solved");
  const std::vector<Trained> heads = train(new_head, full);
  quote(row_of("after 500 steps", {held_out_losses(heads)}));
  guard("no seed fails: each loss is below 0.01", largest(held_out_losses(heads)) < 0.01,
        decimal(largest(held_out_losses(heads)), 4));
  say();
  std::vector<BankDot> dots;
  for (const std::int64_t steps : {0, 15, 25, 200})
    dots.push_back({std::to_string(steps) + " steps",
                    bank_output(weights_of(train(new_head, steps)[0].parameters))});
  draw_bank_plane("07_attention_head", dots);
  return heads;
}

// Lesson 04's matrices, for positions in tens. The values have the factor 8 of lesson 01.
const Head by_hand = {Tensor(Array{{0, 0}, {0, 0}, {24, 20}, {0, 0}}),
                      Tensor(Array{{1, 0}, {1, 0}, {-1, 0}, {0, 1}}),
                      Tensor(Array{{8, 0}, {0, 8}, {0, 0}, {0, 0}})};

Model without_positions(Parameters& parameters, Generator& g) {
  const Head head = new_head(parameters, g);
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
  const std::vector<Trained> guess = train(without_positions, full),
                             other = train(without_W_Q_and_W_K, full);
  show_controls<Trained>({{"by hand, lesson 04",
                           {{by_hand,
                             {},
                             {},
                             loss_on(by_hand, training_texts()),
                             loss_on(by_hand, held_out_texts()),
                             loss_on(by_hand, held_out_texts(9, 12))}}},
                          {"learned", heads},
                          {"no positions", guess},
                          {"no W_Q, no W_K", other}});
  claim("without positions no loss is below ln 2",
        smallest(held_out_losses(guess)) > std::log(2) - 1e-4, "one is");
  guard("longer texts: each loss without W_Q and W_K is above 10 times each loss of the head",
        smallest(longer_losses(other)) > 10 * largest(longer_losses(heads)), "one is not");
  const Tensor one(xt::eye<Real>(4));
  const Array dots = weights_of({one, one})(bank_texts()[0]);
  say({{"near", decimal(dots(10, 7), 2)},
       {"far", decimal(dots(10, 1), 2)},
       {"learned", trained(weights_of(heads[0].parameters)(bank_texts()[0])(10, 7))}});
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
       {"error", decimal(estimate(limits).standard_error, 1)}});
  draw_limits<Model>({{"by hand", by_hand}, {"learned", heads[0].model}});
  say();
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening();
  random_bank_texts();
  descent_needs_luck();
  const std::vector<Trained> heads = solved();
  controls(heads);
  learned_matrices(heads);
  ending();
}
