// page_data.cpp: attention weights, gradients, vectors and the logit lens as JSON for the page.

#include "commands/look/page_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "heed/base/text.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

constexpr std::size_t top_tokens = 5;

// The first `rows` rows of a matrix (T, T), of a causal model only up to the diagonal.
std::vector<Real> packed_rows(const Real* matrix, std::size_t T, std::size_t rows, bool causal) {
  std::vector<Real> packed;
  for (std::size_t t = 0; t < rows; ++t)
    packed.insert(packed.end(), matrix + t * T, matrix + t * T + (causal ? t + 1 : T));
  return packed;
}

double largest_absolute(const std::vector<Real>& numbers) {
  double largest = 0;
  for (const Real x : numbers) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return largest;
}

// Codes numbers between -m and m, where m is the largest absolute value.
Json symmetric_codes(const std::vector<Real>& numbers) {
  const double m = largest_absolute(numbers);
  const int decimals = decimals_for(m);
  return {{"limit", m},
          {"decimals", decimals},
          {"codes", coded_numbers(numbers.data(), numbers.size(), -m, m, decimals).codes}};
}

// The number that decimal(x, 4) prints; null for NaN.
Json rounded(double x) {
  return std::isnan(x) ? Json(nullptr) : Json(std::strtod(decimal(x, 4).c_str(), nullptr));
}

// The target of the prediction at a position: the next token of the text, if the model predicts it
// and the text has it, otherwise the most probable token.
std::int64_t target_at(const Tensor& logits, const Indices& tokens, std::size_t t, bool causal) {
  if (causal && t + 1 < tokens.size()) return tokens(0, t + 1);
  const std::size_t V = logits.shape()[2];
  const Real* const row = logits.value().data() + t * V;
  return std::max_element(row, row + V) - row;
}

struct Target {
  Tensor loss;
  Json json;
  std::size_t rows;  // number of rows of attention weights that the loss uses
};

Target mean_target(const ForwardRecord& record, const Indices& tokens) {
  const std::size_t T = tokens.size();
  Indices targets({1, T}, -100);
  std::copy(tokens.begin() + 1, tokens.end(), targets.begin());
  CrossEntropyOptions options;
  options.ignore_index = -100;
  const Tensor loss = cross_entropy(record.logits, targets, options);
  return {loss, {{"position", nullptr}}, T - 1};
}

Target target_of(const ForwardRecord& record, const Indices& tokens, std::size_t t, bool causal,
                 TokenTexts& texts) {
  const std::int64_t target = target_at(record.logits, tokens, t, causal);
  return {loss_at(record, t, target),
          {{"position", t},
           {"target", texts.index(target)},
           {"known", causal && t + 1 < tokens.size()}},
          causal ? t + 1 : tokens.size()};
}

Json gradient_json(const ForwardRecord& record, const Target& target, bool causal) {
  Json json = target.json;
  json["loss"] = rounded(static_cast<double>(target.loss.item()));
  json["rows"] = target.rows;
  json["heads"] = Json::List();
  for (const Array& layer : weight_gradients(record, target.loss))
    for (const Json& head : gradient_codes(layer, causal, target.rows))
      json["heads"].push_back(head);
  return json;
}

}  // namespace

std::size_t TokenTexts::index(std::int64_t id) {
  constexpr auto none = static_cast<std::size_t>(-1);
  const auto i = static_cast<std::size_t>(id);
  if (i >= index_of_id_.size()) index_of_id_.resize(i + 1, none);
  if (index_of_id_[i] == none) {
    index_of_id_[i] = texts_.size();
    texts_.push_back(printable(vocabulary_.decode(id)));
  }
  return index_of_id_[i];
}

std::string ascii(const Json& json) { return json.dump(-1, /*ascii=*/true); }

std::size_t written_bytes(const Json& json) { return compressed_size(ascii(json)); }

int decimals_for(double largest) {
  if (!(largest > 0)) return 4;
  return std::clamp(3 - static_cast<int>(std::floor(std::log10(largest))), 0, 12);
}

Json::List weight_codes(const Array& weights, bool causal) {
  const std::size_t H = weights.shape(0), T = weights.shape(1);
  Json::List heads;
  for (std::size_t h = 0; h < H; ++h) {
    const std::vector<Real> packed = packed_rows(weights.data() + h * T * T, T, T, causal);
    heads.push_back(coded_numbers(packed.data(), packed.size(), 0, 1, 4).codes);
  }
  return heads;
}

Json::List gradient_codes(const Array& gradients, bool causal, std::size_t rows) {
  const std::size_t H = gradients.shape(0), T = gradients.shape(1);
  Json::List heads;
  for (std::size_t h = 0; h < H; ++h)
    heads.push_back(symmetric_codes(packed_rows(gradients.data() + h * T * T, T, rows, causal)));
  return heads;
}

Json vector_codes(const Array& vectors) {
  return symmetric_codes(std::vector<Real>(vectors.begin(), vectors.end()));
}

Json lens_json(const Array& lens, const Indices& tokens, bool causal, TokenTexts& texts) {
  const std::size_t layers = lens.shape(0), T = lens.shape(1), V = lens.shape(2);
  const std::size_t count = std::min(top_tokens, V);
  Json::List ids;
  std::vector<Real> top, next;
  std::vector<std::size_t> order(V);
  for (std::size_t row = 0; row < layers * T; ++row) {
    const Real* const p = lens.data() + row * V;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [=](std::size_t a, std::size_t b) { return p[a] > p[b] || (p[a] == p[b] && a < b); });
    for (std::size_t k = 0; k < count; ++k) {
      ids.push_back(texts.index(static_cast<std::int64_t>(order[k])));
      top.push_back(p[order[k]]);
    }
    const std::size_t t = row % T;
    const bool known = causal && t + 1 < T;
    next.push_back(known ? p[static_cast<std::size_t>(tokens(0, t + 1))] : Real{0});
  }
  return {{"count", count},
          {"tokens", ids},
          {"top", coded_numbers(top.data(), top.size(), 0, 1, 4).codes},
          {"next", coded_numbers(next.data(), next.size(), 0, 1, 4).codes}};
}

Json::List gradients_json(const ForwardRecord& record, const Indices& tokens, bool causal,
                          std::size_t bytes, TokenTexts& texts, Json::List first) {
  const std::size_t T = tokens.size(), texts_before = written_bytes(texts.json());
  Json::List json = std::move(first);
  std::size_t used = json.empty() ? 0 : written_bytes(json);
  const auto add = [&](const Target& target) {
    json.push_back(gradient_json(record, target, causal));
    used += written_bytes(json.back()) + 1;  // 1 for the comma
  };
  const bool has_mean = causal && T > 1;
  if (has_mean && json.empty()) add(mean_target(record, tokens));
  for (std::size_t t = T + has_mean - json.size(); t-- > 0;) {
    add(target_of(record, tokens, t, causal, texts));
    if (used + written_bytes(texts.json()) - texts_before <= bytes || json.size() == 1) continue;
    json.pop_back();
    break;
  }
  return json;
}

Json::List score_json(const std::vector<std::vector<double>>& of_kind) {
  Json::List json;
  for (const std::vector<double>& column : of_kind) {
    Json::List scores;
    for (const double score : column) scores.push_back(rounded(score));
    json.push_back(scores);
  }
  return json;
}

}  // namespace heed::app
