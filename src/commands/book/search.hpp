// search.hpp: the index of the book's search box (entries.js).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heed::app {

// The search index: for each page, texts and their addresses, stored as lines ["text","address"] of
// entries.js.
class SearchEntries {
 public:
  // Loads the index that an earlier run wrote to the folder, if there is one.
  explicit SearchEntries(const std::filesystem::path& folder);

  void clear(const std::string& page) { lines_[page].clear(); }
  void add(const std::string& text, const std::string& page, const std::string& anchor);
  std::string script() const;  // the content of entries.js

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

}  // namespace heed::app
