// gnuplot.cpp: gnuplot's own ways of being called and of writing strings and numbers.

#include "heed/report/gnuplot.hpp"

#include <locale>
#include <sstream>

#include "heed/base/text.hpp"

namespace heed {

static const PlotProgram gnuplot{"gnuplot", "gnuplot-nox (apt) or gnuplot (brew, conda)"};

// The option -d keeps the user's own settings out of the picture.
Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script) {
  return draw_with(gnuplot, {"gnuplot", "-d", "./" + name + ".gp"}, folder, name, ".gp", script);
}

Plot text_with_gnuplot(const std::string& script) {
  return run_program(gnuplot, {"gnuplot", "-d", "-"}, "", script);
}

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text == " " ? std::string(text) : printable(text))
    quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

std::string gnuplot_number(double value) {
  if (value != value) return "NaN";
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(9);
  out << value;
  return out.str();
}

std::string gnuplot_range(double low, double high) {
  return "[" + gnuplot_number(low) + ":" + gnuplot_number(high) + "]";
}

}  // namespace heed
