// vocabulary_files.cpp: reads the vocabulary files of published models.

#include "text/vocabulary_files.hpp"

#include <algorithm>
#include <limits>

#include "base/json.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t max_file_bytes = 32'000'000;

// Throws at the first part of the file that is not a token or its id, so that nested values take no
// memory.
class VocabularyReader : public JsonEvents {
 public:
  explicit VocabularyReader(const std::string& file) : file_(file) {}

  void start_object() override {
    if (inside_) throw_unexpected("an object");
    inside_ = true;
  }
  void end_object() override {}
  void start_list() override { throw_unexpected("a list"); }
  void end_list() override {}
  void key(std::string& text) override { tokens.push_back(std::move(text)); }
  void number(std::uint64_t value) override {
    if (!inside_ || value > std::numeric_limits<std::uint32_t>::max())
      throw_unexpected(std::to_string(value));
    ids.push_back(static_cast<std::uint32_t>(value));
  }
  void string(std::string& text) override { throw_unexpected("the string " + in_quotes(text)); }
  void other(const Json&, const std::string& shown) override { throw_unexpected(shown); }

  std::vector<std::string> tokens;  // tokens, in the order of the file
  std::vector<std::uint32_t> ids;

 private:
  [[noreturn]] void throw_unexpected(const std::string& value) const {
    if (!inside_)
      throw_error(file_, ": must be an object that maps tokens to their ids, not ", value);
    throw_error(file_, ": entry ", tokens.size(), ", ", in_quotes(tokens.back()),
                ": the id must be a whole number below the number of tokens, not ", value);
  }

  const std::string& file_;
  bool inside_ = false;
};

// The entry that has each id, counted from 0.
std::vector<std::uint32_t> entries_by_id(const VocabularyReader& read, const std::string& file) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const std::size_t size = read.ids.size();
  std::vector<std::uint32_t> entries(size, none);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t id = read.ids[i];
    if (id >= size)
      throw_error(file, ": entry ", i + 1, ", ", in_quotes(read.tokens[i]), ", has the id ", id,
                  ", but ", counted(size, "token"), " must have the ids 0 to ", size - 1,
                  " without holes");
    if (entries[id] != none)
      throw_error(file, ": entries ", entries[id] + 1, " and ", i + 1, ", ",
                  in_quotes(read.tokens[entries[id]]), " and ", in_quotes(read.tokens[i]),
                  ", both have the id ", id, "; ids must be distinct");
    entries[id] = static_cast<std::uint32_t>(i);
  }
  return entries;
}

}  // namespace

std::string read_vocabulary_file(const std::filesystem::path& path) {
  const std::size_t bytes = InputFile(path).size();
  if (bytes > max_file_bytes)
    throw_error(path.string(), ": has ", grouped(static_cast<double>(bytes)),
                " bytes; a vocabulary may have up to ",
                grouped(static_cast<double>(max_file_bytes)));
  return read_text(path.string());
}

std::string_view take_line(std::string_view& text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

TokenIds ids_of(const std::vector<std::string>& tokens) {
  TokenIds ids;
  for (const std::string& token : tokens)
    ids.emplace(token, static_cast<std::uint32_t>(&token - tokens.data()));
  return ids;
}

TokenIds distinct_ids(const std::vector<std::string>& tokens, const std::string& file,
                      const char* entries) {
  TokenIds ids = ids_of(tokens);
  for (std::size_t i = 0; i < tokens.size() && ids.size() < tokens.size(); ++i)
    if (const std::uint32_t first = ids.at(tokens[i]); first != i)
      throw_error(file, ": ", entries, " ", first + 1, " and ", i + 1, " are both ",
                  in_quotes(tokens[i]), "; tokens must be distinct");
  return ids;
}

std::vector<std::string> tokens_of_json(std::string_view json, const std::string& name) {
  if (const std::size_t zero = json.find('\0'); zero != json.npos)  // the parser would stop there
    throw_error(name, ": has a zero byte at ", zero, "; download the file again");
  VocabularyReader reader(name);
  try {
    read_json(json, reader);
  } catch (const JsonError& error) {
    throw_error(name, ": not valid JSON in UTF-8 at byte ", error.byte, ", after ",
                counted(reader.tokens.size(), "token"), "; download the file again");
  }
  if (reader.tokens.empty()) throw_error(name, ": has no tokens; download the file again");
  distinct_ids(reader.tokens, name, "entries");
  std::vector<std::string> tokens;
  for (const std::uint32_t entry : entries_by_id(reader, name)) {
    tokens.push_back(std::move(reader.tokens[entry]));
    if (tokens.back().empty()) throw_error(name, ": entry ", entry + 1, " is an empty token");
  }
  return tokens;
}

}  // namespace HEED_NAMESPACE
