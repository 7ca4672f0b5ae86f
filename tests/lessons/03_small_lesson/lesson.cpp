// 01 small_lesson: a lesson with a lesson.md, for lesson_test.cpp.
//
// With an argument it prints the text wrongly, or what only some lessons print, as each branch
// says.

#include "lesson.hpp"

#include "guess.hpp"
#include "tuning.hpp"

using namespace heed;

std::string wrong;  // the argument

// The losses 400, 399, ... 1 of 400 steps.
Series falling() {
  Series series{"small", {}, {}};
  for (int step = 0; step < 400; ++step) series.append(step, 400 - step);
  return series;
}

void sum() {
  const Values values = {{"first", 1}, {"second", 2}};
  section(wrong == "section" ? "No sum" : "A sum", wrong == "values" ? Values{} : values);
  const Array x = ones({3});
  check("three ones = three ones", x, x);
  check("a = a", x, x);
  check("some more ones, with a text that is long enough for the next line = ones", x, x);
  if (wrong == "cout") std::cout << "a line of the reader\n";
  check("b = b", x, x, 0.1);
  if (wrong == "check") check("c = d", x, 2 * x);
  if (wrong != "part") say({{"sum", decimal(3, 2)}});
  if (wrong == "next part") say();
  claim("3 is odd", true, "");
  if (wrong == "curves") loss_curves("loss", {falling()});
  if (wrong == "guess") Guess("the sum").compare("3");
  if (wrong == "guard") guard("3 is below 4", true, "");
  if (wrong == "tuning") show_tuning({{"softmax", 0.01}, {"linear", 0.003, /*open_edge=*/true}});
  if (wrong == "worse rate") show_tuning({{"softmax", 0.03}});
  if (wrong == "open edge") show_tuning({{"linear", 0.003}});
  if (wrong == "no rate") show_tuning({{"cosine", 0.01}});
}

int main(int count, char** arguments) {
  wrong = count > 1 ? arguments[1] : "";
  if (wrong != "opening") opening();
  sum();
  if (wrong != "appendix" && appendix("The numbers of an article")) show("x", zeros({2}));
  ending();
}
