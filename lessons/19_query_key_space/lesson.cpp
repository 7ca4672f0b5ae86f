// 19 query_key_space: the queries and keys of one head in two dimensions, by t-SNE.
//
// Before this lesson: 18_fill_in_the_blank, a head whose [MASK] query attends to the object.
// After it: 20_encoder_decoder, cross-attention.
// Worth a breakpoint: cosine_by_hand. Each stop is one query with one key.

#include <algorithm>
#include <cmath>

#include "maps.hpp"
#include "scores.hpp"

using namespace heed;

Real cosine_by_hand(const Array& Q, std::size_t i, const Array& K, std::size_t j) {
  Real dot = 0, q = 0, k = 0;
  for (std::size_t d = 0; d < Q.shape(1); ++d) {
    dot += Q(i, d) * K(j, d);
    q += Q(i, d) * Q(i, d), k += K(j, d) * K(j, d);
  }
  return dot / std::sqrt(q * k);
}

// Adds one vector to all keys, so that the mean of the keys becomes the mean of the queries.
QueryKeySpace centred(QueryKeySpace space) {
  Array query_mean = xt::mean(space.queries, {0}), key_mean = xt::mean(space.keys, {0});  // (D)
  for (std::size_t i = 0; i < space.words.size(); ++i)
    xt::row(space.keys, std::ptrdiff_t(i)) += query_mean - key_mean;
  return space;
}

void compare_by_cosine(const QueryKeySpace& space) {
  section("Queries and keys in one space");
  say("A score is the dot product of a query and a key, divided by sqrt(8). Both have 8",
      "numbers. They are points of one space, the QUERY-KEY SPACE of the head. A dot",
      "product is the cosine of the angle times both lengths. The cosines in the",
      "sentence 'i was watching the door when [MASK] opened .':");
  const Array &Q = space.queries, &K = space.keys;                             // (9, 8)
  const Doubles distances = tsne_distances(space.points(), Distance::cosine);  // (18, 18): 1 - cos
  Array cosines = 1 - xt::view(distances, xt::range(0, 9), xt::range(9, 18)), by_hand = cosines;
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 9; ++j) by_hand(i, j) = cosine_by_hand(Q, i, K, j);
  Names rows = space.words;
  rows[6] = "▶ [MASK]";
  picture_trained(lesson, "cosines", cosines,
                  {"cosine similarity of query and key", rows, space.words, "query position",
                   "key position", -1, 1, true});
  check("the cosines by hand = in one line", by_hand, cosines);
  const double mask = cosines(6, 4), watching = cosines(2, 4);
  say("");
  quote("cosine of the query of [MASK] with the key of 'door'      " + decimal(mask, 2) +
        "\ncosine of the query of 'watching' with the key of 'door' " + decimal(watching, 2) +
        "\ncosine of the query of '.' with the key of 'door'        " + decimal(cosines(8, 4), 2));
  claim("the query of [MASK] has its largest cosine with the key of 'door'",
        nearest_keys(space, distances, "[MASK]", 1)[0] == "door", decimal(mask, 2));
  claim_less("it exceeds that of 'watching' with 'door' by more than 0.3", watching + 0.3, mask);
  say("", "In the picture, the queries of 'opened' and '.' have even larger cosines with",
      "'door'. In lesson 18 they also attended to the object, and the prediction did",
      "not need the output at '.'.");
  compare_lengths(space, cosines);
}

