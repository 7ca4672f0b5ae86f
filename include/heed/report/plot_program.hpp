// plot_program.hpp: draws with gnuplot and Graphviz, which run as child processes without a shell.
#pragma once

#include <string>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The result of drawing. If `ok`, `message` is the path of the picture or, for text, the picture
// itself. If not, `message` is one line that says why nothing was drawn and what to install.
struct Plot {
  bool ok = false;
  std::string message;
};

// The functions draw_with... write a script to folder/name.gp or folder/name.dot and run a program
// on that script inside the folder ("" is the current folder). The Plot is ok when folder/name.svg
// exists. Otherwise its message says which file cannot be written or what is missing. The functions
// throw Error when `name` is empty or contains a slash.

// Writes `data`, if not empty, to folder/name.csv and runs the script. The script sets its terminal
// and output, and names files without a folder, so that a user can run it again inside the folder.
Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script, const std::string& data = "");

// Draws a graph in the DOT language with Graphviz's program dot.
Plot draw_with_graphviz(const std::string& folder, const std::string& name,
                        const std::string& dot_text);

// A drawing program: its name in messages, and the packages that contain it.
struct PlotProgram {
  std::string name;      // "gnuplot"
  std::string packages;  // "gnuplot-nox (apt) or gnuplot (brew, conda)"
};

// Draws with any program: `command` is its name and its arguments, `text` is its input file.
Plot draw_with(const PlotProgram& program, std::vector<std::string> command,
               const std::string& folder, const std::string& name, const std::string& ending,
               const std::string& text);

// Runs a gnuplot script that draws with text characters (`set terminal dumb`).
Plot text_with_gnuplot(const std::string& script);

// "folder/name", or only the name when folder is "".
std::string path_in(const std::string& folder, const std::string& name);

}  // namespace HEED_NAMESPACE
