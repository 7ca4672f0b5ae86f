// file_test.cpp: a malformed golden file is refused with the number of the line.

#include "golden/file.hpp"

#include "catch.hpp"

namespace {

const std::string good =
    "# a comment\n"
    "CASE add/one add {\"c\":[1,null]}\n"
    "TOL 1e-6 1e-6 1e-6 1e-6\n"
    "IN a f32 grad 2 2 1 : 0.1 -inf\n"
    "IN m bool 1 2 : 0 1\n"
    "OUT y0 f32 0  : nan\n"
    "UP y0 f32 0  : 1\n"
    "GRAD a f32 2 2 1 : 3 4\n"
    "END\n";

std::string refusal(const std::string& text) {
  std::istringstream in(text);
  try {
    golden::Reader(in, "g.txt").read();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "(read)";
}

// What is said when `from` in the good text is `to` instead.
std::string refusal(const std::string& from, const std::string& to) {
  std::string text = good;
  return refusal(text.replace(text.find(from), from.size(), to));
}

}  // namespace

TEST_CASE("a golden case is read with its numbers, flags and attributes", "[golden]") {
  std::istringstream in(good);
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

TEST_CASE("malformed golden files are refused with the line", "[golden]") {
  CHECK(refusal("") == "g.txt:1: no cases");
  CHECK(refusal("CASE", "CASES") ==
        "g.txt:2: expected CASE, got: CASES add/one add {\"c\":[1,null]}");
  CHECK(refusal("[1,null]", "[1,") == "g.txt:2: the attributes are no JSON object: {\"c\":[1,}");
  CHECK(refusal("TOL 1e-6", "TOL -1") == "g.txt:3: not a tolerance: -1");
  CHECK(refusal("TOL", "# ") == "g.txt:3: unknown keyword #");
  CHECK(refusal("f32 grad", "f16 grad") == "g.txt:4: unknown dtype f16");
  CHECK(refusal("2 2 1 :", "2 -2 1 :") == "g.txt:4: not a size: -2");
  CHECK(refusal("2 2 1 :", "2 2 1") == "g.txt:4: expected a colon after the sizes of a");
  CHECK(refusal(" -inf", "") == "g.txt:4: expected a value");
  CHECK(refusal("-inf", "-inf 7") == "g.txt:4: too many values: 7");
  CHECK(refusal("-inf", "1x") == "g.txt:4: not a number: 1x");
  CHECK(refusal(": 0 1", ": 0 2") == "g.txt:5: not a bool: 2");
  CHECK(refusal("IN m", "IN a") == "g.txt:5: a second IN a");
  CHECK(refusal("UP y0", "UP y1") == "g.txt:9: UP y1 fits no OUT");
  CHECK(refusal("GRAD a", "GRAD m") == "g.txt:9: GRAD m fits no IN with grad");
  CHECK(refusal("GRAD a f32 2 2 1 : 3 4\n", "") == "g.txt:8: IN a has no GRAD");
  CHECK(refusal("END\n", "") == "g.txt:9: the file ends inside case add/one");
  CHECK(refusal("TOL", "ERROR no\nTOL") == "g.txt:10: a case has either TOL or ERROR");
  CHECK(refusal(good + good.substr(12)) == "g.txt:17: a second case add/one");
}
