// lessons_test.cpp: each lesson's output equals its output.txt up to rounding errors.

#include <cmath>
#include <regex>
#include <set>

#include "lessons/differences.hpp"
#include "lessons/written_files.hpp"
#include "readme.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed_test;

using Path = std::filesystem::path;

std::string expected_output(const Path& lesson) { return content(lesson / "output.txt"); }

// Whether a run that writes a README failed because gnuplot or Graphviz is not installed.
bool cannot_draw(const LessonRun& run) {
  if (run.exit_code == 0 || !has(run.output, " is not installed")) return false;
  WARN("skipped: gnuplot or Graphviz is not installed");
  return true;
}

// The commands with `./heed look` in the output of a lesson. A backslash at the end of a line
// continues the command in the next line.
std::vector<std::string> look_commands_in(const std::string& text) {
  std::vector<std::string> commands;
  bool continues = false;
  for (std::string line : lines_of(text)) {
    const bool begins = line.rfind("  ./heed look ", 0) == 0;
    if (begins) commands.push_back("");
    if (!begins && !continues) continue;
    continues = line.back() == '\\';
    if (continues) line.pop_back();
    commands.back() += line.substr(line.find_first_not_of(' ')) + " ";
  }
  return commands;
}

// Runs each `./heed look` that the lesson printed, on the checkpoint that the lesson has written.
void check_look_commands(const std::string& folder, const std::string& output) {
  for (const std::string& command : look_commands_in(output)) {
    const std::string words = command.substr(std::string("./heed ").size());
    if (has(words, "my_novel")) continue;  // an example with a text of the reader's
    INFO(command);
    const LessonRun look = run_in(folder, HEED_BINARY_DIR "/heed", words + " 2>&1");
    CHECK(look.exit_code == 0);
    CHECK(has(look.output, "model  runs/lessons/"));
    CHECK(has(look.output, "\nrows: query, columns: key\n"));
    CHECK(has(look.output, "\nHead ablation: with all heads the loss is "));
  }
}

// The README.md of a lesson, without the link to answers if the course is handed out without them.
std::string readme_of(const Path& lesson) {
  const std::string text = content(lesson / "README.md");
  const std::string link = ". The questions have [answers.md](answers.md)";
  const std::size_t at = text.find(link);
  if (at == text.npos || std::filesystem::exists(lesson / "answers.md")) return text;
  return text.substr(0, at) + text.substr(at + link.size());
}

// Compares the output, README.md and pictures with those that the lesson writes now.
void check_output(const Path& lesson) {
  const std::string name = lesson.filename().string();
  const ScratchFolder folder(name);
  const LessonRun run = write_lesson(lesson, folder.path);
  if (cannot_draw(run)) return;
  const Path written = Path(folder.path) / "written";
  INFO("lesson " << name << "; if you changed it, run: ./heed lesson " << name << " --write");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK(first_difference(expected_output(lesson), run.output) == "");
  CHECK(first_difference(readme_of(lesson), content(written / "README.md")) == "");
  check_pictures_of(lesson, written);
  check_look_commands(folder.path, run.output);
}

// The source of a lesson and of the files in the folder lessons that it includes.
std::string source_with_includes(const Path& lesson) {
  std::vector<Path> files = {lesson / "lesson.cpp"};
  std::string source;
  for (std::size_t i = 0; i < files.size(); ++i) {
    source += content(files[i]);
    for (const std::string& name : matches(content(files[i]), "#include \"([^\"/]+)\""))
      for (const char* type : {".hpp", ".cpp"})
        for (const Path& folder : {lesson, lesson.parent_path() / "common"}) {
          const Path file = (folder / name).replace_extension(type);
          if (std::filesystem::exists(file) &&
              std::find(files.begin(), files.end(), file) == files.end())
            files.push_back(file);
        }
  }
  return source;
}

}  // namespace

TEST_CASE("the lessons that train models are those in the README", "[lessons]") {
  const std::string list =
      matches(one_line(documentation()), "Lessons ([0-9, andto]+) train models").at(0);
  const std::regex range("([0-9]+)(?: to ([0-9]+))?");
  std::set<int> listed, training;
  for (std::sregex_iterator i(list.begin(), list.end(), range), end; i != end; ++i)
    for (int n = std::stoi((*i)[1]); n <= std::stoi((*i)[2].matched ? (*i)[2] : (*i)[1]); ++n)
      listed.insert(n);
  for (const Path& lesson : lesson_folders()) {
    const std::string source = source_with_includes(lesson);
    if (has(source, "optim::") || has(source, "Trainer ") || has(source, "make_trainer("))
      training.insert(std::stoi(lesson.filename().string()));
  }
  CHECK(listed == training);
}

