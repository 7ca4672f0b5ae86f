// json.hpp: Json, a value of a JSON text, and read_json, which reads a JSON text part by part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "heed/base/error.hpp"

namespace heed {

// Thrown for a text that is not JSON in UTF-8, for a number outside the range of double, and for
// more than 32 levels of nested values.
struct JsonError : Error {
  enum class Kind { syntax, number, depth };
  JsonError(Kind the_kind, std::size_t the_byte);
  Kind kind;
  std::size_t byte;  // where the parser stopped; counted from 1
};

// A JSON value. A whole number is std::uint64_t or, if it is negative, std::int64_t; every other
// number is double. The keys of an object are sorted.
//   Json json = {{"name", "gpt2"}, {"sizes", {12, 768}}};    // an object, because of the keys
//   json["epsilon"] = 1e-5;
//   json.at("sizes").get<Json::List>().size();
class Json {
 public:
  static constexpr int max_depth = 32;  // levels of nested lists and objects in a text
  using List = std::vector<Json>;
  using Object = std::map<std::string, Json>;

  Json(std::nullptr_t = nullptr) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(List values) : value_(std::move(values)) {}
  Json(Object members) : value_(std::move(members)) {}
  // A list; or an object, if each value is a list of two values of which the first is a string.
  Json(std::initializer_list<Json> values);
  template <class T>
  Json(const std::vector<T>& values) : value_(List(values.begin(), values.end())) {}
  template <class T>
  Json(const std::map<std::string, T>& members) : value_(Object(members.begin(), members.end())) {}
  // A number, or true or false.
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Json(T x) {
    if constexpr (std::is_same_v<T, bool>)
      value_ = x;
    else if constexpr (std::is_floating_point_v<T>)
      value_ = static_cast<double>(x);
    else if constexpr (std::is_unsigned_v<T>)
      value_ = static_cast<std::uint64_t>(x);
    else if (x < 0)
      value_ = static_cast<std::int64_t>(x);
    else
      value_ = static_cast<std::uint64_t>(x);
  }

  // Parses a text with one value; of equal keys in an object, the last one counts. Throws
  // JsonError. A zero byte ends the text.
  static Json parse(std::string_view text);

  // The text of the value, on one line or, with an indent, a line for each value. Text that is not
  // UTF-8 becomes U+FFFD. `ascii` replaces all other characters by escape sequences.
  std::string dump(int indent = -1, bool ascii = false) const;

  // T is one of std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string, List and
  // Object. get() throws Error if the value has another type.
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  const T& get() const {
    if (!is<T>()) throw_wrong_type();
    return std::get<T>(value_);
  }
  template <class T>
  T& get() {
    return const_cast<T&>(std::as_const(*this).get<T>());
  }
  bool is_null() const { return is<std::nullptr_t>(); }
  bool is_number() const;
  double number() const;  // any number as double; throws Error for other values

  bool contains(const std::string& key) const { return find(key) != nullptr; }
  const Json* find(const std::string& key) const;  // null unless this is an object with the key
  const Json& at(const std::string& key) const;    // throws Error unless contains(key)
  Json& operator[](const std::string& key);        // null becomes an object; adds the key
  void push_back(Json value);                      // null becomes a list
  const Json& operator[](std::size_t i) const;  // throws Error unless this is a list with the index
  Json& operator[](std::size_t i) { return const_cast<Json&>(std::as_const(*this)[i]); }

  // Whether the values are equal; numbers are equal if their values are: 2 == 2.0.
  friend bool operator==(const Json& a, const Json& b);
  friend bool operator!=(const Json& a, const Json& b) { return !(a == b); }

 private:
  [[noreturn]] void throw_wrong_type() const;

  std::variant<std::nullptr_t, bool, std::uint64_t, std::int64_t, double, std::string, List, Object>
      value_;
};

// Receives the parts of a JSON text in their order. A function may throw to end the reading.
struct JsonEvents {
  virtual void start_object() = 0;
  virtual void end_object() = 0;
  virtual void start_list() = 0;
  virtual void end_list() = 0;
  virtual void key(std::string& text) = 0;     // the text may be moved from
  virtual void string(std::string& text) = 0;  // the text may be moved from
  virtual void number(std::uint64_t value) = 0;
  // null, true, false, or a number that is negative or not whole. `shown` is the value in an error
  // message: a number that is not whole has the digits of the text, in quotes.
  virtual void other(const Json& value, const std::string& shown) = 0;

 protected:
  ~JsonEvents() = default;
};

// Reads a text of any length, in constant memory but for one string. Throws JsonError for the
// syntax and for numbers, and does not limit the nesting. A zero byte ends the text.
void read_json(std::string_view text, JsonEvents& events);

}  // namespace heed
