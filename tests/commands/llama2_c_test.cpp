// llama2_c_test.cpp: heed import of a checkpoint of llama2.c, then the other commands on its run.

#include <cstring>

#include "commands/imported_folder.hpp"

using namespace heed_test;

namespace {

const Arguments import_model = {"import", "m/model.bin", "--tokenizer", "m/tokenizer.bin"};

// The file with four bytes replaced by a number.
template <class Number>
std::string with_number(std::string file, std::size_t offset, Number value) {
  REQUIRE(offset + sizeof value <= file.size());
  std::memcpy(file.data() + offset, &value, sizeof value);
  return file;
}

}  // namespace

TEST_CASE("import, sample, look, inspect, train and export of a model of llama2.c",
          "[commands][import][llama]") {
  const Folder f("llama2_c");
  const Finished imported = f.heed(import_model);
  INFO(imported.err);
  REQUIRE(imported.code == 0);
  CHECK(has(imported.out, "model  m/model.bin: a Llama, 2 layers, 4 heads per layer, width 16: "));
  CHECK(has(imported.out, "vocab  280 tokens\nrun    runs/model\n"));

  const Arguments greedy = {"sample", "model", "--tokens", "60", "--temperature", "0"};
  const Finished sample = f.heed(greedy);
  INFO(sample.err);
  REQUIRE(sample.code == 0);
  CHECK(f.heed(greedy + Arguments{"--no-cache"}).out == sample.out);
  for (const char* threads : {"2", "4"})
    CHECK(f.heed(greedy + Arguments{"--threads", threads}).out == sample.out);
  CHECK(f.heed(greedy + Arguments{"--prompt", "<s>", "--special"}).out == "<s>" + sample.out);
  CHECK(f.heed(greedy + Arguments{"--prompt", "<s>"}).out != "<s>" + sample.out);
  CHECK(f.heed(greedy + Arguments{"--weights", "bf16"}).code == 0);

  for (const Arguments& look : {Arguments{},
                                {"--layer", "0", "--head", "1"},
                                {"--page", "p.html"},
                                {"--tsne", "--iterations", "20"}}) {
    const Finished seen = f.heed(Arguments{"look", "model", "--text", "the heron"} + look);
    INFO(seen.err);
    CHECK(seen.code == 0);
  }
  CHECK(has(f.heed({"inspect", "model"}).out, "'vocabulary.unit' = 'sentence_piece'"));

  put(f / "t.txt", std::string(40, 'a') + " the red one\n" + std::string(400, 't'));
  const Finished trained = f.heed({"train", "t.txt", "--init", "model", "--out", "tuned", "--steps",
                                   "3", "--batch-size", "2", "--eval-batches", "1"});
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  CHECK(f.heed({"train", "--resume", "--out", "tuned", "--steps", "4"}).code == 0);
  CHECK(f.heed({"sample", "tuned", "--prompt", "the"}).code == 0);

  REQUIRE(f.heed({"export", "model", "e", "--to", "pytorch"}).code == 0);
  REQUIRE(f.heed({"import", "e", "--out", "again"}).code == 0);
  CHECK(f.heed({"sample", "again", "--tokens", "60", "--temperature", "0"}).out == sample.out);
  CHECK(
      has(f.heed({"export", "model", "g", "--to", "gpt2"}).err, "GPT2LMHeadModel has no RMSNorm"));
}

TEST_CASE("--stop ends a sample before a text", "[commands][sample]") {
  const Folder f("llama2_c");
  REQUIRE(f.heed(import_model).code == 0);
  const Arguments greedy = {"sample", "model", "--tokens", "60", "--temperature", "0"};
  const std::string whole = f.heed(greedy).out;
  REQUIRE(whole.size() > 30);
  for (const std::size_t size : {1u, 5u}) {
    const std::string stop = whole.substr(17, size);
    const std::string expected = whole.substr(0, whole.find(stop)) + "\n";
    CHECK(f.heed(greedy + Arguments{"--stop", stop}).out == expected);
    const std::string both = f.heed(greedy + Arguments{"--stop", stop, "--samples", "2"}).out;
    CHECK(has(both, "---- seed 1338\n" + expected));
  }
  CHECK(f.heed(greedy + Arguments{"--stop", whole.substr(10, 8) + "?"}).out == whole);
  CHECK(f.heed(greedy + Arguments{"--stop", ""}).out == whole);
}

