// lesson_text.hpp: reads the prose of a lesson (lesson.md), and formats it for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heed {

// A value of the code in the prose: {loss} in lesson.md stands for the value named "loss". A
// number that is not whole is given as text, so that its decimals are chosen: decimal(loss, 2).
struct Value {
  Value(std::string the_name, std::string the_text)
      : name(std::move(the_name)), text(std::move(the_text)) {}
  template <class Whole, std::enable_if_t<std::is_integral_v<Whole>, int> = 0>
  Value(std::string the_name, Whole number)
      : name(std::move(the_name)), text(std::to_string(number)) {}
  std::string name, text;
};
using Values = std::vector<Value>;

// The text of a lesson.md. It begins with a heading "# Title"; each section begins with a heading
// "## ...", and lines "---" separate its parts. Each part is printed once, in the order of the
// file. All functions throw a one-line Error that begins with the file's name.
class LessonText {
 public:
  // `file` is its name in errors. Throws an error if the first line is no title, or if a heading
  // has more than two # or stands twice.
  LessonText(std::string file, const std::string& markdown);

  const std::string& title() const { return sections_.front().heading; }

  // Begins the section and returns its first part with the values in it. The first section is that
  // of the title. Throws an error if the section does not exist or has begun before, if a part of
  // the previous section is left, or if the values are not those that the part names.
  std::string begin(const std::string& heading, const Values& values);

  // Returns the next part of the section with the values in it. Throws an error if there is none.
  std::string next(const Values& values);

  bool has_left(const std::string& heading) const;  // whether this section is not printed
  void skip(const std::string& heading);            // counts the section as printed
  void end() const;  // throws an error if a section or a part is left

 private:
  struct Section {
    std::string heading;
    std::vector<std::string> parts = {""};
    std::size_t printed = 0;  // the number of its parts that were returned
  };
  bool has(const std::string& heading) const;
  void add_section(const std::string& line);
  Section& section(const std::string& heading);
  void check_printed(const Section& section) const;
  std::string with_values(const std::string& part, const Values& values) const;

  std::string file_;
  std::vector<Section> sections_;
  std::size_t current_ = 0;  // the index of the section that has begun
};

// The Markdown as text for a terminal: paragraphs and list items are wrapped at `width` columns,
// lines of a fenced block are indented by two spaces, marks of emphasis and links are dropped.
std::string terminal_text(const std::string& markdown, std::size_t width = 80);

}  // namespace heed
