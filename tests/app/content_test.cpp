// content_test.cpp: a checkpoint whose checksum is right and whose content is not is refused by
// name; one without a checksum is loaded with --trust only.

#include <cstdint>
#include <cstring>
#include <limits>

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

struct TrainedDesk : Desk {
  TrainedDesk() { REQUIRE(heed(train_tiny).code == 0); }
  std::filesystem::path checkpoint() const { return path / "o/checkpoint.safetensors"; }
  // What a command is refused with, after the file's name.
  std::string refused(const Words& words) const {
    const Finished run = heed(words);
    const std::string begin = "heed: error: o/checkpoint.safetensors: ";
    if (run.code != 1) return "exit code " + std::to_string(run.code) + ": " + run.err;
    if (run.err.rfind(begin, 0) != 0 || run.err.find('\n') != run.err.size() - 1)
      return "not one line about the file: " + run.err;
    return run.err.substr(begin.size(), run.err.size() - begin.size() - 1);
  }
  std::string sampled() const { return refused({"sample", "o"}); }
  std::string resumed() const { return refused({"train", "--resume", "--out", "o"}); }
};

// What is in the checkpoint, to be written again with changes, and with a checksum that is right.
struct Content {
  explicit Content(const TrainedDesk& desk)
      : desk_(desk), file(heed::read_safetensors(desk.checkpoint())) {
    for (const char* own : {"heed.checksum", "heed.format"}) file.metadata.erase(own);
    metadata = file.metadata;
    tensors = file.tensors;
  }
  const TrainedDesk& with(const std::string& key, const std::string& value) {
    metadata = file.metadata;
    metadata[key] = value;
    return written();
  }
  const TrainedDesk& without(const std::string& key) {
    metadata = file.metadata;
    metadata.erase(key);
    return written();
  }
  template <class Change>
  const TrainedDesk& changed(const std::string& tensor, const Change& change) {
    metadata = file.metadata;
    tensors = file.tensors;
    for (auto at = tensors.begin(); at != tensors.end(); ++at)
      if (at->name == tensor) {
        change(*at);
        if (at->name.empty()) tensors.erase(at);
        return written();
      }
    throw std::runtime_error("no tensor " + tensor);
  }
  const TrainedDesk& with_value(const std::string& tensor, float value) {
    return changed(tensor, [&](heed::StoredTensor& t) {
      bytes.assign(reinterpret_cast<const char*>(t.data), t.bytes);
      bytes.replace(bytes.size() - sizeof value, sizeof value,
                    reinterpret_cast<const char*>(&value), sizeof value);
      t.data = reinterpret_cast<const unsigned char*>(bytes.data());
    });
  }
  const TrainedDesk& written() const {
    heed::write_safetensors(desk_.checkpoint(), metadata, tensors);
    return desk_;
  }

  const TrainedDesk& desk_;
  heed::SafetensorsFile file;
  heed::Metadata metadata;
  std::vector<heed::StoredTensor> tensors;
  std::string bytes;
};

