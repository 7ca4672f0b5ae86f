// search.hpp: what the search box of the book finds.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heed::app {

// The entries of each page: a text, and where it is. They are lines ["text","address"] of the file
// entries.js.
class SearchEntries {
 public:
  // Reads the entries of the pages that an earlier run wrote to the folder, if there are any.
  explicit SearchEntries(const std::filesystem::path& folder);

  void clear(const std::string& page) { lines_[page].clear(); }
  void add(const std::string& text, const std::string& page, const std::string& anchor);
  std::string script() const;  // the content of entries.js

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

}  // namespace heed::app
