// content_test.cpp: errors for checkpoints with a valid checksum and invalid content, and --trust.

#include <cstdint>
#include <cstring>
#include <limits>

#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

struct TrainedSandbox : Sandbox {
  TrainedSandbox() { REQUIRE(heed(train_tiny).code == 0); }
  std::filesystem::path checkpoint() const { return path / "o/checkpoint.safetensors"; }
  // The error message of a command, without the file name at its beginning.
  std::string rejected(const Arguments& arguments) const {
    const Finished run = heed(arguments);
    const std::string begin = "heed: error: o/checkpoint.safetensors: ";
    if (run.code != 1) return "exit code " + std::to_string(run.code) + ": " + run.err;
    if (run.err.rfind(begin, 0) != 0 || run.err.find('\n') != run.err.size() - 1)
      return "not one line about the file: " + run.err;
    return run.err.substr(begin.size(), run.err.size() - begin.size() - 1);
  }
  std::string sampled() const { return rejected({"sample", "o"}); }
  std::string resumed() const { return rejected({"train", "--resume", "--out", "o"}); }
};

// The content of a checkpoint. Its functions write changed content with a valid checksum.
struct Content {
  explicit Content(const TrainedSandbox& sandbox)
      : desk_(sandbox), file(heed::read_safetensors(sandbox.checkpoint())) {
    for (const char* own : {"heed.checksum", "heed.format"}) file.metadata.erase(own);
    metadata = file.metadata;
    tensors = file.tensors;
  }
  const TrainedSandbox& with(const std::string& key, const std::string& value) {
    metadata = file.metadata;
    metadata[key] = value;
    return written();
  }
  const TrainedSandbox& without(const std::string& key) {
    metadata = file.metadata;
    metadata.erase(key);
    return written();
  }
  template <class Change>
  const TrainedSandbox& changed(const std::string& tensor, const Change& change) {
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
  const TrainedSandbox& with_value(const std::string& tensor, float value) {
    return changed(tensor, [&](heed::StoredTensor& t) {
      bytes.assign(reinterpret_cast<const char*>(t.data), t.bytes);
      bytes.replace(bytes.size() - sizeof value, sizeof value,
                    reinterpret_cast<const char*>(&value), sizeof value);
      t.data = reinterpret_cast<const unsigned char*>(bytes.data());
    });
  }
  const TrainedSandbox& written() const {
    heed::write_safetensors(desk_.checkpoint(), metadata, tensors);
    return desk_;
  }

  const TrainedSandbox& desk_;
  heed::SafetensorsFile file;
  heed::Metadata metadata;
  std::vector<heed::StoredTensor> tensors;
  std::string bytes;
};

// Removes a file's checksum entry. Spaces at the end of the header keep the file's length.
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

TEST_CASE("a configuration that does not fit the tensors is rejected by name",
          "[commands][content]") {
  const TrainedSandbox sandbox;
  Content content(sandbox);
  CHECK(content.with("model.layers", "0").sampled() ==
        "metadata 'model.layers' is 0, a model needs at least 1");
  CHECK(content.with("model.heads", "3").sampled() ==
        "metadata 'model.heads' is 3, which does not divide 'model.embed_dim' 16");
  CHECK(content.with("model.block_size", "8").sampled() ==
        "tensor 'position.weight' has shape (16, 16), the model needs (8, 16)");
  CHECK(has(content.with("model.block_size", "1000000000000").sampled(),
            "its metadata describes a model of 1.6e+13 parameters, its tensors hold "));
  CHECK(content.with("model.vocab_size", "31").sampled() ==
        "the model's vocab_size is 31, but its vocabulary has 32 tokens");
  CHECK(content.with("model.bias", "1").sampled() == "no tensor 'blocks.0.norm1.bias'");
  CHECK(content.with("model.tied", "0").sampled() == "no tensor 'head.weight'");
  CHECK(content.without("model.gelu").sampled() ==
        "not a checkpoint of heed: its metadata has no 'model.gelu'");
  CHECK(content.with("model.gelu", "relu").rejected({"export", "o", "--to", "pytorch", "x"}) ==
        "metadata 'model.gelu' is 'relu', neither erf nor tanh");
}

TEST_CASE("tensors that are missing, extra, of another type or not finite are rejected by name",
          "[commands][content]") {
  const TrainedSandbox sandbox;
  Content content(sandbox);
  const auto removed = [](heed::StoredTensor& tensor) { tensor.name.clear(); };
  const auto renamed = [](heed::StoredTensor& tensor) { tensor.name += "2"; };
  const auto retyped = [](heed::StoredTensor& tensor) { tensor.dtype = "I32"; };
  CHECK(content.changed("norm.weight", removed).sampled() == "no tensor 'norm.weight'");
  CHECK(content.changed("optimizer.norm.weight.exp_avg", removed).resumed() ==
        "optimizer state: no 'norm.weight.exp_avg'");
  CHECK(content.changed("optimizer.norm.weight.exp_avg", renamed).resumed() ==
        "optimizer state: 'norm.weight.exp_avg2' belongs to no parameter");
  CHECK(content.changed("norm.weight", retyped).sampled() ==
        "tensor 'norm.weight': its dtype is I32, not F32, F16, BF16 or F64");
  CHECK(content.with_value("norm.weight", not_a_number).sampled() ==
        "tensor 'norm.weight': element 15 is nan, which is not finite");
  content.tensors = content.file.tensors;
  content.tensors.push_back(content.tensors.back());
  content.tensors.back().name = "extra";
  for (const std::string& error : {content.written().sampled(), sandbox.resumed()})
    CHECK(error == "tensor 'extra' belongs to no parameter of this model");
}

TEST_CASE("sample, look, export and train --resume read a checkpoint in BF16 that is trusted",
          "[commands][content]") {
  const TrainedSandbox sandbox;
  Content content(sandbox);
  std::vector<std::string> bytes;
  bytes.reserve(content.tensors.size());  // `data` points into the strings
  for (heed::StoredTensor& tensor : content.tensors) {
    std::string& halves = bytes.emplace_back();
    for (std::size_t i = 2; i < tensor.bytes; i += 4)  // the upper half of each float
      halves.append(reinterpret_cast<const char*>(tensor.data) + i, 2);
    tensor.dtype = "BF16";
    tensor.data = reinterpret_cast<const unsigned char*>(halves.data());
    tensor.bytes /= 2;
  }
  content.written();
  for (const Arguments& arguments :
       {Arguments{"sample", "o"},
        {"look", "o"},
        {"export", "o", "--to", "pytorch", "x"},
        {"train", "in.txt", "--resume", "--out", "o", "--steps", "22"}}) {
    INFO(arguments[0]);
    const Finished run = sandbox.heed(arguments);
    INFO(run.err);
    CHECK(run.code == 0);
  }
}

TEST_CASE("an invalid trainer state is rejected by name", "[commands][content]") {
  const TrainedSandbox sandbox;
  Content content(sandbox);
  const auto error_with = [&](const std::string& key, const std::string& value) {
    return content.with(key, value).rejected({"train", "--resume", "--out", "o", "--steps", "30"});
  };
  for (const char* generator : {"train.generator", "train.dropout_generator"})
    CHECK(error_with(generator, content.file.metadata.at(generator) + " x") ==
          "metadata '" + std::string(generator) + "' is not the state of a generator");
  CHECK(has(error_with("text.path", std::string("in.txt\0x", 8)), "metadata 'text.path' is "));
  CHECK(has(error_with("train.step", "19"),
            "metadata 'train.step' is 19, but the optimizer has done 20"));
  CHECK(error_with("train.history", "1,2,,1,1,1\n1,2,,1,1,1\n") ==
        "metadata 'train.history' has a line for step 1 after 1, and the run has done 20");
  CHECK(error_with("train.history", "1,2,,1,1,1\n21,2,,1,1,1\n") ==
        "metadata 'train.history' has a line for step 21 after 1, and the run has done 20");
  CHECK(error_with("train.history", "1e12,2,,1,1,1\n") ==
        "metadata 'train.history' has a line for step 1000000000000 after 0, and the run has done "
        "20");
  for (const char* step : {"1e300", "1000000000001", "0", "1.5", "-1"})
    CHECK(error_with("train.history", std::string(step) + ",2,,1,1,1\n") ==
          "metadata 'train.history' has a line for step '" + std::string(step) + "'");
  CHECK(error_with("train.pending", "21") ==
        "metadata 'train.pending' is 21, but the history ends at step 20 of 20");
  CHECK(error_with("train.pending", "7") ==
        "metadata 'train.pending' is 7, but the history ends at step 20 of 20");
  CHECK(error_with("train.pending_loss", "-5") ==
        "metadata 'train.pending_loss' is -5, which is no sum of the losses of 0 steps");
  CHECK(error_with("train.pending_loss", "1e308") ==
        "metadata 'train.pending_loss' is 1e+308, which is no sum of the losses of 0 steps");
  CHECK(error_with("train.pending_ms", "-1e300") ==
        "metadata 'train.pending_ms' is -1e+300, which is no time of 0 steps");
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"log_every", "0"}, {"batch_size", "0"}, {"lr", "-1"}, {"min_lr", "2"}, {"beta1", "1"}})
    CHECK(has(error_with("train." + key, value), "its options are invalid: --"));
  CHECK(
      has(error_with("train.lr", "fast"), "metadata 'train.lr' holds 'fast', not a finite number"));
  for (const char* number : {"nan", "inf", "-inf"}) {
    for (const char* key : {"train.pending_loss", "train.pending_ms", "train.dropout"})
      CHECK(error_with(key, number) ==
            "metadata '" + std::string(key) + "' holds '" + number + "', not a finite number");
    for (const char* cells : {",%,,1,1,1", ",2,%,1,1,1", ",2,,%,1,1", ",2,,1,%,1", ",2,,1,1,%"}) {
      std::string row = "20" + std::string(cells);
      row.replace(row.find('%'), 1, number);
      CHECK(error_with("train.history", row + "\n") ==
            "metadata 'train.history' holds '" + std::string(number) + "', not a finite number");
    }
  }
}

