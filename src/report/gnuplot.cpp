// gnuplot.cpp: runs gnuplot, and writes strings and numbers in gnuplot's syntax.

#include "heed/report/gnuplot.hpp"

#include <locale>
#include <sstream>

#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

static const PlotProgram gnuplot{"gnuplot", "gnuplot-nox (apt) or gnuplot (brew, conda)"};

// The option -d makes gnuplot ignore the user's settings file.
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

}  // namespace HEED_NAMESPACE
