// measures.hpp: exact match by length, and training without each attention, for lesson 20.
#pragma once

#include "by_hand.hpp"
#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "heed/array/parallel.hpp"

namespace heed {

// The exact match of 100 held-out sequences of each task and length.
struct ByLength {
  std::string table;                  // as text
  std::vector<Series> curves;         // one for each task
  double lowest_trained = 1;          // of the tasks' means over the trained lengths, the lowest
  double highest_reverse_beyond = 0;  // of reverse, for two or more letters beyond training
};

inline ByLength exact_match_by_length(const Transformer& model, const Data& data) {
  ByLength result;
  const auto lengths =
      double(longest - shortest);  // the number of trained lengths: left_out is not one
  for (const std::string& name : task_names) result.curves.push_back({name, {}, {}, true});
  std::vector<double> means(3, 0);
  result.table = "letters   reverse   sort   shuffle";
  for (std::size_t n = shortest; n <= longest_tested; ++n) {
    std::string row = pad_left(std::to_string(n), 7) + "  ";
    for (std::size_t i = 0; i < 3; ++i) {
      const double match = exact_match(model, data.held_out(reverse + std::int64_t(i), n, 100));
      row += pad_left(decimal(match, 2), i == 1 ? 7 : i == 2 ? 10 : 8);
      result.curves[i].append(double(n), match);
      if (n <= longest && n != left_out) means[i] += match / lengths;
      if (i == 0 && n >= longest + 2)
        result.highest_reverse_beyond = std::max(result.highest_reverse_beyond, match);
    }
    result.table += "\n" + row +
                    (n == left_out ? "   not in training"
                     : n > longest ? "   beyond training"
                                   : "");
  }
  result.lowest_trained = *std::min_element(means.begin(), means.end());
  return result;
}

// Draws the exact match by length, on grey bands for the lengths of the training.
inline void draw_by_length(const std::string& lesson, const ByLength& measured) {
  Array rows = zeros({measured.curves[0].x.size(), 4});  // letters, reverse, sort, shuffle
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    rows(i, 0) = Real(measured.curves[0].x[i]);
    for (std::size_t k = 0; k < 3; ++k) rows(i, k + 1) = Real(measured.curves[k].y[i]);
  }
  std::string bands, plots;
  const auto band = [&](std::size_t from, std::size_t to) {
    bands += "set object rectangle from " + decimal(double(from) - 0.45, 2) + ",graph 0 to " +
             decimal(double(to) + 0.45, 2) + ",graph 1 behind fc rgb '#EEEEEE' lw 0\n";
  };
  band(shortest, left_out - 1);
  band(left_out + 1, longest);
  const Names colours = {"#0072B2", "#D55E00", "#009E73"};
  for (std::size_t k = 0; k < 3; ++k)
    plots += (k == 0 ? "plot " : ", ") + std::string("$data using 1:") + std::to_string(k + 2) +
             " with linespoints lw 2 pt " +
             std::to_string(k == 0   ? 7
                            : k == 1 ? 5
                                     : 9) +
             " lc rgb '" + colours[k] + "' title '" + task_names[k] + "'";
  picture_by_gnuplot(lesson, "lengths",
                     gnuplot_block("data", rows) + bands +
                         "set title 'held-out sequences; grey: trained lengths'\n"
                         "set xlabel 'letters in the source'\nset ylabel 'exact match'\n"
                         "set yrange [-0.03:1.03]\nset xrange [" +
                         decimal(double(shortest) - 0.6, 1) + ":" +
                         decimal(double(longest_tested) + 0.6, 1) +
                         "]\nset xtics 1\nset key left center\n" + plots);
}

inline const Names part_names = {"none", "encoder self-attention", "causal self-attention",
                                 "cross-attention"};

// The results of models that each lack one attention, for several seeds, on held-out sequences of
// the trained lengths.
struct Ablations {
  using Values = std::vector<std::vector<std::vector<double>>>;  // [part][task][seed]
  Values match, loss;                                            // exact match and cross-entropy
};

// Trains a model for each part and seed, as many at once as heed has threads.
inline Ablations train_without_each(const Data& data, std::size_t seeds, std::int64_t steps) {
  const Ablations::Values empty(4, {3, std::vector<double>(seeds, 0)});
  Ablations result{empty, empty};
  parallel_for(4 * seeds, 1, [&](std::size_t i, std::size_t) {
    const std::size_t part = i % 4, seed = i / 4;
    const Trained trained = train(data, 11 + seed, Part(part), steps);
    const NoGrad no_grad;
    for (std::size_t task = 0; task < 3; ++task) {
      const std::vector<Pair> pairs = data.held_out(reverse + std::int64_t(task), 25);
      result.match[part][task][seed] = exact_match(trained.model, pairs);
      result.loss[part][task][seed] = loss_of(trained.model, batch_of(pairs)).item();
    }
  });
  return result;
}

// "0.93 (0.02)": the mean over the seeds and, in parentheses, its standard error.
inline std::string with_error(const std::vector<double>& values) {
  const Estimate e = estimate(values);
  return decimal(e.mean, 2) + (values.size() < 2 ? "" : " (" + decimal(e.standard_error, 2) + ")");
}

inline std::string table_of(const Ablations& ablations) {
  std::string text = pad_right("removed", 22);
  for (const std::string& name : task_names) text += pad_left(name, 13);
  text += pad_left("loss, shuffle", 15);
  for (std::size_t part = 0; part < 4; ++part) {
    text += "\n" + pad_right(part_names[part], 22);
    for (const std::vector<double>& match : ablations.match[part])
      text += pad_left(with_error(match), 13);
    text += pad_left(with_error(ablations.loss[part][2]), 15);
  }
  return text;
}

inline double largest(const std::vector<double>& x) {
  return *std::max_element(x.begin(), x.end());
}
inline double smallest(const std::vector<double>& x) {
  return *std::min_element(x.begin(), x.end());
}

// Prints the bounds on the loss of shuffle. Claims what must hold for every seed.
inline void claim_parts(const Ablations& results, const Data& data) {
  const ShuffleBounds bounds = shuffle_bounds(data.held_out(shuffle, 25));
  say("bound if all letters so far are known     " + decimal(bounds.all_letters, 4),
      "bound if only the last letter is known    " + decimal(bounds.previous_letter, 4), "");
  for (std::size_t task = 0; task < 3; ++task) {
    const double most = best_constant(data.held_out(reverse + std::int64_t(task), 25));
    claim("without cross-attention, " + task_names[task] + ": at most the best constant output",
          largest(results.match[3][task]) <= most, decimal(largest(results.match[3][task]), 4));
  }
  claim_less("without causal self-attention, shuffle: loss above the second bound",
             bounds.previous_letter, smallest(results.loss[2][2]));
  claim_less("with all parts, shuffle: loss below the second bound", largest(results.loss[0][2]),
             bounds.previous_letter);
  claim_less("without encoder self-attention, reverse: match lower by more than 0.05",
             largest(results.match[1][0]) + 0.05, smallest(results.match[0][0]));
}

}  // namespace heed
