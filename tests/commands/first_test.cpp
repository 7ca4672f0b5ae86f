// first_test.cpp: heed first finds the first step of a run at which a condition holds.

#include "catch.hpp"
#include "commands/first/condition.hpp"
#include "commands/tildes.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;
using heed::app::Condition;
using heed::app::ConditionError;

namespace {

// "COLUMN: MESSAGE" of the error in a condition, or "" if it has none.
std::string error_of(const std::string& text) {
  try {
    Condition condition(text);
    return "";
  } catch (const ConditionError& error) {
    return std::to_string(error.position + 1) + ": " + error.what();
  }
}

bool holds(const std::string& text) { return Condition(text).holds(); }

// The step that heed first has found, or -1.
int step_found(const Finished& found) {
  return found.code == 0 ? std::stoi(found.out.substr(5)) : -1;
}

}  // namespace

TEST_CASE("conditions compare arithmetic expressions", "[commands][first]") {
  CHECK(holds("1 + 2 * 3 >= 7"));
  CHECK_FALSE(holds("(1 + 2) * 3 <= 7"));
  CHECK(holds("-2 < 1e-3"));
  CHECK(holds("8 / 2 / 2 - 1 - 1 <= 0"));
  CHECK_FALSE(holds("1 > 1"));
}

TEST_CASE("conditions measure losses, gradients, weights, updates and attention",
          "[commands][first]") {
  Condition condition(
      "train_loss + max(abs(update a.b)) > 2 * entropy(attention 1.2) - norm(grad)");
  REQUIRE(condition.measurements().size() == 4);
  const char* const names[] = {"train_loss", "max(abs(update a.b))", "entropy(attention 1.2)",
                               "norm(grad)"};
  const double values[] = {1, 2, 3, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(condition.measurements()[i].text == names[i]);
    condition.measurements()[i].value = values[i];
  }
  CHECK(condition.measurements()[2].layer == 1);
  CHECK(condition.measurements()[2].head == 2);
  CHECK(condition.left() == 3);
  CHECK(condition.right() == 2);
  CHECK(condition.holds());
  CHECK(Condition("not finite").is_not_finite());
}

TEST_CASE("an error in a condition says where it is and what is expected", "[commands][first]") {
  CHECK(error_of("grad_norm") == "10: expected >, >=, < or <=");
  CHECK(error_of("norm(weights > 1") == "14: expected ')'");
  CHECK(error_of("1 > 2 3") == "7: expected the end");
  CHECK(error_of("entropy(attention 1) > 1") == "19: expected LAYER.HEAD, such as 1.2");
  CHECK(error_of("entropy(weights) > 1") ==
        "9: expected 'attention', as in entropy(attention 1.2)");
  CHECK(error_of("norm() > 1") == "6: expected weights, grad, or the name of a parameter");
  CHECK(error_of("not a number") == "5: expected 'finite'");
  CHECK(error_of("1 > 1e999") == "5: expected a number that a double can hold");
  CHECK(error_of("1 > " + std::string(100000, '(')) == "105: too many parentheses and signs");
  for (const char* text : {"", " ", ">", "1 >", "loss > 2", "norm > 1", "max(abs(weights) > 1"})
    CHECK(error_of(text) != "");
}

TEST_CASE("first prints a condition's error below a caret, and names of parameters are checked",
          "[commands][first]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const Finished syntax = sandbox.heed({"first", "o", "grad_norm >> 3"});
  CHECK(syntax.code == 2);
  CHECK(
      has(syntax.err, "grad_norm >> 3\n           ^\nheed: error: CONDITION, column 12: expected"));
  CHECK(has(sandbox.heed({"first", "o", "norm(blocks.9) > 3"}).err,
            "column 6: the model has no parameter 'blocks.9'; ./heed inspect RUN lists them"));
  CHECK(has(sandbox.heed({"first", "o", "entropy(attention 1.0) > 3"}).err,
            "column 19: the model has layers 0 to 0 and heads 0 to 1"));
}

TEST_CASE("first finds the step in loss.csv, with and without a record", "[commands][first]") {
  const Sandbox sandbox;
  const Arguments train = train_tiny + Arguments{"--log-every", "1", "--lr", "0.01"};
  REQUIRE(sandbox.heed(train).code == 0);
  const std::vector<std::string> rows = heed::split(losses(sandbox / "o"), '\n');
  const auto loss = [&](std::size_t step) { return heed::split(rows.at(step), ',')[1]; };
  const std::string condition = "train_loss <= " + loss(13);
  int expected = 1;
  while (std::stod(loss(static_cast<std::size_t>(expected))) > std::stod(loss(13))) ++expected;
  REQUIRE(expected > 9);
  CHECK(step_found(sandbox.heed({"first", "o", condition})) == expected);
  REQUIRE(sandbox.heed(train + Arguments{"--replace", "--record", "3"}).code == 0);
  CHECK(step_found(sandbox.heed({"first", "o", condition})) == expected);
  CHECK(step_found(sandbox.heed({"first", "o", condition, "--every-step"})) == expected);
  const Finished never = sandbox.heed({"first", "o", "train_loss < 0"});
  CHECK(never.code == 1);
  CHECK(never.out == "no step from 1 to 20: train_loss < 0\n");
}

TEST_CASE("first names the window whose gradient is unlike the others, as the documentation shows",
          "[commands][first]") {
  const Sandbox sandbox;
  train_tildes(sandbox);
  const Finished found =
      sandbox.heed({"first", "runs/tildes", "train_loss > 1.4 * median", "--every-step"});
  REQUIRE(found.code == 0);
  CHECK(up_to_tildes(found.out) ==
        up_to_tildes(
            documented("$ ./heed first runs/tildes \"train_loss > 1.4 * median\" --every-step")));
  CHECK(found.out.rfind("step 399:", 0) == 0);
  CHECK(has(found.out, "To step through it: ./heed debug replay runs/tildes --to 399\n"));
}

TEST_CASE("first finds the step at which a run diverged, which saved no checkpoint",
          "[commands][first]") {
  const Sandbox sandbox;
  const Finished train = sandbox.heed(
      train_tiny + Arguments{"--lr", "1e30", "--clip", "0", "--warmup", "0", "--record", "2"});
  REQUIRE(train.code == 1);
  const Finished found = sandbox.heed({"first", "o", "not finite"});
  INFO(found.out << found.err << train.err);
  CHECK(found.code == 0);
  CHECK(has(train.err, " step " + std::to_string(step_found(found)) + ","));
}
