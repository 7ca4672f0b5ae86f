// parts.hpp: declarations shared by the source files of heed book.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace heed::app {

// A term of the glossary, lessons/glossary.txt.
struct Term {
  std::string name, lesson, definition;  // lesson: its number, such as "04"
};

// Text as HTML, in which the first occurrence of each term on the page is a link to the glossary.
class LinkedText {
 public:
  explicit LinkedText(const std::vector<Term>& terms) : terms_(terms) {}
  std::string html(const std::string& text);

 private:
  const std::vector<Term>& terms_;
  std::set<std::string> linked_;  // the terms that the page has linked already
};

// A part of a lesson's output below one heading.
struct Section {
  std::string title;
  std::vector<std::string> lines;
};

// Splits the output of a lesson at its headings, which are underlined.
std::vector<Section> sections_of(const std::string& output);

// The lines of a section as HTML: prose, tables, checks, quotations and preformatted text.
std::string section_html(const Section& section, LinkedText& text);

// The link target of a term: letters and digits of its name.
std::string anchor_of(const std::string& name);

}  // namespace heed::app
