// 01 small_lesson: a lesson with a lesson.md, for lesson_test.cpp.
//
// With an argument it prints the text wrongly, as each branch says.

#include "lesson.hpp"

using namespace heed;

std::string wrong;  // the argument

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
}

int main(int count, char** arguments) {
  wrong = count > 1 ? arguments[1] : "";
  if (wrong != "opening") opening();
  sum();
  if (wrong != "appendix" && appendix("The numbers of an article")) show("x", zeros({2}));
  ending();
}
