// plot_program.cpp: runs gnuplot and Graphviz as child processes.

#include "heed/report/plot_program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "heed/base/error.hpp"
#include "heed/base/process.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

const PlotProgram gnuplot{"gnuplot", "gnuplot-nox (apt) or gnuplot (brew, conda)"};
const PlotProgram graphviz{"Graphviz", "graphviz (apt, brew, conda)"};

// Runs the program. Returns a Plot whose message is the program's output or, on failure, the error.
Plot run_program(const PlotProgram& program, ChildProgram child) {
  const auto failure = [&](const std::string& reason) {
    return Plot{false, program.name + reason};
  };
  try {
    const ChildResult result = run_child(std::move(child));
    if (result.code > 128) return failure(" was stopped before it had drawn anything");
    if (result.code == 127)
      return failure(" is not installed, so nothing was drawn: install " + program.packages);
    if (result.code == 126) return failure(" could not be started");
    if (result.code != 0) return failure(": " + result.last_error());
    return {true, result.out};
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

// Returns "" on success, otherwise "FILE: cannot be written: ...".
std::string write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return "";
  return path + ": cannot be written" + (errno != 0 ? std::string(": ") + strerror(errno) : "");
}

}  // namespace

// The option -d makes gnuplot ignore the user's settings file.
Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script, const std::string& data) {
  const std::string csv = path_in(folder, name + ".csv");
  const std::string failure = data.empty() ? "" : write_text(csv, data);
  if (!failure.empty()) return {false, failure};
  return draw_with(gnuplot, {"gnuplot", "-d", "./" + name + ".gp"}, folder, name, ".gp", script);
}

Plot text_with_gnuplot(const std::string& script) {
  return run_program(gnuplot, {{"gnuplot", "-d", "-"}, "", script});
}

Plot draw_with_graphviz(const std::string& folder, const std::string& name,
                        const std::string& dot_text) {
  return draw_with(graphviz, {"dot", "-Tsvg", "-o" + name + ".svg", "./" + name + ".dot"}, folder,
                   name, ".dot", dot_text);
}

Plot draw_with(const PlotProgram& program, std::vector<std::string> command,
               const std::string& folder, const std::string& name, const std::string& ending,
               const std::string& text) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw_error(program.name, ": the name of a picture must be a file name without a folder, got ",
                in_quotes(name));
  const std::string failure = write_text(path_in(folder, name + ending), text);
  if (!failure.empty()) return {false, failure};
  const std::string picture = path_in(folder, name + ".svg");
  unlink(picture.c_str());  // removes an older image, so that access() below cannot find it
  const Plot plot = run_program(program, {std::move(command), folder});
  if (!plot.ok) return plot;
  if (access(picture.c_str(), R_OK) != 0)
    return {false, program.name + " did not write " + picture};
  return {true, picture};
}

std::string path_in(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

}  // namespace HEED_NAMESPACE
