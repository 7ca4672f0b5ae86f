// measures.hpp: predictions and attention weights of a BERT at [MASK], and the plots and tables of
// lesson 26.
#pragma once

#include <algorithm>

#include "estimate.hpp"
#include "files.hpp"
#include "gnuplot_picture.hpp"
#include "heed/draw/table.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"

namespace heed {

// The token ids of texts with the same number of tokens, between [CLS] and [SEP]: (N, T).
inline Indices ids_of(const WordPiece& pieces, const Names& texts) {
  Indices ids;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const std::vector<std::size_t> row = pieces.encode_sequence(texts[n]);
    if (n == 0) ids = xt::zeros<std::int64_t>({texts.size(), row.size()});
    std::copy(row.begin(), row.end(), ids.data() + n * row.size());
  }
  return ids;
}

// The position of the word with this index, behind [CLS]: words can have several pieces.
inline std::size_t position_of(const WordPiece& pieces, const Names& words, std::size_t index) {
  const Names before(words.begin(), words.begin() + std::ptrdiff_t(index));
  return 1 + pieces.encode(text_of(before)).size();
}

// The mean attention weight from the pronoun, which is [MASK], to the first piece of the object,
// for each head: (L, H).
inline Array weights_to_object(const nn::Gpt& gpt, const WordPiece& pieces,
                               const std::vector<Sentence>& sentences) {
  Array sums = zeros({gpt.config.layers, gpt.config.heads});
  for (const Sentence& s : sentences) {
    const Names words = with_blank(s, Part::pronoun);
    const std::size_t from = position_of(pieces, words, s.position(Part::pronoun)),
                      to = position_of(pieces, words, s.position(Part::object));
    const auto layers = capture_attention(gpt, ids_of(pieces, {text_of(words)}));
    for (std::size_t l = 0; l < layers.size(); ++l)
      for (std::size_t h = 0; h < gpt.config.heads; ++h)
        sums(l, h) += layers[l].weights(0, h, from, to) / Real(sentences.size());
  }
  return sums;
}

// The pieces with the largest probabilities at the [MASK] of a text, the most probable first.
struct Prediction {
  std::string piece;
  double probability;
};
inline std::vector<Prediction> predictions(const nn::Gpt& gpt, const WordPiece& pieces,
                                           const std::string& text, std::size_t count) {
  const NoGrad no_grad;
  const Indices ids = ids_of(pieces, {text});
  const auto t = std::find(ids.begin(), ids.end(), std::int64_t(pieces.mask())) - ids.begin();
  const Array p = xt::view(softmax(gpt(ids), -1).value(), 0, t, xt::all());  // (V)
  std::vector<std::size_t> order(p.size());
  for (std::size_t v = 0; v < p.size(); ++v) order[v] = v;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p(a) > p(b); });
  std::vector<Prediction> best;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i)
    best.push_back({pieces.piece(order[i]), double(p(order[i]))});
  return best;
}

// The fraction of sentences whose most probable pronoun is right.
inline double pronoun_accuracy(const nn::Gpt& gpt, const WordPiece& pieces,
                               const std::vector<Sentence>& sentences) {
  double right = 0;
  for (const Sentence& s : sentences) {
    const std::string text = text_of(with_blank(s, Part::pronoun));
    right += fits(s, Part::pronoun, predictions(gpt, pieces, text, 1)[0].piece) ? 1 : 0;
  }
  return right / double(sentences.size());
}

inline Names names_of(const WordPiece& pieces, const std::vector<std::size_t>& ids) {
  Names names;
  for (const std::size_t id : ids) names.push_back(pieces.piece(id));
  return names;
}
inline Names numbers_of(const std::vector<std::size_t>& ids) {
  Names numbers;
  for (const std::size_t id : ids) numbers.push_back(std::to_string(id));
  return numbers;
}

inline void quote_predictions(const nn::Gpt& gpt, const WordPiece& pieces,
                              const std::string& text) {
  std::string line = pad_right(text, 45);
  for (const Prediction& p : predictions(gpt, pieces, text, 3))
    line += "   " + pad_right(p.piece, 6) + decimal(p.probability, 2);
  quote(line);
}

struct NamedLosses {
  std::string name;
  std::vector<double> losses;  // losses of three seeds
};
inline void show_warm_up(const std::vector<NamedLosses>& rows) {
  std::string text;
  for (const auto& [name, losses] : rows) {
    const Estimate e = estimate(losses);
    text += pad_right(name, 24);
    for (const double loss : losses) text += pad_left(decimal(loss, 2), 6);
    text += "    mean " + decimal(e.mean, 2) + " +- " + decimal(e.standard_error, 2) + "\n";
  }
  quote(text);
}

// The results for one model: the head with the largest weight from [MASK] to the object, this
// weight and the accuracy on held-out sentences, and the accuracy without each head.
struct HeadRow {
  HeadIndex head;
  double weight = 0, accuracy = 0;
  Array without = {};  // (2, 4)
};

