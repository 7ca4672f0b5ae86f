// measures.hpp: times, tables and pictures of lesson 27.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "gnuplot_picture.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/parallel/communicator.hpp"
#include "heed/parallel/gradient_ready.hpp"

namespace heed {

inline bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

inline std::size_t count_different(const Array& a, const Array& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a.data()[i] == b.data()[i] ? 0 : 1;
  return count;
}

// The mean time in milliseconds of n calls of f() without a pause between them, the largest of all
// ranks. f() waits for the other ranks, so one call in one rank may begin late and seem short; many
// calls in all ranks may not.
inline double time_of(Communicator& process, std::int64_t n, const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < n; ++i) f();
  const std::chrono::duration<double, std::milli> own = std::chrono::steady_clock::now() - start;
  double largest = 0;
  for (const std::string& text : gather_texts(process, decimal(own.count(), 6)))
    largest = std::max(largest, std::stod(text));
  return largest / double(n);
}

// The shortest and the longest of several times: other programs only make a run longer.
struct Times {
  double shortest = INFINITY, longest = 0;
  void add(double time) { shortest = std::min(shortest, time), longest = std::max(longest, time); }
};

inline double shortest_time(Communicator& process, const std::function<void()>& f) {
  Times times;
  for (int round = 0; round < (brief() ? 2 : 5); ++round)
    times.add(time_of(process, brief() ? 2 : 10, f));
  return times.shortest;
}

// The parameters in the order in which the backward pass completes their gradients.
inline Names order_of_gradients(const nn::GptConfig& config, const Batch& batch) {
  Parameters parameters;
  Generator g(1);
  const nn::Gpt model(Scope(parameters, g), config);
  Names names;
  GradientReady ready([&](Node& leaf) { names.push_back(leaf.name); });
  BackwardOptions options;
  options.observer = &ready;
  backward(model.loss(batch.inputs, batch.targets), options);
  return names;
}

// a + b n milliseconds for n bytes.
struct Cost {
  double a, b;
};

// A link between two processes, the times of messages of several sizes, and what was fitted.
struct MeasuredLink {
  std::string name;
  std::vector<double> bytes, milliseconds;
  Cost cost;
};

inline std::string table_of(const std::vector<MeasuredLink>& links) {
  std::string text = "           bytes", a = "a, microseconds ", b = "b, ns per byte  ",
              knee = "knee, a / b     ";
  for (const MeasuredLink& link : links) {
    text += pad_left(link.name, 12);
    a += pad_left(decimal(1e3 * link.cost.a, 1), 12);
    b += pad_left(decimal(1e6 * link.cost.b, 2), 12);
    knee += pad_left(grouped(link.cost.a / link.cost.b), 12);
  }
  text += "   microseconds";
  for (std::size_t i = 0; i < links[0].bytes.size(); ++i) {
    text += "\n" + pad_left(grouped(links[0].bytes[i]), 16);
    for (const MeasuredLink& link : links)
      text += pad_left(decimal(1e3 * link.milliseconds[i], 1), 12);
  }
  return text + "\n" + a + "\n" + b + "\n" + knee + "   bytes";
}

// A row of a table that compares measured times with the model's.
struct Compared {
  std::string name;
  double model;
  Times times;
};

inline std::string table_of(const std::vector<Compared>& rows) {
  bool several = false;  // whether any row has more than one time
  for (const Compared& row : rows) several = several || row.times.longest > row.times.shortest;
  std::string text =
      std::string(36, ' ') + (several ? "model   shortest    longest" : "model   measured");
  for (const Compared& row : rows)
    text += "\n" + pad_right(row.name, 32) +
            pad_left(std::isnan(row.model) ? "" : decimal(row.model, 2), 9) +
            pad_left(decimal(row.times.shortest, 2), 11) +
            (several ? pad_left(decimal(row.times.longest, 2), 11) : "");
  return text;
}

