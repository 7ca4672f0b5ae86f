// look_film_test.cpp: heed look --film, which shows a training step or a parameter over steps.

#include <cmath>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"
#include "page/inflated.hpp"
#include "page/page.hpp"

using namespace heed_test;

namespace {

using Json = nlohmann::json;

Json film(const Sandbox& sandbox, const Arguments& more) {
  const Finished done = sandbox.heed(Arguments{"look", "o", "--film", "film.html"} + more);
  INFO(done.err);
  REQUIRE(done.code == 0);
  const std::string html = content(sandbox / "film.html");
  CHECK(has(done.out, "film   film.html: " + heed::counted(html.size(), "byte") + "\n"));
  return Json::parse(inflated(html, "data"));
}

// The numbers of a picture, as the page decodes them.
std::vector<double> numbers(const Json& picture) {
  const std::string bytes = bytes_of(picture["codes"]);
  const std::size_t count = bytes.size() / 2;
  const double limit = picture["limit"];
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) {
    const int code =
        256 * static_cast<unsigned char>(bytes[i]) + static_cast<unsigned char>(bytes[count + i]);
    all.push_back(-limit + 2 * limit * code / 65535);
  }
  return all;
}

const Json& node_named(const Json& data, const std::string& name) {
  for (const Json& node : data["nodes"])
    if (node["name"] == name && node["inputs"].empty()) return node;
  throw std::runtime_error("no parameter " + name);
}

}  // namespace

TEST_CASE("the film of a step has each node's value, gradient and parts, and the operations' code",
          "[commands][look][film]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const Json data = film(sandbox, {"--step", "1"});
  REQUIRE(data["nodes"].size() > 20);
  const Json& loss = data["nodes"].back();
  CHECK(loss["op"] == "CrossEntropy");
  CHECK(loss["value"]["shape"].empty());
  CHECK(numbers(loss["gradient"]) == std::vector<double>{1});
  CHECK(heed::decimal(numbers(loss["value"])[0], 3) ==
        heed::decimal(std::stod(data["facts"]["loss"].get<std::string>()), 3));
  for (const Json& node : data["nodes"]) {
    INFO(node["name"] << " " << node["op"]);
    CHECK(node["value"]["shape"] == node["gradient"]["shape"]);
    CHECK(node["inputs"].empty() == node.contains("update"));
    if (!node["inputs"].empty()) CHECK(data["sources"].contains(node["op"]));
    for (std::size_t i = 0; i < node["inputs"].size(); ++i)
      if (!node["inputs"][i].is_null())
        CHECK(node["parts"][i]["shape"] ==
              data["nodes"][node["inputs"][i].get<std::size_t>()]["value"]["shape"]);
  }
  const std::string name = "blocks.0.attention.query.weight";
  const Finished first = sandbox.heed({"first", "o", "norm(grad " + name + ") > 0"});
  const double norm = node_named(data, name)["gradient"]["all"]["norm"];
  CHECK(has(first.out, heed::significant(norm, 6)));
}

TEST_CASE("a parameter's film has its values, and their sum with the updates is what is saved",
          "[commands][look][film]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string name = "blocks.0.attention.query.weight";
  const Json data = film(sandbox, {"--parameter", name, "--from", "11", "--step", "20"});
  REQUIRE(data["steps"].size() == 10);
  const Json& last = data["steps"].back();
  CHECK(last["facts"]["step"] == 20);
  const heed::ModelFile file = heed::ModelFile::open(sandbox / "o/checkpoint.safetensors");
  const heed::LoadedModel saved(file);
  const heed::Array& weights = saved.parameters.at(name).value();
  const std::vector<double> before = numbers(last["value"]), update = numbers(last["update"]);
  REQUIRE(before.size() == weights.size());
  const double step =
      (last["value"]["limit"].get<double>() + last["update"]["limit"].get<double>()) / 32767;
  for (std::size_t i = 0; i < before.size(); ++i)
    REQUIRE(std::abs(before[i] + update[i] - static_cast<double>(weights.data()[i])) <= step);
}

TEST_CASE("a film of a step that diverged counts what is not finite", "[commands][look][film]") {
  const Sandbox sandbox;
  const Arguments wild = {"--lr", "1e30", "--warmup", "0", "--record", "1"};
  CHECK(sandbox.heed(train_tiny + wild).code != 0);
  const Json data = film(sandbox, {"--step", "2"});
  CHECK(has(data["diverged"], "step 2"));
  CHECK(data["nodes"].back()["value"]["all"]["not_finite"] == 1);
}

TEST_CASE("look --film rejects what does not fit, in one line", "[commands][look][film]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const auto error = [&](const Arguments& more) {
    return sandbox.heed(Arguments{"look", "o"} + more).err;
  };
  CHECK(has(error({"--step", "3"}), "--step applies to --film; give --film too"));
  CHECK(has(error({"--film", "f.html", "--text", "x"}), "--text does not apply to --film"));
  CHECK(has(error({"--film", "f.html", "--from", "2"}), "--from applies to --parameter"));
  CHECK(has(error({"--film", "f.html", "--step", "21"}), "must be at most 20"));
  CHECK(has(error({"--film", "f.html", "--parameter", "head"}), "is not a parameter of the run"));
  CHECK(
      has(error({"--film", "f.html", "--parameter", "token.weight", "--from", "9", "--step", "5"}),
          "--from 9: must be at most the step 5 of --step"));
  CHECK(has(error({"--film", "in.txt"}), "exists and is not a page of heed look; give --film"));
}

TEST_CASE("operation_source gives a struct with the formula above it", "[commands][film]") {
  const std::string source = heed::operation_source("Softmax");
  CHECK(source.rfind("// y_i = exp(x_i) / sum_j exp(x_j)", 0) == 0);
  CHECK(has(source, "backward(const Array& dy"));
  CHECK(source.substr(source.size() - 3) == "\n};");
  CHECK(heed::operation_source("Soft") == "");
  CHECK(heed::operation_source("") == "");
}