TEST_CASE("the bounds of lessons 14 and 20 in the course map and the README are checked there",
          "[lessons]") {
  const std::string text = one_line(documentation());
  const std::string percent = matches(content(project / "lessons/README.md"),
                                      "a model less than ([0-9.]+) % above the lower bound")
                                  .at(0);
  CHECK(has(content(project / "lessons/14_how_low_can_it_go/lesson.cpp"),
            "guard(\"the excess loss is less than " + percent +
                " % of the entropy rate\", e.mean.mean < 0.0" + percent + " * rate,"));
  const std::string match =
      matches(text, "more than ([0-9.]+) of the held-out sequences without an error").at(0);
  CHECK(has(content(project / "lessons/20_encoder_decoder/lesson.cpp"),
            "guard(\"trained lengths: the mean exact match of each task is above " + match +
                "\",\n        lowest_trained(rows) > " + match + ", "));
}

TEST_CASE("the engine of lesson 05 has forty lines, within a tenth", "[lessons]") {
  CHECK(has(content(project / "lessons/README.md"), "a scalar engine in forty lines"));
  const std::string source = content(project / "lessons/05_autograd/lesson.cpp");
  const std::size_t begin = source.find("\nstruct Number {"),
                    last = source.find("\nvoid backward(");
  REQUIRE(last != source.npos);
  std::size_t count = 0;
  for (const std::string& line :
       lines_of(source.substr(begin, source.find("\n}\n", last) + 2 - begin)))
    count += line.empty() || line.rfind("//", 0) == 0 ? 0 : 1;
  CHECK(count >= 36);
  CHECK(count <= 44);
}

TEST_CASE("each lesson without training prints its output.txt", "[lessons]") {
  for (const Path& lesson : lesson_folders())
    if (!trains(lesson)) check_output(lesson);
}

// Lessons from this number on train for one to three minutes.
static bool trains_for_minutes(const Path& lesson) {
  return trains(lesson) && std::stoi(lesson.filename().string()) >= 13;
}

TEST_CASE("each lesson that trains for seconds prints its output.txt",
          "[lessons][lessons_in_full][.]") {
  for (const Path& lesson : lesson_folders())
    if (trains(lesson) && !trains_for_minutes(lesson)) check_output(lesson);
}

TEST_CASE("each lesson that trains for minutes prints its output.txt",
          "[lessons][long_lessons][.]") {
  for (const Path& lesson : lesson_folders())
    if (trains_for_minutes(lesson)) check_output(lesson);
}

TEST_CASE("lesson 26 reads a BERT that the reader has downloaded",
          "[lessons][lessons_in_full][.]") {
  const ScratchFolder folder;
  const auto lesson = [&](const std::string& bert) {
    return run_in(folder.path, HEED_BINARY_DIR "/lessons/26_inside_bert",
                  in_quotes(bert) + " 2>&1");
  };
  const LessonRun run = lesson(HEED_TESTS_DIR "/weights/bert");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK(has(run.output, "  holds: "));
  CHECK_FALSE(has(run.output, "does not hold"));
  CHECK_FALSE(std::filesystem::exists(folder / "runs/lessons/26_inside_bert/bert"));
  const LessonRun missing = lesson("no folder");
  CHECK(missing.exit_code == 1);
  CHECK(has(missing.output, "no folder/vocab.txt: No such file or directory"));
}

TEST_CASE("lesson 28 examines a model that the reader has downloaded",
          "[lessons][lessons_in_full][.]") {
  const ScratchFolder folder;
  const auto lesson = [&](const std::string& model) {
    return run_in(folder.path, HEED_BINARY_DIR "/lessons/28_a_real_model",
                  in_quotes(model) + " 2>&1");
  };
  const LessonRun gpt2 = lesson(HEED_TESTS_DIR "/weights/gpt2");
  INFO(gpt2.output);
  CHECK(gpt2.exit_code == 0);
  CHECK(has(gpt2.output, "  holds: encode gives the ids of the model's own tokenizer"));
  CHECK(has(gpt2.output, "  holds: no causal model leaks"));
  const LessonRun bert = lesson(HEED_TESTS_DIR "/weights/bert");
  CHECK(bert.exit_code == 0);
  CHECK(has(bert.output, "first row that leaks (12: none): 0\n"));
  CHECK(has(bert.output, "  same: logits in blocks = the model's logits"));
  folder.write("short.bin", "no Llama");
  const LessonRun damaged = lesson((folder / "short.bin").string());
  CHECK(damaged.exit_code == 1);
  CHECK(has(damaged.output, "short.bin: is no file of llama2.c"));
}

