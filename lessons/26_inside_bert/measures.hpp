// measures.hpp: predictions and attention weights of a BERT at [MASK], and the picture of
// lesson 26.
#pragma once

#include <algorithm>

#include "estimate.hpp"
#include "files.hpp"
#include "heed/draw/table.hpp"
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

inline Names names_of(const WordPiece& pieces, const std::vector<std::size_t>& ids) {
  Names names;
  for (const std::size_t id : ids) names.push_back(pieces.piece(id));
  return names;
}
inline void quote_predictions(const nn::Gpt& gpt, const WordPiece& pieces,
                              const std::string& text) {
  std::string line = pad_right(text, 45);
  for (const Prediction& p : predictions(gpt, pieces, text, 3))
    line += "   " + pad_right(p.piece, 6) + decimal(p.probability, 2);
  quote(line);
}

inline std::string mean_and_error(const std::vector<double>& values) {
  const Estimate e = estimate(values);
  return decimal(e.mean, 2) + " +- " + decimal(e.standard_error, 2);
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
