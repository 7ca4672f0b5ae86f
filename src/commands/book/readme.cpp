// readme.cpp: the README.md, output.txt and pictures that a lesson's run writes into its folder.

#include "commands/book/readme.hpp"

#include <algorithm>

#include "commands/book/section_code.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

const std::string& string_in(const Json& record, const char* field) {
  return record.at(field).get<std::string>();
}

// A line that the lesson has printed without lesson.hpp has only the field "text".
const std::string& plain_of(const Json& record) {
  return string_in(record, record.contains("plain") ? "plain" : "text");
}

// Removes the newlines at the beginning and the end of the text.
std::string stripped(const std::string& text) {
  const std::size_t first = text.find_first_not_of('\n');
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of('\n') + 1 - first);
}

std::string fenced(const std::string& language, const std::string& text) {
  return text.empty() ? "" : "```" + language + "\n" + text + "\n```\n\n";
}

std::string folded_markdown(const std::string& summary, const std::string& markdown) {
  return "<details>\n<summary>" + summary + "</summary>\n\n" + markdown + "</details>\n\n";
}

// The last sentence of prose, without characters that have a meaning in the text of a link.
std::string last_sentence(const std::string& markdown) {
  std::string paragraph;  // the last paragraph
  bool in_fence = false, begins = true;
  for (const std::string& line : lines_of(markdown)) {
    const bool is_fence = line.rfind("```", 0) == 0;
    in_fence = in_fence != is_fence;
    if (!in_fence && !is_fence && !line.empty()) paragraph = (begins ? "" : paragraph + " ") + line;
    begins = line.empty() || is_fence;
  }
  while (!paragraph.empty() && paragraph.find_last_of(" .:?") == paragraph.size() - 1)
    paragraph.pop_back();
  std::size_t start = 0;
  for (const char* end : {". ", "? ", ": "}) {
    const std::size_t at = paragraph.rfind(end);
    if (at != paragraph.npos) start = std::max(start, at + 2);
  }
  std::string sentence = paragraph.substr(start);
  sentence.erase(
      std::remove_if(sentence.begin(), sentence.end(),
                     [](char c) { return c == '[' || c == ']' || c == '*' || c == '`'; }),
      sentence.end());
  return sentence;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The last paragraph of prose, if it ends with a colon and is not the only one; otherwise "".
std::string announcement_in(const std::string& markdown) {
  const std::string prose = stripped(markdown);
  const std::size_t start = prose.rfind("\n\n");
  if (prose.empty() || prose.back() != ':' || start == prose.npos) return "";
  return prose.substr(start + 2);
}

// The path of a record's picture in the folder of the run.
fs::path picture_file(const Json& record, const FinishedLesson& run) {
  const std::string& message = string_in(record, "picture");
  const fs::path file = run.folder / message;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored))
    throw_error("lesson ", run.lesson.name, ": a picture is missing: ", message);
  return file;
}

// Writes the README.md of a run, record by record.
class Readme {
 public:
  explicit Readme(const FinishedLesson& run) : run_(run), code_(run.sources.at(0)) {}

  std::string markdown() {
    text_ = links();
    for (const Json& record : run_.records) add(record);
    end_section();
    return text_ + files() + links();
  }

 private:
  void add(const Json& record) {
    const std::string& kind = string_in(record, "kind");
    if (kind == "title") {
      add_heading("# " + run_.lesson.number + " " + string_in(record, "title"));
    } else if (kind == "section" || kind == "appendix") {
      begin_section(record, kind == "appendix");
    } else if (kind == "prose") {
      end_output();
      prose_ = string_in(record, "markdown");
      text_ += prose_ + "\n";
    } else {
      add_code();
      if (record.contains("picture"))
        add_picture(record);
      else
        output_ += plain_of(record);
    }
  }

  void begin_section(const Json& record, bool is_appendix) {
    end_section();
    const std::string& title = string_in(record, "title");
    if (title == "To remember") add_main();
    if (is_appendix) {
      before_appendix_.swap(text_);
      appendix_ = title;
    } else {
      add_heading("## " + title);
    }
    function_ = string_in(record, "function");
    if (function_ == "main") function_ = code_.called_in(record.at("line").get<std::uint64_t>());
  }

