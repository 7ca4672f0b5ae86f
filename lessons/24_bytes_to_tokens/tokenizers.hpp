// tokenizers.hpp: the texts of lesson 24, tokens as text, and tables and pictures of
// vocabularies.
#pragma once

#include <numeric>

#include "by_hand.hpp"
#include "gnuplot_picture.hpp"
#include "heed/base/file.hpp"
#include "heed/base/utf8.hpp"
#include "heed/text/vocabulary.hpp"

namespace heed {

// A text for training, and the text that follows it, which is only for tests.
struct Texts {
  std::string training, held_out;
};

// The play of lesson 15. The last two scenes are held out. Both texts begin with a letter after a
// newline, so no chunk reaches from one into the other.
inline Texts play() {
  const std::string text = read_text(HEED_DATA_DIR "/harbour.txt");
  const std::size_t end = text.find("SCENE TWENTY THREE");
  return {text.substr(0, end), text.substr(end)};
}

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

inline double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / double(x.size());
}

inline Array numbers(const Ids& ids) {
  Array result = zeros({ids.size()});
  for (std::size_t i = 0; i < ids.size(); ++i) result(i) = Real(ids[i]);
  return result;
}
inline Array numbers(const std::vector<Merge>& merges) {  // (merges, 2)
  Array result = zeros({merges.size(), 2});
  for (std::size_t i = 0; i < merges.size(); ++i)
    result(i, 0) = Real(merges[i].first), result(i, 1) = Real(merges[i].second);
  return result;
}

// The merges of a short text, one line each, with the text after it.
inline void print_merges(const std::string& text) {
  std::vector<Word> words;  // in the order of the text, so that the reader can follow
  for (const std::string& chunk : chunks_by_hand(text)) words.push_back({bytes_of(chunk), 1});
  std::vector<Merge> merges;
  say("id    merge       count   the text after it");
  for (std::int64_t count = 0;;) {
    const BytePairs known(merges);
    Names spelled_words;
    for (const Word& word : words) spelled_words.push_back(spelled(known, word.ids));
    const std::string after = joined(spelled_words, " | ");
    if (merges.empty()) {
      say(std::string(26, ' ') + after);
    } else {
      const auto [left, right] = merges.back();
      const std::string pair = spelled(known, {left}) + " + " + spelled(known, {right});
      say(pad_right(std::to_string(255 + merges.size()), 6) + pad_right(pair, 12) +
          pad_left(std::to_string(count), 5) + "   " + after);
    }
    count = most_frequent(words).second;
    if (!learn_merge(words, merges)) return;
  }
}

// A plot command for curve c of a picture, whose points are in the block "curve0", "curve1", ...
inline std::string plotted(std::size_t c, const std::string& name) {
  const Names colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7"};
  return (c == 0 ? "plot $curve" : ", $curve") + std::to_string(c) +
         " with linespoints lw 2 pt 7 ps 0.6 lc rgb '" + colours[c] + "' title '" + name + "'";
}
inline std::string block_of(std::size_t c, const Series& curve) {
  Array points = zeros({curve.x.size(), 2});
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    xt::row(points, int(i)) = Array{Real(curve.x[i]), Real(curve.y[i])};
  return gnuplot_block("curve" + std::to_string(c), points);
}

inline double tokens_per_character(const Vocabulary& vocabulary, const std::string& text) {
  return double(vocabulary.encode(text).size()) / double(text.size());  // ASCII
}

}  // namespace heed
