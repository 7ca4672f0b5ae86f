// book.cpp: heed book, which runs the lessons and writes each one as an HTML page.

#include "commands/book/book.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "base/process.hpp"
#include "commands/book/course.hpp"
#include "commands/book/glossary.hpp"
#include "commands/book/output.hpp"
#include "commands/book/readme.hpp"
#include "commands/book/search.hpp"
#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

const fs::path programs_folder = HEED_LESSON_PROGRAMS;

// ---- parts of a page

// The exercise's description (the comment at the beginning of its file) and the code that the
// reader writes.
std::string exercise_html(const fs::path& file, LinkedText& text) {
  std::string about, part, number;
  bool in_comment = true, in_part = false;
  for (const std::string& line : lines_of(read_text(file.string()))) {
    if (number.empty()) number = line.substr(3, line.find(' ', 3) - 3);  // "// 05b wrong_axis: ..."
    in_comment = in_comment && line.compare(0, 2, "//") == 0;
    if (in_comment) about += (line.size() > 3 ? line.substr(3) : "") + "\n";
    if (line.find("Your part ends") != line.npos) in_part = false;
    if (in_part) part += line + "\n";
    if (line.find("Your part begins") != line.npos) in_part = true;
  }
  std::string html =
      "<h2>Exercise " + escaped_html(number) + "</h2>\n" + text_html(about, text) + code_html(part);
  std::size_t hint = 0;
  for (const std::string& advice : hints_of(file.parent_path(), number))
    html +=
        folded("hint", "Hint " + std::to_string(++hint), "<p>" + escaped_html(advice) + "</p>\n");
  return html + "<p>Check it with <code>./heed exercise " + escaped_html(number) + "</code>.</p>\n";
}

// The answers to a lesson's questions as HTML; "" for a lesson without questions.
std::string answers_html(const Lesson& lesson) {
  const fs::path file = lesson.folder() / "answers.md";
  if (!fs::exists(file)) return "";
  return folded("answers", "Answers to the questions", code_html(read_text(file.string())));
}

std::string page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         escaped_html(title) +
         "</title>\n<link rel=\"stylesheet\" href=\"book.css\">\n</head>\n<body>\n"
         "<nav><a href=\"index.html\">The course</a> <a href=\"glossary.html\">Glossary</a> "
         "<label>Search <input id=\"search\" type=\"search\"></label></nav>\n<ul "
         "id=\"found\" aria-live=\"polite\" aria-label=\"found\"></ul>\n<main>\n" +
         body +
         "</main>\n<script src=\"entries.js\"></script>\n<script src=\"book.js\"></script>\n"
         "<script src=\"maps.js\"></script>\n<script src=\"curves.js\"></script>\n"
         "<script src=\"sliders.js\"></script>\n"
         "</body>\n</html>\n";
}

std::string page_of(const Lesson& lesson) { return lesson.name + ".html"; }

std::string link_to(const Lesson& lesson) {
  return "<a href=\"" + page_of(lesson) + "\">" + lesson.number + " " + escaped_html(lesson.title) +
         "</a>";
}

// ---- the book

// Runs the lesson in the folder `scratch` and returns the records that it prints.
std::vector<Json> run_lesson(const Lesson& lesson, const fs::path& scratch, bool brief) {
  ChildProgram program{{(programs_folder / lesson.name).string()}, scratch.string()};
  program.environment["HEED_BOOK"] = "1";
  if (brief) program.environment["HEED_BRIEF"] = "1";
  const ChildResult result = run_child(program);
  if (result.code != 0)
    throw_error("lesson ", lesson.name, ": ended with code ", result.code, ": ",
                result.last_error());
  return records_of(result.out);
}

class Book {
 public:
  Book(fs::path folder, bool brief) : folder_(std::move(folder)), brief_(brief), entries_(folder_) {
    make_folder(folder_);
  }

