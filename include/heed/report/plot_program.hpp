// plot_program.hpp: running the programs that draw, without a shell and without failing when one is
// absent.
#pragma once

#include <string>
#include <vector>

namespace heed {

// What became of a picture. When it was drawn, `message` is the file's path (or, for a picture made
// of text, the picture); when not, one line that says why and what to install.
struct Plot {
  bool ok = false;
  std::string message;
};

// A program that draws, as messages call it, and the packages to install where it is missing.
struct PlotProgram {
  std::string name;      // "gnuplot"
  std::string packages;  // "gnuplot-nox (apt) or gnuplot (brew, conda)"
};

// Runs the command (a program and its arguments) inside the folder ("" for this one) and waits.
// What it wrote is the message when all went well, else why it did not.
Plot run_program(const PlotProgram& program, std::vector<std::string> command,
                 const std::string& folder, const std::string& input);

// Writes text as folder/name plus the ending and runs the command inside the folder, without a
// shell. ok when folder/name.svg has been drawn. Throws Error for a name that is
// empty or has a slash.
Plot draw_with(const PlotProgram& program, std::vector<std::string> command,
               const std::string& folder, const std::string& name, const std::string& ending,
               const std::string& text);

// Writes text to a file; the empty string when that went well, else "FILE: cannot be written: ..."
std::string write_text(const std::string& path, const std::string& text);

// "folder/name", or the name alone for the folder "".
std::string path_in(const std::string& folder, const std::string& name);

}  // namespace heed
