// gnuplot.hpp: running gnuplot on a script, without a shell and without failing when it is absent.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// What became of a picture. When it was drawn, `message` is the file's path (or, for a picture made
// of text, the picture); when not, one line that says why and what to install.
struct Plot {
  bool ok = false;
  std::string message;
};

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

// Writes text to a file; the empty string when that went well, else "FILE: cannot be written: ..."
std::string write_text(const std::string& path, const std::string& text);

// "folder/name", or the name alone for the folder "".
std::string path_in(const std::string& folder, const std::string& name);

}  // namespace heed
