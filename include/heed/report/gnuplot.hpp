// gnuplot.hpp: running gnuplot on a script, without a shell and without failing when it is absent.
#pragma once

#include <string>
#include <string_view>

#include "heed/report/plot_program.hpp"

namespace heed {

// Writes the script as folder/name.gp and runs gnuplot on it inside the folder, so that running it
// by hand there draws the same: it names its files without a folder, and sets its terminal and
// `set output` itself. ok when folder/name.svg has been drawn. `name` may hold any characters but
// a slash (Error), and cannot be empty.
Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script);

// Runs a script whose picture is text (`set terminal dumb`).
Plot text_with_gnuplot(const std::string& script);

// For writing scripts: a string in gnuplot's single quotes, in which nothing is ever expanded
// (control characters are spelled out, quotes doubled), and a number in gnuplot's notation.
std::string gnuplot_string(std::string_view text);
std::string gnuplot_number(double value);
std::string gnuplot_range(double low, double high);  // "[0:2000]"

}  // namespace heed
