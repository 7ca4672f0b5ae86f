// plot_program.hpp: runs a drawing program (gnuplot, Graphviz) as a child process, without a shell.
#pragma once

#include <string>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The result of drawing. If ok, `message` is the path of the picture or, for text, the picture.
// If not, it is one line that says why nothing was drawn and what to install.
struct Plot {
  bool ok = false;
  std::string message;
};

// A drawing program: its name in messages, and the packages that contain it.
struct PlotProgram {
  std::string name;      // "gnuplot"
  std::string packages;  // "gnuplot-nox (apt) or gnuplot (brew, conda)"
};

// Runs the command (a program and its arguments) inside the folder ("": the current one) and waits
// for it. The message is the program's output or, if it failed, the reason.
Plot run_program(const PlotProgram& program, std::vector<std::string> command,
                 const std::string& folder, const std::string& input);

// Writes text to folder/name with the given ending and runs the command inside the folder. The
// result is ok when folder/name.svg exists. Throws Error when `name` is empty or has a slash.
Plot draw_with(const PlotProgram& program, std::vector<std::string> command,
               const std::string& folder, const std::string& name, const std::string& ending,
               const std::string& text);

// Writes text to a file. Returns "" on success, otherwise "FILE: cannot be written: ...".
std::string write_text(const std::string& path, const std::string& text);

// "folder/name"; only the name when folder is "".
std::string path_in(const std::string& folder, const std::string& name);

}  // namespace HEED_NAMESPACE
