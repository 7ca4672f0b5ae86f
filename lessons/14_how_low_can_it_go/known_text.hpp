// known_text.hpp: the text of lesson 14: its sentences, and the ideal predictor of its letters.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>

#include "gnuplot_picture.hpp"
#include "heed/study/markov_source.hpp"
#include "heed/text/corpus.hpp"

namespace heed {

using Distribution = std::map<std::string, double>;  // strings and their probabilities

inline Distribution all_sentences() {
  const std::string verbs[4][3] = {{"cat", "purr", "sleep"},
                                   {"dog", "bark", "run"},
                                   {"owl", "hoot", "hunt"},
                                   {"frog", "croak", "jump"}};
  Distribution sentences;
  for (const auto& [animal, first_verb, second_verb] : verbs)
    for (const bool singular : {true, false})
      for (const std::string preposition : {"in", "on", "by", "near"})
        for (const std::string noun : {"barn", "hill", "river", "garden"}) {
          const std::string start =
              "the " + animal + (singular ? " " : "s ") + preposition + " the " + noun + " ";
          const std::string end = singular ? "s\n" : "\n";
          sentences[start + first_verb + end] = 0.75 / (4 * 2 * 4 * 4);
          sentences[start + second_verb + end] = 0.25 / (4 * 2 * 4 * 4);
        }
  return sentences;
}

inline double mean_length(const Distribution& sentences) {
  double letters = 0;
  for (const auto& [sentence, p] : sentences) letters += p * double(sentence.size());
  return letters;
}

// The smallest distances, in letters, from the last letter of the subject to the first letter of
// the verb and to the verb's ending ('s' or the newline).
inline std::pair<std::size_t, std::size_t> shortest_distances(const Distribution& sentences) {
  std::pair<std::size_t, std::size_t> least{1000, 1000};
  for (const auto& [sentence, p] : sentences) {
    const std::size_t subject = sentence.find(' ', 4) - 1;  // after "the "
    const std::size_t verb = sentence.rfind(' ') + 1;
    const bool singular = sentence[subject] != 's';
    const std::size_t ending = sentence.size() - (singular ? 2 : 1);
    least.first = std::min(least.first, verb - subject);
    least.second = std::min(least.second, ending - subject);
  }
  return least;
}

// The probability of each letter (size 1) or pair of letters (size 2) at a random position of a
// long text.
inline Distribution n_grams(const Distribution& sentences, std::size_t size) {
  Distribution found;
  for (const auto& [sentence, p] : sentences)
    for (std::size_t i = 0; i < sentence.size(); ++i)
      found[(sentence + "the").substr(i, size)] += p / mean_length(sentences);
  return found;
}

// The ideal predictor of a text in windows of T letters: it knows the source and reads the window.
// Bayes' rule gives the probability of each state after each letter. Returns -ln p(target), (W, T).
inline Array ideal_losses(const MarkovSource& source, const std::string& text, std::size_t T) {
  Array losses = zeros({(text.size() - 1) / T, T});
  for (std::size_t w = 0; w < losses.shape(0); ++w) {
    std::map<std::size_t, double> p_state, next;
    for (std::size_t s = 0; s < source.states().size(); ++s)
      p_state[s] = source.stationary_distribution()[s];
    for (std::size_t t = 0; t <= T; ++t, p_state.swap(next), next.clear()) {
      double p_letter = 0;  // given the letters before it in the window
      for (const auto& [s, p] : p_state)
        for (const MarkovSource::Letter& letter : source.states()[s].letters)
          if (letter.letter == text[w * T + t]) {
            p_letter += p * letter.probability;
            next[letter.next] += p * letter.probability;
          }
      for (auto& [s, p] : next) p /= p_letter;
      if (t > 0) losses(w, t - 1) = Real(-std::log(p_letter));
    }
  }
  return losses;
}

// A text in consecutive windows of T letters: inputs and targets, (W, T).
inline Batch windows_of(const std::string& text, const Vocabulary& vocabulary, std::size_t T) {
  const std::vector<std::int64_t> ids = vocabulary.encode(text);
  const std::size_t W = (ids.size() - 1) / T;
  Batch windows{Indices::from_shape({W, T}), Indices::from_shape({W, T})};
  std::copy_n(ids.begin(), W * T, windows.inputs.begin());
  std::copy_n(ids.begin() + 1, W * T, windows.targets.begin());
  return windows;
}

// The lower bound and the model's loss at each position of a window, without the first four: they
// are so high that the others would look equal.
inline void picture_of_positions(const std::vector<double>& bounds, const Array& mean_excess) {
  Series model{"model", {}, {}, /*points=*/true}, bound{"lower bound", {}, {}};
  for (std::size_t t = 4; t < mean_excess.size(); ++t) {
    model.append(double(t + 1), bounds[t + 1] + double(mean_excess(t)));
    bound.append(double(t + 1), bounds[t + 1]);
  }
  picture("14_how_low_can_it_go", "positions", {model, bound},
          {"loss at each position of a window: more context, lower loss",
           "letters of context, from 5 on", "lower bound + mean excess loss (nats per letter)"});
}

// The loss at each position of the windows, and the lower bound there.
inline void loss_by_position(const MarkovSource& source, const Array& excess) {
  section("The loss at each position of a window");
  say("The windows follow one another in the new text, so a window begins anywhere in a",
      "sentence. Its first letters have little context and a higher lower bound. By",
      "chance a text can be easy or hard to predict, for every model. So we compare",
      "with the ideal predictor, which knows the source: it gives each letter its exact",
      "probability, given the letters before it in the window. The EXCESS LOSS is the",
      "model's loss minus the ideal predictor's, letter by letter. It varies much less",
      "at random, and its expectation (its mean over all possible texts) is 0 or more.",
      "The last column is the lower bound plus the mean excess loss.");
  const std::size_t T = excess.shape(1);
  const Array mean_excess = xt::mean(excess, {0});  // (T)
  const std::vector<double> bounds = source.conditional_entropies(T);
  say("", "letters of context   lower bound   model");
  for (const std::size_t k : {1u, 2u, 3u, 4u, 5u, 9u, 13u, 17u, 21u, 25u})
    say(pad_left(std::to_string(k), 18) + "   " + decimal(bounds[k], 4) + "        " +
        trained(bounds[k] + double(mean_excess(k - 1))));
  picture_of_positions(bounds, mean_excess);
}

// Draws the losses on new text on a logarithmic axis, and the bounds with their names.
inline void picture_of_losses(const MarkovSource& source, const std::vector<Series>& curves) {
  const Names colors = {"#0072B2", "#D55E00"};
  std::string data, plots;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const std::string name = "curve" + std::to_string(c);
    Array points = zeros({curves[c].x.size(), 2});
    for (std::size_t i = 0; i < curves[c].x.size(); ++i)
      xt::row(points, int(i)) = Array{Real(curves[c].x[i]), Real(curves[c].y[i])};
    data += gnuplot_block(name, points);
    plots += (c == 0 ? "plot $" : ", $") + name + " with linespoints lw 2 pt 7 ps 0.6 lc rgb '" +
             colors[c] + "' title '" + curves[c].name + "'";
  }
  for (const auto& [name, value] : {std::pair("unigram entropy", source.unigram_entropy()),
                                    {"bigram entropy", source.bigram_entropy()},
                                    {"entropy rate", source.entropy_rate()}}) {
    plots += ", " + decimal(value, 4) + " dashtype 2 lw 2 lc rgb '#666666' notitle";
    data += std::string("set label '") + name + "' tc rgb '#666666' at graph 1.01, first " +
            decimal(value, 4) + "\n";
  }
  picture_by_gnuplot("14_how_low_can_it_go", "loss",
                     data + "set logscale y\nset format y '%g'\nset rmargin 18\n" +
                         "set yrange [0.005:5]\nset key at graph 0.98, 0.72\n" +
                         "set title 'A loss below the entropy rate is a leak'\n" +
                         "set xlabel 'step'\n" +
                         "set ylabel 'loss on new text (nats per letter), log scale'\n" + plots);
}

// For HEED_BRIEF: eight letters. The probabilities of a letter depend on the letter before it.
inline MarkovSource simple_source() {
  std::vector<MarkovSource::State> states(8);
  for (std::size_t s = 0; s < 8; ++s) {
    const auto to = [s](std::size_t step, double p) {
      return MarkovSource::Letter{char('a' + (s + step) % 8), p, (s + step) % 8};
    };
    states[s].letters = {to(1, 0.5), to(3, 0.25), to(4, 0.25)};
  }
  return MarkovSource(states);
}

inline void check_number(const std::string& what, double a, double b) {
  check(what, scalar(Real(a)), scalar(Real(b)));
}

}  // namespace heed
