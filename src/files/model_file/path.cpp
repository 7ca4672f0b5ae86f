// path.cpp: the path of the training text as metadata.

#include <charconv>

#include "files/model_file/parts.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"

namespace HEED_NAMESPACE::model_file {
namespace {

constexpr const char* path_key = "text.path";
constexpr const char* path_encoding_key = "text.path_encoding";

}  // namespace

// Metadata must be UTF-8, but the name of a file may have any bytes. A name that is not UTF-8 is
// percent-encoded as in URLs (RFC 3986): caf%e9.txt.
void put_path(Metadata& metadata, const std::string& path) {
  metadata[path_key] = path;
  if (is_utf8(path)) return;
  metadata[path_encoding_key] = "percent";
  std::string& encoded = metadata[path_key];
  encoded.clear();
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    encoded +=
        byte > 0x20 && byte < 0x7f && c != '%' ? std::string(1, c) : hexadecimal("%%%02llx", byte);
  }
}

std::string path_in(const SafetensorsFile& file) {
  const std::string& stored = text_entry(file, path_key);
  if (stored.find('\0') != stored.npos)
    throw_error(file.path, ": metadata '", path_key, "' is ", in_quotes(stored),
                ", and no path has the byte 0");
  if (file.metadata.count(path_encoding_key) == 0) return stored;
  std::string path;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] != '%') {
      path += stored[i];
      continue;
    }
    unsigned char byte = 0;
    const char* const digits = stored.data() + i + 1;
    if (stored.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      throw_error(file.path, ": metadata '", path_key, "' is ", in_quotes(stored),
                  ", which is not percent-encoded");
    path += static_cast<char>(byte);
    i += 2;
  }
  return path;
}

}  // namespace HEED_NAMESPACE::model_file
