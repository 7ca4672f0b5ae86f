// 11 positions: attention ignores the order of tokens; position encodings add it to the input.
//
// Before this lesson: 10_multi_head, several heads in parallel.
// After it: 12_transformer_block, the layers around attention.
// A useful breakpoint: Reverser::embedded (in reversal_task.hpp), which adds position encodings.

#include <algorithm>
#include <memory>

#include "relative_positions.hpp"

using namespace heed;
using xt::linalg::dot;
const Names words = {"dog", "bites", "man"};
constexpr std::size_t num_positions = 24;
constexpr double chosen_base = 100;  // of the sinusoids

void attention_without_positions(const nn::MultiHeadAttention& attention, const Array& X) {
  section("The same output in any order");
  say("Word order changes the meaning: 'dog bites man', 'man bites dog'. Does attention",
      "see the order? We try two heads of dimension 2, whose output projection is the",
      "identity. (Inputs and weights are multiples of 1/8, so Q, K and V have no",
      "rounding error.)");
  const Array output = output_of(attention, X);
  show("X", X, words);
  show("output for 'dog bites man'", output, words);
  show("output for 'man bites dog'", output_of(attention, in_order(X, {2, 1, 0})),
       {"man", "bites", "dog"});
  check("two heads by hand, without an output projection = the module's",
        heads_by_hand(attention, X), output);
  std::vector<std::size_t> order = {0, 1, 2};
  while (std::next_permutation(order.begin(), order.end()))
    check("bit by bit, outputs for '" + in_order(words, order) + "' = the first, reordered",
          output_of(attention, in_order(X, order)), in_order(output, order), 0);
  say("", "Each output is a sum over all keys, which does not depend on their order. (heed",
      "adds in double and rounds once; here all bits agree.) This is the permutation",
      "equivariance of lesson 03. A causal mask breaks it: then the position of a query",
      "decides which keys it may attend to.");
}

void learned_encodings(const nn::MultiHeadAttention& attention, const Array& X, Scope scope) {
  section("Learned position encodings");
  say("A POSITION ENCODING is a vector for a position. It is added to the embedding of",
      "the token at that position. A LEARNED POSITION ENCODING (also: learned",
      "positional embedding) is a parameter: nn::Embedding with one row for each",
      "position, at first random.");
  const nn::Embedding position(scope / "position", 3, 4);
  Array by_hand = X;
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t d = 0; d < 4; ++d) by_hand(t, d) += position.weight.value()(t, d);
  const Tensor encoded = Tensor(X) + position(Indices{0, 1, 2});  // (3, 4)
  check("the sums by hand = in one line", by_hand, encoded);
  const Array man_first = in_order(X, {2, 1, 0}) + position.weight.value();
  const Array first = output_of(attention, encoded.value()), last = output_of(attention, man_first);
  show("output for 'dog bites man'", first, words);
  show("output for 'man bites dog'", last, {"man", "bites", "dog"});
  const Real largest = xt::amax(xt::abs(xt::row(first, 0) - xt::row(last, 2)))();
  say("");
  claim("the outputs of 'dog' differ", largest > 0.1, "by " + decimal(largest, 4) + " at most");
}

void sinusoidal_encodings() {
  section("Sinusoidal position encodings");
  say("Learned and one-hot encodings have no row for positions beyond their size. The",
      "number t itself would be simplest, but it grows without bound. With SINUSOIDAL",
      "POSITION ENCODINGS (Vaswani et al. 2017, section 3.5) all values are from -1 to",
      "1: each pair of columns has the sine and cosine of an angle that grows with the",
      "position, like a clock hand. The angle of the first pair grows by 1 radian per",
      "position, those of the other pairs grow by less. With width 4 and base 10000 the",
      "angles are t / 1 and t / 100:");
  show("encodings of width 4", nn::sinusoidal_positions(4, 4), {"position 0", "1", "2", "3"},
       {"sin t", "cos t", "sin t/100", "cos t/100"});
  check("width 32 by hand = nn::sinusoidal_positions", sinusoids(num_positions, 10000),
        nn::sinusoidal_positions(num_positions, width));
  say("", "With the paper's base 10000, half of the columns hardly change in 24 positions",
      "(question 1). So we take the base 100. Pair i of 16 then has the angle a_i =",
      "t / 100^(i / 16). The first four pairs:");
  const Array P = sinusoids(num_positions, chosen_base);  // (24, 32)
  show("encodings of width 32", Array(xt::view(P, xt::range(0, 5), xt::range(0, 8))),
       {"t = 0", "1", "2", "3", "4"},
       {"sin a_0", "cos a_0", "sin a_1", "cos a_1", "sin a_2", "cos a_2", "sin a_3", "cos a_3"});
  HeatmapOptions options{"sinusoidal position encodings, base 100: each column is a wave"};
  options.row_title = "position t", options.column_title = "pair of columns i";
  options.low = -1, options.high = 1, options.diverging = true;
  const Array sines = xt::view(P, xt::all(), xt::range(0, width, 2)),
              cosines = xt::view(P, xt::all(), xt::range(1, width, 2));  // (24, 16) each
  picture("11_positions", "waves", {sines, cosines}, {"sin a_i", "cos a_i"}, options, 2);
  relative_positions(P, chosen_base);
}

