// plot_program.cpp: runs a drawing program as a child process.

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

Plot result(const PlotProgram& program, const ChildResult& child) {
  if (child.code > 128) return {false, program.name + " was stopped before it had drawn anything"};
  if (child.code == 127)
    return {false,
            program.name + " is not installed, so nothing was drawn: install " + program.packages};
  if (child.code == 126) return {false, program.name + " could not be started"};
  if (child.code != 0) return {false, program.name + ": " + child.last_error()};
  return {true, child.out};
}

}  // namespace

Plot run_program(const PlotProgram& program, std::vector<std::string> command,
                 const std::string& folder, const std::string& input) {
  try {
    return result(program, run_child({std::move(command), folder, input}));
  } catch (const Error& error) {
    return {false, error.what()};
  }
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
  unlink(picture.c_str());  // otherwise an older file would pass for the new one
  const Plot plot = run_program(program, std::move(command), folder, "");
  if (!plot.ok) return plot;
  if (access(picture.c_str(), R_OK) != 0)
    return {false, program.name + " did not write " + picture};
  return {true, picture};
}

std::string write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return "";
  return path + ": cannot be written" + (errno != 0 ? std::string(": ") + strerror(errno) : "");
}

std::string path_in(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder.back() == '/') return folder + name;
  return folder + "/" + name;
}

}  // namespace HEED_NAMESPACE
