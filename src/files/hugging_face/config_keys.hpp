// config_keys.hpp: the keys of config.json, with their checks.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>

#include "files/hugging_face/json.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/ops/activation.hpp"

namespace HEED_NAMESPACE::hugging_face {

// The keys of config.json. Functions throw Error "PATH: ..." for a wrong value.
class ConfigKeys {
 public:
  explicit ConfigKeys(std::filesystem::path path)
      : path_(std::move(path)), json_(parsed_object(path_, max_bytes)) {}

  std::string file() const { return path_.string(); }
  bool has(const char* key) const { return json_.contains(key) && !json_.at(key).is_null(); }
  const Json& at(const char* key) const { return json_.at(key); }

  std::size_t size(const char* key) const {
    if (!has(key)) throw_error(file(), ": the key '", key, "' is missing");
    const Json& value = json_.at(key);
    if (!value.is<std::uint64_t>() || value.get<std::uint64_t>() == 0 ||
        value.get<std::uint64_t>() > 1'000'000'000)
      throw_error(file(), ": '", key, "' is ", short_text(value),
                  "; it must be a whole number from 1 to 1000000000");
    return value.get<std::uint64_t>();
  }

  // The value of a key, which must have type T; `kind` names the type in the error.
  template <class T>
  T value(const char* key, T otherwise, const char* kind) const {
    if (!has(key)) return otherwise;
    if (!json_.at(key).is<T>())
      throw_error(file(), ": '", key, "' is ", short_text(json_.at(key)), "; it must be ", kind);
    return json_.at(key).get<T>();
  }
  std::string text(const char* key, const std::string& otherwise) const {
    return value(key, otherwise, "a string");
  }
  bool flag(const char* key, bool otherwise) const {
    return value(key, otherwise, "true or false");
  }

  double epsilon(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    const Json& value = json_.at(key);
    if (!value.is_number() || !(value.number() > 0 && value.number() < 1))
      throw_error(file(), ": '", key, "' is ", short_text(value),
                  "; it must be a number between 0 and 1");
    return value.number();
  }

  // A number above 0, such as the base of rotary positions.
  double positive(const char* key, double otherwise) const {
    if (!has(key)) return otherwise;
    const Json& value = json_.at(key);
    if (!value.is_number() || !(value.number() > 0) || std::isinf(value.number()))
      throw_error(file(), ": '", key, "' is ", short_text(value), "; it must be a number above 0");
    return value.number();
  }

  Gelu gelu(const char* key, const std::string& otherwise) const {
    const std::string name = text(key, otherwise);
    if (name == "gelu") return Gelu::erf;
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Gelu::tanh;
    throw_error(file(), ": '", key, "' is ", in_quotes(name),
                "; heed has gelu, gelu_new and gelu_pytorch_tanh");
  }

  // Throws Error if config.json sets `key` to a value other than `supported` (such as another
  // activation function).
  void require(const char* key, const Json& supported) const {
    if (!has(key) || json_.at(key) == supported) return;
    throw_error(file(), ": '", key, "' is ", short_text(json_.at(key)), "; heed supports only ",
                supported.dump());
  }

  // Rejects a key that must be null or missing.
  void require_none(const char* key) const { require(key, nullptr); }

 private:
  static constexpr std::size_t max_bytes = 1'000'000;

  std::filesystem::path path_;
  Json json_;
};

}  // namespace HEED_NAMESPACE::hugging_face
