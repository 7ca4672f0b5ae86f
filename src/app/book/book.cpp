// book.cpp: heed book, which runs the lessons and writes each one as an HTML page.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "app/book/parts.hpp"
#include "heed/app/options.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/process.hpp"
#include "heed/base/text.hpp"
#include "heed/report/page.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

const fs::path lessons_folder = HEED_LESSONS_DIR;
const fs::path programs_folder = HEED_LESSON_PROGRAMS;

struct Lesson {
  std::string name;          // "05_query_key_value"
  std::string number;        // "05"
  std::string title, about;  // from the first line of its source
};

// ---- the files of the lessons

std::vector<fs::path> files_in(const fs::path& folder, const std::string& begin,
                               const std::string& end) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(begin, 0) == 0 && name.size() > end.size() &&
        name.compare(name.size() - end.size(), end.size(), end) == 0)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads "// 05 query_key_value: scaled dot-product attention ...".
Lesson lesson_of(const fs::path& file) {
  const std::string line = lines_of(read_text(file.string())).at(0);
  const std::size_t colon = line.find(": ");
  std::string title = line.substr(6, colon - 6);
  std::replace(title.begin(), title.end(), '_', ' ');
  return {file.stem().string(), line.substr(3, 2), title, line.substr(colon + 2)};
}

std::vector<Lesson> all_lessons() {
  std::vector<Lesson> lessons;
  for (const fs::path& file : files_in(lessons_folder, "", ".cpp")) {
    const std::string name = file.filename().string();
    if (is_digit(name[0]) && is_digit(name[1])) lessons.push_back(lesson_of(file));
  }
  return lessons;
}

std::vector<Term> all_terms() {
  std::vector<Term> terms;
  for (const std::string& line : lines_of(read_text((lessons_folder / "glossary.txt").string()))) {
    const std::vector<std::string> cells = split(line, '|');
    const auto trimmed = [&](std::size_t i) {
      return joined({cells[i].substr(cells[i].find_first_not_of(' '))}, "");
    };
    if (line.empty() || line[0] == '#' || cells.size() != 3) continue;
    std::string name = trimmed(0), lesson = trimmed(1);
    name.erase(name.find_last_not_of(' ') + 1);
    lesson.erase(lesson.find_last_not_of(' ') + 1);
    terms.push_back({name, lesson, trimmed(2)});
  }
  return terms;
}

// ---- parts of a page

std::string folded(const std::string& summary, const std::string& html) {
  return "<details><summary>" + escaped_html(summary) + "</summary>\n" + html + "</details>\n";
}
std::string code_html(const std::string& code) {
  return "<pre class=\"code\"><code>" + escaped_html(code) + "</code></pre>\n";
}

// The source lines from section("title") to the next section, or an empty string.
std::string code_of(const Lesson& lesson, const std::string& title) {
  for (const char* end : {".cpp", ".hpp"})
    for (const fs::path& file : files_in(lessons_folder, lesson.number + "_", end)) {
      std::string code;
      bool inside = false;
      for (const std::string& line : lines_of(read_text(file.string()))) {
        if (line.find("section(\"") != line.npos)
          inside = line.find("section(\"" + title + "\"") != line.npos;
        if (inside) code += line + "\n";
      }
      if (!code.empty()) return code;
    }
  return "";
}

std::string pictures_html(const fs::path& folder) {
  std::string html;
  if (!fs::is_directory(folder)) return html;
  for (const fs::path& file : files_in(folder, "", ".svg"))
    html += "<figure><img alt=\"" + escaped_html(file.stem().string()) +
            "\" src=\"data:image/svg+xml;base64," + base64(read_text(file.string())) +
            "\"><figcaption>" + escaped_html(file.stem().string()) + "</figcaption></figure>\n";
  return html.empty() ? html : "<h2 id=\"pictures\">Pictures</h2>\n" + html;
}

// The comment at the beginning of a file, without slashes and hints, and the part to write.
std::string exercise_html(const fs::path& file, LinkedText& text) {
  std::string about, part;
  bool in_comment = true, in_part = false;
  for (const std::string& line : lines_of(read_text(file.string()))) {
    in_comment = in_comment && line.rfind("//", 0) == 0;
    if (in_comment) about += (line.size() > 3 ? line.substr(3) : "") + "\n";
    if (line.find("Your part ends") != line.npos) in_part = false;
    if (in_part) part += line + "\n";
    if (line.find("Your part begins") != line.npos) in_part = true;
  }
  const std::string name = file.stem().string();
  std::string html = "<h2>Exercise " + escaped_html(name.substr(0, name.find('_'))) + "</h2>\n" +
                     section_html({"", lines_of(about)}, text) + code_html(part);
  std::size_t number = 0;
  const std::string solution = (lessons_folder / "solutions" / file.filename()).string();
  for (const std::string& line : lines_of(read_text(solution)))
    if (line.rfind("// Hint: ", 0) == 0)
      html += folded("Hint " + std::to_string(++number),
                     "<p>" + escaped_html(line.substr(9)) + "</p>\n");
  return html + "<p>Check it with <code>./heed exercise " +
         escaped_html(name.substr(0, name.find('_'))) + "</code>.</p>\n";
}

std::string page(const std::string& title, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         escaped_html(title) +
         "</title>\n<link rel=\"stylesheet\" href=\"book.css\">\n</head>\n<body>\n"
         "<nav><a href=\"index.html\">The course</a> <a href=\"glossary.html\">Glossary</a> "
         "<label>Search <input id=\"search\" type=\"search\"></label></nav>\n<ul "
         "id=\"found\"></ul>\n"
         "<main>\n" +
         body +
         "</main>\n<script src=\"entries.js\"></script>\n<script src=\"book.js\"></script>\n"
         "</body>\n</html>\n";
}

