// file_test.cpp: the reader of golden files, and its errors with line numbers.

#include "golden/file.hpp"

#include "catch.hpp"

namespace {

const std::string valid =
    "# a comment\n"
    "CASE add/one add {\"c\":[1,null]}\n"
    "TOL 1e-6 1e-6 1e-6 1e-6\n"
    "IN a f32 grad 2 2 1 : 0.1 -inf\n"
    "IN m bool 1 2 : 0 1\n"
    "OUT y0 f32 0  : nan\n"
    "UP y0 f32 0  : 1\n"
    "GRAD a f32 2 2 1 : 3 4\n"
    "END\n";

std::string error_of(const std::string& text) {
  std::istringstream in(text);
  try {
    golden::Reader(in, "g.txt").read();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "(read)";
}

// The error for the valid text with `from` replaced by `to`.
std::string error_of(const std::string& from, const std::string& to) {
  std::string text = valid;
  return error_of(text.replace(text.find(from), from.size(), to));
}

}  // namespace

TEST_CASE("the reader reads the numbers, flags and attributes of a golden case", "[golden]") {
  std::istringstream in(valid);
  const std::vector<golden::Case> cases = golden::Reader(in, "g.txt").read();
  REQUIRE(cases.size() == 1);
  const golden::Case& c = cases[0];
  CHECK(c.id == "add/one");
  CHECK(c.attrs["c"][0] == 1);
  REQUIRE(c.in.size() == 2);
  CHECK(c.in[0].grad);
  CHECK(c.in[0].shape == std::vector<std::size_t>{2, 1});
  CHECK(c.in[0].values[0] == static_cast<double>(0.1f));
  CHECK(c.in[0].values[1] < -1e300);
  CHECK_FALSE(c.in[1].grad);
  CHECK(c.out[0].shape.empty());
}

TEST_CASE("malformed golden files give errors with the line number", "[golden]") {
  CHECK(error_of("") == "g.txt:1: no cases");
  CHECK(error_of("CASE", "CASES") ==
        "g.txt:2: expected CASE, got: CASES add/one add {\"c\":[1,null]}");
  CHECK(error_of("[1,null]", "[1,") ==
        "g.txt:2: the attributes are not a JSON object: {\"c\":[1,}");
  CHECK(error_of("TOL 1e-6", "TOL -1") == "g.txt:3: not a tolerance: -1");
  CHECK(error_of("TOL", "# ") == "g.txt:3: unknown keyword #");
  CHECK(error_of("f32 grad", "f16 grad") == "g.txt:4: unknown dtype f16");
  CHECK(error_of("2 2 1 :", "2 -2 1 :") == "g.txt:4: not a size: -2");
  CHECK(error_of("2 2 1 :", "2 2 1") == "g.txt:4: expected a colon after the sizes of a");
  CHECK(error_of(" -inf", "") == "g.txt:4: expected a value");
  CHECK(error_of("-inf", "-inf 7") == "g.txt:4: too many values: 7");
  CHECK(error_of("-inf", "1x") == "g.txt:4: not a number: 1x");
  CHECK(error_of(": 0 1", ": 0 2") == "g.txt:5: not a bool: 2");
  CHECK(error_of("IN m", "IN a") == "g.txt:5: a second IN a");
  CHECK(error_of("UP y0", "UP y1") == "g.txt:9: UP y1 matches no OUT");
  CHECK(error_of("GRAD a", "GRAD m") == "g.txt:9: GRAD m matches no IN with grad");
  CHECK(error_of("GRAD a f32 2 2 1 : 3 4\n", "") == "g.txt:8: IN a has no GRAD");
  CHECK(error_of("END\n", "") == "g.txt:9: the file ends inside case add/one");
  CHECK(error_of("TOL", "ERROR no\nTOL") == "g.txt:10: a case has either TOL or ERROR");
  CHECK(error_of(valid + valid.substr(12)) == "g.txt:17: a second case add/one");
}
