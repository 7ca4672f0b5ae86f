// page_data.hpp: the parts of the data of heed look --page, as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "commands/look/parts.hpp"
#include "study/forward_record.hpp"

namespace heed::app {

// The texts of tokens. Each text is stored once; tokens are stored as indices of texts.
class TokenTexts {
 public:
  explicit TokenTexts(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  std::size_t index(std::int64_t id);  // the index of the token's text in json()
  Json json() const { return Json(texts_); }

 private:
  const Vocabulary& vocabulary_;
  std::vector<std::size_t> index_of_id_;
  std::vector<std::string> texts_;
};

// A page has at most this many bytes if its attention weights leave room for it: the parts that can
// be left out are left out until it fits.
constexpr std::size_t page_bytes = 2'900'000;

// JSON as the page has it: ASCII. Its size in the file: compressed and in base64.
std::string ascii(const Json& json);
std::size_t written_bytes(const Json& json);

// The number of decimals that show four significant digits of numbers up to `largest`.
int decimals_for(double largest);

// Attention weights (H, T, T), or their gradients, as one string of codes for each head. Rows are
// stored one after the other; of a causal model only the part up to the diagonal. Weights are coded
// between 0 and 1; gradients between -m and m, where m is the head's largest absolute value.
Json::List weight_codes(const Array& weights, bool causal);
Json::List gradient_codes(const Array& gradients, bool causal, std::size_t rows);

// Queries, keys or values (T, D) of one head, between -m and m.
Json vector_codes(const Array& vectors);

// The five most probable tokens at each position after each layer, and the probability of the next
// token of the text.
Json lens_json(const Array& lens, const Indices& tokens, bool causal, TokenTexts& texts);

// The gradients of losses with respect to the attention weights. Leaves out losses that, with the
// texts of their targets, do not fit into `bytes`, except the first one: the mean or, of a
// bidirectional model, the last position's. `first` is the result of a call with fewer bytes, to
// which the further losses are added.
Json::List gradients_json(const ForwardRecord& record, const Indices& tokens, bool causal,
                          std::size_t bytes, TokenTexts& texts, Json::List first = {});

// The models of the run's history, with attention weights and scores of their heads, and the loss
// curve. If not all models fit into `bytes`, it has every second one, every third one and so on,
// and always the last.
Json history_json(const LookCommand& command, const LoadedModel& saved, const LookText& text,
                  const ScoreText& scored, std::size_t bytes);

// Scores as JSON numbers with four decimals, as heed look prints them; null for NaN.
Json::List score_json(const std::vector<std::vector<double>>& of_kind);

}  // namespace heed::app
