// 18 query_key_space: the queries and keys of one head on a page, and how far to trust the page.
//
// Before this lesson: 17_fill_in_the_blank, a head whose [MASK] row points at the door.
// After it: a lesson of your own.
// Worth a breakpoint: entropy_of. It is where a bandwidth is judged, once a halving.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fill_in_the_blank.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/report/table.hpp"
#include "heed/study/heads.hpp"
#include "heed/study/tsne.hpp"
#include "lesson.hpp"

using namespace heed;

const std::string lesson = "18_query_key_space";

// Where a [MASK] instead of the pronoun looks, on average: its share for the object in each head.
Array shares_on_object(const BlankModel& model, const std::vector<Sentence>& sentences) {
  Array mean = zeros({2, 4});
  for (const Sentence& s : sentences) {
    const Indices tokens = encoded(model.vocabulary, {with_blank(s, Part::pronoun)});  // (1, T)
    const std::vector<LayerAttention> layers = capture_attention(model.gpt, tokens);
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t h = 0; h < 4; ++h)
        mean(l, h) += layers[l].weights(0, h, s.place(Part::pronoun), s.place(Part::object)) /
                      static_cast<Real>(sentences.size());
  }
  return mean;
}

struct HeadPlace {
  std::size_t layer, head;
};

// What one head asks and offers in some sentences: queries first, then as many keys.
struct Space {
  std::vector<Real> queries, keys;
  Names words;

  Array points() const {  // (2n, 8)
    Array x = zeros({2 * words.size(), queries.size() / words.size()});
    std::copy(queries.begin(), queries.end(), x.begin());
    std::copy(keys.begin(), keys.end(), x.begin() + static_cast<std::ptrdiff_t>(queries.size()));
    return x;
  }
  std::size_t query(const std::string& word) const {
    return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
  }
  std::size_t key(const std::string& word) const { return words.size() + query(word); }
};

// Adds a sentence's words, each but once.
void add_sentence(Space& space, const BlankModel& model, HeadPlace at, const Names& words) {
  const std::vector<LayerAttention> layers =
      capture_attention(model.gpt, encoded(model.vocabulary, {words}));
  const Array& q = layers[at.layer].queries;  // (1, 4, T, 8)
  const Array& k = layers[at.layer].keys;
  for (std::size_t t = 0; t < words.size(); ++t) {
    if (space.query(words[t]) < space.words.size()) continue;
    space.words.push_back(words[t]);
    for (std::size_t d = 0; d < q.shape(3); ++d) {
      space.queries.push_back(q(0, at.head, t, d));
      space.keys.push_back(k(0, at.head, t, d));
    }
  }
}

// The sum of -p ln p over the shares exp(-b d) of a row.
double entropy_of(const Doubles& d, std::size_t i, double b) {
  double total = 0, weighed = 0;
  for (std::size_t j = 0; j < d.shape(1); ++j) {
    if (j == i) continue;
    total += std::exp(-b * d(i, j));
    weighed += std::exp(-b * d(i, j)) * b * d(i, j);
  }
  return std::log(total) + weighed / total;
}

// P(j | i): halve between a bandwidth that is too small and one too large.
Doubles neighbours_by_hand(const Doubles& d, double perplexity) {
  Doubles p = d;
  for (std::size_t i = 0; i < d.shape(0); ++i) {
    double low = 0, high = 1e6, total = 0;
    for (int step = 0; step < 100; ++step) {
      const double b = (low + high) / 2;
      (entropy_of(d, i, b) > std::log(perplexity) ? low : high) = b;
    }
    for (std::size_t j = 0; j < d.shape(0); ++j)
      total += p(i, j) = j == i ? 0 : std::exp(-low * d(i, j));
    for (std::size_t j = 0; j < d.shape(0); ++j) p(i, j) /= total;
  }
  return p;
}

// Q, and the sum of P ln(P / Q).
Doubles similarities_by_hand(const Doubles& y) {
  const std::size_t n = y.shape(0);
  Doubles Q = xt::zeros<double>({n, n});
  double total = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double dx = y(i, 0) - y(j, 0), dy = y(i, 1) - y(j, 1);
      if (i != j) total += Q(i, j) = 1 / (1 + dx * dx + dy * dy);
    }
  return Q / total;
}

