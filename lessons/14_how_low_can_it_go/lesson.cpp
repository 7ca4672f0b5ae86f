// 14 how_low_can_it_go: a text of known entropy, the lower bounds on its loss, and a leak.
//
// Before this lesson: 13_gpt, whose loss on a play has no known lower bound.
// After it: 15_your_text, a model of a text of yours, whose entropy nobody knows either.
// Worth a breakpoint: logits. Continue with `next`, and print x after each block.

#include <numeric>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/mask.hpp"
#include "heed/optim/schedule.hpp"
#include "in_threads.hpp"
#include "measures.hpp"
#include "pictures.hpp"

using namespace heed;

// The source as a graph: nodes[n] has the words that may come next at node n, the probability of
// each, and the node after it.
MarkovSource grammar() {
  const std::string animals[4][3] = {{"cat", "purr", "sleep"},
                                     {"dog", "bark", "run"},
                                     {"owl", "hoot", "hunt"},
                                     {"frog", "croak", "jump"}};
  std::vector<std::vector<MarkovSource::Word>> nodes(1);
  for (const auto& [animal, first_verb, second_verb] : animals)
    for (const bool singular : {true, false}) {
      const std::size_t n = nodes.size();
      nodes.resize(n + 3);
      nodes[0].push_back({"the " + animal + (singular ? " " : "s "), 1.0 / 8, n});
      for (const std::string preposition : {"in ", "on ", "by ", "near "})
        nodes[n].push_back({preposition + "the ", 0.25, n + 1});
      for (const std::string noun : {"barn ", "hill ", "river ", "garden "})
        nodes[n + 1].push_back({noun, 0.25, n + 2});
      const std::string ending = singular ? "s\n" : "\n";  // of the verb
      nodes[n + 2] = {{first_verb + ending, 0.75, 0}, {second_verb + ending, 0.25, 0}};
    }
  return MarkovSource::from_words(nodes);  // a state for each letter of a word
}

const MarkovSource source = grammar();
const double length = 1 / source.stationary_distribution()[0];  // of a sentence; 0: it begins

void known_probabilities() {
  section("A text with known probabilities");
  Generator g(1);
  say(source.draw(141, g));
  say({{"states", source.states().size()}});
  picture("14_how_low_can_it_go", "source", source_graph);
}

// Returns the entropy rate.
double entropy_of_the_source() {
  const double sentence =
      std::log(8) + std::log(4) + std::log(4) - 0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  double rate = 0;
  for (std::size_t s = 0; s < source.states().size(); ++s)
    for (const MarkovSource::Letter& next : source.states()[s].letters)
      rate -= source.stationary_distribution()[s] * next.probability * std::log(next.probability);
  section("The entropy of a sentence", {{"rate", decimal(rate, 4)}});
  check_number("by the choices = by the states", sentence / length, rate);
  return rate;
}

void lower_bounds(double rate) {
  section("No model can do better");
  const std::vector<double> bounds = source.conditional_entropies(context);
  show_bounds(bounds);
  say();
  check_number("13 letters: the bound = the entropy rate + ln 8 / length", bounds[13],
               rate + std::log(8) / length);
  check_number("24 letters: the bound = the entropy rate", bounds[context], rate);
  say({{"above", decimal((0.25 - rate) * length, 2)},
       {"found", decimal(100 * (bounds[13] - 0.25) / (bounds[13] - rate), 0)}});
}

// -ln p of the letters 1 to T of a window (T + 1 letters), predicted by a reader who knows the
// source, but nothing of the text except the letters before in this window: (T).
Array ideal_losses(const MarkovSource& known, const std::string& window) {
  Array losses = zeros({T});
  std::vector<double> belief = known.stationary_distribution();  // the probability of each state
  for (std::size_t t = 0; t <= T; ++t) {
    std::vector<double> after(belief.size());  // of each state and letter t
    for (std::size_t s = 0; s < belief.size(); ++s)
      for (const MarkovSource::Letter& next : known.states()[s].letters)
        if (next.letter == window[t]) after[next.next] += belief[s] * next.probability;
    const double p_letter = std::accumulate(after.begin(), after.end(), 0.0);
    for (std::size_t s = 0; s < belief.size(); ++s) belief[s] = after[s] / p_letter;  // Bayes
    if (t > 0) losses(t - 1) = Real(-std::log(p_letter));
  }
  return losses;
}

