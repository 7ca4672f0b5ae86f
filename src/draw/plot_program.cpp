// plot_program.cpp: runs gnuplot and Graphviz as child processes.

#include "heed/draw/plot_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/process.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
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
    if (result.code != 0 && result.last_error().empty())
      return failure(" ended with exit code " + std::to_string(result.code));
    if (result.code != 0) return failure(": " + result.last_error());
    return {true, result.out};
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

// Writes a text file. Returns "" on success, otherwise the error "FILE: ...".
std::string write_text(const std::string& path, const std::string& text) {
  try {
    write_file_atomically(path, text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// The script without its line `set output 'name.svg'`, so that gnuplot draws to standard output.
std::string without_output(const std::string& script) {
  const std::size_t begin = ("\n" + script).find("\nset output ");
  if (begin == std::string::npos) return script;
  return script.substr(0, begin) + script.substr(std::min(script.find('\n', begin), script.size()));
}

ChildProgram child_on(std::vector<std::string> command, const std::string& folder,
                      const std::string& script) {
  // gnuplot's variable GNUTERM could choose another format than SVG or text.
  return {std::move(command), folder, without_output(script), {{"GNUTERM", std::nullopt}}};
}

}  // namespace

void check_plot_name(const std::string& program, const std::string& name) {
  const auto reject = [&](const char* rule) {
    throw_error(program, ": the name of a picture must ", rule, ", got ", in_quotes(name));
  };
  if (name.empty() || name.find('/') != name.npos) reject("be a file name without a folder");
  if (printable(name) != name && name != " ") reject("have no control characters and be UTF-8");
  if (std::string("<|$+@").find(name[0]) != std::string::npos)
    reject("not begin with < | $ + or @, which gnuplot does not take for a file");
}

void check_text_size(const std::string& plot, std::size_t width, std::size_t height) {
  if (width < 40 || width > 1000 || height < 10 || height > 1000)
    throw_error(plot, ": a text plot needs 40 x 10 to 1000 x 1000 characters, got ", width, " x ",
                height);
}

// The option -d makes gnuplot ignore the user's settings file.
Plot draw_with_gnuplot(const std::string& folder, const std::string& name,
                       const std::string& script, const std::string& data) {
  check_plot_name(gnuplot.name, name);
  const std::string csv = path_in(folder, name + ".csv");
  const std::string failure = data.empty() ? "" : write_text(csv, data);
  if (!failure.empty()) return {false, failure, true};
  return draw_with(gnuplot, {"gnuplot", "-d", "-"}, folder, name, ".gp", script);
}

Plot text_with_gnuplot(const std::string& script) {
  return run_program(gnuplot, child_on({"gnuplot", "-d", "-"}, "", script));
}

Plot draw_with_graphviz(const std::string& folder, const std::string& name,
                        const std::string& dot_text) {
  return draw_with(graphviz, {"dot", "-Tsvg"}, folder, name, ".dot", dot_text);
}

Plot draw_with(const PlotProgram& program, std::vector<std::string> command,
               const std::string& folder, const std::string& name, const std::string& ending,
               const std::string& script) {
  check_plot_name(program.name, name);
  const std::string picture = path_in(folder, name + ".svg");
  std::string failure = write_text(path_in(folder, name + ending), script);
  if (!failure.empty()) return {false, failure, true};
  const Plot plot = run_program(program, child_on(std::move(command), folder, script));
  if (plot.ok && !plot.message.empty()) failure = write_text(picture, plot.message);
  if (plot.ok && !plot.message.empty())
    return failure.empty() ? Plot{true, picture} : Plot{false, failure, true};
  unlink(picture.c_str());  // an older picture, which shows something else
  return plot.ok ? Plot{false, program.name + " did not write " + picture} : plot;
}

std::string path_in(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.back() == '/' ? folder + name : folder + "/" + name;
}

}  // namespace HEED_NAMESPACE
