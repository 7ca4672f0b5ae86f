// 12 positions: attention does not know the order of its tokens, unless each says where it stands.
//
// Before this lesson: 11_multi_head, several heads side by side.
// After it: 13_transformer_block, all that stands around attention.
// Worth a breakpoint: Reverser::embedded. In it, letters meet their places.

#include <algorithm>
#include <cmath>
#include <set>

#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "lesson.hpp"

using namespace heed;
using Order = std::vector<std::size_t>;
using xt::linalg::dot;

const Names words = {"dog", "bites", "man"};
const std::size_t length = 8, alphabet = 26, width = 32;  // of the words that are reversed

Array eighths(const Array& x) { return xt::round(x * Real(8)) / Real(8); }

Array in_order(const Array& x, const Order& order) {  // row i of the result is x's row order[i]
  Array y = x;
  for (std::size_t i = 0; i < order.size(); ++i) xt::row(y, int(i)) = xt::row(x, int(order[i]));
  return y;
}

// What the tokens of x (T, C) hear from each other: (T, C).
Array hear(const nn::MultiHeadAttention& attention, const Array& x) {
  return select(attention(unsqueeze(Tensor(x), 0)), 0, 0).value();
}

// What token i hears in one head, the one whose columns are `first` and the next: a sum over all
// tokens. Q, K, V (T, C).
Array head_by_hand(const Array& Q, const Array& K, const Array& V, std::size_t i,
                   std::size_t first) {
  Array sum = zeros({2});
  Real all = 0;
  for (std::size_t j = 0; j < K.shape(0); ++j) {
    const Real score = Q(i, first) * K(j, first) + Q(i, first + 1) * K(j, first + 1);
    const Real weight = std::exp(score / std::sqrt(Real(2)));
    for (std::size_t d = 0; d < 2; ++d) sum(d) += weight * V(j, first + d);
    all += weight;
  }
  return sum / all;
}

// Letters and their places, one head of attention, and for each place a score for each letter.
struct Reverser {
  Reverser(Scope scope, const Tensor& place_vectors)
      : letter(scope / "letter", alphabet, width),
        attention(scope / "attention", width, 1),
        head(scope / "head", width, alphabet),
        places(place_vectors) {}

  Tensor embedded(const Indices& x) const {
    const Tensor letters = letter(x);  // (B, T, C)
    if (!places.defined()) return letters;
    return letters + places;  // places (T, C), the same for every word
  }
  Tensor operator()(const Indices& x) const {
    const Tensor e = embedded(x);
    return head(e + attention(e));  // (B, T, V)
  }

  nn::Embedding letter;
  nn::MultiHeadAttention attention;
  nn::Linear head;
  Tensor places;  // nothing, where places are not told
};

Indices reversed(const Indices& x) { return xt::flip(x, 1); }

std::string text_of(const Indices& x, std::size_t row) {
  std::string text;
  for (std::size_t t = 0; t < length; ++t) text += char('a' + x(row, t));
  return text;
}

// Every word in seven orders, as in a tournament: each letter faces each other letter once, the one
// at place t the one at place 7 - t.
Indices tournament(const Indices& x) {
  const std::size_t rounds = length - 1;
  Indices all = Indices::from_shape({x.shape(0) * rounds, length});
  for (std::size_t b = 0; b < x.shape(0); ++b)
    for (std::size_t r = 0; r < rounds; ++r) {
      all(b * rounds + r, 0) = x(b, rounds);  // who stays seated
      all(b * rounds + r, rounds) = x(b, r);
      for (std::size_t t = 1; t < length / 2; ++t) {
        all(b * rounds + r, t) = x(b, (r + t) % rounds);
        all(b * rounds + r, rounds - t) = x(b, (r + rounds - t) % rounds);
      }
    }
  return all;
}

struct Verdict {
  double loss, right;  // in nats; the share of letters guessed right
};

Verdict examine(const Reverser& model, const Indices& x) {
  const NoGrad no_grad;
  const Tensor scores = model(x);
  const Indices guess = argmax(scores, -1), wanted = reversed(x);
  double right = 0;
  for (std::size_t i = 0; i < guess.size(); ++i) right += guess.data()[i] == wanted.data()[i];
  return {cross_entropy(scores, wanted).item(), right / double(guess.size())};
}

// Random words of eight different letters, `count` of them.
Indices draw_words(Generator& g, std::size_t count) {
  return g.multinomial(ones({count, alphabet}), length);
}