std::string link_to(const Lesson& lesson) {
  return "<a href=\"" + lesson.name + ".html\">" + lesson.number + " " +
         escaped_html(lesson.title) + "</a>";
}

// The text as a string of a script, in quotes.
std::string script_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else
      quoted += c == '\n' ? ' ' : c;
  return quoted + "\"";
}

// ---- the book

struct Book {
  fs::path folder;
  bool brief;
  std::vector<Lesson> lessons = all_lessons();
  std::vector<Term> terms = all_terms();
  std::vector<std::string> entries = {};  // of the search: ["text", "address"] each

  void add_entry(const std::string& text, const std::string& address) {
    entries.push_back("[" + script_text(text) + ", " + script_text(address) + "]");
  }

  std::string output_of(const Lesson& lesson, const fs::path& scratch) const {
    ChildProgram program{{(programs_folder / lesson.name).string()}, scratch.string()};
    if (brief) program.environment["HEED_BRIEF"] = "1";
    const ChildResult result = run_child(program);
    if (result.code != 0)
      throw_error("lesson ", lesson.name, ": ended with code ", result.code, ": ",
                  result.last_error());
    return result.out;
  }

  std::string lesson_html(std::size_t i, const fs::path& scratch) {
    const Lesson& lesson = lessons[i];
    LinkedText text(terms);
    std::string html = "<p class=\"number\">Lesson " + lesson.number + "</p>\n<h1>" +
                       escaped_html(lesson.title) + "</h1>\n<p class=\"about\">" +
                       escaped_html(lesson.about) + "</p>\n<div id=\"output\">\n";
    for (const Section& section : sections_of(output_of(lesson, scratch))) {
      const std::string anchor = anchor_of(section.title);
      html += "<h2 id=\"" + anchor + "\">" + escaped_html(section.title) + "</h2>\n" +
              section_html(section, text);
      const std::string code = code_of(lesson, section.title);
      if (!code.empty()) html += folded("The code of this section", code_html(code));
      add_entry(lesson.number + ": " + section.title, lesson.name + ".html#" + anchor);
    }
    html += "</div>\n" + pictures_html(scratch / "runs/lessons" / lesson.name);
    html += folded(
        "Answers to the questions",
        code_html(read_text((lessons_folder / "answers" / (lesson.name + ".txt")).string())));
    for (const fs::path& file : files_in(lessons_folder / "exercises", lesson.number, ".cpp"))
      html += exercise_html(file, text);
    html += "<p class=\"turn\">" + (i > 0 ? "← " + link_to(lessons[i - 1]) : "") +
            " <span></span> " + (i + 1 < lessons.size() ? link_to(lessons[i + 1]) + " →" : "") +
            "</p>\n";
    return page(lesson.number + " " + lesson.title, html);
  }

  std::string glossary_html() {
    std::string html = "<h1>Glossary</h1>\n<dl>\n";
    for (const Term& term : terms) {
      html += "<dt id=\"" + anchor_of(term.name) + "\">" + escaped_html(term.name) + "</dt><dd>" +
              escaped_html(term.definition) + " (lesson " + term.lesson + ")</dd>\n";
      add_entry(term.name, "glossary.html#" + anchor_of(term.name));
    }
    return page("Glossary", html + "</dl>\n");
  }

  std::string index_html() const {
    std::string html = "<h1>heed: learn attention by running code</h1>\n<ol class=\"course\">\n";
    for (const Lesson& lesson : lessons)
      html += "<li>" + link_to(lesson) + "<br>" + escaped_html(lesson.about) + "</li>\n";
    return page("heed: the course", html + "</ol>\n");
  }

  void write(const std::string& name, const std::string& content) const {
    write_file_atomically(folder / name, content);
  }
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

// Whether `wanted` is empty or names the lesson: "5", "05" or "05_query_key_value".
bool is_chosen(const Lesson& lesson, const std::string& wanted) {
  return wanted.empty() || wanted == lesson.name || wanted == lesson.number ||
         "0" + wanted == lesson.number;
}

}  // namespace

int run(const BookCommand& command) {
  Book book{command.out, command.brief};
  if (std::none_of(book.lessons.begin(), book.lessons.end(),
                   [&](const Lesson& lesson) { return is_chosen(lesson, command.lesson); }))
    throw UsageError("lesson '" + printable(command.lesson) +
                     "' does not exist; there are lessons 1 to " +
                     std::to_string(book.lessons.size()));
  make_folder(book.folder);
  const ScratchFolder scratch;
  exit_at_interrupt();
  std::size_t written = 0;
  LiveLine line;
  for (std::size_t i = 0; i < book.lessons.size(); ++i) {
    if (!is_chosen(book.lessons[i], command.lesson)) continue;
    line.show("lesson " + book.lessons[i].number);
    book.write(book.lessons[i].name + ".html", book.lesson_html(i, scratch.path()));
    ++written;
  }
  book.write("index.html", book.index_html());
  book.write("glossary.html", book.glossary_html());
  book.write("entries.js", "const entries = [\n" + joined(book.entries, ",\n") + "];\n");
  for (const char* name : {"book.css", "book.js"})
    book.write(name, read_text((fs::path(HEED_BOOK_DIR) / name).string()));
  line.wipe();
  std::cout << "book   " << printable((book.folder / "index.html").string()) << ": "
            << counted(written, "lesson") << '\n';
  return 0;
}

}  // namespace heed::app
