// glossary.hpp: the terms of the glossary, and links to them in a text.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace heed::app {

// A term of the glossary, lessons/glossary.txt.
struct Term {
  std::string name, lesson, definition;  // lesson: number of its lesson, such as "04"
};
std::vector<Term> all_terms();

// Text as HTML, in which the first occurrence of each term on the page is a link to the glossary.
// The glossary links back to it: its id is term_anchor(name).
class LinkedText {
 public:
  explicit LinkedText(const std::vector<Term>& terms) : terms_(terms) {}
  std::string html(const std::string& text);

 private:
  const std::vector<Term>& terms_;
  std::set<std::string> linked_;  // the terms that already have a link on the page
};

// The link target of a heading or term: letters and digits of its name.
std::string anchor_of(const std::string& name);
inline std::string term_anchor(const std::string& term) { return "term-" + anchor_of(term); }

}  // namespace heed::app
