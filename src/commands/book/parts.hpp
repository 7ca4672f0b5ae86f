// parts.hpp: declarations shared by the source files of heed book.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace heed::app {

// ---- course.cpp

struct Lesson {
  std::string name;          // "05_query_key_value"
  std::string number;        // "05"
  std::string title, about;  // from the first line of its source
};

std::filesystem::path lessons_folder();
std::vector<Lesson> all_lessons();

// The files of a folder whose names begin and end so, in order.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& begin, const std::string& end);

// 05_query_key_value.cpp, then the headers of the lesson, 05_*.hpp.
std::vector<std::filesystem::path> source_files(const Lesson& lesson);

// ---- glossary.cpp

// A term of the glossary, lessons/glossary.txt.
struct Term {
  std::string name, lesson, definition;  // lesson: its number, such as "04"
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
  std::set<std::string> linked_;  // the terms that the page has linked already
};

// The link target of a heading or term: letters and digits of its name.
std::string anchor_of(const std::string& name);
inline std::string term_anchor(const std::string& term) { return "term-" + anchor_of(term); }

// ---- source.cpp

// Lines of a source file, and where they are.
struct SourceLines {
  std::string text, file;
  std::size_t first = 0;  // the number of the first line, counted from 1
};

// The source files of a lesson, and which of their lines the page has shown.
class LessonSource {
 public:
  explicit LessonSource(const std::vector<std::filesystem::path>& files);

  // The lines that ran since the previous call of the same function that printed, up to this call.
  // The call itself is part of them unless it prints only text or a say() of more than four lines.
  // The text is empty if the page has shown them, or if the file is not one of the lesson's.
  SourceLines lines_before(const std::string& file, std::size_t line);

  // The lines of main up to its call of the function around this line, at which a section begins.
  SourceLines lines_of_main(const std::string& file, std::size_t line);

 private:
  struct File {
    std::vector<std::string> lines;
    std::vector<bool> shown;
  };
  std::map<std::string, File> files_;
};

// ---- output.cpp

// A part of a lesson's output below one heading.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  std::map<std::size_t, std::vector<Json>> notes = {};  // before which line; lessons/book_notes.hpp
};

// Splits the output of a lesson at its headings, which are underlined, and takes the notes out.
// Characters that are not printable become escape sequences.
std::vector<Section> sections_of(const std::string& output);

// What the HTML of a section needs from its lesson.
struct PageParts {
  LinkedText& text;
  LessonSource& source;
  std::filesystem::path folder;  // the folder in which the lesson ran
};

// The lines of a section as HTML: prose, tables, checks with their tolerance, quotations,
// preformatted text, pictures, the code that ran before each of them, attention maps, loss curves
// and sliders.
std::string section_html(const Section& section, const PageParts& parts);

// Lines without notes and pictures as HTML.
std::string text_html(const std::vector<std::string>& lines, LinkedText& text);

// HTML that is folded below its summary; `kind` is its class.
std::string folded(const std::string& kind, const std::string& summary, const std::string& html);
std::string code_html(const std::string& code);

}  // namespace heed::app
