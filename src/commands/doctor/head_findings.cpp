// head_findings.cpp: findings about attention heads: dead, duplicate, or with a saturated softmax.

#include <algorithm>
#include <cmath>

#include "commands/doctor/families.hpp"
#include "heed/base/text.hpp"
#include "heed/study/heads.hpp"

namespace heed::app {
namespace {

using Numbers = std::vector<double>;

// A head's rows of the weight of queries, keys or values (D, C), or columns of that of the output.
struct Part {
  const Tensor* weight;
  std::size_t index, width;  // the head's index in the weight, and D
  bool columns = false;

  Numbers values() const {
    const Array& array = weight->value();
    const std::size_t rows = array.shape()[0], row_size = array.shape()[1];
    Numbers result;
    for (std::size_t r = columns ? 0 : index * width; r < (columns ? rows : (index + 1) * width);
         ++r)
      for (std::size_t c = columns ? index * width : 0;
           c < (columns ? (index + 1) * width : row_size); ++c)
        result.push_back(static_cast<double>(array(r, c)));
    return result;
  }
};

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double norm(const Numbers& a) { return std::sqrt(dot(a, a)); }

struct Head {
  std::string name;
  Numbers query, key, value, out;
};

std::vector<Head> heads_of(const nn::Gpt& model, std::size_t layer) {
  const nn::MultiHeadAttention& a = model.blocks[layer].attention;
  std::vector<Head> heads;
  for (std::size_t h = 0; h < a.num_heads; ++h) {
    const std::size_t shared = h / (a.num_heads / a.num_kv_heads), D = a.head_dim;
    heads.push_back({"layer " + std::to_string(layer) + ", head " + std::to_string(h),
                     Part{&a.query.weight, h, D}.values(), Part{&a.key.weight, shared, D}.values(),
                     Part{&a.value.weight, shared, D}.values(),
                     Part{&a.out.weight, h, D, true}.values()});
  }
  return heads;
}

std::string look_command(const ExaminedRun& run) {
  return "./heed look " + run.folder.path.string();
}

// Whether a product of norms is next to nothing beside that of initial weights, 0.02 each.
bool vanishes(const Numbers& a, const Numbers& b) {
  constexpr double initial = 0.02;
  return norm(a) * norm(b) <
         1e-4 * initial * initial * std::sqrt(static_cast<double>(a.size() * b.size()));
}

void find_dead(const ExaminedRun& run, const std::vector<Head>& heads, Findings& findings) {
  for (const Head& head : heads) {
    const bool no_output = vanishes(head.value, head.out);
    if (!no_output && !vanishes(head.query, head.key)) continue;
    const auto text = [](const char* name, const Numbers& weight) {
      return std::string(name) + " " + significant(norm(weight), 3);
    };
    findings.push_back(
        {"dead head",
         head.name + (no_output ? " adds nothing to the output: norms of its weights: " +
                                      text("values", head.value) + ", output " +
                                      significant(norm(head.out), 3)
                                : " attends to all positions alike: norms of its weights: " +
                                      text("queries", head.query) + ", " + text("keys", head.key)),
         look_command(run)});
    return;
  }
}

void find_duplicates(const ExaminedRun& run, const std::vector<Head>& heads, Findings& findings) {
  const auto cosine = [](const Numbers& a, const Numbers& b) {
    return dot(a, b) / (norm(a) * norm(b));  // NaN for zeros: then they are no duplicates
  };
  for (std::size_t i = 0; i < heads.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double least =
          std::min({cosine(heads[i].query, heads[j].query), cosine(heads[i].key, heads[j].key),
                    cosine(heads[i].value, heads[j].value)});
      if (!(least > 0.99)) continue;
      findings.push_back({"duplicate heads",
                          heads[j].name + " and " + heads[i].name +
                              " have equal queries, keys and values: the cosine similarity of "
                              "their weights is at least " +
                              decimal(least, 4),
                          look_command(run)});
      return;
    }
}

// The mean largest attention weight of the queries with at least 8 keys, for each head. 0 for a
// head whose largest weight is at the same distance for most queries, as in healthy models that
// look at the token before.
Numbers largest_weights(const Array& weights) {  // (B, H, T, T)
  constexpr std::size_t fewest_keys = 8;
  const std::size_t B = weights.shape()[0], H = weights.shape()[1], T = weights.shape()[2],
                    queries = B * (T - fewest_keys + 1);
  Numbers means(H);
  for (std::size_t h = 0; h < H; ++h) {
    std::vector<std::size_t> distances(T);  // the number of queries at each distance
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t t = fewest_keys - 1; t < T; ++t) {
        const Real* const row = weights.data() + ((b * H + h) * T + t) * T;
        const Real* const largest = std::max_element(row, row + t + 1);
        means[h] += static_cast<double>(*largest) / static_cast<double>(queries);
        ++distances[static_cast<std::size_t>(row + t - largest)];
      }
    if (2 * *std::max_element(distances.begin(), distances.end()) > queries) means[h] = 0;
  }
  return means;
}

void find_saturated(const ExaminedRun& run, Findings& findings) {
  const Indices windows = validation_windows(run, 8, 64);
  if (windows.size() == 0 || windows.shape()[1] < 8) return;
  std::size_t saturated = 0, all = 0;
  double largest = 0;
  std::string name;
  const auto layers = capture_attention(run.model->model, windows);
  for (std::size_t l = 0; l < layers.size(); ++l)
    for (const double mean : largest_weights(layers[l].weights)) {
      ++all;
      saturated += mean > 0.8;
      if (mean > largest) name = "layer " + std::to_string(l);
      largest = std::max(largest, mean);
    }
  if (2 * saturated <= all) return;
  findings.push_back({"saturated softmax",
                      std::to_string(saturated) + " of " + std::to_string(all) +
                          " heads give nearly all attention to one position: the largest attention "
                          "weight of a query is " +
                          decimal(largest, 3) + " on average in " + name +
                          ", so queries and keys get almost no gradient",
                      look_command(run)});
}

}  // namespace

Findings head_findings(const ExaminedRun& run) {
  Findings findings;
  if (!run.model) return findings;
  for (std::size_t l = 0; l < run.model->model.blocks.size() && findings.empty(); ++l) {
    const std::vector<Head> heads = heads_of(run.model->model, l);
    find_dead(run, heads, findings);
    find_duplicates(run, heads, findings);
  }
  find_saturated(run, findings);
  return findings;
}

}  // namespace heed::app