TEST_CASE("damaged checkpoints and tokenizers of llama2.c are rejected in one line",
          "[commands][import]") {
  const Folder f("llama2_c");
  const std::string model = content(f / "m/model.bin"), tokenizer = content(f / "m/tokenizer.bin");
  struct Bad {
    std::string model, tokenizer, error;
  };
  const auto header = [&](std::size_t i, std::int32_t value) {
    return with_number(model, 4 * i, value);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Bad> bad = {
      {model.substr(0, 27), tokenizer, "m/model.bin: has 27 bytes, fewer than the header"},
      {"", tokenizer, "m/model.bin: has 0 bytes, fewer than the header"},
      {with_number(header(0, 0x616b3432), 4, std::int32_t{2}), tokenizer,
       "m/model.bin: is a checkpoint of llama2.c of version 2; export it with --version 0"},
      {header(0, 0), tokenizer, "its width is 0"},
      {header(1, -5), tokenizer, "its hidden width of the MLPs is -5"},
      {header(2, 0), tokenizer, "its number of layers is 0"},
      {header(2, 1'000'000'000), tokenizer, "but the model of its header takes "},
      {header(3, 3), tokenizer, "its width is 16, which is not divisible by twice its 3 heads"},
      {header(3, 16), tokenizer, "its width is 16, which is not divisible by twice its 16 heads"},
      {header(4, 3), tokenizer, "its 3 key-value heads do not divide its 4 heads"},
      {header(4, 8), tokenizer, "its 8 key-value heads do not divide its 4 heads"},
      {header(5, 281), tokenizer, "bytes, but the model of its header takes "},
      {header(5, -280), tokenizer, "bytes, but the model of its header takes "},
      {header(5, std::numeric_limits<std::int32_t>::min()), tokenizer, "but the model of its"},
      {header(6, 33), tokenizer, "bytes, but the model of its header takes "},
      {header(6, 200'000), tokenizer, "its context length is 200000; heed supports at most 131072"},
      {model.substr(0, model.size() - 1), tokenizer, "but the model of its header takes "},
      {model + "x", tokenizer, "but the model of its header takes "},
      {with_number(model, 28 + 4 * 7, nan), tokenizer,
       "m/model.bin: 'token.weight': element 7 is nan, which is not finite"},
      {with_number(model, 28 + 4 * (280 * 16 + 20), nan), tokenizer,
       "m/model.bin: 'blocks.1.norm1.weight': element 4 is nan, which is not finite"},
      {model, "", "m/tokenizer.bin: ends inside token 0"},
      {model, tokenizer.substr(0, tokenizer.size() - 1), "m/tokenizer.bin: ends inside token 279"},
      {model, tokenizer + "xyz", "m/tokenizer.bin: ends inside token 280"},
      {model, tokenizer.substr(0, 4), "has 0 tokens, but the model's vocabulary has 280"},
      {model, with_number(tokenizer, 8, std::int32_t{0}), "m/tokenizer.bin: token 0 has 0 bytes"},
      {model, with_number(tokenizer, 8, std::int32_t{-1}), "m/tokenizer.bin: token 0 has -1 bytes"},
      {model, with_number(tokenizer, 8, std::int32_t{2'000'000'000}), "ends inside token 0"},
      {model, with_number(tokenizer, 4, nan), "the score 'nan' is not a finite number"},
      {model, with_number(tokenizer, 12, std::int32_t{0x0a0a0a0a}), "has a line break or a tab"},
      {model, with_number(tokenizer, 12, std::int32_t{-1}), "must be a piece in UTF-8"},
      {model, with_number(tokenizer, 12, std::int32_t{0x3e733c3e}), ""},
      {model, "<html>404 Not Found</html>", "m/tokenizer.bin: "}};
  for (const Bad& each : bad) {
    put(f / "m/model.bin", each.model);
    put(f / "m/tokenizer.bin", each.tokenizer);
    const Finished run = f.heed(import_model);
    INFO(each.error << " in " << run.err);
    CHECK(run.code == (each.error.empty() ? 0 : 1));
    CHECK(has(run.err, each.error));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == (each.error.empty() ? 0 : 1));
    if (!each.error.empty()) CHECK_FALSE(fs::exists(f / "runs/model"));
    fs::remove_all(f / "runs");
  }
}

TEST_CASE("a file needs --tokenizer, and a folder has its own", "[commands][import]") {
  const Folder f("llama2_c");
  CHECK(f.heed({"import", "m/model.bin"}).err ==
        "heed: error: m/model.bin: is a file; give the folder of a model, or with a checkpoint of "
        "llama2.c --tokenizer tokenizer.bin\n");
  CHECK(f.heed({"import", "m", "--tokenizer", "m/tokenizer.bin"}).err ==
        "heed: error: m: is a folder, which contains its tokenizer; leave out --tokenizer\n");
  CHECK(has(f.heed({"import", "m/none.bin", "--tokenizer", "m/tokenizer.bin"}).err,
            "heed: error: m/none.bin: No such file or directory"));
  CHECK(has(f.heed({"import", "m/model.bin", "--tokenizer", "none"}).err,
            "heed: error: none: No such file or directory"));
  CHECK(has(f.heed({"import", "--help"}).out, "--tokenizer FILE"));
}