  void end_section() {
    add_code();
    end_output();
    if (appendix_.empty()) return;
    text_ = before_appendix_ + folded_markdown("<b>" + appendix_ + "</b>", text_);
    before_appendix_.clear();
    appendix_.clear();
  }

  void add_heading(const std::string& heading) {
    end_output();
    text_ += heading + "\n\n";
  }

  // Adds the code of the section after its first prose, but before a last paragraph that ends with
  // a colon, because such a paragraph introduces the output.
  void add_code() {
    if (function_.empty()) return;
    end_output();
    const std::string announcement = announcement_in(prose_) + "\n\n";
    const bool splits = announcement.size() > 2 && ends_with(text_, "\n\n" + announcement);
    if (splits) text_.resize(text_.size() - announcement.size());
    text_ += fenced("cpp", stripped(code_.of(function_))) + (splits ? announcement : "");
    function_.clear();
  }

  void add_main() {
    const std::string code = fenced("cpp", stripped(code_.of("main")));
    if (!code.empty()) text_ += folded_markdown("The program in order: <code>main</code>", code);
  }

  void add_picture(const Json& record) {
    end_output();
    const std::string name = picture_file(record, run_).filename().string();
    text_ += "![" + last_sentence(prose_) + "](pictures/" + name + ")\n\n";
  }

  void end_output() {
    text_ += fenced("text", stripped(output_));
    output_.clear();
  }

  // ---- links

  std::string links() const {
    const auto link = [](const Lesson& lesson, const std::string& before,
                         const std::string& after) {
      return "[" + before + lesson.number + " " + lesson.title + after + "](../" + lesson.name +
             ")";
    };
    std::string line = "[The course](../README.md)";
    if (run_.before != nullptr) line = link(*run_.before, "← ", "") + " · " + line;
    if (run_.after != nullptr) line += " · " + link(*run_.after, "", " →");
    return line + "\n\n";
  }

  // The last section: how to run the lesson, and links to its files.
  std::string files() const {
    const std::string number = std::to_string(std::stoi(run_.lesson.number));
    std::string text = "`./heed lesson " + number + "` runs this lesson:";
    for (const fs::path& source : run_.sources)
      text += (source == run_.sources[0] ? " " : ", ") + link_to_file(source.filename().string());
    if (fs::exists(beside("answers.md")))
      text += ". The questions have " + link_to_file("answers.md");
    return text + ".\n\n";
  }

  fs::path beside(const std::string& file) const { return run_.sources[0].parent_path() / file; }

  static std::string link_to_file(const std::string& file) {
    return "[" + file + "](" + file + ")";
  }

  const FinishedLesson& run_;
  SectionCode code_;
  std::string text_;
  std::string output_;           // printed lines that the next block will show
  std::string function_;         // the section's function, until its code is added
  std::string prose_;            // the latest prose
  std::string appendix_;         // the title of the open appendix, or ""
  std::string before_appendix_;  // the text before the appendix
};

}  // namespace

std::string plain_output(const std::vector<Json>& records) {
  std::string output;
  for (const Json& record : records) {
    // A line that the lesson has printed without lesson.hpp begins a new line.
    if (!record.contains("plain") && !output.empty() && output.back() != '\n') output += '\n';
    output += plain_of(record);
  }
  if (!output.empty() && output.back() != '\n') output += '\n';
  return output;
}

std::string readme(const FinishedLesson& run) {
  if (std::none_of(run.records.begin(), run.records.end(),
                   [](const Json& record) { return string_in(record, "kind") == "title"; }))
    throw_error("lesson ", run.lesson.name, ": the lesson has no lesson.md");
  const std::string text = Readme(run).markdown();
  return stripped(text) + "\n";
}

void write_readme(const FinishedLesson& run, const fs::path& folder) {
  const std::string text = readme(run);
  const fs::path pictures = folder / "pictures";
  std::error_code ignored;
  fs::remove_all(pictures, ignored);
  for (const Json& record : run.records) {
    if (!record.contains("picture")) continue;
    fs::create_directories(pictures);
    const fs::path file = picture_file(record, run);
    write_file_atomically(pictures / file.filename(), read_text(file.string()));
  }
  write_file_atomically(folder / "README.md", text);
  write_file_atomically(folder / "output.txt", plain_output(run.records));
}

}  // namespace heed::app