TEST_CASE("a checkpoint without a checksum is loaded with --trust only", "[commands][content]") {
  const TrainedSandbox sandbox;
  const Arguments sample = {"sample", "o", "--tokens", "20"};
  const Arguments resume = {"train", "--resume", "--out", "o", "--steps", "25"};
  const std::string text = sandbox.heed(sample).out;
  const std::string foreign = without_checksum(content(sandbox.checkpoint()));
  put(sandbox.checkpoint(), foreign);
  const std::string error =
      "has no checksum of heed's, so another program wrote or changed it; --trust loads it "
      "anyway";
  CHECK(sandbox.rejected(sample) == error);
  CHECK(sandbox.rejected(resume) == error);
  CHECK(sandbox.rejected({"look", "o"}) == error);
  CHECK(content(sandbox.checkpoint()) == foreign);
  CHECK(has(sandbox.heed({"inspect", "o"}).out, "no checksum"));
  CHECK(sandbox.heed(sample + Arguments{"--trust"}).out == text);
  CHECK(sandbox.heed({"look", "o", "--trust"}).code == 0);
  CHECK(sandbox.heed(resume + Arguments{"--trust"}).code == 0);
  CHECK(sandbox.heed(sample).code == 0);  // saving added a checksum
}

TEST_CASE("--trust does not skip checks of the checksum and the content", "[commands][content]") {
  const TrainedSandbox sandbox;
  const Arguments sample_trusted = {"sample", "o", "--trust"};
  std::string bytes = content(sandbox.checkpoint());
  std::string foreign = without_checksum(bytes);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put(sandbox.checkpoint(), bytes);
  CHECK(sandbox.rejected(sample_trusted) == "checksum: the tensors changed after they were saved");
  foreign.replace(foreign.find("code_point"), 10, "code point");
  put(sandbox.checkpoint(), foreign);
  CHECK(sandbox.rejected(sample_trusted) ==
        "metadata 'vocabulary.unit' is 'code point', none of byte, byte_level_bpe, byte_pair, "
        "code_point, sentence_piece, word and word_piece");
  CHECK(sandbox.heed({"train", "in.txt", "--out", "n", "--trust"}).err ==
        "heed: error: --trust applies to the checkpoint of --resume or --init; give one of them\n");
}

TEST_CASE("a run starts from a checkpoint without a checksum with --trust only",
          "[commands][content]") {
  const TrainedSandbox sandbox;
  put(sandbox.checkpoint(), without_checksum(content(sandbox.checkpoint())));
  const Arguments start = {"train", "in.txt", "--out", "n", "--init", "o", "--steps", "2"};
  CHECK(has(sandbox.heed(start).err, "; --trust loads it anyway\n"));
  CHECK(sandbox.heed(start + Arguments{"--trust"}).code == 0);
}

TEST_CASE("--init rejects a model whose vocab_size is not that of its vocabulary",
          "[commands][content]") {
  const TrainedSandbox sandbox;
  Content content(sandbox);
  const std::string size = content.file.metadata.at("model.vocab_size");
  CHECK(content.with("model.vocab_size", "1")
            .rejected({"train", "in.txt", "--out", "n", "--init", "o", "--steps", "2"}) ==
        "the model's vocab_size is 1, but its vocabulary has " + size + " tokens");
}