  // Runs a lesson in the folder `scratch` and writes its page.
  void write_lesson(std::size_t i, const fs::path& scratch) {
    const Lesson& lesson = lessons_[i];
    entries_.clear(page_of(lesson));
    write(page_of(lesson), lesson_html(i, scratch));
  }

  // Writes all pages except those of lessons; for a lesson without a page, writes one that says so.
  void write_rest() {
    for (std::size_t i = 0; i < lessons_.size(); ++i)
      if (!fs::exists(folder_ / page_of(lessons_[i])))
        write(page_of(lessons_[i]), page_without_output(i));
    write("index.html", index_html());
    write("glossary.html", glossary_html());
    write("entries.js", entries_.script());
    for (const char* name : {"book.css", "book.js", "maps.js", "curves.js", "sliders.js"})
      write(name, read_text((fs::path(HEED_BOOK_DIR) / name).string()));
  }

 private:
  void write(const std::string& name, const std::string& content) const {
    write_file_atomically(folder_ / name, content);
  }

  // ---- pages

  std::string head_html(std::size_t i) const {
    const Lesson& lesson = lessons_[i];
    return previous_next_links_html(i) + "<p class=\"number\">Lesson " + lesson.number +
           "</p>\n<h1>" + escaped_html(lesson.title) + "</h1>\n<p class=\"about\">" +
           escaped_html(lesson.about) + "</p>\n";
  }

  std::string lesson_html(std::size_t i, const fs::path& scratch) {
    const Lesson& lesson = lessons_[i];
    const std::vector<fs::path> files = source_files(lesson);
    LinkedText text(terms_);
    LessonSource source(files);
    const std::vector<Json> records = run_lesson(lesson, scratch, brief_);
    for (const Json& record : records)
      if (record.at("kind") == "section" || record.at("kind") == "appendix") {
        const std::string& title = record.at("title").get<std::string>();
        entries_.add(lesson.number + ": " + title, page_of(lesson), anchor_of(title));
      }
    std::string html = head_html(i) + "<div id=\"output\">\n" +
                       output_html(records, {text, source, scratch}) + "</div>\n" +
                       answers_html(lesson);
    for (const fs::path& file : exercise_files(lesson)) html += exercise_html(file, text);
    html += "<h2>The source</h2>\n";
    for (const fs::path& file : files)
      html += folded("source", "lessons/" + lesson.name + "/" + file.filename().string(),
                     code_html(read_text(file.string())));
    return page(lesson.number + " " + lesson.title, html + previous_next_links_html(i));
  }

  std::string page_without_output(std::size_t i) const {
    const Lesson& lesson = lessons_[i];
    return page(lesson.number + " " + lesson.title,
                head_html(i) + "<p>This lesson has not been run yet. <code>./heed book " +
                    lesson.number + "</code> runs it and writes this page.</p>\n");
  }

  std::string previous_next_links_html(std::size_t i) const {
    const std::string before = i > 0 ? "← " + link_to(lessons_[i - 1]) : "";
    const std::string after = i + 1 < lessons_.size() ? link_to(lessons_[i + 1]) + " →" : "";
    return "<p class=\"turn\"><span>" + before + "</span><span>" + after + "</span></p>\n";
  }

  std::string glossary_html() {
    std::string html = "<h1>Glossary</h1>\n<dl>\n";
    entries_.clear("glossary.html");
    for (const Term& term : terms_) {
      html += "<dt id=\"" + anchor_of(term.name) + "\">" + escaped_html(term.name) + "</dt><dd>" +
              escaped_html(term.definition) + " (" + lesson_of_term(term) + ")</dd>\n";
      entries_.add(term.name, "glossary.html", anchor_of(term.name));
    }
    return page("Glossary", html + "</dl>\n");
  }

  // A link to the lesson's first use of the term.
  std::string lesson_of_term(const Term& term) const {
    for (const Lesson& lesson : lessons_)
      if (lesson.number == term.lesson)
        return "<a href=\"" + page_of(lesson) + "#" + term_anchor(term.name) + "\">lesson " +
               lesson.number + "</a>";
    return "lesson " + escaped_html(term.lesson);
  }