double kl_by_hand(const Doubles& P, const Doubles& y) {
  const Doubles Q = similarities_by_hand(y);
  double kl = 0;
  for (std::size_t i = 0; i < P.shape(0); ++i)
    for (std::size_t j = 0; j < P.shape(0); ++j)
      if (i != j) kl += P(i, j) * std::log(P(i, j) / Q(i, j));
  return kl;
}

std::vector<std::size_t> up_to(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t(0));
  return all;
}

// The share of points whose nearest in space is their nearest on the page, too.
double nearest_kept(const Doubles& space, const Doubles& page) {
  double count = 0;
  const std::vector<std::size_t> all = up_to(space.shape(0));
  for (const std::size_t i : all) count += nearest(space, i, all) == nearest(page, i, all) ? 1 : 0;
  return count / double(all.size());
}

// The mean distance to the nearest neighbour, against that of points thrown at random into the
// same rectangle, half the root of the room each has (Clark and Evans 1954): 1 is chance, less
// means lumps.
double lumpiness(const Array& y) {
  const Doubles d = tsne_distances(y, Distance::euclidean);
  const std::vector<std::size_t> all = up_to(y.shape(0));
  const double n = double(all.size());
  double mean = 0;
  for (const std::size_t i : all) mean += std::sqrt(d(i, nearest(d, i, all))) / n;
  Array low = xt::amin(y, {0}), high = xt::amax(y, {0});
  return mean / (0.5 * std::sqrt((high(0) - low(0)) * (high(1) - low(1)) / n));
}

// The mean distance between the 50 points from i on and those from j on.
double apart(const Array& x, std::size_t i, std::size_t j) {
  const Doubles d = tsne_distances(x, Distance::euclidean);
  double mean = 0;
  for (std::size_t a = i; a < i + 50; ++a)
    for (std::size_t b = j; b < j + 50; ++b) mean += std::sqrt(d(a, b)) / 2500;
  return mean;
}

// The words whose keys are nearest to a word's query, the nearest first.
Names nearest_keys(const Space& space, const Doubles& distances, const std::string& word,
                   std::size_t count) {
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < space.words.size(); ++i) left.push_back(space.words.size() + i);
  Names found;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t best = nearest(distances, space.query(word), left);
    left.erase(std::find(left.begin(), left.end(), best));
    found.push_back(space.words[best - space.words.size()]);
  }
  return found;
}

bool is_thing(const std::string& word) {
  return std::any_of(kinds().begin(), kinds().end(), [&](const Kind& kind) {
    return std::count(kind.one.begin(), kind.one.end(), word) +
               std::count(kind.many.begin(), kind.many.end(), word) >
           0;
  });
}

// The same directions, each of length 1.
Array unit(const Array& x) {  // (T, D)
  Array y = x;
  for (std::size_t i = 0; i < x.shape(0); ++i) {
    Real squares = 0;
    for (std::size_t d = 0; d < x.shape(1); ++d) squares += x(i, d) * x(i, d);
    for (std::size_t d = 0; d < x.shape(1); ++d) y(i, d) /= std::sqrt(squares);
  }
  return y;
}

// In words, where point i stands in a picture: "at the bottom right".
std::string whereabouts(const Array& points, std::size_t i) {  // (n, 2)
  const Array low = xt::amin(points, {0}), high = xt::amax(points, {0});
  const auto third = [&](std::size_t axis) {  // 0, 1, 2
    return std::min(2, int(3 * (points(i, axis) - low(axis)) / (high(axis) - low(axis))));
  };
  const Names across = {"left", "middle", "right"}, up = {"bottom ", "", "top "};
  return "at the " + up[std::size_t(third(1))] + across[std::size_t(third(0))];
}

Array shares_of(const Array& Q, const Array& K) {  // (T, D) each, gives (T, T)
  return softmax(matmul(Tensor(Q), transpose(Tensor(K), 0, 1)) / std::sqrt(Real(K.shape(1))), -1)
      .value();
}

TsneOptions with(double perplexity, std::uint64_t seed, Distance distance = Distance::cosine) {
  TsneOptions options;
  options.perplexity = perplexity, options.seed = seed, options.distance = distance;
  return options;
}