// Trains on new words in every step, and gives the losses; `seen` gets every word.
Series train(Parameters& parameters, const Reverser& model, const std::string& name,
             std::set<std::string>& seen) {
  optim::AdamWOptions options;
  options.weight_decay = 0;
  optim::AdamW optimizer(parameters.tensors(), options);
  const std::int64_t steps = in_brief(1500, 200);
  const optim::WarmupCosine rate{0.02, 0.002, 10, steps};
  Generator g(12);
  Series losses{name, {}, {}};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Indices x = draw_words(g, 32);  // (B, T)
    for (std::size_t b = 0; b < 32; ++b) seen.insert(text_of(x, b));
    const Tensor loss = cross_entropy(model(x), reversed(x));
    losses.append(double(step), loss.item());
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
  return losses;
}

int main() {
  set_num_threads(1);  // so little work that a second thread would only wait

  section("Who bites whom");
  say("A dog bites a man, or a man bites a dog: the words are the same, the order is",
      "not. Does attention notice? We ask two heads, of two numbers each.", "",
      "It shall be the same to the last bit, so nothing may depend on roundings. A sum",
      "of floats has several answers (lesson 02), and which of them a processor finds",
      "may depend on the row. So T and the weights are in eighths here: then the",
      "products and sums for Q, K and V are exact. What is heard is no longer so round,",
      "and the last layer, 'out', hands it on as it is: ones on the weight's diagonal,",
      "and a bias of zeros.");
  Generator g(42);
  const Array T = eighths(g.randn({3, 4}));
  Parameters parameters;
  const nn::MultiHeadAttention attention(Scope(parameters, g), 4, 2);
  for (Tensor p : parameters) p.mutable_value() = eighths(p.value());
  Tensor out = attention.out.weight, out_bias = attention.out.bias;
  out.mutable_value() = xt::eye<Real>(4);
  out_bias.mutable_value() = zeros({4});
  const Array heard = hear(attention, T);
  const Array transposed = hear(attention, in_order(T, {2, 1, 0}));
  show("T", T, words);
  show("heard in 'dog bites man'", heard, words);
  show("heard in 'man bites dog'", transposed, {"man", "bites", "dog"});

  section("The same bits in every order");
  say("Each word hears the same in both. What it hears is a sum over all words, values",
      "times shares, and terms may be added in any order. (heed adds them in double and",
      "rounds once, so that this holds for the last bit, too.)");
  const Array Q = attention.query(Tensor(T)).value(), K = attention.key(Tensor(T)).value(),
              V = attention.value(Tensor(T)).value();  // (3, 4) each
  Array by_hand = zeros({3, 4});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 4; ++d)  // two heads of two columns
      by_hand(i, d) = head_by_hand(Q, K, V, i, d / 2 * 2)(d % 2);
  check("by hand = in one line", by_hand, heard);
  Order order = {0, 1, 2};
  while (std::next_permutation(order.begin(), order.end()))
    check("to the last bit, '" + words[order[0]] + " " + words[order[1]] + " " + words[order[2]] +
              "' = 'dog bites man', reordered",
          hear(attention, in_order(T, order)), in_order(heard, order), 0);
  say("", "Each word hears the very same bits in any order. A causal mask (lesson 07) would",
      "give some of the order away, as the first token then hears only itself. Where",
      "all hear everybody, a sentence is a bag of words.");

  section("Learned places");
  say("So let each word say where it stands. The simplest way: a vector for each place,",
      "added to the word's own. It is learned like any other weight, and starts as",
      "random numbers. A table of such vectors is what nn::Embedding is. (A place is",
      "called position in most texts, and in heed's names.)");
  const nn::Embedding place(Scope(parameters, g) / "place", 3, 4);
  const Indices numbers = {0, 1, 2};
  Array placed_by_hand = T;
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t d = 0; d < 4; ++d) placed_by_hand(t, d) += place.weight.value()(t, d);
  const Tensor placed = Tensor(T) + place(numbers);  // (3, 4)
  check("by hand = in one line", placed_by_hand, placed);
  const Array man_first = in_order(T, {2, 1, 0}) + place.weight.value();
  const Array here = hear(attention, placed.value()), there = hear(attention, man_first);
  show("heard in 'dog bites man'", here, words);
  show("heard in 'man bites dog'", there, {"man", "bites", "dog"});
  Array apart = xt::abs(xt::row(here, 0) - xt::row(there, 2));
  const Real most = xt::amax(apart)();
  say("");
  claim("a dog that bites hears something else than one that is bitten", most > 0.1,
        "at most " + decimal(most, 4) + " apart");

  section("Places without learning");
  say("A vector for place 100 can only be learned from texts that long. Vaswani et al.",
      "(2017, section 3.5) take waves instead, sine and cosine of many lengths. That is",
      "a clock of many hands, two numbers each: the first turns by an angle of 1 from",
      "place to place, the last of 512 numbers by little more than 1/10000. A place is",
      "what the clock shows.");
  const std::size_t places = 24;
  Array P_by_hand = zeros({places, width});
  for (std::size_t t = 0; t < places; ++t)
    for (std::size_t i = 0; i < width; i += 2) {
      const double angle = double(t) / std::pow(10000.0, double(i) / double(width));
      P_by_hand(t, i) = Real(std::sin(angle));
      P_by_hand(t, i + 1) = Real(std::cos(angle));
    }
  const Array P = nn::sinusoidal_positions(places, width);  // (24, 32)
  check("by hand = in one line", P_by_hand, P);
  show("of width four, they are", nn::sinusoidal_positions(4, 4), {"place 0", "1", "2", "3"},
       {"sin t", "cos t", "sin t/100", "cos t/100"});
  say("", "Of 24 places, with 32 numbers each. (The last hand: 1.8/10000.) The slow hands",
      "on the right hardly move yet: they are for texts of thousands.");
  HeatmapOptions waves{"sinusoidal positions", {}, {}, "place", "number"};
  waves.low = -1, waves.high = 1, waves.diverging = true;
  picture("12_positions", "waves", P, waves);

  section("How far apart");
  say("Take the dot product of two places. Each hand adds sin a sin b + cos a cos b,",
      "which is cos(a - b). So all that counts is how far apart the places are.");
  Array dots_by_hand = zeros({places, places});
  for (std::size_t s = 0; s < places; ++s)
    for (std::size_t t = 0; t < places; ++t)
      for (std::size_t i = 0; i < width; i += 2)
        dots_by_hand(s, t) +=
            Real(std::cos((double(s) - double(t)) / std::pow(10000.0, double(i) / double(width))));
  const Array dots = dot(P, xt::transpose(P));  // (24, 24)
  check("by hand = in one line", dots_by_hand, dots, 1e-4);
  say("", "places  3 and  5   " + decimal(dots(3, 5), 4),
      "places 20 and 22   " + decimal(dots(20, 22), 4),
      "places  3 and 20   " + decimal(dots(3, 20), 4));
  picture("12_positions", "dots", dots, {"dot products of places", {}, {}, "place", "place"});
  say("", "And to go five places on, turn every hand by its own angle: one matrix, the same",
      "from any place. A head's W_Q can learn such a turn once, for all places.");
  Array turn = zeros({width, width});
  for (std::size_t i = 0; i < width; i += 2) {
    const double angle = 5 / std::pow(10000.0, double(i) / double(width));
    turn(i, i) = turn(i + 1, i + 1) = Real(std::cos(angle));
    turn(i, i + 1) = Real(-std::sin(angle));
    turn(i + 1, i) = Real(std::sin(angle));
  }
  const Array all_but_five = xt::view(P, xt::range(0, 19)),
              from_five = xt::view(P, xt::range(5, 24));
  check("places 0 to 18, turned by hand = places 5 to 23", dot(all_but_five, turn), from_five);

  section("What can be known without places");
  say("Now a task: read a word of eight different letters, and write it backwards: say",
      "for each letter which one stands opposite. A model that knows no places sees a",
      "bag of eight letters, and which of them it is asked about. Each of the other",
      "seven may stand opposite, one as likely as the other. The best it can do is to",
      "give each of them a share of 1/7. The loss, -ln(share of the right one), is then",
      "ln 7. Other shares p cost more: on average -(ln p_1 + ... + ln p_7) / 7, which",
      "is least when all are equal, as they sum to one at most.");
  const auto mean_loss = [](const std::vector<double>& shares) {
    double sum = 0;
    for (const double p : shares) sum -= std::log(p) / 7;
    return sum;
  };
  const double floor = std::log(7.0), seventh = 1.0 / 7;
  const double equal = mean_loss({seventh, seventh, seventh, seventh, seventh, seventh, seventh});
  check("by hand = in one line", scalar(Real(equal)), scalar(Real(floor)));
  say("", "any letter of 26     " + decimal(std::log(26.0), 4),
      "a seventh for each   " + decimal(floor, 4),
      "0.4 and six of 0.1   " + decimal(mean_loss({0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}), 4));

  section("Backwards");
  say("Three models of one head each: without places, with learned places, with waves.",
      "What a letter hears is added to its own vector (why: lesson 13), and a last layer",
      "scores the sum. All train on the same random words, and are asked about words",
      "they never saw. To leave nothing to luck, each of those comes in seven orders,",
      "like the rounds of a tournament: every letter once stands opposite every other.");
  Generator fresh(2026);
  const Indices unseen = tournament(draw_words(fresh, 100));  // (700, 8)
  std::set<std::string> seen;
  std::vector<Series> curves;
  std::vector<Verdict> verdicts;
  std::vector<Reverser> models;
  std::vector<std::unique_ptr<Parameters>> stores;
  for (const std::string& name : Names{"no places", "learned places", "waves"}) {
    Generator weights(1);
    stores.push_back(std::make_unique<Parameters>());
    const Scope scope(*stores.back(), weights);
    Tensor vectors;
    if (name == "learned places") vectors = nn::Embedding(scope / "place", length, width).weight;
    if (name == "waves") vectors = Tensor(nn::sinusoidal_positions(length, width));
    models.emplace_back(scope, vectors);
    curves.push_back(train(*stores.back(), models.back(), name, seen));
    verdicts.push_back(examine(models.back(), unseen));
  }
  say("", "on 700 unseen words    loss    letters right");
  for (std::size_t i = 0; i < 3; ++i)
    say(pad_right(curves[i].name, 20) + "  " + pad_left(trained(verdicts[i].loss), 6) + "    " +
        pad_left(trained(100 * verdicts[i].right, 0) + " %", 13));
  std::size_t known = 0;
  for (std::size_t b = 0; b < unseen.shape(0); ++b) known += seen.count(text_of(unseen, b));
  const auto came = [&](std::size_t i) {
    return "loss " + decimal(verdicts[i].loss, 4) + ", right " + decimal(verdicts[i].right, 4);
  };
  say("");
  claim("none of the unseen words was trained on", known == 0, std::to_string(known) + " were");
  claim("without places the loss stays above ln 7", verdicts[0].loss > floor - 1e-5, came(0));
  claim("without places no more than a seventh is right", verdicts[0].right < seventh + 1e-3,
        came(0));
  for (std::size_t i : {1u, 2u})
    claim("with " + curves[i].name + " the loss is below 0.1, and 98 % are right",
          verdicts[i].loss < 0.1 && verdicts[i].right > 0.98, came(i));
  CurveOptions axes;
  axes.title = "writing a word backwards";
  axes.y_title = "loss (nats per letter)";
  axes.lines = {{"ln 26, any letter", std::log(26.0)}, {"ln 7, one of the others", floor}};
  picture("12_positions", "backwards", curves, axes);

  section("Who looks at whom");
  const std::string word = "triangle";
  Indices letters = Indices::from_shape({1, length});
  Names rows;
  for (std::size_t t = 0; t < length; ++t) {
    letters(0, t) = word[t] - 'a';
    rows.push_back(word.substr(t, 1));
  }
  say("'" + word + "' is " + (seen.count(word) == 0 ? "not " : "") + "one of the words trained on.",
      "The model with learned places looks from place t at place 7 - t, whatever letter",
      "stands there.");
  const Reverser& learned = models[1];
  const Tensor e = learned.embedded(letters);                                // (1, 8, 32)
  const Array A = reshape(learned.attention.weights(e, e), {8, 8}).value();  // of the only head
  HeatmapOptions shades{"shares of the model with learned places", rows, rows, "asks", "answers"};
  shades.low = 0, shades.high = 1;
  picture_trained("12_positions", "backwards_attention", A, shades);
  const Indices most_looked_at = argmax(Tensor(A), -1);  // (8)
  std::size_t opposite = 0;
  for (std::size_t t = 0; t < length; ++t)
    opposite += std::size_t(most_looked_at(t)) == length - 1 - t;
  say("");
  claim("every letter looks at the one opposite most", opposite == length,
        std::to_string(opposite) + " of 8 do");
  const Indices guess = argmax(learned(letters), -1);
  quote(word + " -> " + text_of(guess, 0));
  say("", "One layer of attention has learned a rule about places, for words it never saw.",
      "A language model has many layers, one upon the other. What must stand between",
      "them, so that they learn at all? That is the next lesson: 13_transformer_block.", "",
      "To see places join letters: start gdb with ./heed debug 12, and in it:",
      "break train, then continue three times: now it trains the waves. Then",
      "break Reverser::embedded, continue, next, next, print letters, print places.");
}
