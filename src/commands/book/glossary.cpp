// glossary.cpp: the terms of the glossary, and links to them in a text.

#include "commands/book/glossary.hpp"

#include <cctype>

#include "commands/book/course.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

std::string trimmed(const std::string& cell) {
  const std::size_t begin = cell.find_first_not_of(' ');
  return begin == cell.npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin);
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Whether the character can be part of a word or of an identifier, such as attention_of_token.
bool in_word(char c) { return is_letter(c) || c == '_'; }

// The first position of a whole word or phrase in a text, both in lower case.
std::size_t find_phrase(const std::string& text, const std::string& phrase) {
  for (std::size_t at = text.find(phrase); at != text.npos; at = text.find(phrase, at + 1)) {
    const std::size_t end = at + phrase.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end])))
      return at;
  }
  return text.npos;
}

}  // namespace

std::vector<Term> all_terms() {
  std::vector<Term> terms;
  for (const std::string& line :
       lines_of(read_text((lessons_folder() / "glossary.txt").string()))) {
    const std::vector<std::string> cells = split(line, '|');
    if (line.empty() || line[0] == '#' || cells.size() != 3) continue;
    terms.push_back({trimmed(cells[0]), trimmed(cells[1]), trimmed(cells[2])});
  }
  return terms;
}

std::string anchor_of(const std::string& name) {
  std::string anchor;
  for (const char c : name) anchor += is_letter(c) ? c : '-';
  return anchor;
}

std::string LinkedText::html(const std::string& text) {
  const std::string searched = lower(text);
  std::size_t first = text.npos;
  const Term* found = nullptr;
  for (const Term& term :
       terms_) {  // the first term in the text; the longer one, if two begin there
    if (linked_.count(term.name) != 0) continue;
    const std::size_t at = find_phrase(searched, lower(term.name));
    if (at == text.npos || at > first) continue;
    if (at < first || term.name.size() > found->name.size()) first = at, found = &term;
  }
  if (found == nullptr) return escaped_html(text);
  linked_.insert(found->name);
  const std::size_t end = first + found->name.size();
  return escaped_html(text.substr(0, first)) + "<a class=\"term\" id=\"" +
         term_anchor(found->name) + "\" title=\"" + escaped_html(found->definition) +
         "\" href=\"glossary.html#" + anchor_of(found->name) + "\">" +
         escaped_html(text.substr(first, found->name.size())) + "</a>" + html(text.substr(end));
}

}  // namespace heed::app
