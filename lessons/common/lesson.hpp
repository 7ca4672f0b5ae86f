// lesson.hpp: prints a lesson's headings, text, tables, checks and pictures.
#pragma once

#include <cstdint>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>
#include <xtensor-blas/xlinalg.hpp>

#include "heed/base/source_location.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/curve.hpp"
#include "heed/draw/graphviz.hpp"
#include "heed/draw/heatmap.hpp"
#include "heed/draw/scatter.hpp"
#include "heed/draw/table.hpp"
#include "heed/heed.hpp"
#include "lesson_text.hpp"

namespace heed {

// If set, called before a program ends with an error that was not caught.
extern void (*before_ending)(const std::string& error);

using Names = std::vector<std::string>;

// ---- the prose of lesson.md (lesson_text.hpp), which is in the folder of the lesson's source
//
// The last argument of the functions below, `location`, is the source line of the call. The page of
// `heed book` shows the lines that ran before the call. All throw an Error if lesson.md does not
// have what they print, or if a part of the previous section was not printed.

// Prints the title of the lesson and the text below it. The first call of a lesson.
void opening(SourceLocation location = SourceLocation::current());
void opening(const Values& values, SourceLocation location = SourceLocation::current());

// Prints the heading and the first part of the section. `function` is the name of the function that
// calls section():
//   section("The loss", {{"loss", decimal(loss, 2)}});  // "The loss is {loss}."
void section(const std::string& title, const Values& values = {},
             SourceLocation location = SourceLocation::current(),
             const char* function = __builtin_FUNCTION());

// Prints the next part of the section, after an empty line.
void say(const Values& values = {}, SourceLocation location = SourceLocation::current());

// Begins a section that is folded in a terminal: prints how to see it, and returns false. Returns
// true, and prints the heading and the first part, if the output is not a terminal, or if the
// environment variable HEED_APPENDICES is set, as `./heed lesson N --all` does:
//   if (appendix("The article's numbers")) show("A", A);
bool appendix(const std::string& title, const Values& values = {},
              SourceLocation location = SourceLocation::current(),
              const char* function = __builtin_FUNCTION());

// Prints the sections "To remember" and "Questions", if they are left, and the lesson's exercises.
// The last call of a lesson.
void ending(SourceLocation location = SourceLocation::current());

// ---- what the code prints

// Prints text, whose lines "\n" separates.
void print_text(const std::string& text, bool hides_call, SourceLocation location);

// Prints a line that the code has made. The page shows no call that prints a text in quotes,
// because the text follows.
template <class Text>
void say(const Text& line, SourceLocation location = SourceLocation::current()) {
  print_text(std::string(line) + "\n", std::is_array_v<Text>, location);
}

// Prints the array as a table with four decimals, below its name and shape.
void show(const std::string& name, const Array& x, const Names& rows = {},
          const Names& columns = {}, SourceLocation location = SourceLocation::current());
void show(const std::string& name, const Tensor& x, const Names& rows = {},
          const Names& columns = {}, SourceLocation location = SourceLocation::current());
void show(const Array& x, const TableOptions& options,
          SourceLocation location = SourceLocation::current());

// Prints "same: what" if no two elements differ by more than the tolerance. Otherwise prints the
// first difference and ends the lesson with exit code 1. A float has about seven decimal digits, so
// two correct computations may differ in the last one. Checks that follow each other share a line:
// "same: a; b; c".
void check(const std::string& what, const Array& a, const Array& b, double tolerance = 1e-5,
           SourceLocation location = SourceLocation::current());
void check(const std::string& what, const Array& a, const Tensor& b, double tolerance = 1e-5,
           SourceLocation location = SourceLocation::current());
void check(const std::string& what, const Tensor& a, const Array& b, double tolerance = 1e-5,
           SourceLocation location = SourceLocation::current());
void check(const std::string& what, const Tensor& a, const Tensor& b, double tolerance = 1e-5,
           SourceLocation location = SourceLocation::current());

// Prints "holds: what" if the claim holds. Otherwise prints `measured` and ends the lesson with
// exit code 1.
void claim(const std::string& what, bool holds, const std::string& measured,
           SourceLocation location = SourceLocation::current());

// Like claim(), but prints "guards: what": a threshold that was set after the result was known, so
// that a later change of the code is noticed. It is no evidence; what a proof or a bound says is a
// claim.
void guard(const std::string& what, bool holds, const std::string& measured,
           SourceLocation location = SourceLocation::current());

// A result of training as text: "~0.98". Processors round products differently, and training
// amplifies the differences: on another machine the number may differ by 0.05 or 5 %.
std::string trained(double value, int decimals = 2);
// Prints a table of results of training, with two decimals and "trained" in its title.
void show_trained(const std::string& name, const Array& x, const Names& rows = {},
                  const Names& columns = {}, SourceLocation location = SourceLocation::current());
// Prints text that may differ on another machine, such as a model's sample: each line after a bar.
void quote(const std::string& text, SourceLocation location = SourceLocation::current());

// Whether the environment variable HEED_BRIEF is set. If so, a lesson trains for fewer steps:
// in_brief(2000, 300) is then 300, and otherwise 2000.
bool brief();
std::int64_t in_brief(std::int64_t steps, std::int64_t fewer_steps);

// Prints the matrix as a heat map, and draws it in the file runs/lessons/LESSON/NAME.svg.
void picture(const std::string& lesson, const std::string& name, const Array& x,
             const HeatmapOptions& options = {},
             SourceLocation location = SourceLocation::current());
void picture(const std::string& lesson, const std::string& name, const Tensor& x,
             const HeatmapOptions& options = {},
             SourceLocation location = SourceLocation::current());

// Like heatmap() above, for a matrix that is a result of training.
void picture_trained(const std::string& lesson, const std::string& name, const Array& x,
                     const HeatmapOptions& options = {},
                     SourceLocation location = SourceLocation::current());

// Draws several matrices side by side, each with its title, in the file only.
void picture(const std::string& lesson, const std::string& name, const std::vector<Array>& panels,
             const Names& titles, const HeatmapOptions& options, std::size_t columns,
             SourceLocation location = SourceLocation::current());

// Draws curves in the file only.
void picture(const std::string& lesson, const std::string& name, const std::vector<Series>& curves,
             const CurveOptions& options, SourceLocation location = SourceLocation::current());

// Prints the labelled points (n, 2) as quoted text, and draws them in the file.
void picture_points(const std::string& lesson, const std::string& name, const Array& points,
                    const ScatterOptions& options,
                    SourceLocation location = SourceLocation::current());

// Draws a graph, given in Graphviz's language, in the file only; prints no empty line before.
void picture(const std::string& lesson, const std::string& name, const std::string& graph,
             SourceLocation location = SourceLocation::current());

// Prints the name of a picture that was drawn before; prints no empty line before.
void picture(const Plot& plot, SourceLocation location = SourceLocation::current());

// Prints nothing. The lesson's page of `heed book` shows these losses over the steps of training.
// Of more than 200 points it shows means of consecutive ones. `y_title` is the title of the
// vertical axis, such as "loss (nats per token)". For lessons that draw no picture of the losses.
void loss_curves(const std::string& y_title, const std::vector<Series>& losses,
                 SourceLocation location = SourceLocation::current());

// Prints nothing. In the lesson's page of `heed book`, sliders change the numbers of these arrays,
// and the page computes again what depends on them, as `widget` says: "attention", "saturation",
// "temperature", "rotary" or "online" (src/commands/book/sliders.js). `names` are those of tokens.
struct NamedArray {
  std::string name;
  Array array;
};
void sliders(const std::string& widget, const Names& names, const std::vector<NamedArray>& arrays,
             SourceLocation location = SourceLocation::current());

}  // namespace heed
