// phase_change.hpp: when induction heads appear in training: table, picture and text of
// lesson 25.
#pragma once

#include "gnuplot_picture.hpp"
#include "repeats.hpp"

namespace heed {

// The largest induction score of a layer of a model.
inline double induction_score(const nn::Gpt& model, std::size_t layer, const Repeats& test) {
  return xt::amax(induction_by_hand(capture_attention(model, test.inputs)[layer].weights, test))();
}

// The attention weight of layer 0 on the keys shortest - 1 to longest - 1 positions before the
// query: the mean over heads and over the queries that have all of these keys.
inline double weight_at_distances(const nn::Gpt& model, const Repeats& test) {
  const Array A = capture_attention(model, test.inputs)[0].weights;  // (B, H, T, T)
  double sum = 0, count = 0;
  for (std::size_t b = 0; b < A.shape(0); ++b)
    for (std::size_t h = 0; h < A.shape(1); ++h)
      for (std::size_t t = longest - 1; t < T; ++t, ++count)
        for (std::size_t d = shortest - 1; d < longest; ++d) sum += A(b, h, t, t - d);
  return sum / count;
}

// The same for uniform weights.
inline double uniform_at_distances() {
  double sum = 0;
  for (std::size_t t = longest - 1; t < T; ++t)
    sum += double(longest - shortest + 1) / double(t + 1) / double(T - longest + 1);
  return sum;
}

// "two layers, seed 1   3.53   0.02   0.03   0.93   0.93   180   220": losses, the largest
// induction score of layer 0, both scores of layer 1, and the steps at which the loss on repeated
// tokens was first below 3 and below 1.
inline std::string row_of(const InductionModel& m, const Repeats& test) {
  const NoGrad no_grad;
  const TwoLosses losses = two_losses(m.model(test.inputs), test);
  Array layer_1 = capture_attention(m.model, test.inputs).back().weights;
  layer_1 = induction_by_hand(layer_1, test);
  std::string scores(12, ' ');
  if (m.model.blocks.size() == 2)
    scores = pad_left(decimal(layer_1(0), 2), 7) + pad_left(decimal(layer_1(1), 2), 5);
  const auto step = [&](double y) {
    return m.first_below(y) < 1e9 ? decimal(m.first_below(y), 0) : "-";
  };
  return pad_right(m.loss.name, 20) + pad_left(decimal(losses.first, 2), 6) +
         pad_left(decimal(losses.repeated, 2), 10) +
         pad_left(decimal(induction_score(m.model, 0, test), 2), 9) + scores +
         pad_left(step(3), 9) + pad_left(step(1), 5);
}

inline std::string table_of_models(const std::vector<InductionModel>& two,
                                   const std::vector<InductionModel>& one, const Repeats& test) {
  std::string rows =
      "                         loss         induction score   first step with\n"
      "                     first  repeated  layer 0    layer 1   loss < 3  < 1";
  for (const auto* models : {&two, &one})
    for (const InductionModel& m : *models) rows += "\n" + row_of(m, test);
  return rows;
}

inline Array points_of(const Series& series) {
  Array points = zeros({series.x.size(), 2});
  for (std::size_t i = 0; i < series.x.size(); ++i)
    points(i, 0) = Real(series.x[i]), points(i, 1) = Real(series.y[i]);
  return points;
}

// The losses on repeated tokens of all models, and the induction score of the first.
inline void picture_of_phase_change(const std::string& lesson,
                                    const std::vector<InductionModel>& two,
                                    const std::vector<InductionModel>& one) {
  std::string data = gnuplot_block("score", points_of(two[0].score)), plots;
  for (std::size_t m = 0; m < two.size(); ++m) {
    const std::string i = std::to_string(m + 1);
    data += gnuplot_block("two" + i, points_of(two[m].loss)) +
            gnuplot_block("one" + i, points_of(one[m].loss));
    const std::string title = m == 0 ? "" : "no";  // one title for all seeds
    plots += "$two" + i + " with lines lw 2 lc rgb '#0072B2' " + title + "title " +
             (m == 0 ? "'two layers, all seeds'" : "") + ", $one" + i +
             " with lines lw 2 lc rgb '#D55E00' " + title + "title " +
             (m == 0 ? "'one layer, all seeds'" : "") + ", ";
  }
  picture_by_gnuplot(
      lesson, "phase_change",
      data +
          "set title 'Two layers: the loss on repeated tokens falls when induction heads "
          "appear'\n" +
          "set xlabel 'step'\nset ylabel 'loss on repeated tokens (nats)'\nset yrange [0:4]\n" +
          "set y2label 'induction score'\nset y2range [0:1]\nset y2tics out\n" +
          "set border 11 lc rgb '#888888'\nset key below maxrows 2\nplot " + plots + "log(32)" +
          " dashtype 2 lw 2 lc rgb '#666666' title 'ln 32, equal probabilities', " +
          "$score axes x1y2 with lines dashtype 3 lw 3 lc rgb '#009E73' " +
          "title 'induction score, seed 1 (right axis)'");
}

inline std::vector<InductionModel> phase_change(const std::string& lesson, const Repeats& test) {
  section("Induction heads appear suddenly");
  const std::int64_t steps = in_brief(450, 340);
  say("Lesson 16 trained induction heads and found the previous token head that they",
      "need. When do they appear? We train small Llamas, two heads per layer, on 8 to",
      "24 different random tokens of 32, repeated to fill 48 positions. The period P",
      "varies, so no fixed distance leads to the earlier token. A token that occurs for",
      "the first time is one of those that have not occurred. So the mean loss there is",
      "at least " + decimal(first_bound(test), 2) +
          ". Where tokens repeat, the lower bound is 0. If all tokens have",
      "equal probabilities, the loss is ln 32 = " + decimal(std::log(double(V)), 2) + ".", "",
      "The INDUCTION SCORE of a head (prefix-matching score, lesson 16) is the",
      "attention weight on the tokens that followed the query's token earlier. For",
      "layer 0 the table has the larger score of its two heads. The last two columns",
      "are the first steps at which the loss on repeated tokens, measured every 10",
      "steps, is below 3 and below 1:", "");
  std::vector<InductionModel> two, one;
  for (std::uint64_t seed = 1; seed <= (brief() ? 1u : 3u); ++seed) {
    train(two.emplace_back(2, seed), steps, seed);
    train(one.emplace_back(1, seed), in_brief(steps, 60), seed);
  }
  const auto attention = capture_attention(two[0].model, test.inputs);
  check("induction scores by hand = head_scores", induction_by_hand(attention[1].weights, test),
        head_scores(induction, attention[1].weights, test.inputs, true));
  say("");
  quote(table_of_models(two, one, test));
  double two_end = 0, one_end = INFINITY, fall = 0, in_layer_0 = 0, in_layer_1 = 1;
  for (std::size_t m = 0; m < two.size(); ++m) {
    two_end = std::max(two_end, two[m].loss.y.back());
    one_end = std::min(one_end, one[m].loss.y.back());
    fall = std::max(fall, two[m].first_below(1) - two[m].first_below(3));
    in_layer_0 = std::max(in_layer_0, induction_score(two[m].model, 0, test));
    in_layer_1 = std::min(in_layer_1, induction_score(two[m].model, 1, test));
  }
  claim("two layers, all seeds: repeated tokens have a loss below 0.5", two_end < 0.5,
        decimal(two_end, 4));
  claim("one layer, all seeds: above 2", one_end > 2, decimal(one_end, 4));
  claim("two layers, all seeds: from 3 to 1 in fewer than 100 steps", fall < 100, decimal(fall, 0));
  claim("induction scores: layer 1 above 0.5, layer 0 below 0.2",
        in_layer_1 > 0.5 && in_layer_0 < 0.2,
        decimal(in_layer_1, 2) + " and " + decimal(in_layer_0, 2));
  picture_of_phase_change(lesson, two, one);
  say("", "Why is the loss on first tokens even above ln 32? The models do not exclude the",
      "tokens that have occurred: together these get a probability of about 0.3, where",
      "equal probabilities of all 32 tokens would give them 0.27. And the tokens that",
      "can follow get unequal probabilities, though all are equally likely. This also",
      "raises the expected loss.", "",
      "In the first 150 steps the loss on repeated tokens falls little. Then it falls",
      "from 3 to 1 within 40 to 60 steps, and the induction score rises. Olsson et",
      "al. call this a PHASE CHANGE and see it in language models of two layers or",
      "more. With one layer the loss falls slowly and the induction score stays low.",
      "(It goes on falling: seed 1 reached 1.9 after 1,800 steps.) With period P",
      "the token that followed stands P - 1 positions before the query, 7 to 23. After",
      "450 steps the heads of the single layer prefer these distances:", "");
  quote("one layer, seed 1: weight of the keys 7 to 23 positions before: " +
        decimal(weight_at_distances(one[0].model, test), 2) +
        "\nuniform weights: " + decimal(uniform_at_distances(), 2));
  return two;
}

}  // namespace heed
