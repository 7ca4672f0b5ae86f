// doctor_test.cpp: heed doctor names what is wrong with small labelled runs, and nothing else.

#include <fstream>

#include "catch.hpp"
#include "commands/curve_findings.hpp"
#include "commands/heed_program.hpp"
#include "heed/array/random.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;

namespace {

// Sentences of invented words: one letter determines most of the next.
std::string invented_text(std::size_t sentences, std::uint64_t seed = 1) {
  const std::vector<std::string> words = {"bana", "kiru", "solo",  "teme", "vodi", "pura",
                                          "lako", "misu", "gareo", "finu", "zeda", "huwo"};
  heed::Generator generator(seed);
  const heed::Indices drawn =
      generator.randint(0, static_cast<std::int64_t>(words.size()), {sentences, 5});
  std::string text;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    text += words[static_cast<std::size_t>(drawn.data()[i])] + (i % 5 == 4 ? ".\n" : " ");
  return text;
}

// `count` of the first `letters` letters, each drawn alone.
std::string random_letters(std::size_t count, std::int64_t letters) {
  std::string text;
  for (const std::int64_t letter : heed::Generator(1).randint(0, letters, {count}))
    text += static_cast<char>('a' + letter);
  return text;
}

std::string in_utf16(const std::string& text) {
  std::string result;
  for (const char c : text) result += {c, '\0'};
  return result;
}

std::string with_cr(std::string text) {
  std::replace(text.begin(), text.end(), '\n', '\r');
  return text;
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

struct Run : Sandbox {
  explicit Run(const std::string& text, const Arguments& flags = {}) {
    put(*this / "in.txt", text);
    Arguments all = {"train", "in.txt", "--threads", "1", "--out", "o"};
    const std::map<std::string, std::string> usual = {
        {"--layers", "1"},     {"--heads", "2"},       {"--embed-dim", "16"},
        {"--batch-size", "8"}, {"--block-size", "16"}, {"--steps", "300"},
        {"--lr", "0.005"},     {"--warmup", "20"},     {"--eval-batches", "4"}};
    for (const auto& [flag, value] : usual)
      if (std::find(flags.begin(), flags.end(), flag) == flags.end())
        all.insert(all.end(), {flag, value});
    trained = heed(all + flags);
  }

  Finished doctor() const { return heed({"doctor", "o"}); }
  // The name of the first finding, or "Nothing found."
  std::string first_finding() const {
    const Finished found = doctor();
    CHECK(found.code == 0);
    const std::size_t begin = found.out.find("\n\n");
    INFO(found.out << found.err);
    REQUIRE(begin != found.out.npos);
    const std::string line = heed::lines_of(found.out.substr(begin + 2))[0];
    return line.substr(0, 3) == "1. " ? line.substr(3) : line;
  }
  // Replaces elements of the checkpoint's tensors by those that `change` sets.
  template <class Change>
  void edit(const Change& change) const {
    const std::filesystem::path path = *this / "o/checkpoint.safetensors";
    const heed::SafetensorsFile file = heed::read_safetensors(path);
    std::map<std::string, heed::Array> arrays;
    for (const heed::StoredTensor& tensor : file.tensors) arrays[tensor.name] = file.array(tensor);
    change(arrays);
    std::vector<heed::StoredTensor> tensors;
    for (const heed::StoredTensor& tensor : file.tensors)
      tensors.push_back(heed::stored_tensor(tensor.name, arrays[tensor.name]));
    heed::Metadata metadata = file.metadata;
    metadata.erase("heed.checksum");
    heed::write_safetensors(path, metadata, tensors);
  }

  Finished trained;
};

}  // namespace

TEST_CASE("doctor finds nothing in a run whose loss is that of the text", "[commands][doctor]") {
  const Run run(invented_text(700));
  CHECK(run.first_finding() == "Nothing found.");
  CHECK_FALSE(has(run.trained.out, "doctor"));
}

TEST_CASE("doctor names what is wrong with options", "[commands][doctor]") {
  const auto finding = [](const Arguments& flags) {
    return Run(invented_text(700), flags).first_finding();
  };
  CHECK(finding({"--lr", "1"}) == "learning rate too high");
  CHECK(finding({"--lr", "1e30", "--warmup", "0"}) == "learning rate too high");
  CHECK(finding({"--lr", "1e-5"}) == "learning rate too low");
  CHECK(finding({"--warmup", "1000"}) == "warm-up longer than the run");
  CHECK(finding({"--block-size", "1"}) == "context unused");
  CHECK(finding({"--clip", "0.001"}) == "gradients always clipped");
  CHECK(finding({"--steps", "20", "--warmup", "2"}) == "training too short");
}

TEST_CASE("doctor names what is wrong with texts", "[commands][doctor]") {
  const std::string text = invented_text(700);
  CHECK(Run(in_utf16(text)).first_finding() == "text not what it seems");
  CHECK(Run(with_cr(text)).first_finding() == "text not what it seems");
  CHECK(Run(repeated(invented_text(60), 10)).first_finding() == "leak");
  CHECK(Run(text + random_letters(text.size() / 9, 26)).first_finding() ==
        "validation text unlike the training text");
}

TEST_CASE("train and doctor name the best step of an overfitted run", "[commands][doctor]") {
  const Run run(random_letters(1000, 16),
                {"--steps", "600", "--embed-dim", "32", "--eval-every", "50"});
  const Finished found = run.doctor();
  CHECK(has(found.out, "1. overfitting"));
  CHECK(has(found.out, "a uniform guess has 2.7726, which is better; the best step was "));
  CHECK(has(run.trained.out, "\ndoctor: overfitting: "));
}

TEST_CASE("a gap to the training loss that the text explains is no overfitting",
          "[commands][doctor]") {
  heed::app::Curve curve;
  for (std::int64_t step = 10; step <= 100; step += 10)
    curve.rows.push_back(
        {step, 2.2, step % 50 == 0 ? std::optional(3.0) : std::nullopt, 1e-3, 1, 1});
  CHECK(heed::app::overfitting(curve));  // nothing is known about the text
  curve.bigram = 3.2;
  curve.bigram_training = 3.1;
  CHECK(heed::app::overfitting(curve));
  curve.bigram_training = 2.5;  // 0.78 of that of the last tenth, and 2.2 > 0.8 * 0.78 * 3.0
  CHECK_FALSE(heed::app::overfitting(curve));
}

TEST_CASE("a gap that is small beside what the model has learned is no overfitting",
          "[commands][doctor]") {
  heed::app::Curve curve;
  curve.rows = {{100, 2.2, 3.0, 1e-3, 1, 1}};
  curve.unigram = 5.0;  // the gap, 0.8, is 0.29 of 5.0 - 2.2
  CHECK(heed::app::overfitting(curve));
  curve.unigram = 5.8;  // and 0.22 of 5.8 - 2.2
  CHECK_FALSE(heed::app::overfitting(curve));
}

TEST_CASE("doctor finds heads and parameters that were not trained", "[commands][doctor]") {
  const Run run(invented_text(700));
  const std::string checkpoint = run.read("o/checkpoint.safetensors");
  const auto finding = [&](const auto& change) {
    put(run / "o/checkpoint.safetensors", checkpoint);
    run.edit(change);
    return run.first_finding();
  };
  using Arrays = std::map<std::string, heed::Array>;
  const std::string attention = "blocks.0.attention.";
  CHECK(finding([](Arrays&) {}) == "Nothing found.");
  CHECK(finding([&](Arrays& a) {
          for (const char* part : {"query.weight", "key.weight", "value.weight"}) {
            heed::Array& weight = a[attention + part];  // (16, 16): two heads of 8 rows
            std::copy_n(weight.data(), 8 * 16, weight.data() + 8 * 16);
          }
        }) == "duplicate heads");
  CHECK(finding([&](Arrays& a) {
          heed::Array& value = a[attention + "value.weight"];
          std::fill_n(value.data(), 8 * 16, heed::Real{0});
        }) == "dead head");
  CHECK(finding([&](Arrays& a) { a[attention + "out.weight"].fill(0); }) == "context unused");
  CHECK(finding([&](Arrays& a) { a["norm.weight"].fill(1); }) == "frozen weights");
  CHECK(finding([&](Arrays& a) { a[attention + "query.weight"] = a[attention + "key.weight"]; }) ==
        "tied weights");
  CHECK(finding([&](Arrays& a) { a[attention + "query.weight"] *= heed::Real{1000}; }) ==
        "saturated softmax");
}

TEST_CASE("sharp attention to one distance is not called a saturated softmax",
          "[commands][doctor]") {
  const Run run(invented_text(700), {"--heads", "1"});
  const auto finding = [&](const char* part, heed::Real factor) {
    run.edit([&](std::map<std::string, heed::Array>& arrays) {
      heed::Array& weight = arrays[std::string("blocks.0.attention.") + part];
      weight = factor * xt::eye<heed::Real>(16);
    });
    return run.first_finding();
  };
  finding("key.weight", 1);
  CHECK(finding("query.weight", 100) == "Nothing found.");  // to the position itself
  CHECK(finding("query.weight", -100) == "saturated softmax");
}

TEST_CASE("doctor examines runs that were killed, and names what is not there",
          "[commands][doctor]") {
  const Run run(invented_text(700), {"--eval-every", "100"});
  std::filesystem::remove(run / "in.txt");
  const Finished no_text = run.doctor();
  CHECK(no_text.code == 0);
  CHECK(has(no_text.out, "not examined: no training text: in.txt: No such file"));
  std::filesystem::remove(run / "o/checkpoint.safetensors");
  CHECK(has(run.doctor().out, "not examined: no checkpoint: the run has saved nothing yet"));
  put(run / "o/loss.csv", "step,train_loss,val_loss,learning_rate,grad_norm,ms\n");
  CHECK(run.doctor().err ==
        "heed: error: o: has no losses and no checkpoint; give the folder of a run, such as "
        "runs/harbour\n");
}

TEST_CASE("a resumed run has the findings of an uninterrupted one", "[commands][doctor]") {
  const Run whole(invented_text(700), {"--lr", "1e-5"});
  const Run parts(invented_text(700), {"--lr", "1e-5", "--steps", "150", "--decay-steps", "300"});
  REQUIRE(parts.heed({"train", "--resume", "--out", "o", "--steps", "300"}).code == 0);
  CHECK(parts.first_finding() == whole.first_finding());
}

TEST_CASE("doctor rejects what is no run", "[commands][doctor]") {
  const Run run(invented_text(700), {"--steps", "20"});
  const auto error = [&](const Arguments& arguments) {
    const Finished found = run.heed(Arguments{"doctor"} + arguments);
    CHECK(found.code == (arguments.empty() ? 2 : 1));
    CHECK(std::count(found.err.begin(), found.err.end(), '\n') == 1);
    return found.err;
  };
  CHECK(has(error({}), "doctor: give a run's folder, such as runs/harbour"));
  CHECK(has(error({"nowhere"}), "nowhere: No such file or directory"));
  CHECK(has(error({"in.txt"}), "in.txt: is a file; give the folder of a run"));
  put(run / "other.txt", invented_text(600, 2));
  CHECK(has(error({"o", "--text", "other.txt"}), "differs from the text of the run"));
  const std::string csv = run.read("o/loss.csv"), file = run.read("o/checkpoint.safetensors");
  put(run / "o/loss.csv", "");
  CHECK(has(error({"o"}), "loss.csv: is empty"));
  put(run / "o/loss.csv", csv + "30,x,,,,\n");
  CHECK(has(error({"o"}), "'x' is not a number"));
  put(run / "o/loss.csv", csv);
  put(run / "o/checkpoint.safetensors", file.substr(0, file.size() / 2));
  CHECK(has(error({"o"}), "truncated"));
}
