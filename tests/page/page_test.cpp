// page_test.cpp: base64, 16-bit codes, and the page's protection against texts that are markup.

#include "page/page.hpp"

#include <cmath>
#include <cstdlib>

#include "catch.hpp"
#include "heed/base/text.hpp"
#include "page/inflated.hpp"

using namespace heed;
using heed_test::bytes_of;

namespace {

// The numbers that the page's script decodes.
std::vector<double> decoded(const CodedNumbers& coded) {
  const std::string bytes = bytes_of(coded.codes);
  std::vector<double> numbers;
  const std::size_t count = bytes.size() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const int code =
        256 * static_cast<unsigned char>(bytes[i]) + static_cast<unsigned char>(bytes[count + i]);
    numbers.push_back(coded.low + code * (coded.high - coded.low) / 65535);
  }
  return numbers;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t i = text.find(part); i != text.npos; i = text.find(part, i + 1)) ++found;
  return found;
}

// Checks that coded numbers decode to within one step, and print the same decimals.
void check_decoded(const std::vector<Real>& numbers, double low, double high, int decimals) {
  const std::vector<double> back =
      decoded(coded_numbers(numbers.data(), numbers.size(), low, high, decimals));
  REQUIRE(back.size() == numbers.size());
  std::size_t far = 0, different = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto exact = static_cast<double>(numbers[i]);
    far += std::abs(back[i] - exact) > (high - low) / 65535;
    different += decimal(back[i], decimals) != decimal(exact, decimals);
  }
  CHECK(far == 0);
  CHECK(different == 0);
}

}  // namespace

TEST_CASE("base64 of the test vectors of RFC 4648", "[page]") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\x00"[0] == '\xff' ? "\xff\xfe" : "") == "//4=");
}

TEST_CASE("coded weights decode to within one step and print the same four decimals", "[page]") {
  std::vector<Real> weights{0, 1, 0.5f, 0.00005f, 0.00004999f, 0.99995f};
  for (int i = 0; i < 20000; ++i)
    weights.push_back(static_cast<Real>(std::fmod(i * 0.6180339887, 1)));
  check_decoded(weights, 0, 1, 4);
}

TEST_CASE("coded numbers of both signs decode to within one step and print the same three decimals",
          "[page]") {
  std::vector<Real> numbers{-1.5f, 2.5f, 0, -1, 0.0005f};
  for (int i = 0; i < 20000; ++i)
    numbers.push_back(static_cast<Real>(4 * std::fmod(i * 0.6180339887, 1) - 1.5));
  check_decoded(numbers, -1.5, 2.5, 3);
}

TEST_CASE("coded numbers outside the range are clamped, and NaN is low", "[page]") {
  const std::vector<Real> numbers{-9, 9, std::nanf("")};
  const std::vector<double> clamped = decoded(coded_numbers(numbers.data(), 3, -2, 2, 3));
  CHECK(clamped == std::vector<double>{-2, 2, -2});
  CHECK(decoded(coded_numbers({3, 3}, 4)) == std::vector<double>{3, 3});
  CHECK(coded_numbers(std::vector<Real>{}, 4).codes == "");
}

TEST_CASE("a text cannot end the script element or fill a place of the template", "[page]") {
  const std::string json = R"({"a":"</script>{{title}}<!--"})";
  const std::string page = attention_page("<b>\"'&{{data}}", json, "[]");
  CHECK(count(page, "</script>") == count(attention_page("", "{}", "[]"), "</script>"));
  CHECK(heed_test::inflated(page, "data") == json);
  CHECK(heed_test::inflated(page, "gradients") == "[]");
  CHECK(count(page, "<title>&lt;b&gt;&quot;&#39;&amp;{{data}}</title>") == 1);
}

TEST_CASE("the data of the page is compressed", "[page]") {
  const std::size_t empty = attention_page("", "", "").size();
  CHECK(attention_page("", std::string(100'000, 'a'), "").size() < empty + 1000);
}

TEST_CASE("the page forbids every request, and names no other file", "[page]") {
  const std::string page = attention_page("a", "{}", "[]");
  CHECK(count(page, "default-src 'none'; script-src 'sha256-") == 1);
  CHECK(count(page, "'sha256-") == 3);  // two scripts and a style sheet
  for (const char* part :
       {"https://", "src=\"", "<link", "@import", "unsafe-inline", "fetch(", "XMLHttpRequest"})
    CHECK(count(page, part) == 0);
  CHECK(count(page, "http://") == count(page, "http://www.w3.org/2000/svg"));  // the name of SVG
}
