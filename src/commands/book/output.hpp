// output.hpp: the records that a lesson prints (lessons/common/record.hpp) as HTML.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "commands/book/glossary.hpp"
#include "commands/book/source.hpp"

namespace heed::app {

// The records in the output of a lesson. A line that is not a record becomes one of kind "text".
std::vector<Json> records_of(const std::string& output);

// The lesson's data from which records are converted to HTML.
struct PageParts {
  LinkedText& text;
  LessonSource& source;
  std::filesystem::path folder;  // the folder in which the lesson ran
};

// Converts the records to HTML, and puts the code that ran before each of them.
std::string output_html(const std::vector<Json>& records, const PageParts& parts);

// Text as HTML: paragraphs, items of numbered lists, and preformatted lines. Characters that are
// not printable become escape sequences.
std::string text_html(const std::string& text, LinkedText& linked);

// HTML that is folded below its summary; `kind` is its class.
std::string folded(const std::string& kind, const std::string& summary, const std::string& html);
std::string code_html(const std::string& code);

}  // namespace heed::app
