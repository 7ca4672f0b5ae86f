// source_of_text.cpp: recognizes a text that was drawn from a built-in Markov source.

#include <cmath>
#include <numeric>

#include "heed/base/error.hpp"
#include "heed/study/markov_source.hpp"

namespace HEED_NAMESPACE {
namespace {

// Whether the source can have drawn the text, and its mean -ln p is near the entropy rate.
bool is_drawn_from(const MarkovSource& source, std::string_view text) {
  constexpr std::size_t few = 200, many = 1'000'000;
  try {
    source.negative_log_likelihoods(text.substr(0, few));  // rejects most texts
    const std::vector<double> nats = source.negative_log_likelihoods(text.substr(0, many));
    const auto n = static_cast<double>(nats.size());
    const double mean = std::accumulate(nats.begin(), nats.end(), 0.0) / n;
    double squares = 0;
    for (const double x : nats) squares += (x - mean) * (x - mean);
    const double rate = source.entropy_rate();
    return nats.size() >= few && std::abs(mean - rate) < 0.05 * rate + 5 * std::sqrt(squares) / n;
  } catch (const Error&) {  // a letter of probability 0
    return false;
  }
}

}  // namespace

std::optional<MarkovSource> source_of_text(std::string_view text) {
  for (const char* const kind : {"grammar", "chain"})
    if (MarkovSource source = built_in_source(kind); is_drawn_from(source, text)) return source;
  return {};
}

}  // namespace HEED_NAMESPACE
