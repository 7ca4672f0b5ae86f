// python.hpp: starts the Python that has PyTorch.
#pragma once

#include <string>

#include "catch.hpp"
#include "commands/child.hpp"

namespace heed_test {

inline Finished python(const std::string& program, const Arguments& arguments,
                       const std::filesystem::path& folder, const std::string& input = "") {
  return run({Arguments{"/usr/bin/env", program} + arguments, folder, input});
}

// A Python that has PyTorch, or "" with a warning. The check is fast because it imports nothing.
inline std::string python_with_torch() {
  const char* const script =
      "import importlib.util, sys; sys.exit(not importlib.util.find_spec('torch'))";
  for (const std::string program : {"python3", "/usr/bin/python3"})
    if (python(program, {"-c", script}, HEED_TESTS_DIR).code == 0) return program;
  WARN("torch: not installed; nothing was compared with PyTorch");
  return "";
}

}  // namespace heed_test