void changes_without_effect(const QueryKeySpace& space) {
  section("Two changes that keep the attention weights");
  say("First: add a vector c to every key. Each score of a query q grows by q . c /",
      "sqrt(8), the same for all keys, so softmax gives the same weights. CENTRING",
      "takes the c that moves the mean of the keys to the mean of the queries, so that",
      "a map shows keys among queries. (AttentionViz, Yeh et al. 2023, centres, and",
      "multiplies all queries by one factor and divides all keys by it.)", "");
  const QueryKeySpace moved = centred(space);
  const Array weights = attention_weights(space.queries, space.keys);
  check("attention weights with centred keys = attention weights",
        attention_weights(moved.queries, moved.keys), weights, 1e-4);
  say("", "Second: take M W_Q and M^-T W_K in place of W_Q and W_K, with an invertible M.",
      "As (M q) . (M^-T k) = q^T M^T M^-T k = q . k, no score changes. An example: M",
      "doubles the first four numbers of a query, M^-T halves the first four of a key.", "");
  QueryKeySpace other = space;
  xt::view(other.queries, xt::all(), xt::range(0, 4)) *= Real(2);
  xt::view(other.keys, xt::all(), xt::range(0, 4)) /= Real(2);
  check("attention weights with this M = attention weights",
        attention_weights(other.queries, other.keys), weights, 1e-4);
  const auto cosine = [](const QueryKeySpace& s) {
    return decimal(cosine_by_hand(s.queries, 6, s.keys, 4), 2);
  };
  quote("cosine of [MASK] and 'door' " + cosine(space) + ", centred " + cosine(moved) +
        ", with M " + cosine(other));
  say("", "So cosines, lengths, nearest keys and maps are not properties of the attention",
      "weights alone: training chose one of many equal pairs of matrices.");
}

void compare_with_lesson_01(const TrainedModel& t) {
  section("From lesson 01 to here");
  say("Lesson 01 began with uniform attention weights. You can now compute attention,",
      "masks and gradients by hand (02 to 09), build a GPT from heads, positions and",
      "blocks (10 to 13), train it, compare its loss with a lower bound, find a leak",
      "(14, 15), and test by experiments what a head of a GPT or BERT does (16 to 18).",
      "So you can read PyTorch's documentation, nanoGPT, and 'Attention Is All You",
      "Need', whose encoder-decoder is the next lesson: 20_encoder_decoder.", "",
      "attention weight from [MASK] to the object before training  " + trained(t.weight(0)),
      "after training                                              " + trained(t.weight(1)),
      "accuracy on the pronoun before training (mean of 8 seeds)   " + trained(t.accuracy(0)),
      "after training                                              " + trained(t.accuracy(1)), "",
      "  cp -r lessons/01_averaging lessons/99_mine        begin your own lesson:",
      "  ./heed lesson 99                                  build and run it", "",
      "To stop at each cosine: HEED_BRIEF=1 ./heed debug 19 (it trains first), and in",
      "gdb: break cosine_by_hand, continue, finish.");
}

int main() {
  opening(
      {"to compare a head's queries and keys, to draw them with t-SNE, and\n"
       "to say what such a map does not show",
       "cos(q, k) = q . k / (|q| |k|)    q, k (8)\n"
       "KL = sum over i, j of p_ij ln(p_ij / q_ij)    p, q (2n, 2n), n words",
       "van der Maaten and Hinton, \"Visualizing Data using t-SNE\", 2008,\n"
       "sections 2 and 3; Yeh et al., \"AttentionViz: A Global View of\n"
       "Transformer Attention\", 2023",
       "F.cosine_similarity; t-SNE: scikit-learn's TSNE(metric=\"euclidean\",\n"
       "method=\"exact\", init=\"random\", early_exaggeration=4), applied to\n"
       "F.normalize(points): half of its squared distance is 1 - cosine"});
  TrainedModel t;
  train_and_choose_head(t, in_brief(2000, 450));
  std::vector<Names> sentences = {with_blank(door_sentence(), Part::pronoun)};
  const QueryKeySpace of_door = query_key_space(t.model, t.head, sentences);
  compare_by_cosine(of_door);
  changes_without_effect(of_door);
  compare_keys(t.model, t.head);
  for (const std::size_t size : {9u, 10u})
    for (const Sentence& s : held_out_once([&](auto& s) { return s.words.size() == size; }))
      sentences.push_back(with_blank(s, Part::pronoun));
  const QueryKeySpace space = centred(query_key_space(t.model, t.head, sentences));
  compare_maps(space, draw_map(space));
  compare_with_lesson_01(t);
  questions(
      "What is the map with perplexity 2? In draw_map (maps.hpp) change\nmap_of(space, 15, 0) "
      "to map_of(space, 2, 0).",
      "How many points keep their neighbour without centring? In the line of\n"
      "`space` in main, remove centred( ).",
      "Which keys are nearest to [MASK] by Euclidean distance? Set `metric`\n"
      "(maps.hpp) to Distance::euclidean.");
}