double lower_bound_without_positions() {
  section("A task that needs positions");
  say("The task: read a word of eight different letters, and predict at each position t",
      "the letter opposite it, at position 7 - t: the word backwards. The model has no",
      "causal mask: it reads the whole word. Without positions, it knows at each letter",
      "only this letter and which eight letters the word has. Each of the other seven",
      "is opposite with probability 1/7. Let p_1 to p_7 be their predicted",
      "probabilities. The mean cross-entropy -(ln p_1 + ... + ln p_7) / 7 is -ln of",
      "their geometric mean. This is at most their arithmetic mean, which is at most",
      "1/7. So the loss is at least ln 7. It is ln 7 if each p is 1/7.");
  const double bound = std::log(7.0), equal = mean_loss(std::vector<double>(7, 1.0 / 7));
  check("the mean of -ln(1/7) = ln 7", scalar(Real(equal)), scalar(Real(bound)));
  say("", "predicted p             loss", "1/26 for each letter  " + decimal(std::log(26.0), 4),
      "1/7 for each of 7     " + decimal(bound, 4),
      "0.4 and six of 0.1    " + decimal(mean_loss({0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}), 4));
  return bound;
}

void show_attention(const Reverser& without, const Reverser& model,
                    const std::set<std::string>& seen) {
  section("The attention weights");
  const std::string word = "triangle";
  const Indices letters = indices_of(word);
  const Names rows = {"t", "r", "i", "a", "n", "g", "l", "e"};
  say("'" + word + "' was " + (seen.count(word) == 0 ? "not " : "") + "in the training data.",
      "The model with learned encodings attends from position t to position 7 - t. The",
      "picture also shows the model without positions.");
  const Array A = weights_of(model, letters);
  picture_of_attention(weights_of(without, letters), A, rows);
  const std::size_t opposite = count_opposite(A);
  say("");
  claim("each query's largest weight is on the opposite position", opposite == length,
        std::to_string(opposite) + " of 8 are");
  quote(word + " -> " + text_of(argmax(model(letters), -1), 0));
  say("", "What is between the many attention layers of a model? 12_transformer_block.");
}

void reverse_words(double bound) {
  section("Training");
  say("Three models with one head each: without position encodings, with learned ones",
      "and with sinusoidal ones. They train on the same random words. We test them on",
      "new words, each in seven orders: over these, each letter has each other letter",
      "opposite it once. For a given letter, a model without positions predicts the",
      "same letter in all seven orders. So at most 1/7 of its predictions are correct.");
  Generator fresh(2026);
  const Indices unseen = all_opposites(draw_words(fresh, 100));  // (700, 8)
  std::set<std::string> seen;
  std::vector<Series> curves;
  std::vector<Result> results;
  std::vector<Reverser> models;
  std::vector<std::unique_ptr<Parameters>> parameters;
  for (const std::string& name : Names{"no positions", "learned", "sinusoidal"}) {
    Generator g(1);
    parameters.push_back(std::make_unique<Parameters>());
    const Scope scope(*parameters.back(), g);
    Tensor encodings;
    if (name == "learned") encodings = nn::Embedding(scope / "position", length, width).weight;
    if (name == "sinusoidal") encodings = Tensor(sinusoids(length, chosen_base));
    models.emplace_back(scope, encodings);
    curves.push_back(train(*parameters.back(), models.back(), name, in_brief(3000, 200), seen));
    results.push_back(result_of(models.back()(unseen), unseen));
  }
  say("", "on 700 new words     loss   correct letters");
  for (std::size_t i = 0; i < 3; ++i)
    say(pad_right(curves[i].name, 17) + pad_left(trained(results[i].loss), 8) +
        pad_left(trained(100 * results[i].accuracy, 0) + " %", 18));
  const auto came = [&](std::size_t i) {
    return "loss " + decimal(results[i].loss, 4) + ", correct " + decimal(results[i].accuracy, 4);
  };
  const std::size_t known = count_seen(unseen, seen);
  say("");
  claim("none of the new words was in the training data", known == 0, std::to_string(known));
  claim("without positions the loss stays above ln 7", results[0].loss > bound - 1e-5, came(0));
  claim("without positions at most 1/7 is correct", results[0].accuracy < 1.0 / 7 + 1e-3, came(0));
  for (std::size_t i : {1u, 2u})
    claim("with " + curves[i].name + " encodings the loss is below 0.1, and 98 % are correct",
          results[i].loss < 0.1 && results[i].accuracy > 0.98, came(i));
  CurveOptions options{"writing a word backwards needs positions", "step",
                       "training loss (nats per letter)"};
  options.lines = {{"ln 26, any letter", std::log(26.0)}, {"ln 7, without positions", bound}};
  picture("11_positions", "backwards", curves, options);
  say("", "The spikes in the picture come from the large learning rate: with 0.005 instead",
      "of 0.02 they nearly vanish.");
  show_attention(models[0], models[1], seen);
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would slow them down
  opening({"to show that attention ignores order, and to encode positions",
           "X + P   X (T, C) embeddings, P (T, C) position encodings\n"
           "P(t, 2i) = sin(t / base^(2i/C)), P(t, 2i + 1) = cos(t / base^(2i/C))",
           "positional encoding, Attention Is All You Need, section 3.5\n"
           "(Vaswani et al. 2017); base 10000 there",
           "torch.nn.Embedding for learned encodings"});
  Generator g(42);
  const Array X = eighths(g.randn({3, 4}));
  Parameters parameters;
  const nn::MultiHeadAttention attention(Scope(parameters, g), 4, 2);
  round_to_eighths(attention, parameters);
  attention_without_positions(attention, X);
  learned_encodings(attention, X, Scope(parameters, g));
  sinusoidal_encodings();
  reverse_words(lower_bound_without_positions());
  questions("Set chosen_base to 10000. Which columns of the picture still change?",
            "In reverse_words, set in_brief(500, 200). How near is the first loss to ln 7?",
            "In reverse_words, replace nn::Embedding(...).weight by\n"
            "Tensor(g.randn({length, width})): not trained. How many letters are correct?");
}
