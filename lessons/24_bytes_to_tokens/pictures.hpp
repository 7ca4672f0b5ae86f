// pictures.hpp: tokens as text, and the tables and plots of lesson 24.
#pragma once

#include "estimate.hpp"
#include "gnuplot_picture.hpp"
#include "heed/base/utf8.hpp"
#include "measures.hpp"

namespace heed {

// "␣s h e": the bytes of the tokens, separated by spaces.
inline std::string spelled(const BytePairs& tokens, const Ids& ids) {
  Names pieces;
  for (const std::int64_t id : ids) {
    std::string piece = printable(tokens.bytes(id));
    if (piece[0] == ' ') piece = "␣" + piece.substr(1);
    pieces.push_back(piece);
  }
  return joined(pieces, " ");
}

// The number of characters of a text, or "-" if it is not UTF-8.
inline std::string characters_in(const std::string& text) {
  double count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    const std::size_t size = decode_utf8(text, i).size;
    if (size == 0) return "-";
    i += size;
  }
  return grouped(count);
}

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

inline Array numbers(const Ids& ids) {
  Array result = zeros({ids.size()});
  for (std::size_t i = 0; i < ids.size(); ++i) result(i) = Real(ids[i]);
  return result;
}
inline Array numbers(const std::vector<BytePairs::Merge>& merges) {  // (merges, 2)
  Array result = zeros({merges.size(), 2});
  for (std::size_t i = 0; i < merges.size(); ++i)
    result(i, 0) = Real(merges[i].first), result(i, 1) = Real(merges[i].second);
  return result;
}

inline void print_lines(const Names& lines) {
  print_text("\n" + joined(lines, "\n") + "\n", true, SourceLocation::current());
}

// A line of text: the last merge, its count, and the chunks after it.
inline std::string merge_line(const std::vector<BytePairs::Merge>& merges, std::int64_t count,
                              const std::vector<Ids>& chunks) {
  const BytePairs known(merges);
  Names words;
  for (const Ids& ids : chunks) words.push_back(spelled(known, ids));
  const std::string after = joined(words, " | ");
  if (merges.empty())
    return "id    merge       count   the text after it\n" + pad_right("", 26) + after;
  const auto [left, right] = merges.back();
  return pad_right(std::to_string(255 + merges.size()), 6) +
         pad_right(spelled(known, {left}) + " + " + spelled(known, {right}), 12) +
         pad_left(std::to_string(count), 5) + "   " + after;
}

// Prints how many characters, bytes and tokens each text has.
inline void print_lengths(const BytePairs& tokens,
                          const std::vector<std::pair<std::string, std::string>>& texts) {
  Names lines = {"text                      characters    bytes   tokens"};
  for (const auto& [name, text] : texts)
    lines.push_back(pad_right(name, 26) + pad_left(characters_in(text), 10) +
                    pad_left(grouped(double(text.size())), 9) +
                    pad_left(grouped(double(tokens.encode(text).size())), 9));
  print_lines(lines);
}

// Plots the tokens per character of a vocabulary of V tokens.
struct Size {
  double V, training, held_out;
};

inline void print_sizes(const std::vector<Size>& sizes, const Size& bound) {
  Names lines = {"             tokens per character",
                 "vocabulary    training   two scenes       V C"};
  const auto line = [&](const std::string& name, const Size& size) {
    return pad_left(name, 10) + pad_left(decimal(size.training, 3), 12) +
           pad_left(decimal(size.held_out, 3), 13);
  };
  for (const Size& size : sizes)
    lines.push_back(line(grouped(size.V), size) + pad_left(grouped(size.V * 64), 10));
  lines.push_back(line("bound", bound));
  print_lines(lines);
}

// A mean and its standard error: "1.80 +- 0.01".
inline std::string mean_and_error(const std::vector<double>& x, int decimals) {
  const Estimate e = estimate(x);
  return decimal(e.mean, decimals) + " +- " + decimal(e.standard_error, decimals);
}

// Prints one row for each kind of token.
template <class Result>
std::string table_of(const std::vector<Result>& results) {
  using Run = std::decay_t<decltype(results[0].runs[0])>;
  std::string table = "tokens      parameters  steps   nats per token   bits per character";
  for (const Result& result : results)
    table += "\n" + pad_right(result.name, 12) + pad_left(grouped(result.runs[0].parameters), 10) +
             pad_left(grouped(result.runs[0].steps), 7) + "   " +
             pad_right(mean_and_error(result.all(&Run::loss), 3), 17) +
             mean_and_error(result.all(&Run::bits), 3);
  return table;
}

// Plots bits per character against FLOPs for seed 1, and at the end the mean of the seeds with its
// standard error, for each kind of token.
template <class Results>
void picture_of_compute(const std::string& lesson, const Results& results) {
  const Names colours = {"#0072B2", "#D55E00", "#009E73"};
  std::string data, plots;
  for (std::size_t c = 0; c < results.size(); ++c) {
    const Series& curve = results[c].runs[0].curve;
    Array points = zeros({curve.x.size(), 2});
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      xt::row(points, int(i)) = Array{Real(curve.x[i]), Real(curve.y[i])};
    const Estimate end =
        estimate(results[c].all(&std::decay_t<decltype(results[c].runs[0])>::bits));
    const Array mean = {{Real(curve.x.back()), Real(end.mean), Real(end.standard_error)}};
    data += gnuplot_block("curve" + std::to_string(c), points) +
            gnuplot_block("end" + std::to_string(c), mean);
    plots += (c == 0 ? "plot $curve" : ", $curve") + std::to_string(c) +
             " with linespoints lw 2 pt 7 ps 0.6 lc rgb '" + colours[c] + "' title '" +
             results[c].name + "', $end" + std::to_string(c) +
             " with yerrorbars lw 2 pt 2 ps 1.2 lc rgb '" + colours[c] + "' notitle";
  }
  picture_by_gnuplot(lesson, "compute",
                     data +
                         "set key top right\nset xrange [0:*]\n"
                         "set xlabel 'FLOPs of training (billions)'\n"
                         "set ylabel 'bits per character, held-out scenes'\n" +
                         plots);
}

// How the merges make the tokens of " shells": a tree in Graphviz's language.
const std::string merges_graph = R"dot(digraph {
  rankdir=BT
  ranksep=0.35
  nodesep=0.3
  node [shape=box, style=rounded, fontname="sans-serif", width=0.5]
  edge [color="#888888", arrowhead=none]
  {rank=same; space [label="␣"]; s1 [label="s"]; h; e; l1 [label="l"]; l2 [label="l"]; s2 [label="s"]}
  node [color="#0072B2", penwidth=2]
  _s [label="␣s\n256"]
  el [label="el\n257"]
  ls [label="ls\n258"]
  ells [label="ells\n259"]
  space -> s1 -> h -> e -> l1 -> l2 -> s2 [style=invis, constraint=false]
  space -> _s
  s1 -> _s
  e -> el
  l1 -> el
  l2 -> ls
  s2 -> ls
  el -> ells
  ls -> ells
}
)dot";

}  // namespace heed
