// vocabulary_size.hpp: the section of lesson 24 on the size of a vocabulary and what it costs.
#pragma once

#include "tokenizers.hpp"

namespace heed {

// The tokens of each vocabulary size on both texts.
struct Sizes {
  std::vector<double> vocabulary, training, held_out;  // size, and tokens per character
  double training_bound = 0, held_out_bound = 0;       // chunks per character

  bool above_bounds() const {
    return *std::min_element(training.begin(), training.end()) >= training_bound &&
           *std::min_element(held_out.begin(), held_out.end()) >= held_out_bound;
  }
};

inline Sizes tokens_per_character(const Texts& texts) {
  const auto chunks = [](const std::string& text) {
    return double(BytePairs::chunks_of(text).size()) / double(text.size());
  };
  Sizes sizes{{}, {}, {}, chunks(texts.training), chunks(texts.held_out)};
  for (const std::size_t V : {256u, 288u, 320u, 384u, 512u, 768u, 1024u, 1536u, 65536u}) {
    const BytePairs tokens = BytePairs::trained_on(texts.training, V);
    const auto per_character = [&](const std::string& text) {
      return double(tokens.encode(text).size()) / double(text.size());  // ASCII: bytes = characters
    };
    sizes.vocabulary.push_back(double(tokens.size()));
    sizes.training.push_back(per_character(texts.training));
    sizes.held_out.push_back(per_character(texts.held_out));
  }
  return sizes;
}

// The most frequent tokens of `least` bytes or more in the text, with their counts.
inline std::string most_frequent_tokens(const BytePairs& tokens, const std::string& text,
                                        std::size_t least, std::size_t count) {
  std::map<std::int64_t, int> counts;
  for (const std::int64_t id : tokens.encode(text)) ++counts[id];
  std::vector<std::pair<int, std::int64_t>> sorted;  // -count, id
  for (const auto& [id, n] : counts)
    if (tokens.bytes(id).size() >= least) sorted.push_back({-n, id});
  std::sort(sorted.begin(), sorted.end());
  Names words;
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i)
    words.push_back(spelled(tokens, {sorted[i].second}) + " " + std::to_string(-sorted[i].first));
  return joined(words, ", ");
}

inline void picture_of_sizes(const std::string& lesson, const Sizes& sizes) {
  Array rows = zeros({sizes.vocabulary.size(), 3});
  for (std::size_t i = 0; i < rows.shape(0); ++i)
    xt::row(rows, int(i)) =
        Array{Real(sizes.vocabulary[i]), Real(sizes.training[i]), Real(sizes.held_out[i])};
  const auto bound = [](double value, const std::string& colour) {
    return ", " + decimal(value, 6) + " dashtype 2 lw 2 lc rgb '" + colour + "' notitle";
  };
  picture_by_gnuplot(
      lesson, "sizes",
      gnuplot_block("data", rows) +
          "set title 'Larger vocabulary, fewer tokens: later merges save less'\n"
          "set logscale x 2\nset yrange [0:1.05]\nset xlabel 'vocabulary size (tokens)'\n"
          "set ylabel 'tokens per character'\n"
          "set label 'dashed: chunks per character, the lower bound' at 262,0.2\n"
          "plot $data using 1:3 with linespoints lw 2 pt 7 ps 0.7 lc rgb '#D55E00' title "
          "'held-out text', $data using 1:2 with linespoints lw 2 pt 7 ps 0.7 lc rgb '#0072B2' "
          "title 'training text'" +
          bound(sizes.held_out_bound, "#D55E00") + bound(sizes.training_bound, "#0072B2"));
}

inline void vocabulary_size(const std::string& lesson, const Texts& texts) {
  section("The size of the vocabulary");
  const Sizes sizes = tokens_per_character(texts);
  say("Fewer tokens per character mean fewer positions for the same text. The last row",
      "has all merges of pairs that occur at least twice. The play is ASCII, so a",
      "character is a byte. The last column is the number of weights in the token",
      "embeddings of a vocabulary of V tokens at width C = 64:", "",
      "             tokens per character   bytes per token",
      "vocabulary    training   held out          held out     V C");
  for (std::size_t i = 0; i < sizes.vocabulary.size(); ++i)
    say(pad_left(grouped(sizes.vocabulary[i]), 10) + pad_left(decimal(sizes.training[i], 3), 12) +
        pad_left(decimal(sizes.held_out[i], 3), 11) +
        pad_left(decimal(1 / sizes.held_out[i], 2), 18) +
        pad_left(grouped(sizes.vocabulary[i] * 64), 8));
  say("", "A token never reaches over the end of a chunk. So there are at least as many",
      "tokens as chunks: " + decimal(sizes.training_bound, 3) + " per character in training, " +
          decimal(sizes.held_out_bound, 3) + " held out.",
      "");
  claim("all are above these lower bounds", sizes.above_bounds(), "below");
  picture_of_sizes(lesson, sizes);
  const BytePairs tokens = BytePairs::trained_on(texts.training, 1024);
  say("", "With large vocabularies the held-out scenes need more tokens per character than",
      "the training text: many late merges are words that only the training text has.",
      "The most frequent tokens of 5 bytes or more at V = 1024, with their counts:", "",
      "  training  " + most_frequent_tokens(tokens, texts.training, 5, 6),
      "  held out  " + most_frequent_tokens(tokens, texts.held_out, 5, 6), "",
      "The two blocks of the models trained below have 98,304 weights, as many as the",
      "embeddings of 1536 tokens. GPT-2 small has 50,257 tokens of width 768: 38.6 of",
      "its 124 million parameters are token embeddings.");
}

}  // namespace heed
