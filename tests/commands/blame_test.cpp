// blame_test.cpp: heed blame finds the steps, windows and tokens that changed an element.

#include <regex>

#include "catch.hpp"
#include "commands/tildes.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;

namespace {

// The numbers in the text that match the pattern's group.
std::vector<double> numbers(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<double> result;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i)
    result.push_back(std::stod((*i)[1]));
  return result;
}

// The percentages in a table, which begins with the text.
std::vector<double> shares(const std::string& output, const std::string& begin) {
  const std::size_t from = output.find(begin);
  REQUIRE(from != std::string::npos);
  return numbers(output.substr(from, output.find("\n\n", from) - from), " (-?[0-9]+) %");
}

double sum(const std::vector<double>& numbers) {
  double result = 0;
  for (const double x : numbers) result += x;
  return result;
}

// Checks that the parts in each of the three tables add up to what they are parts of.
void check_sums(const std::string& output) {
  const std::vector<double> differences = numbers(output, "to within ([-+.e0-9]+) of its largest");
  REQUIRE(differences.size() == 3);
  for (const double difference : differences) CHECK(difference < 1e-5);
}

}  // namespace

TEST_CASE("blame names the step, window and tokens that changed an element, as documented",
          "[commands][blame]") {
  const Sandbox sandbox;
  train_tildes(sandbox);
  const Finished found = sandbox.heed({"blame", "runs/tildes", "token.weight[64,5]"});
  INFO(found.out << found.err);
  REQUIRE(found.code == 0);
  CHECK(up_to_tildes(found.out) ==
        up_to_tildes(documented("$ ./heed blame runs/tildes 'token.weight[64,5]'")));
  CHECK(has(found.out, "gradient of token.weight[64,5] in step 399 is -0.38"));
  CHECK(has(found.out, "To step through it: ./heed debug replay runs/tildes --to 399\n"));
  check_sums(found.out);
  CHECK(std::abs(sum(shares(found.out, "The 2 operations")) - 100) < 2);
  CHECK(shares(found.out, "The 4 windows")[0] == 100);
  CHECK(shares(found.out, "The 32 tokens").size() == 5);
}

TEST_CASE("blame divides the gradient of a run with dropout, and of one with shards",
          "[commands][blame]") {
  const Sandbox sandbox;
  for (const Arguments& option : {Arguments{"--dropout", "0.2"}, Arguments{"--shards", "2"}}) {
    REQUIRE(sandbox.heed(train_tiny + Arguments{"--replace"} + option).code == 0);
    const Finished found =
        sandbox.heed({"blame", "o", "blocks.0.mlp.up.weight[3,5]", "--step", "7"});
    INFO(found.out << found.err);
    REQUIRE(found.code == 0);
    CHECK(has(found.out, "gradient of blocks.0.mlp.up.weight[3,5] in step 7 is"));
    CHECK(shares(found.out, "The 1 operations") == std::vector<double>{100});
    check_sums(found.out);
  }
  REQUIRE(
      sandbox.heed(train_tiny + Arguments{"--replace", "--shards", "2", "--dropout", "0.2"}).code ==
      0);
  CHECK(has(sandbox.heed({"blame", "o", "norm.weight[3]", "--step", "7"}).out,
            "A window alone has other dropout masks than in one of several shards"));
}

TEST_CASE("blame shows the update of the step that is given", "[commands][blame]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string all = sandbox.heed({"blame", "o", "norm.weight[3]"}).out;
  CHECK(has(all, "norm.weight[3] in 20 steps, from 1 to "));
  const std::size_t first_row = all.find('\n', all.find("    step  ")) + 1;
  const std::string row = all.substr(first_row, all.find('\n', first_row) + 1 - first_row);
  const Finished one =
      sandbox.heed({"blame", "o", "norm.weight[3]", "--step", std::to_string(std::stoi(row))});
  CHECK(has(one.out, row));
  CHECK(all.substr(all.find("The gradient")) == one.out.substr(one.out.find("The gradient")));
}

TEST_CASE("blame ends at the step at which a run diverged", "[commands][blame]") {
  const Sandbox sandbox;
  REQUIRE(sandbox
              .heed(train_tiny +
                    Arguments{"--lr", "1e30", "--clip", "0", "--warmup", "0", "--record", "2"})
              .code == 1);
  const Finished found = sandbox.heed({"blame", "o", "token.weight[0,0]"});
  INFO(found.out << found.err);
  CHECK(found.code == 0);
  CHECK(has(found.out, "the loss is nan in step 2, at learning rate"));
  CHECK(has(found.out, "token.weight[0,0] in 1 step, from"));
}

TEST_CASE("blame rejects what is no element of a parameter, and a step that the run does not have",
          "[commands][blame]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const auto error = [&](const Arguments& arguments) {
    const Finished found = sandbox.heed(Arguments{"blame", "o"} + arguments);
    CHECK(found.code == 2);
    return found.err;
  };
  CHECK(error({"head[1]"}) ==
        "heed: error: NAME[i,j]: the model has no parameter 'head'; ./heed inspect RUN lists "
        "them\n");
  for (const char* indices : {"", "[]", "[1", "[1]", "[a,b]", "[1,2,3]", "[0,16]", "[-1,0]",
                              "[1,99999999999999999999]", "[1,2]x"})
    CHECK(has(error({"token.weight" + std::string(indices)}),
              "': must be an element of token.weight (32, 16), such as token.weight[0,0]\n"));
  CHECK(error({"norm.weight[3]", "--step", "21"}) ==
        "heed: error: --step 21: must be at most 20, the run's --steps\n");
  CHECK(has(error({}), "blame: give an element, such as "));
}