int main() {
  section("The head that finds the door");
  say("Lesson 17 ended with one row of one head: in 'i was watching the door when",
      "[MASK] opened .' the [MASK] looks at 'door'. A row of shares is made of queries",
      "and keys. Here we look at these, in the same model, trained in the same way.", "");
  BlankModel model(1);
  const std::vector<Sentence> fresh =
      held_out_sentences(100, [](const Sentence& s) { return s.of_object; });
  const Names door = with_blank(door_sentence(), Part::pronoun);
  double before = 0;  // the mean of eight models that know nothing
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    before += accuracy(BlankModel(seed), fresh, Part::pronoun) / 8;
  const Array untrained = shares_on_object(model, fresh);  // (2, 4)
  train(model, in_brief(2000, 450));
  const double after = accuracy(model, fresh, Part::pronoun);
  const Array shares = shares_on_object(model, fresh);  // (2, 4)
  const auto best = std::size_t(std::max_element(shares.begin(), shares.end()) - shares.begin());
  const HeadPlace at{best / 4, best % 4};
  say("pronouns right, of 100 held-out sentences about the object  " + trained(after));
  quote("the head: layer " + std::to_string(at.layer) + ", head " + std::to_string(at.head) +
        "; its [MASK] gives the object " + decimal(shares(at.layer, at.head), 2) + " on average");
  claim("one head's [MASK] gives the object over half of its attention",
        shares(at.layer, at.head) > 0.5, decimal(shares(at.layer, at.head), 2));
  claim("it is a head of the first layer", at.layer == 0, "layer " + std::to_string(at.layer));

  section("One space for both");
  say("A query is what a word asks for, a key what a word offers: eight numbers each in",
      "this model. The score is their dot product over the root of 8, and a dot product",
      "is the two lengths times the cosine of the angle between. So queries and keys",
      "live in one space, and a cosine near 1 says: this is what I am looking for.");
  Space space;
  add_sentence(space, model, at, door);
  const Array x = space.points();                                      // (18, 8)
  const Doubles d = tsne_distances(x, Distance::cosine);               // (18, 18), 1 - cos
  Array cosines = 1 - xt::view(d, xt::range(0, 9), xt::range(9, 18));  // queries by keys
  Array by_hand = zeros({9, 9});
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 9; ++j) {
      Real product = 0, q = 0, k = 0;
      for (std::size_t c = 0; c < 8; ++c) {
        product += x(i, c) * x(9 + j, c);
        q += x(i, c) * x(i, c), k += x(9 + j, c) * x(9 + j, c);
      }
      by_hand(i, j) = product / std::sqrt(q * k);
    }
  HeatmapOptions shades{"cosines", door, door, "asks (query)", "answers (key)"};
  shades.low = -1, shades.high = 1, shades.diverging = true;
  picture_trained(lesson, "cosines", cosines, shades);
  check("the cosines by hand = in one line", by_hand, cosines);
  const double mask_door = cosines(6, 4), watching_door = cosines(2, 4);
  quote("\ncosine of the query of [MASK] with the key of 'door'      " + decimal(mask_door, 2) +
        "\ncosine of the query of 'watching' with the key of 'door' " + decimal(watching_door, 2));
  claim("of the nine keys that of 'door' is the nearest to the query of [MASK]",
        nearest_keys(space, d, "[MASK]", 1)[0] == "door", nearest_keys(space, d, "[MASK]", 1)[0]);
  claim("[MASK] is nearer to 'door' than 'watching' is, by 0.3 and more",
        mask_door > watching_door + 0.3, decimal(mask_door - watching_door, 2));
  const Array Q8 = xt::view(x, xt::range(0, 9)), K8 = xt::view(x, xt::range(9, 18));  // (9, 8)
  const Array of_scores = xt::row(shares_of(Q8, K8), 6),
              of_cosines = xt::row(shares_of(unit(Q8), unit(K8)), 6);
  say("", "A cosine leaves out the lengths, the scores do not. With long queries and keys a",
      "lead in the cosine becomes nearly all of a row. In that of [MASK]:", "");
  quote("share of 'door'                     " + decimal(of_scores(4), 2) +
        "\nits share if all lengths were 1     " + decimal(of_cosines(4), 2));
  claim("with lengths of 1 'door' would get less than half of its share",
        of_scores(4) > 2 * of_cosines(4),
        decimal(of_scores(4), 2) + " and " + decimal(of_cosines(4), 2));

  section("Eight numbers on a flat page");
  say("A page has two numbers a point, not eight. t-SNE (van der Maaten and Hinton",
      "2008) keeps one thing only: who is near whom. In space, point i shares itself",
      "out among the others by exp(-b d), as attention does, d being 1 less the cosine.",
      "(The paper takes the squared distance; for vectors of length one that is 2 d.)",
      "Each point has a b of its own, such that its shares are as mixed as those of k",
      "equal neighbours: their entropy is ln k. This k is the perplexity, and b is",
      "found by halving. Take the three tokens of lesson 01, and k = 1.5:");
  const Names words = {"the", "cat", "sat"};
  const Array T = Generator(42).randn({3, 5});
  const Doubles dT = tsne_distances(T, Distance::cosine);
  const Doubles p = neighbours_by_hand(dT, 1.5);
  show("1 - cos", Array(dT), words, words);
  show("shares in space", Array(p), words, words);
  check("the shares by hand = tsne_neighbours", Array(p),
        Array(tsne_conditional_probabilities(dT, 1.5)));
  Doubles P = (p + xt::transpose(p)) / 6;  // (3, 3), both ways; the sum of all is 1
  check("P by hand = tsne_targets", Array(P), Array(tsne_joint_probabilities(p)));
  say("", "(Of two neighbours, the nearer always gets 0.86: only that has entropy ln 1.5.)",
      "P is p both ways, (p + p transposed) / 6, a share for each pair. Their sum is 1.",
      "(6 is twice the points.)", "",
      "On the page the shares are Q, by 1 / (1 + squared distance): it falls off",
      "slowly, so that what is far may go further. Three places drawn at random:");
  const Doubles y = Generator(7).randn({3, 2});
  const Doubles Q = similarities_by_hand(y);
  show("P", Array(P), words, words);
  show("Q", Array(Q), words, words);
  check("Q by hand = tsne_similarities", Array(Q), Array(tsne_embedding_probabilities(y)));
  const double kl = kl_by_hand(P, y);
  say("", "What the page gets wrong is the sum of P ln(P / Q), called KL: " + decimal(kl, 4),
      "It is zero when Q is P. So it is a loss, and we go downhill, the points being",
      "what is learned. The slope of each number, by a small step to either side:", "");
  check("KL by hand = kl_divergence", scalar(Real(kl)), scalar(Real(kl_divergence(P, Q))));
  Doubles slopes = y;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t axis = 0; axis < 2; ++axis) {
      Doubles up = y, down = y;
      up(i, axis) += 1e-5, down(i, axis) -= 1e-5;
      slopes(i, axis) = (kl_by_hand(P, up) - kl_by_hand(P, down)) / 2e-5;
    }
  show("slopes", Array(slopes), words);
  check("central differences = tsne_gradient", Array(slopes), Array(tsne_gradient(P, y)));

  section("The map");
  say("Now the head's queries and keys, from the sentence of the door and 60 others,",
      "each with its pronoun blanked out. In the first layer a query knows only its",
      "word and its place. Both recur, so each word is drawn once.");
  const auto plain = [](const Sentence& s) { return s.of_object && s.words.size() == 9; };
  for (const Sentence& s : held_out_sentences(60, plain))
    add_sentence(space, model, at, with_blank(s, Part::pronoun));
  const Array points = space.points();  // (2n, 8)
  const std::size_t n = space.words.size();
  ScatterOptions drawn{"queries and keys of one head, by t-SNE"};
  drawn.labels = space.words;
  drawn.labels.insert(drawn.labels.end(), space.words.begin(), space.words.end());
  drawn.groups.assign(2 * n, 0);
  std::fill(drawn.groups.begin() + std::ptrdiff_t(n), drawn.groups.end(), std::size_t(1));
  drawn.group_names = {"query", "key"};
  const Tsne map = tsne(points, with(15, 0));
  picture_points(lesson, "map", map.points, drawn);
  quote("the query of [MASK] is the ● " + whereabouts(map.points, space.query("[MASK]")) +
        ", its key the ▲ " + whereabouts(map.points, space.key("[MASK]")));
  const Doubles all = tsne_distances(points, Distance::cosine);
  const Doubles mapped = tsne_distances(map.points, Distance::euclidean);
  const Names near = nearest_keys(space, mapped, "[MASK]", 5);
  say("", "The keys nearest to the query of [MASK], five in space, five on the page:", "");
  quote("space  " + text_of(nearest_keys(space, all, "[MASK]", 5)) + "\npage   " + text_of(near));
  claim("at least 4 of the 5 on the page are things",
        std::count_if(near.begin(), near.end(), is_thing) >= 4, text_of(near));
  say("", "It has gone where the things' keys are: 'door', and all the others, since it",
      "does not know which there will be. In a sentence with one of them that is",
      "enough. What the page gets wrong, at first and in the end:", "");
  quote("KL " + decimal(map.history.y.front(), 4) + " at first, " + decimal(map.kl, 4) +
        " after 1000 iterations");
  claim("KL has fallen to less than a third", map.kl < map.history.y.front() / 3,
        decimal(map.kl, 4));

  section("Two seeds, two perplexities");
  say("The first places are drawn at random, and the perplexity is ours to choose. So",
      "here are four maps of the same points. How far is 'door' from [MASK] in each,",
      "and from 'watching'? And what share of all points keeps its nearest neighbour?", "");
  Array table_of_maps = zeros({4, 4});
  const Names maps = {"15, seed 0", "15, seed 3", "5, seed 0", "5, seed 3"};
  for (std::size_t m = 0; m < 4; ++m) {
    const Tsne t = m == 0 ? map : tsne(points, with(m < 2 ? 15 : 5, m % 2 == 0 ? 0 : 3));
    const Doubles page = tsne_distances(t.points, Distance::euclidean);
    const std::size_t thing = space.key("door");
    table_of_maps(m, 0) = Real(t.kl);
    table_of_maps(m, 1) = Real(std::sqrt(page(space.query("[MASK]"), thing)));
    table_of_maps(m, 2) = Real(std::sqrt(page(space.query("watching"), thing)));
    table_of_maps(m, 3) = Real(nearest_kept(all, page));
  }
  TableOptions columns{"perplexity", maps, {"KL", "[MASK]-door", "watching-door", "nearest kept"}};
  columns.decimals = 2;
  quote(table(table_of_maps, columns));
  claim("with perplexity 15, 'door' is less than half as far from [MASK] as from 'watching'",
        2 * table_of_maps(0, 1) < table_of_maps(0, 2) &&
            2 * table_of_maps(1, 1) < table_of_maps(1, 2),
        decimal(table_of_maps(0, 1), 2) + " and " + decimal(table_of_maps(1, 1), 2));
  claim("perplexity 5 keeps more of the nearest neighbours than 15, with both seeds",
        std::min(table_of_maps(2, 3), table_of_maps(3, 3)) >
            std::max(table_of_maps(0, 3), table_of_maps(1, 3)),
        decimal(table_of_maps(2, 3), 2));
  say("", "A low perplexity keeps the closest neighbours. The distances change with each,",
      "and which side is up: whoever shows one map has chosen it. (KLs compare seeds,",
      "not perplexities, which have a P of their own.)");

  section("When the page misleads");
  say("These warnings are those of Wattenberg, Viegas and Johnson 2016, 'How to Use",
      "t-SNE Effectively', but for the third.", "",
      "1. Lumps where there are none. 150 points of pure chance in ten dimensions,",
      "mapped with perplexity 2 and with 50. lumpiness compares the mean distance to",
      "the nearest neighbour with that of points thrown on the page at random (Clark",
      "and Evans 1954): 1 is chance, and less means lumps.", "");
  const Array chance = Generator(1).randn({150, 10});
  const Tsne low = tsne(chance, with(2, 0, Distance::euclidean));
  const Tsne high = tsne(chance, with(50, 0, Distance::euclidean));
  quote("lumpiness, perplexity  2: " + decimal(lumpiness(low.points), 2) +
        "\nlumpiness, perplexity 50: " + decimal(lumpiness(high.points), 2));
  picture_points(lesson, "chance_2", low.points, {"pure chance, perplexity 2"});
  picture_points(lesson, "chance_50", high.points, {"pure chance, perplexity 50"});
  claim("points without any order make lumps at perplexity 2, and none at 50",
        lumpiness(low.points) < 0.6 && lumpiness(high.points) > 0.8,
        decimal(lumpiness(low.points), 2));
  say("", "2. Sizes and distances. Three lumps of 50 points: A and B narrow and near to",
      "each other, C five times as wide and ten times as far. Mean distances:", "");
  Array three = Generator(2).randn({150, 10});
  for (std::size_t i = 0; i < 150; ++i)
    for (std::size_t c = 0; c < 10; ++c) three(i, c) = three(i, c) * Real(i < 100 ? 1 : 5);
  for (std::size_t i = 50; i < 150; ++i) three(i, 0) += Real(i < 100 ? 20 : 200);
  const Array page = tsne(three, with(20, 0, Distance::euclidean)).points;
  Array sizes = zeros({2, 4});
  for (std::size_t row = 0; row < 2; ++row) {
    const Array& which = row == 0 ? three : page;
    sizes(row, 0) = Real(apart(which, 0, 0)), sizes(row, 1) = Real(apart(which, 100, 100));
    sizes(row, 2) = Real(apart(which, 0, 50)), sizes(row, 3) = Real(apart(which, 0, 100));
  }
  TableOptions lumps{"three lumps", {"space", "page"}, {"in A", "in C", "A to B", "A to C"}};
  lumps.decimals = 1;
  quote(table(sizes, lumps));
  claim("in space C is over 4 times as wide as A, on the page less than 1.5 times",
        sizes(0, 1) > 4 * sizes(0, 0) && sizes(1, 1) < Real(1.5) * sizes(1, 0),
        decimal(sizes(1, 1), 1));
  claim("in space C is 9 times as far as B and more, on the page less than twice",
        sizes(0, 3) > 9 * sizes(0, 2) && sizes(1, 3) < 2 * sizes(1, 2), decimal(sizes(1, 3), 1));
  say("", "Each point asks for as many neighbours as any other, be they near or far: so the",
      "size of a lump says nothing, and neither does the room between two.", "",
      "3. Cosines themselves. Take twice the key of 'door' away from every key. All the",
      "scores of a query change by one amount, which softmax does not see. But the key",
      "of 'door' now points the other way.", "");
  const Array twice = xt::row(K8, 4) * Real(2), moved = K8 - twice;
  Array both = x;
  xt::view(both, xt::range(9, 18)) = moved;
  const Doubles transposed = tsne_distances(both, Distance::cosine);
  check("the shares with moved keys = the shares", shares_of(Q8, moved), shares_of(Q8, K8), 1e-4);
  check("the cosine of [MASK] and 'door' has turned its sign", scalar(Real(transposed(6, 13) - 1)),
        scalar(Real(mask_door)), 1e-4);
  say("", "So a map is for having ideas. Whether one is true, ask the shares, and take the",
      "head away, as lesson 17 did.");

  section("Where to go from here");
  say("This is the last lesson. The first took three words and equal shares. Now the",
      "object gets this much of the [MASK] row:", "",
      "the same head before training    " + trained(untrained(at.layer, at.head)),
      "and after                        " + trained(shares(at.layer, at.head)),
      "pronouns right, before training  " + trained(before) + ", the mean of eight models",
      "and after                        " + trained(after), "", "Now it is your turn.", "",
      "  cp lessons/01_averaging.cpp lessons/99_mine.cpp   a lesson of your own,",
      "  ./heed lesson 99                                  built and run",
      "  ./heed train my_text.txt                          a model of your own text",
      "  ./heed look runs/my_text --text 'It was'          what its heads look at",
      "  ./heed look runs/my_text --text 'It was' --tsne   and such a map of one head",
      "  ./heed debug train my_text.txt                    its training, step by step", "",
      "(./heed test will want to know what your lesson prints, and tells you how to", "say.)", "",
      "To watch a bandwidth being found: start gdb with HEED_BRIEF=1 ./heed debug 18",
      "(it trains first), and in it: break entropy_of if i == 1 && b < 100, continue,",
      "display b, and continue a few times more: b closes in.");
}
