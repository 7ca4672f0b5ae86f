// json_test.cpp: tests of Json and read_json.

#include "base/json.hpp"

#include <limits>

#include "catch.hpp"

using heed::Json;
using heed::JsonError;

namespace {

// Writes the events as one line.
struct Recorder : heed::JsonEvents {
  void start_object() override { log += "{ "; }
  void end_object() override { log += "} "; }
  void start_list() override { log += "[ "; }
  void end_list() override { log += "] "; }
  void key(std::string& text) override { log += text + "= "; }
  void string(std::string& text) override { log += "\"" + text + "\" "; }
  void number(std::uint64_t value) override { log += std::to_string(value) + " "; }
  void other(const Json&, const std::string& shown) override { log += shown + " "; }

  std::string log;
};

JsonError error_of(const std::string& text) {
  try {
    Json::parse(text);
  } catch (const JsonError& error) {
    return error;
  }
  FAIL("no error");
  throw;
}

}  // namespace

TEST_CASE("parts of a JSON text arrive in their order", "[base][json]") {
  Recorder recorder;
  heed::read_json(R"({"a": [1, -2, 1.50, true, null], "b": {"c": "x\u00e9"}})", recorder);
  CHECK(recorder.log == "{ a= [ 1 -2 '1.50' true null ] b= { c= \"x\u00e9\" } } ");
}

TEST_CASE("a JSON value written and parsed again is the same", "[base][json]") {
  const Json json = {{"text", "caf\u00e9 \"\n"}, {"list", {1, -1, 0.1, 1e300, true, nullptr}}};
  CHECK(json.dump() == "{\"list\":[1,-1,0.1,1e+300,true,null],\"text\":\"caf\u00e9 \\\"\\n\"}");
  CHECK(json.dump(-1, true).find("caf\\u00e9") != std::string::npos);
  CHECK(Json::parse(json.dump(2)) == json);
  CHECK(Json(std::numeric_limits<double>::quiet_NaN()).dump() == "null");
  CHECK(Json(2.0).dump() == "2.0");
  CHECK(Json("\xff").dump() == "\"\xef\xbf\xbd\"");
}

TEST_CASE("an initializer list of keys and values is an object, another one a list",
          "[base][json]") {
  CHECK(Json({{"a", 1}, {"b", 2}}).is<Json::Object>());
  CHECK(Json({{1, 2}, {3, 4}}).is<Json::List>());
  CHECK(Json({"a", "b"}).is<Json::List>());
  Json json;
  json["x"]["y"].push_back(3);
  CHECK(json.dump() == "{\"x\":{\"y\":[3]}}");
}

TEST_CASE("numbers of different types are equal if their values are", "[base][json]") {
  CHECK(Json(2) == Json(2.0));
  CHECK(Json(std::size_t{2}) == Json(2));
  CHECK(Json(-1) != Json(std::numeric_limits<std::uint64_t>::max()));
  CHECK(Json(1) != Json(true));
  CHECK(Json(0) != Json(nullptr));
}

TEST_CASE("the last of equal keys counts", "[base][json]") {
  CHECK(Json::parse("{\"a\": 1, \"a\": {\"b\": 2}}").dump() == "{\"a\":{\"b\":2}}");
}

TEST_CASE("a wrong JSON text names its byte", "[base][json]") {
  CHECK(error_of("{\"a\": 01}").byte == 8);
  CHECK(error_of("[1,]").kind == JsonError::Kind::syntax);
  CHECK(error_of("\"\xff\"").kind == JsonError::Kind::syntax);
  CHECK(error_of("1e999").kind == JsonError::Kind::number);
  CHECK(error_of("").kind == JsonError::Kind::syntax);
  CHECK(error_of("{} {}").kind == JsonError::Kind::syntax);
}

TEST_CASE("a JSON text may have 32 levels", "[base][json]") {
  CHECK_NOTHROW(Json::parse(std::string(32, '[') + std::string(32, ']')));
  CHECK(error_of(std::string(33, '[') + std::string(33, ']')).kind == JsonError::Kind::depth);
  CHECK(error_of(std::string(1'000'000, '[')).kind == JsonError::Kind::depth);
}

TEST_CASE("a JSON value of another type is an error", "[base][json]") {
  CHECK_THROWS_AS(Json(1).get<std::string>(), heed::Error);
  CHECK_THROWS_AS(Json("x").number(), heed::Error);
  CHECK_THROWS_AS(Json("x").at("key"), heed::Error);
  CHECK(Json("x").find("key") == nullptr);
}
