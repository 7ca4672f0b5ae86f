// search.cpp: the index of the book's search box (entries.js).

#include "commands/book/search.hpp"

#include "base/json.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {

// The page named in a line of entries.js; "" if the line names none.
static std::string page_in(const std::string& line) {
  try {
    const Json entry = Json::parse(line);
    const std::string& address = entry[1].get<std::string>();
    return address.substr(0, address.find('#'));
  } catch (const std::exception&) {
    return "";
  }
}

SearchEntries::SearchEntries(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "entries.js")) return;
  for (std::string line : lines_of(read_text((folder / "entries.js").string()))) {
    if (!line.empty() && line.back() == ',') line.pop_back();
    const std::string page = page_in(line);
    if (!page.empty() && std::filesystem::exists(folder / page)) lines_[page].push_back(line);
  }
}

void SearchEntries::add(const std::string& text, const std::string& page,
                        const std::string& anchor) {
  const Json entry = {text, page + "#" + anchor};
  lines_[page].push_back(entry.dump(-1, /*ascii=*/true));
}

std::string SearchEntries::script() const {
  std::vector<std::string> all;
  for (const auto& [page, lines] : lines_) all.insert(all.end(), lines.begin(), lines.end());
  return "const entries = [\n" + joined(all, ",\n") + "\n];\n";
}

}  // namespace heed::app