  std::string index_html() const {
    std::string html =
        "<h1>heed: learn attention by running code</h1>\n<p class=\"about\">Each lesson is a "
        "program. Its page shows what the program printed and drew, the lines of code that ran "
        "before, and the lesson's exercises. Words with a dotted line lead to their definition."
        "</p>\n<ol class=\"course\">\n";
    for (const Lesson& lesson : lessons_)
      html += "<li>" + link_to(lesson) + "<br>" + escaped_html(lesson.about) + "</li>\n";
    return page("heed: the course", html + "</ol>\n");
  }

  fs::path folder_;
  bool brief_;
  std::vector<Lesson> lessons_ = all_lessons();
  std::vector<Term> terms_ = all_terms();
  SearchEntries entries_;
};

// A new folder for the files that the lessons write. The destructor removes it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "heed-book-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw_error(name, ": ", std::strerror(errno), "; set TMPDIR to a folder that can be written");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Whether `wanted` is empty or names the lesson: "5", "05" or "04_query_key_value".
bool is_chosen(const Lesson& lesson, const std::string& wanted) {
  return wanted.empty() || wanted == lesson.name || wanted == lesson.number ||
         "0" + wanted == lesson.number;
}

// Runs the chosen lesson and writes its README.md, output.txt and pictures.
int write_readme_of(const std::vector<Lesson>& lessons, const BookCommand& command,
                    const fs::path& scratch) {
  if (command.lesson.empty()) throw UsageError("--readme needs the number of a lesson");
  std::size_t i = 0;
  while (!is_chosen(lessons[i], command.lesson)) ++i;
  const fs::path folder =
      command.out.empty() ? source_files(lessons[i]).front().parent_path() : fs::path(command.out);
  make_folder(folder);
  LiveLine line;
  line.show("lesson " + lessons[i].number);
  const std::vector<Json> records = run_lesson(lessons[i], scratch, command.brief);
  write_readme(
      {records, scratch, lessons[i], source_files(lessons[i]), i > 0 ? &lessons[i - 1] : nullptr,
       i + 1 < lessons.size() ? &lessons[i + 1] : nullptr},
      folder);
  line.wipe();
  std::cout << "lesson " << printable((folder / "README.md").string()) << '\n';
  return 0;
}

}  // namespace

void declare_flags(Flags& flags, BookCommand& c) {
  flags.positional("LESSON", c.lesson, "the number of a lesson, to write only its page [all]");
  flags.path("--out", "DIR", "folder of the pages [book]", "folder", c.out);
  flags.flag("--readme", c.readme,
             "write README.md, output.txt and pictures of one lesson into its folder");
  flags.flag("--brief", c.brief, "run the lessons with fewer training steps");
  flags.example("./heed book --brief");
  flags.example("./heed book 5 --out pages");
}

int run(const BookCommand& command) {
  const std::vector<Lesson> lessons = all_lessons();
  if (std::none_of(lessons.begin(), lessons.end(),
                   [&](const Lesson& lesson) { return is_chosen(lesson, command.lesson); }))
    throw UsageError("lesson '" + printable(command.lesson) +
                     "' does not exist; there are lessons " + lessons.front().number + " to " +
                     lessons.back().number);
  const ScratchFolder scratch;
  exit_at_interrupt();
  if (command.readme) return write_readme_of(lessons, command, scratch.path());
  const fs::path folder = command.out.empty() ? "book" : command.out;
  Book book(folder, command.brief);
  std::size_t written = 0;
  LiveLine line;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    if (!is_chosen(lessons[i], command.lesson)) continue;
    line.show("lesson " + lessons[i].number);
    book.write_lesson(i, scratch.path());
    book.write_rest();  // now, so that an interrupted run leaves a readable book
    ++written;
  }
  line.wipe();
  std::cout << "book   " << printable((folder / "index.html").string()) << ": "
            << counted(written, "lesson") << '\n';
  return 0;
}

}  // namespace heed::app
