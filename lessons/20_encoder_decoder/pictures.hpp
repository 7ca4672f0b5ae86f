// pictures.hpp: the tables and the plot of lengths of lesson 20.
#pragma once

#include <algorithm>

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "sequences.hpp"

namespace heed {

inline double largest(const std::vector<double>& x) {
  return *std::max_element(x.begin(), x.end());
}
inline double smallest(const std::vector<double>& x) {
  return *std::min_element(x.begin(), x.end());
}

// "1.00", or "0.62 +- 0.02" if the seeds differ: the mean over the seeds and its standard error.
inline std::string mean_and_error(const std::vector<double>& values) {
  const Estimate e = estimate(values);
  const std::string error = values.size() < 2 ? "0.00" : decimal(e.standard_error, 2);
  return decimal(e.mean, 2) + (error == "0.00" ? "" : " +- " + error);
}

// "seed 1   0.83   0.77       0.21   0.31": a row of fractions, in pairs.
inline std::string row_of_seed(std::size_t seed, const std::vector<std::vector<double>>& pairs) {
  std::string row = "seed " + std::to_string(seed + 1) + "   ";
  for (const std::vector<double>& pair : pairs)
    row += pad_right(decimal(pair[0], 2) + "   " + decimal(pair[1], 2), 19);
  return row.substr(0, row.find_last_not_of(' ') + 1);
}

// The exact match for sources of one length: for each task, a number for each seed.
struct LengthRow {
  std::size_t length;
  std::vector<std::vector<double>> matches = {};
};

inline std::string table_of_lengths(const std::vector<LengthRow>& rows) {
  std::string table = "letters   reverse        sort           shuffle";
  for (const LengthRow& row : rows) {
    table += "\n" + pad_left(std::to_string(row.length), 7) + "   ";
    for (const std::vector<double>& match : row.matches)
      table += pad_right(mean_and_error(match), 15);
    table += row.length == left_out ? "not in training" : row.length > longest ? "beyond" : "";
    table.resize(table.find_last_not_of(' ') + 1);
  }
  return table;
}

// The lowest exact match of the three tasks; each is a mean over the trained lengths and the seeds.
inline double lowest_trained(const std::vector<LengthRow>& rows) {
  std::vector<std::vector<double>> of_task(3);
  for (const LengthRow& row : rows)
    if (row.length <= longest && row.length != left_out)
      for (std::size_t k = 0; k < 3; ++k) of_task[k].push_back(estimate(row.matches[k]).mean);
  return std::min(
      {estimate(of_task[0]).mean, estimate(of_task[1]).mean, estimate(of_task[2]).mean});
}

// Plots the exact match against the length, on grey bands for the lengths of the training.
inline void draw_lengths(const std::vector<LengthRow>& rows) {
  Array points = zeros({rows.size(), 7});  // letters, then mean and standard error of each task
  for (std::size_t i = 0; i < rows.size(); ++i) {
    points(i, 0) = Real(rows[i].length);
    for (std::size_t k = 0; k < 3; ++k) {
      const Estimate e = estimate(rows[i].matches[k]);
      points(i, 1 + 2 * k) = Real(e.mean), points(i, 2 + 2 * k) = Real(e.standard_error);
    }
  }
  std::string script = gnuplot_block("data", points);
  for (const auto& [from, to] :
       {std::pair(shortest, left_out - 1), std::pair(left_out + 1, longest)})
    script += "set object rectangle from " + decimal(double(from) - 0.45, 2) + ",graph 0 to " +
              decimal(double(to) + 0.45, 2) + ",graph 1 behind fc rgb '#EEEEEE' lw 0\n";
  script +=
      "set title 'held-out sequences: mean of the seeds, standard error; grey: trained lengths'\n"
      "set xlabel 'letters in the source'\nset ylabel 'exact match'\nset yrange [-0.03:1.03]\n"
      "set xrange [" +
      decimal(double(shortest) - 0.6, 1) + ":" + decimal(double(longest_tested) + 0.6, 1) +
      "]\nset xtics 1\nset key left center\n";
  const Names styles = {"pt 7 lc rgb '#0072B2'", "pt 5 lc rgb '#D55E00'", "pt 9 lc rgb '#009E73'"};
  for (std::size_t k = 0; k < 3; ++k)
    script += (k == 0 ? "plot $data using 1:" : ", $data using 1:") + std::to_string(2 + 2 * k) +
              ":" + std::to_string(3 + 2 * k) + " with yerrorlines lw 2 " + styles[k] + " title '" +
              task_names[k] + "'";
  picture_by_gnuplot("20_encoder_decoder", "lengths", script);
}

// The fraction of predictions that an intervention changes, for each seed, for 'reverse' and
// 'sort'.
struct InterventionRow {
  std::string name;
  std::vector<std::vector<double>> changed = {{}, {}};

  void add(int task, double fraction) { changed[std::size_t(task)].push_back(fraction); }
};

inline std::string table_of_interventions(const std::vector<InterventionRow>& rows) {
  std::string table = "replaced letter        reverse        sort";
  for (const InterventionRow& row : rows)
    table += "\n" + pad_right(row.name, 23) + pad_right(mean_and_error(row.changed[0]), 15) +
             mean_and_error(row.changed[1]);
  return table;
}

// The exact match of models that lack an attention, for each task and seed, and the loss of
// 'shuffle' for each seed.
struct AblationRow {
  std::string removed;
  std::vector<std::vector<double>> matches = {};
  std::vector<double> losses = {};
};

inline std::string table_of_ablations(const std::vector<AblationRow>& rows) {
  std::string table =
      "removed                reverse       sort          shuffle       loss, shuffle";
  for (const AblationRow& row : rows)
    table += "\n" + pad_right(row.removed, 23) + pad_right(mean_and_error(row.matches[0]), 14) +
             pad_right(mean_and_error(row.matches[1]), 14) +
             pad_right(mean_and_error(row.matches[2]), 14) + mean_and_error(row.losses);
  return table;
}

}  // namespace heed