// Sets texts.ideal: the ideal predictor's loss at each target of the new text, (W, T).
void ideal_predictor(Texts& texts) {
  section("The ideal predictor");
  for (std::size_t w = 0; w < texts.ideal.shape(0); ++w)
    xt::row(texts.ideal, int(w)) = ideal_losses(texts.source, texts.new_text.substr(w * T, T + 1));
  picture_of_letters("ideal", texts, {});
  const Estimate ideal = with_context(texts.ideal);
  say({{"loss", decimal(ideal.mean, 4)},
       {"error", decimal(ideal.standard_error, 4)},
       {"windows", grouped(double(texts.W))}});
}

struct Learner {
  nn::Gpt model;
  nn::AttentionMask mask;
  Array excess;  // the excess loss at each target of the new text, (W, T)
};

Tensor logits(const Learner& learner, const Indices& tokens) {
  Tensor x = learner.model.embed(tokens, 0);  // (B, T, C)
  for (const nn::Block& block : learner.model.blocks) x = block(x, learner.mask);
  return linear(learner.model.norm(x), learner.model.head);  // (B, T, V)
}

Learner train(const Texts& texts, const nn::AttentionMask& mask, std::uint64_t seed) {
  const nn::GptConfig config{texts.vocabulary.size(), T, /*layers=*/2, /*heads=*/2, /*C=*/32};
  Generator g(seed);
  Parameters parameters;
  Learner learner{nn::Gpt(Scope(parameters, g), config), mask, {}};
  optim::AdamW optimizer(parameters.tensors(), {/*lr=*/0, 0.9, /*beta2=*/0.99});
  const std::int64_t steps = in_brief(2500, 300);
  const optim::WarmupCosine schedule{0.01, 0.0005, 50, steps};  // learning rates
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = random_batch(texts.corpus.training(), 8, T, g);  // (8, T)
    optim::zero_grad(parameters.tensors());
    backward(cross_entropy(logits(learner, batch.inputs), batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
  const NoGrad no_grad;
  const Tensor scores = logits(learner, texts.windows.inputs);  // (W, T, V)
  const Tensor losses = cross_entropy(scores, texts.windows.targets, {Reduction::none});  // (W, T)
  learner.excess = losses.value() - texts.ideal;
  return learner;
}

// Three models whose position t attends to the positions 0 to t + diagonal.
std::vector<Learner> train_seeds(const Texts& texts, int diagonal) {
  nn::AttentionMask mask;
  mask.mask = xt::equal(tril(Tensor(ones({T, T})), diagonal).value(), 1);  // (T, T)
  return in_threads<Learner>(3, [&](std::uint64_t seed) { return train(texts, mask, seed); });
}

std::vector<Learner> close_to_the_bound(const Texts& texts, double rate) {
  section("A model comes close");
  const std::vector<Learner> learners = train_seeds(texts, 0);
  const Excess e = show_excess(learners);
  claim("no excess loss is below -3 standard errors", e.lowest > -3, decimal(e.lowest, 2));
  guard("the excess loss is less than 3 % of the entropy rate", e.mean.mean < 0.03 * rate,
        decimal(e.mean.mean, 5));
  say({{"mean", trained(e.mean.mean, 4)}, {"error", trained(e.mean.standard_error, 4)}});
  picture_of_positions(texts.source, learners);
  say();
  return learners;
}

void a_leak(const Texts& texts, const std::vector<Learner>& causal, double rate) {
  section("A leak");
  const std::vector<Learner> learners = train_seeds(texts, 1);  // off by one
  const Excess e = show_excess(learners);
  claim("each excess loss is below -10 standard errors", e.highest < -10, decimal(e.highest, 2));
  say({{"loss", trained(rate + e.mean.mean, 3)}});
  picture_of_letters("leak", texts, {causal[0].excess, learners[0].excess});
  say();
  quote(sampled(causal[0].model, texts.vocabulary));
  quote(sampled(learners[0].model, texts.vocabulary));
  say();
}

int main() {
  set_num_threads(1);  // each seed has a thread of its own
  opening();
  known_probabilities();
  const double rate = entropy_of_the_source();
  lower_bounds(rate);
  Texts texts(brief() ? short_source() : source);
  ideal_predictor(texts);
  a_leak(texts, close_to_the_bound(texts, texts.source.entropy_rate()), rate);
  ending();
}