// The measured times of messages, and the fitted lines, with logarithmic axes.
inline void draw_messages(const std::vector<MeasuredLink>& links) {
  const Names colors = {"#0072B2", "#D55E00"};
  std::string data, plot = "plot ";
  for (std::size_t i = 0; i < links.size(); ++i) {
    const MeasuredLink& link = links[i];
    Array points = zeros({link.bytes.size(), 2});
    for (std::size_t j = 0; j < link.bytes.size(); ++j)
      points(j, 0) = Real(link.bytes[j]), points(j, 1) = Real(link.milliseconds[j]);
    data += gnuplot_block("link" + std::to_string(i), points);
    plot += std::string(i == 0 ? "" : ", ") + "$link" + std::to_string(i) +
            " with points pt 7 ps 0.8 lc rgb '" + colors[i] + "' title '" + link.name + "', " +
            scientific(link.cost.a, 6) + " + x * " + scientific(link.cost.b, 6) +
            " with lines lw 2 lc rgb '" + colors[i] + "' title 'a + b n'";
  }
  picture_by_gnuplot(
      "27_many_hands", "messages",
      data + "set logscale xy 10\nset format y '%g'\nset samples 300\n" +
          "set xtics ('64' 64, '1 kB' 1e3, '10 kB' 1e4, '100 kB' 1e5, '1 MB' 1e6)\n" +
          "set xrange [40:6e6]\nset xlabel 'bytes of a message, n'\n" +
          "set ylabel 'milliseconds'\nset key top left Left reverse\n" + plot);
}

// Who adds what: the tree of four gradients with the processes of P = 2, and a ring of four ranks.
inline void draw_sums() {
  std::string script =
      "unset border\nunset tics\nunset grid\nunset key\nset xrange [0:18]\nset yrange [0:10.8]\n";
  const auto at = [](double x, double y) { return decimal(x, 2) + "," + decimal(y, 2); };
  const auto label = [&](double x, double y, const std::string& text,
                         const std::string& more = "") {
    script += "set label '" + text + "' at " + at(x, y) + " center front " + more + "\n";
  };
  const auto arrow = [&](double x, double y, double to_x, double to_y) {
    script += "set arrow from " + at(x, y) + " to " + at(to_x, to_y) + " front lw 2\n";
  };
  const auto box = [&](double x, double y, double w, double h, const std::string& color) {
    script += "set object rect from " + at(x, y) + " to " + at(x + w, y + h) + " fc rgb '" + color +
              "' fs solid border lc rgb '#888888'\n";
  };
  label(3.6, 10.4, "Tree: the same order for each element", "font ',16'");
  label(13, 10.4, "Ring of 4 ranks: an order for each chunk", "font ',16'");
  for (int rank = 0; rank < 2; ++rank) {
    const double x = 0.2 + 3.6 * rank;
    box(x, 1.6, 3.3, 4.2, rank == 0 ? "#DCEBF7" : "#FBE6D4");
    label(x + 1.65, 5.35, "g" + std::to_string(2 * rank) + " + g" + std::to_string(2 * rank + 1));
    for (int side = 0; side < 2; ++side) {
      label(x + 0.75 + 1.8 * side, 2.4, "g" + std::to_string(2 * rank + side));
      arrow(x + 0.8 + 1.7 * side, 2.8, x + 1.5 + 0.3 * side, 5.0);
    }
    arrow(x + 1.65, 5.8, rank == 0 ? 3.2 : 4.2, 8.0);
    label(x + 1.65, 1.1, "rank " + std::to_string(rank) + " of 2");
  }
  label(3.7, 8.4, "(g0 + g1) + (g2 + g3)");
  label(3.7, 6.9, "exchange");
  label(3.7, 0.3, "P = 4: a rank for each leaf;  P = 1: one rank for all");
  const double xs[] = {10.2, 15.8, 15.8, 10.2}, ys[] = {8.6, 8.6, 4.9, 4.9};
  for (int r = 0; r < 4; ++r) {
    box(xs[r] - 1, ys[r] - 0.55, 2, 1.1, "#EEEEEE");
    label(xs[r], ys[r], "rank " + std::to_string(r));
  }
  arrow(11.2, 8.6, 14.8, 8.6);
  arrow(15.8, 8.05, 15.8, 5.45);
  arrow(14.8, 4.9, 11.2, 4.9);
  arrow(10.2, 5.45, 10.2, 8.05);
  const char* const sums[] = {"((g0 + g1) + g2) + g3", "((g1 + g2) + g3) + g0",
                              "((g2 + g3) + g0) + g1", "((g3 + g0) + g1) + g2"};
  for (int c = 0; c < 4; ++c)
    label(13, 3.2 - 0.8 * c,
          "chunk " + std::to_string(c) + " begins at rank " + std::to_string(c) + ":   " + sums[c]);
  picture_by_gnuplot("27_many_hands", "sums", script + "plot NaN notitle");
}

}  // namespace heed
