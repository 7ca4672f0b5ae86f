// operation_source.cpp: finds the source of an operation in those that CMake embeds.

#include "page/embedded.hpp"
#include "page/page.hpp"

namespace HEED_NAMESPACE {

// A struct begins at the start of a line, below its comment, and ends with the line "};".
std::string operation_source(std::string_view op) {
  const std::string_view all = page::operations;
  const std::size_t name = all.find("std::string_view name = \"" + std::string(op) + "\";");
  if (op.empty() || name == all.npos) return "";
  std::size_t begin = all.rfind("\nstruct ", name) + 1;
  const std::size_t end = all.find("\n};\n", name);
  for (std::size_t above = begin; above > 1; begin = above) {
    above = all.rfind('\n', begin - 2) + 1;
    if (all.substr(above, 2) != "//" && all.substr(above, 8) != "template") break;
  }
  return std::string(all.substr(begin, end + 3 - begin));
}

}  // namespace HEED_NAMESPACE
