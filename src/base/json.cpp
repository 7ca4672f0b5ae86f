// json.cpp: parses and writes JSON with nlohmann/json, which no other file of the program includes.

#include "base/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/text.hpp"

namespace heed {
namespace {

using Library = nlohmann::json;

// Passes the library's events on.
struct Adaptor {
  JsonEvents& events;

  bool start_object(std::size_t) { return events.start_object(), true; }
  bool end_object() { return events.end_object(), true; }
  bool start_array(std::size_t) { return events.start_list(), true; }
  bool end_array() { return events.end_list(), true; }
  bool key(std::string& text) { return events.key(text), true; }
  bool string(std::string& text) { return events.string(text), true; }
  bool number_unsigned(std::uint64_t value) { return events.number(value), true; }
  bool number_integer(std::int64_t x) { return events.other(x, std::to_string(x)), true; }
  bool number_float(double x, const std::string& text) {
    return events.other(x, in_quotes(text)), true;
  }
  bool null() { return events.other(nullptr, "null"), true; }
  bool boolean(bool x) { return events.other(x, x ? "true" : "false"), true; }
  bool binary(Library::binary_t&) { return true; }  // JSON text has no binary values
  bool parse_error(std::size_t byte, const std::string&, const Library::exception& error) {
    const bool is_syntax = dynamic_cast<const Library::parse_error*>(&error) != nullptr;
    throw JsonError(is_syntax ? JsonError::Kind::syntax : JsonError::Kind::number, byte);
  }
};

// Builds a value from events.
class Builder : public JsonEvents {
 public:
  void start_object() override { open(Json(Json::Object())); }
  void start_list() override { open(Json(Json::List())); }
  void end_object() override { open_.pop_back(); }
  void end_list() override { open_.pop_back(); }
  void key(std::string& text) override { key_ = std::move(text); }
  void string(std::string& text) override { add(std::move(text)); }
  void number(std::uint64_t value) override { add(value); }
  void other(const Json& value, const std::string&) override { add(value); }

  Json root;

 private:
  Json& add(Json value) {
    if (open_.empty()) return root = std::move(value);
    if (open_.back()->is<Json::Object>()) return (*open_.back())[key_] = std::move(value);
    open_.back()->push_back(std::move(value));
    return open_.back()->get<Json::List>().back();
  }
  void open(Json empty) {
    if (open_.size() == Json::max_depth) throw JsonError(JsonError::Kind::depth, 0);
    open_.push_back(&add(std::move(empty)));
  }

  std::vector<Json*> open_;  // the lists and objects that have not ended, from the outermost on
  std::string key_;
};

Library tree_of(const Json& json) {
  if (json.is<Json::List>()) {
    Library list = Library::array();
    for (const Json& value : json.get<Json::List>()) list.push_back(tree_of(value));
    return list;
  }
  if (json.is<Json::Object>()) {
    Library object = Library::object();
    for (const auto& [key, value] : json.get<Json::Object>()) object[key] = tree_of(value);
    return object;
  }
  if (json.is<std::string>()) return json.get<std::string>();
  if (json.is<double>()) return json.get<double>();
  if (json.is<std::uint64_t>()) return json.get<std::uint64_t>();
  if (json.is<std::int64_t>()) return json.get<std::int64_t>();
  return json.is_null() ? Library(nullptr) : Library(json.get<bool>());
}

}  // namespace

JsonError::JsonError(Kind the_kind, std::size_t the_byte)
    : Error("the text is not valid JSON in UTF-8 at its byte " + std::to_string(the_byte)),
      kind(the_kind),
      byte(the_byte) {}

Json::Json(std::initializer_list<Json> values) {
  const auto is_member = [](const Json& value) {
    const List* const pair = std::get_if<List>(&value.value_);
    return pair != nullptr && pair->size() == 2 && (*pair)[0].is<std::string>();
  };
  if (!std::all_of(values.begin(), values.end(), is_member)) {
    value_ = List(values);
    return;
  }
  for (const Json& member : values) (*this)[member[0].get<std::string>()] = member[1];
}

Json Json::parse(std::string_view text) {
  Builder builder;
  read_json(text, builder);
  return std::move(builder.root);
}

std::string Json::dump(int indent, bool ascii) const {
  return tree_of(*this).dump(indent, ' ', ascii, Library::error_handler_t::replace);
}

bool Json::is_number() const { return is<std::uint64_t>() || is<std::int64_t>() || is<double>(); }

double Json::number() const {
  if (is<std::uint64_t>()) return static_cast<double>(get<std::uint64_t>());
  if (is<std::int64_t>()) return static_cast<double>(get<std::int64_t>());
  return get<double>();
}

const Json* Json::find(const std::string& key) const {
  if (!is<Object>()) return nullptr;
  const auto found = get<Object>().find(key);
  return found == get<Object>().end() ? nullptr : &found->second;
}

const Json& Json::at(const std::string& key) const {
  if (const Json* const value = find(key)) return *value;
  throw_error("json: no key ", in_quotes(key));
}

const Json& Json::operator[](std::size_t i) const {
  const List& list = get<List>();
  if (i >= list.size()) throw_error("json: no value ", i, " in a list of ", list.size());
  return list[i];
}

Json& Json::operator[](const std::string& key) {
  if (is_null()) value_ = Object();
  return get<Object>()[key];
}

void Json::push_back(Json value) {
  if (is_null()) value_ = List();
  get<List>().push_back(std::move(value));
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number() && (a.is<double>() || b.is<double>()))
    return a.number() == b.number();
  return a.value_ == b.value_;
}

void Json::throw_wrong_type() const { throw_error("json: a value has another type: ", dump()); }

void read_json(std::string_view text, JsonEvents& events) {
  Adaptor adaptor{events};
  Library::sax_parse(text.begin(), text.end(), &adaptor);
}

}  // namespace heed
