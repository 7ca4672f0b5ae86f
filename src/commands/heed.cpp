// heed.cpp: the program heed, which runs the program of the command: `heed train a.txt` becomes
// `commands/train a.txt`, in the folder of this program.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "commands/commands.hpp"
#include "commands/environment.hpp"
#include "heed/base/text.hpp"

namespace {

using namespace heed::app;

// The folder of this program. (A system other than Linux has no /proc.)
std::filesystem::path own_folder(const char* name) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (error ? std::filesystem::path(name) : program).parent_path();
}

// Replaces this program by that of the command. Returns the exit code if that fails.
int hand_over(const std::string& command, char** argv) {
  const std::filesystem::path folder = own_folder(argv[0]);
  const std::string program = folder / "commands" / command;
  argv[1] = const_cast<char*>(program.c_str());
  set_library_variables();
  execv(program.c_str(), argv + 1);
  const std::string reason =
      errno != ENOENT ? std::strerror(errno)
                      : "is not built; ./heed " + command + " builds it, or cmake --build " +
                            folder.string() + " --target heed_" + command + "_program";
  std::cerr << "heed: error: " << heed::printable(program + ": " + reason) << std::endl;
  return 1;
}

int show(const std::string& text) {
  if (std::cout << text << std::flush) return 0;
  std::cerr << "heed: error: standard output: cannot be written; is it closed, or the disk full?\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && find_command(argv[1]) != nullptr) return hand_over(argv[1], argv);
  try {
    return show(read_without_command({argv + (argc > 0 ? 1 : 0), argv + argc}).text);
  } catch (const UsageError& error) {
    std::cerr << "heed: error: " << heed::printable(error.what()) << std::endl;
    return 2;
  }
}