// A text of 26 lines with letters that the lesson's own text has not.
TEST_CASE("lesson 15 trains on a text of the reader's own", "[lessons][lessons_in_full][.]") {
  const EnvironmentVariable brief("HEED_BRIEF", "1");
  const ScratchFolder folder;
  std::string text;
  for (int day = 0; text.size() < 12000; day = (day * 7 + 3) % 101)
    text +=
        "Am Tag " + std::to_string(day) + " \u00f6ffnet sich die T\u00fcr; jemand fragt: wer?\n";
  folder.write("mein Text.txt", text);
  const LessonRun run =
      run_in(folder.path, HEED_BINARY_DIR "/lessons/15_your_text", "'mein Text.txt' 2>&1");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK(has(run.output, "  | Am Tag 0 \u00f6ffnet sich"));
  CHECK(has(run.output, "  holds: "));
}

TEST_CASE("the first line of a lesson is its number, its name and its subject", "[lessons]") {
  for (const std::filesystem::path& lesson : lesson_folders()) {
    std::string name = lesson.filename().string();
    name[name.find('_')] = ' ';
    const std::string first = lines_of(content(lesson / "lesson.cpp")).at(0);
    INFO(name << " begins: " << first);
    CHECK(first.rfind("// " + name + ": ", 0) == 0);
    CHECK(first.back() == '.');
  }
}

TEST_CASE("output may differ by one in the last digit of a number", "[lessons]") {
  CHECK(first_difference("the  -9.8898  12.3029\n", "the  -9.8899  12.3029\n") == "");
  CHECK(first_difference("a  10.0000\n", "a   9.9999\n") == "");
  CHECK(first_difference("a  0.0000\n", "a -0.0001\n") == "");
  CHECK(first_difference("sum -0.1217458397 (float)", "sum -0.1217458248 (float)") == "");
  CHECK(first_difference("2.5000e-03", "2.5001e-03") == "");
}

TEST_CASE("results of training may differ by 0.05 or 10 %", "[lessons]") {
  CHECK(first_difference("loss ~0.98, ~40.0\n", "loss ~1.07, ~43.9\n") == "");
  CHECK(first_difference("loss ~0.30\n", "loss ~0.35\n") == "");
  CHECK(first_difference("loss ~0.30\n", "loss ~0.36\n") != "");
  CHECK(first_difference("loss ~0.98\n", "loss ~1.09\n") != "");
  CHECK(first_difference("loss ~40.0\n", "loss ~44.1\n") != "");
  CHECK(first_difference("loss ~0.98, 0.50\n", "loss ~0.98, 0.52\n") != "");
  CHECK(first_difference("w, trained (1)\na  0.98\n", "w, trained (1)\na  0.94\n") == "");
  CHECK(first_difference("w, trained (1)\na  0.98\n", "w, trained (1)\na  0.87\n") != "");
  CHECK(first_difference("w, trained (1)\n\na  0.98\n", "w, trained (1)\n\na  0.94\n") != "");
}

TEST_CASE("lines that begin with a bar may differ", "[lessons]") {
  CHECK(first_difference("a\n  | to be\n  |\n  | or\nb\n", "a\n  | not\nb\n") == "");
  CHECK(first_difference("a\n  | to be\nb\n", "a\nb\n") != "");
  CHECK(first_difference("a\n  | to be\nb\n", "a\n  | to be\nc\n") != "");
}

TEST_CASE("no other difference of the output is allowed", "[lessons]") {
  CHECK(first_difference("a 1.0000\nb  2.0000\n", "a 1.0000\nb  2.0002\n") ==
        "line 2\n  expected: b  2.0000\n  printed:  b  2.0002");
  CHECK(first_difference("a\n", "a\nb\n") == "line 2\n  expected: (the end)\n  printed:  b");
  CHECK(first_difference("a\nb\n", "a\n") == "line 2\n  expected: b\n  printed:  (the end)");
  CHECK(first_difference("1.2659147978", "1.2659146578") != "");
  CHECK(first_difference("2.5000e-03", "2.5003e-03") != "");
  CHECK(first_difference("0.5000", "0.500") != "");
  CHECK(first_difference("0.5000", "-0.5000") != "");
  CHECK(first_difference("0.5000", "nan") != "");
  CHECK(first_difference("T (3, 5)", "T (3, 4)") != "");
  CHECK(first_difference("same: a = b", "same: a  = b") != "");
  CHECK(first_difference("40 orders", "41 orders") != "");
}

TEST_CASE("a line about a picture may report that gnuplot or Graphviz is missing", "[lessons]") {
  CHECK(first_difference("picture: a.svg\n", "picture: a.svg\n") == "");
  CHECK(first_difference("picture: a.svg\n", "picture: gnuplot is not installed, so ...\n") == "");
  CHECK(first_difference("picture: a.svg\n", "picture: Graphviz is not installed, so ...\n") == "");
  CHECK(first_difference("a.svg\n", "picture: Graphviz is not installed, so ...\n") != "");
  CHECK(first_difference("picture: a.svg\n", "picture: b.svg\n") != "");
}