inline void show_rows(const std::vector<HeadRow>& rows) {
  std::string text = "         chosen head      weight  accuracy  without it  worst other head";
  std::size_t needed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const HeadRow& row = rows[i];
    Array others = row.without;
    others(row.head.layer, row.head.head) = 1;
    const double without = row.without(row.head.layer, row.head.head), worst = xt::amin(others)();
    needed += without < worst && without < 0.9 ? 1 : 0;
    text += "\nmodel " + std::to_string(i + 1) + "  layer " + std::to_string(row.head.layer) +
            ", head " + std::to_string(row.head.head) + pad_left(decimal(row.weight, 2), 8) +
            pad_left(decimal(row.accuracy, 2), 10) + pad_left(decimal(without, 2), 12) +
            pad_left(decimal(worst, 2), 18);
  }
  quote(text + "\nthe chosen head is the one that is needed most: " + std::to_string(needed) +
        " of " + std::to_string(rows.size()));
}

// Plots a head's attention weights for the door sentence. Returns the weight from [MASK] to 'door'.
inline double picture_of_head(const nn::Gpt& gpt, HeadIndex at, const WordPiece& pieces) {
  const Indices ids = ids_of(pieces, {text_of(with_blank(door_sentence(), Part::pronoun))});
  Names tokens;
  for (const std::int64_t id : ids) tokens.push_back(pieces.piece(std::size_t(id)));
  const Array A = xt::view(capture_attention(gpt, ids)[at.layer].weights, 0, at.head);
  picture("26_inside_bert", "head", {A},
          {"layer " + std::to_string(at.layer) + ", head " + std::to_string(at.head)},
          {"attention weights of the chosen head of model 1", tokens, tokens, "query position",
           "key position", 0, 1},
          1);
  const std::int64_t* const begin = ids.data();
  const auto mask = std::find(begin, begin + ids.size(), std::int64_t(pieces.mask())) - begin;
  return A(std::size_t(mask),
           std::size_t(std::find(tokens.begin(), tokens.end(), "door") - tokens.begin()));
}

// The weights of all heads of a downloaded BERT from [MASK] to the object.
inline void quote_heads(const nn::Gpt& gpt, const WordPiece& pieces) {
  const auto held_out = held_out_once([](const Sentence& s) { return s.of_object; });
  const Array weights = weights_to_object(gpt, pieces, training_sentences_about_objects(100));
  const HeadIndex at = largest_head(weights);
  say("");
  quote(table(weights, {"mean attention weight from [MASK] to the object", {}, {}, 2}) +
        "the largest, layer " + std::to_string(at.layer) + ", head " + std::to_string(at.head) +
        ", on held-out sentences: " +
        decimal(weights_to_object(gpt, pieces, held_out)(at.layer, at.head), 2));
}

// Pre-norm (left) and post-norm (right) in Graphviz's language. The thick arrows are the residual
// stream.
const std::string blocks_graph = R"dot(digraph {
  rankdir=BT
  ranksep=0.3
  nodesep=0.5
  node [shape=box, style=rounded, fontname="sans-serif", width=1.3]
  edge [color="#0072B2", arrowsize=0.6]
  subgraph cluster_pre {
    label="pre-norm: GPT-2"
    fontname="sans-serif"
    color="#999999"
    style=rounded
    labeljust=r
    x [shape=point, width=0.1, group=pre]
    plus1 [label="+", shape=circle, width=0.4, group=pre]
    plus2 [label="+", shape=circle, width=0.4, group=pre]
    norm1 [label="norm 1"]
    attention
    norm2 [label="norm 2"]
    mlp [label="MLP"]
  }
  subgraph cluster_post {
    label="post-norm: BERT"
    fontname="sans-serif"
    color="#999999"
    style=rounded
    labeljust=r
    y [shape=point, width=0.1, group=post]
    post1 [label="+", shape=circle, width=0.4, group=post]
    post2 [label="+", shape=circle, width=0.4, group=post]
    postnorm1 [label="norm 1", group=post]
    postnorm2 [label="norm 2", group=post]
    postattention [label="attention"]
    postmlp [label="MLP"]
  }
  in [label="x", shape=none, group=pre]
  out [label="block(x)", shape=none, group=pre]
  postin [label="x", shape=none, group=post]
  postout [label="block(x)", shape=none, group=post]
  x -> norm1 -> attention -> plus1
  plus1 -> norm2 -> mlp -> plus2
  y -> postattention -> post1
  postnorm1 -> postmlp -> post2
  edge [penwidth=3, color="#D55E00", weight=50]
  in -> x -> plus1 -> plus2 -> out
  postin -> y -> post1 -> postnorm1 -> post2 -> postnorm2 -> postout
}
)dot";

}  // namespace heed
