// gnuplot.hpp: runs gnuplot on a script, and writes strings and numbers in gnuplot's syntax.
#pragma once

#include <string>
#include <string_view>

#include "heed/report/plot_program.hpp"

namespace HEED_NAMESPACE {

// Writes the script as folder/name.gp and runs gnuplot on it inside the folder. The script sets its
// own terminal and output and names files without a folder, so that a user can run it there again.
// The result is ok when folder/name.svg exists. Throws Error when `name` is empty or has a slash.
Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script);

// Runs a script that draws with text characters (`set terminal dumb`).
Plot text_with_gnuplot(const std::string& script);

// The text in gnuplot's single quotes, which expand nothing. Quotes are doubled and control
// characters are replaced by escape sequences.
std::string gnuplot_string(std::string_view text);
std::string gnuplot_number(double value);            // "1.5", "-2e-07", "NaN"
std::string gnuplot_range(double low, double high);  // "[0:2000]"

}  // namespace HEED_NAMESPACE
