// json.cpp: strict reading of small JSON files.

#include "files/hugging_face/json.hpp"

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

Json parsed_object(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string text = read_small_file(path, max_bytes);
  if (const std::size_t zero = text.find('\0'); zero != text.npos)  // the parser would stop there
    throw_error(path.string(), ": has a zero byte at ", zero);
  try {
    Json json = Json::parse(text);
    if (json.is<Json::Object>()) return json;
  } catch (const JsonError& error) {
    if (error.kind == JsonError::Kind::depth)
      throw_error(path.string(), ": has more than ", Json::max_depth,
                  " levels of nested JSON; take the file that belongs to the model");
    if (error.kind == JsonError::Kind::number)
      throw_error(path.string(), ": has a number that is too large");
    throw_error(path.string(), ": is not valid JSON in UTF-8 at its byte ", error.byte);
  }
  throw_error(path.string(), ": must hold a JSON object");
}

std::string short_text(const Json& value) {
  if (value.is<Json::List>()) return "a list";
  if (value.is<Json::Object>()) return value.get<Json::Object>().empty() ? "{}" : "an object";
  return value.is<std::string>() ? in_quotes(value.get<std::string>()) : value.dump();
}

}  // namespace HEED_NAMESPACE::hugging_face
