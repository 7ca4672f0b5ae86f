// plot_program.hpp: plots with gnuplot and Graphviz, which run as child processes without a shell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The result of plotting. If `ok`, `message` is the path of the plot or, for a text plot, the plot
// itself. If not `ok`, `message` is one line that says why there is no plot and what to install.
struct Plot {
  bool ok = false;           // whether there is a plot
  std::string message;       // the path, the text plot or the reason for failure
  bool file_failed = false;  // whether the reason is a file that could not be written
};

// The draw_with functions below write a script to folder/name.gp or folder/name.dot, run a program
// inside the folder ("" is the current folder), and write the program's output to folder/name.svg.
// Files are replaced atomically, never through a symbolic link, and keep their permissions (see
// AtomicFile). If there is no picture, Plot::message says which file cannot be written or which
// program is not installed. The functions throw the errors of check_plot_name() first.

// Throws Error unless `name` is a file name without a folder, and not one such as '< ls' or '| ls',
// which gnuplot runs in a shell. `program` is the name in the message.
void check_plot_name(const std::string& program, const std::string& name);

// Writes `data`, if not empty, to folder/name.csv and runs the script. The script sets its terminal
// and output, and names files without a folder, so that a user can run it again inside the folder.
Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script, const std::string& data = "");

// Plots a graph in the DOT language with Graphviz's program dot.
Plot draw_with_graphviz(const std::string& folder, const std::string& name,
                        const std::string& dot_text);

// A plotting program: its name in messages, and the packages that contain it.
struct PlotProgram {
  std::string name;      // a name such as "gnuplot"
  std::string packages;  // packages such as "gnuplot-nox (apt) or gnuplot (brew, conda)"
};

// Runs any plotting program that reads a script from its standard input and writes an SVG picture
// to its standard output. `command` is the program's name and its arguments, and `ending` is the
// file name extension of the script.
Plot draw_with(const PlotProgram& program, std::vector<std::string> command,
               const std::string& folder, const std::string& name, const std::string& ending,
               const std::string& script);

// Throws Error unless the size of a text plot, in characters, is 40 x 10 to 1000 x 1000. `plot` is
// the name in the message.
void check_text_size(const std::string& plot, std::size_t width, std::size_t height);

// Runs a gnuplot script whose output is a plot in text characters (`set terminal dumb`).
Plot text_with_gnuplot(const std::string& script);

// Returns "folder/name", or only the name if `folder` is "".
std::string path_in(const std::string& folder, const std::string& name);

}  // namespace HEED_NAMESPACE
