// json.cpp: strict reading of small JSON files.

#include "files/hugging_face/json.hpp"

#include "files/hugging_face/parts.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE::hugging_face {

bool file_exists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string read_small_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const InputFile file(path);
  const std::size_t size = file.size();
  if (size > max_bytes)
    throw_error(path.string(), ": has ", size, " bytes; such a file has at most ", max_bytes);
  std::string text(size, '\0');
  file.read(0, text.data(), size);
  return text;
}

// Throws Error if values are nested too deeply. A callback of Json::parse could check this, but the
// parser would then scan the enclosing list at the end of each object, in quadratic time.
static void check_depth(std::string_view text, const std::string& file) {
  constexpr int max_depth = 32;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;  // the next character is escaped
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '[') && ++depth > max_depth)
      throw_error(file, ": has more than ", max_depth,
                  " levels of nested JSON; take the file that belongs to the model");
    else if (!in_string && (c == '}' || c == ']'))
      --depth;
  }
}

Json parsed_object(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string text = read_small_file(path, max_bytes);
  if (const std::size_t zero = text.find('\0'); zero != text.npos)  // the parser would stop there
    throw_error(path.string(), ": has a zero byte at ", zero);
  check_depth(text, path.string());
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw_error(path.string(), ": is not valid JSON in UTF-8 at its byte ", error.byte);
  } catch (const Json::exception&) {
    throw_error(path.string(), ": has a number that is too large");
  }
  if (!json.is_object()) throw_error(path.string(), ": must hold a JSON object");
  return json;
}

std::string short_text(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return value.empty() ? "{}" : "an object";
  return value.is_string() ? in_quotes(value.get_ref<const std::string&>()) : value.dump();
}

}  // namespace HEED_NAMESPACE::hugging_face
