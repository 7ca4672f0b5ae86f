// lesson.hpp: how a lesson speaks: headings, sentences, arrays, checks and pictures.
#pragma once

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>
#include <xtensor-blas/xlinalg.hpp>

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"
#include "heed/base/text.hpp"
#include "heed/report/curve.hpp"
#include "heed/report/graphviz.hpp"
#include "heed/report/heatmap.hpp"
#include "heed/report/scatter.hpp"

namespace heed {

using Names = std::vector<std::string>;

// The beginning of a lesson. Each field may have several lines.
struct Opening {
  std::string after;       // "compute the attention weights of a sentence by hand"
  std::string formula;     // with the shapes of its symbols: "O = A V   A (T, S), V (S, d_v)"
  std::string literature;  // the term, the paper's title, its section and year
  std::string pytorch;     // PyTorch's name for it: "torch.softmax"
};
void opening(const Opening& opening);

void section(const std::string& title);

// The end of a lesson: three questions that the reader answers by changing a line and running the
// lesson again. The answers are in lessons/answers.
void questions(const std::string& first, const std::string& second, const std::string& third);

// One line of text for each argument.
template <class... Lines>
void say(const Lines&... lines) {
  ((std::cout << lines << '\n'), ...);
}

// The numbers, four decimals each, under their name and shape.
void show(const std::string& name, const Array& x, const Names& rows = {},
          const Names& columns = {});
void show(const std::string& name, const Tensor& x, const Names& rows = {},
          const Names& columns = {});

// Says that both are the same, or ends the lesson with exit code 1 and says where they differ. A
// float is good to about seven digits: two ways to compute a number may differ in the last.
void check(const std::string& what, const Array& a, const Array& b, double tolerance = 1e-5);
void check(const std::string& what, const Array& a, const Tensor& b, double tolerance = 1e-5);
void check(const std::string& what, const Tensor& a, const Array& b, double tolerance = 1e-5);
void check(const std::string& what, const Tensor& a, const Tensor& b, double tolerance = 1e-5);

// A claim about what was trained: says that it holds, or ends the lesson with exit code 1 and says
// what came instead.
void claim(const std::string& what, bool holds, const std::string& came);

// A number that training has led to: "~0.98". Another processor rounds the last digit of a product
// otherwise, and some hundred steps later that shows: it may print 0.05 or 5 % more or less.
std::string trained(double value, int decimals = 2);
// A table of such numbers; "trained" in its title says so.
void show_trained(const std::string& name, const Array& x, const Names& rows = {},
                  const Names& columns = {});
// What may come out quite differently elsewhere, such as a text that a model wrote: each line
// behind a bar.
void quote(const std::string& text);

// Training takes its time. With HEED_BRIEF set, a lesson trains for less, but still shows what it
// claims: in_brief(2000, 300) is 300 then, and 2000 otherwise.
bool brief();
std::int64_t in_brief(std::int64_t steps, std::int64_t fewer_steps);

// A matrix as shades, here in the text and in the file runs/lessons/LESSON/NAME.svg.
void picture(const std::string& lesson, const std::string& name, const Array& x,
             const HeatmapOptions& options = {});
void picture(const std::string& lesson, const std::string& name, const Tensor& x,
             const HeatmapOptions& options = {});

// The same of a matrix that training has led to.
void picture_trained(const std::string& lesson, const std::string& name, const Array& x,
                     const HeatmapOptions& options = {});

// Several such matrices, under their titles and in the file only.
void picture(const std::string& lesson, const std::string& name, const std::vector<Array>& panels,
             const Names& titles, const HeatmapOptions& options, std::size_t columns);

// Curves, in the file only.
void picture(const std::string& lesson, const std::string& name, const std::vector<Series>& curves,
             const CurveOptions& options);

// Named points (n, 2) that training or t-SNE has led to: as quoted text, and in the file.
void picture_points(const std::string& lesson, const std::string& name, const Array& points,
                    const ScatterOptions& options);

// A graph in Graphviz's language, in the file only; no empty line before.
void picture(const std::string& lesson, const std::string& name, const std::string& graph);

}  // namespace heed