// The same header without what heed adds to it; spaces make up for that at its end.
std::string without_checksum(std::string bytes) {
  const std::size_t begin = bytes.find("\"heed.checksum\""), end = bytes.find("\"model.");
  REQUIRE(begin < end);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.insert(8 + length, end - begin, ' ');
  return bytes.erase(begin, end - begin);
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("a form that is not the tensors' is refused by name", "[app][content]") {
  const TrainedDesk desk;
  Content content(desk);
  CHECK(content.with("model.layers", "0").sampled() ==
        "metadata 'model.layers' is 0, a model needs at least 1");
  CHECK(content.with("model.heads", "3").sampled() ==
        "metadata 'model.heads' is 3, which does not divide 'model.embed_dim' 16");
  CHECK(content.with("model.block_size", "8").sampled() ==
        "tensor 'position.weight' has shape (16, 16), the model needs (8, 16)");
  CHECK(has(content.with("model.block_size", "1000000000000").sampled(),
            "its metadata describes a model of 1.6e+13 parameters, its tensors hold "));
  CHECK(content.with("model.vocab_size", "31").sampled() ==
        "the model has 31 symbols, the vocabulary 32");
  CHECK(content.with("model.bias", "1").sampled() == "no tensor 'blocks.0.norm1.bias'");
  CHECK(content.with("model.tied", "0").sampled() == "no tensor 'head.weight'");
  CHECK(content.without("model.gelu").sampled() ==
        "not a checkpoint of heed: its metadata has no 'model.gelu'");
}

TEST_CASE("tensors missing, too many, of another type or not finite are refused by name",
          "[app][content]") {
  const TrainedDesk desk;
  Content content(desk);
  const auto gone = [](heed::StoredTensor& tensor) { tensor.name.clear(); };
  const auto renamed = [](heed::StoredTensor& tensor) { tensor.name += "2"; };
  const auto retyped = [](heed::StoredTensor& tensor) { tensor.dtype = "I32"; };
  CHECK(content.changed("norm.weight", gone).sampled() == "no tensor 'norm.weight'");
  CHECK(content.changed("optimizer.norm.weight.exp_avg", gone).resumed() ==
        "optimizer state: no 'norm.weight.exp_avg'");
  CHECK(content.changed("optimizer.norm.weight.exp_avg", renamed).resumed() ==
        "optimizer state: 'norm.weight.exp_avg2' is of no parameter here");
  CHECK(content.changed("norm.weight", retyped).sampled() ==
        "tensor 'norm.weight': its dtype is I32, not F32 or F64");
  CHECK(content.with_value("norm.weight", not_a_number).sampled() ==
        "tensor 'norm.weight' holds values that are not finite");
  content.tensors = content.file.tensors;
  content.tensors.push_back(content.tensors.back());
  content.tensors.back().name = "extra";
  for (const std::string& said : {content.written().sampled(), desk.resumed()})
    CHECK(said == "tensor 'extra' is of no parameter of this model");
}

TEST_CASE("a trainer's state that no run leaves behind is refused by name", "[app][content]") {
  const TrainedDesk desk;
  Content content(desk);
  const auto steps = [&](const std::string& key, const std::string& value) {
    return content.with(key, value).refused({"train", "--resume", "--out", "o", "--steps", "30"});
  };
  for (const char* generator : {"train.generator", "train.dropout_generator"})
    CHECK(has(steps(generator, content.file.metadata.at(generator) + " x"),
              "set_state: not a generator's state"));
  CHECK(
      has(steps("train.step", "19"), "metadata 'train.step' is 19, but the optimizer has done 20"));
  CHECK(steps("train.history", "1,2,,1,1,1\n1,2,,1,1,1\n") ==
        "metadata 'train.history' has a line for step 1 after 1, and the run has done 20");
  CHECK(steps("train.history", "1,2,,1,1,1\n21,2,,1,1,1\n") ==
        "metadata 'train.history' has a line for step 21 after 1, and the run has done 20");
  for (const char* step : {"1e300", "nan", "0", "1.5", "-1"})
    CHECK(steps("train.history", std::string(step) + ",2,,1,1,1\n") ==
          "metadata 'train.history' has a line for step '" + std::string(step) + "'");
  CHECK(steps("train.pending", "21") ==
        "metadata 'train.pending' is 21, but the history ends at step 20 of 20");
  for (const auto& [key, value] : std::map<std::string, std::string>{{"log_every", "0"},
                                                                     {"batch_size", "0"},
                                                                     {"lr", "-1"},
                                                                     {"min_lr", "2"},
                                                                     {"beta1", "1"},
                                                                     {"dropout", "nan"}})
    CHECK(has(steps("train." + key, value), "its options are not those of a run: --"));
  CHECK(has(steps("train.lr", "fast"), "metadata 'train.lr' holds 'fast', not a number"));
}

TEST_CASE("a checkpoint without a checksum is loaded with --trust only", "[app][content]") {
  const TrainedDesk desk;
  const Words sample = {"sample", "o", "--tokens", "20"};
  const Words resume = {"train", "--resume", "--out", "o", "--steps", "25"};
  const std::string text = desk.heed(sample).out;
  const std::string foreign = without_checksum(content(desk.checkpoint()));
  put(desk.checkpoint(), foreign);
  const std::string said =
      "has no checksum of heed's, so it was made or changed by another program; --trust loads it "
      "all the same";
  CHECK(desk.refused(sample) == said);
  CHECK(desk.refused(resume) == said);
  CHECK(desk.refused({"look", "o"}) == said);
  CHECK(content(desk.checkpoint()) == foreign);
  CHECK(has(desk.heed({"inspect", "o"}).out, "no checksum"));
  CHECK(desk.heed(sample + Words{"--trust"}).out == text);
  CHECK(desk.heed({"look", "o", "--trust"}).code == 0);
  CHECK(desk.heed(resume + Words{"--trust"}).code == 0);
  CHECK(desk.heed(sample).code == 0);  // a save gives it one
}

TEST_CASE("--trust lets no wrong checksum by, and no wrong content", "[app][content]") {
  const TrainedDesk desk;
  const Words trusting = {"sample", "o", "--trust"};
  std::string bytes = content(desk.checkpoint());
  std::string foreign = without_checksum(bytes);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put(desk.checkpoint(), bytes);
  CHECK(desk.refused(trusting) == "checksum: the tensors are not as they were saved");
  foreign.replace(foreign.find("code_point"), 10, "code point");
  put(desk.checkpoint(), foreign);
  CHECK(desk.refused(trusting) ==
        "metadata 'vocabulary.unit' is 'code point', none of byte, code_point and word");
  CHECK(desk.heed({"train", "in.txt", "--out", "n", "--trust"}).err ==
        "heed: error: --trust is about a checkpoint to go on from; give --resume too\n");
}
