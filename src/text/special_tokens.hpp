// special_tokens.hpp: finds special tokens, such as <|endoftext|>, in a text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

using TokensOfText = std::vector<std::pair<std::string, std::size_t>>;  // tokens and their ids

// Calls visit_text(part) for each part of the text between special tokens that is not empty, and
// visit_token(id) for each special token, in order. Of several tokens that begin at the same byte,
// the longest counts.
template <class VisitText, class VisitToken>
void split_at_special(std::string_view text, const TokensOfText& special,
                      const VisitText& visit_text, const VisitToken& visit_token) {
  while (!text.empty()) {
    std::size_t at = text.npos;
    const TokensOfText::value_type* first = nullptr;
    for (const auto& token : special)
      if (const std::size_t found = text.find(token.first);
          found < at ||
          (found == at && found != text.npos && first->first.size() < token.first.size())) {
        at = found;
        first = &token;
      }
    if (const std::string_view part = text.substr(0, at); !part.empty()) visit_text(part);
    if (first == nullptr) return;
    visit_token(first->second);
    text.remove_prefix(at + first->first.size());
  }
}

}  // namespace HEED_NAMESPACE
