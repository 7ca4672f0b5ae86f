// sample_test.cpp: heed sample and heed inspect on whole and on damaged checkpoints.

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

// With a model in o/ that has learnt enough to prefer some symbols to others.
struct TrainedDesk : Desk {
  TrainedDesk() { REQUIRE(heed(train_tiny + Words{"--lr", "0.01", "--warmup", "0"}).code == 0); }

  // What sample writes; it must succeed.
  std::string written(const Words& more, const std::string& run = "o") const {
    const Finished result = heed(Words{"sample", run} + more);
    CHECK(result.code == 0);
    CHECK(result.err == "");
    return result.out;
  }
  // What sample is refused with, in one line and with nothing written before it.
  std::string refused(const Words& more, int code) const {
    const Finished result = heed(Words{"sample", "o"} + more);
    CHECK(result.code == code);
    CHECK(result.out == "");
    CHECK(result.err.rfind("heed: error: ", 0) == 0);
    CHECK(result.err.find('\n') == result.err.size() - 1);
    return result.err.substr(13, result.err.size() - 14);
  }
  std::filesystem::path checkpoint() const { return path / "o" / "checkpoint.safetensors"; }
};

}  // namespace

TEST_CASE("the same seed writes the same text, another seed another one", "[app][sample]") {
  const TrainedDesk desk;
  const std::string text = desk.written({"--tokens", "100"});
  CHECK(text.size() == 101);
  CHECK(desk.written({"--tokens", "100", "--seed", "1337"}) == text);
  CHECK(desk.written({"--tokens", "100", "--threads", "2"}) == text);
  CHECK(desk.written({"--tokens", "100", "--top-k", "100000"}) == text);
  CHECK(desk.written({"--tokens", "100", "--no-cache"}) == text);
  CHECK(desk.written({"--tokens", "100"}, "o/checkpoint.safetensors") == text);
  CHECK(desk.written({"--tokens", "40"}) == text.substr(0, 40) + "\n");
  CHECK(desk.written({"--tokens", "100", "--seed", "1"}) != text);
}

TEST_CASE("sample.txt is what the command that the run ends with would write", "[app][sample]") {
  const TrainedDesk desk;
  CHECK(desk.written({"--temperature", "0.8"}) == content(desk / "o/sample.txt"));
}

TEST_CASE("temperature 0 takes the likeliest symbol, as --top-k 1 does, whatever the seed",
          "[app][sample]") {
  const TrainedDesk desk;
  const std::string likeliest = desk.written({"--temperature", "0", "--tokens", "60"});
  CHECK(desk.written({"--top-k", "1", "--tokens", "60"}) == likeliest);
  CHECK(desk.written({"--temperature", "0", "--tokens", "60", "--seed", "5"}) == likeliest);
  CHECK(desk.written({"--temperature", "1", "--tokens", "60"}) != likeliest);
}

TEST_CASE("a prompt stands before what follows it", "[app][sample]") {
  const TrainedDesk desk;
  CHECK(desk.written({"--prompt", "the sea", "--tokens", "0"}) == "the sea\n");
  const std::string text = desk.written({"--prompt", "the sea", "--tokens", "9"});
  CHECK(text.rfind("the sea", 0) == 0);
  CHECK(text.size() == 17);
  CHECK(desk.written({"--tokens", "0"}) == "\n");
}

TEST_CASE("an empty prompt, and one longer than the block, are noted", "[app][sample]") {
  const TrainedDesk desk;
  const Finished empty = desk.heed({"sample", "o", "--prompt", "", "--tokens", "5"});
  CHECK(empty.code == 0);
  CHECK(empty.err == "heed: note: --prompt is empty: starting from '\\n'\n");
  CHECK(empty.out == desk.written({"--tokens", "5"}));
  const Finished length = desk.heed({"sample", "o", "--prompt", "the quay took the sea"});
  CHECK(length.code == 0);
  CHECK(length.err ==
        "heed: note: --prompt has 21 symbols; the model sees the last 16, its block size\n");
}

TEST_CASE("a prompt outside the vocabulary is wrong use, and names the symbol", "[app][sample]") {
  const TrainedDesk desk;
  const std::string remedy = " is not in the vocabulary; use what the training text has";
  CHECK(desk.refused({"--prompt", "the \u00e9"}, 2) == "--prompt: '\u00e9' (U+00E9)" + remedy);
  CHECK(desk.refused({"--prompt", "\u6f22\u5b57"}, 2) == "--prompt: '\u6f22' (U+6F22)" + remedy);
  CHECK(desk.refused({"--prompt", "a\033[31m"}, 2) == "--prompt: U+001B" + remedy);
  CHECK(
      desk.refused({"--prompt", "the \xe9t"}, 2).rfind("--prompt: not UTF-8: byte 4 is 0xe9", 0) ==
      0);
}

TEST_CASE("a checkpoint that is not there is refused in one line", "[app][sample]") {
  const TrainedDesk desk;
  std::filesystem::create_symlink("loop", desk / "loop");
  std::filesystem::create_directory(desk / "empty");
  const auto said = [&](const std::string& run) { return desk.heed({"sample", run}).err; };
  CHECK(said("nope") == "heed: error: nope: No such file or directory\n");
  CHECK(said("empty") == "heed: error: empty/checkpoint.safetensors: No such file or directory\n");
  CHECK(said("loop").rfind("heed: error: loop: Too many", 0) == 0);
  CHECK(said(std::string(300, 'x')).rfind("heed: error: xxx", 0) == 0);
  CHECK(desk.heed({"sample", "nope"}).code == 1);
}

TEST_CASE("a file that never was a checkpoint is refused as such", "[app][sample]") {
  const TrainedDesk desk;
  const std::string begin = "o/checkpoint.safetensors: not a checkpoint";
  for (const std::string& other :
       {std::string("hello world this is text\n"),
        std::string("\x80\x04\x95\x0a\0\0\0\0\0\0\0}.", 13),
        std::string("<!DOCTYPE html><html></html>"), std::string("PK\3\4 and so on")}) {
    put(desk.checkpoint(), other);
    CHECK(desk.refused({}, 1).rfind(begin, 0) == 0);
  }
  std::filesystem::copy_file(HEED_TESTS_DIR "/badfiles/valid_basic.safetensors", desk.checkpoint(),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(has(desk.refused({}, 1), "o/checkpoint.safetensors: "));
}

TEST_CASE("a truncated checkpoint is refused wherever it was cut", "[app][sample]") {
  const TrainedDesk desk;
  const std::string whole = content(desk.checkpoint());
  for (const std::size_t length : {whole.size() - 1, whole.size() / 2, std::size_t{100}}) {
    put(desk.checkpoint(), whole.substr(0, length));
    CHECK(desk.refused({}, 1).rfind("o/checkpoint.safetensors: truncated", 0) == 0);
  }
}

TEST_CASE("a checkpoint with one bit changed is refused by its checksum", "[app][sample]") {
  const TrainedDesk desk;
  const std::string whole = content(desk.checkpoint());
  const std::size_t config = whole.find("\"train.lr\":\"0.01\"") + 14;
  for (const std::size_t at : {whole.size() - 1, whole.size() / 2, config}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    put(desk.checkpoint(), changed);
    const std::string text = desk.refused({}, 1);
    INFO(text);
    CHECK(text.rfind("o/checkpoint.safetensors: ", 0) == 0);
    CHECK(has(text, "checksum"));
  }
}

TEST_CASE("a checkpoint of another shape is refused by the tensor's name", "[app][sample]") {
  const TrainedDesk desk;
  heed::SafetensorsFile file = heed::read_safetensors(desk.checkpoint());
  for (heed::StoredTensor& tensor : file.tensors)
    if (tensor.name == "blocks.0.mlp.up.weight") std::swap(tensor.shape[0], tensor.shape[1]);
  for (const char* own : {"heed.checksum", "heed.format"}) file.metadata.erase(own);
  heed::write_safetensors(desk.checkpoint(), file.metadata, file.tensors);
  const std::string text = desk.refused({}, 1);
  INFO(text);
  CHECK(has(text, "blocks.0.mlp.up.weight"));
  CHECK(has(text, "(16, 64)"));
  CHECK(has(text, "(64, 16)"));
}

TEST_CASE("inspect lists a checkpoint's tensors, its step, its options and its vocabulary",
          "[app][inspect]") {
  const TrainedDesk desk;
  const Finished run = desk.heed({"inspect", "o/checkpoint.safetensors"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  for (const char* part :
       {"F32      'position.weight' (16, 16)\n", "F32      'blocks.0.mlp.up.weight' (64, 16)\n",
        "F32      'optimizer.norm.weight.exp_avg_sq' (16)\n", " bytes, checksum right\n",
        "\n'train.step' = '20'\n", "\n'model.embed_dim' = '16'\n", "\n'train.lr' = '0.01'\n",
        "\n'vocabulary.unit' = 'code_point'\n", "\n'vocabulary.symbols' = '10 32 44 "})
    CHECK(has(run.out, part));
}

TEST_CASE("inspect reads any safetensors file, and obeys nothing that is written in it",
          "[app][inspect]") {
  const Desk desk;
  const std::string files = HEED_TESTS_DIR "/badfiles/";
  const Finished basic = desk.heed({"inspect", files + "valid_basic.safetensors"});
  CHECK(basic.code == 0);
  CHECK(basic.out == "F32      'w' (2, 2)\n1 tensor, 16 bytes, no checksum\n");
  const Finished escape = desk.heed({"inspect", files + "name_escape_codes.safetensors"});
  CHECK_FALSE(has(escape.out + escape.err, "\033"));
  const Finished pickle = desk.heed({"inspect", files + "foreign_pickle.safetensors"});
  CHECK(pickle.code == 1);
  CHECK(pickle.err == "heed: error: " + files +
                          "foreign_pickle.safetensors: not a safetensors file: it looks like a "
                          "Python pickle\n");
}

TEST_CASE("output that cannot be written is an error, and a closed pipe ends sample quietly",
          "[app][sample]") {
  const TrainedDesk desk;
  Child child(desk.call({"sample", "o", "--tokens", "100000000"}));
  child.until("\n");
  child.close_output();
  const Finished piped = child.finish();
  CHECK(piped.code == 128 + SIGPIPE);
  CHECK(piped.err == "");
  if (!std::filesystem::exists("/dev/full")) return;
  for (const std::string words : {"sample o", "inspect o/checkpoint.safetensors", "--help"}) {
    Call call = desk.call({});
    call.words = {"/bin/sh", "-c", "exec \"$0\" " + words + " >/dev/full", HEED_BINARY_DIR "/heed"};
    const Finished full = run(call);
    CHECK(full.code == 1);
    CHECK(full.err == "heed: error: standard output: cannot be written; is the disk full?\n");
  }
}

TEST_CASE("a checkpoint whose vocabulary is spoiled is refused by what is wrong with it",
          "[app][sample]") {
  const TrainedDesk desk;
  const heed::SafetensorsFile file = heed::read_safetensors(desk.checkpoint());
  const auto refused = [&](const std::string& key, const std::string& value) {
    heed::Metadata metadata = file.metadata;
    for (const char* own : {"heed.checksum", "heed.format"}) metadata.erase(own);
    metadata[key] = value;
    heed::write_safetensors(desk.checkpoint(), metadata, file.tensors);
    const std::string text = desk.refused({}, 1), begin = "o/checkpoint.safetensors: ";
    CHECK(text.compare(0, begin.size(), begin) == 0);
    return text.substr(std::min(text.size(), begin.size()));
  };
  CHECK(refused("vocabulary.unit", "letter") ==
        "metadata 'vocabulary.unit' is 'letter', none of byte, code_point and word");
  for (const char* symbols : {"x", "10 x", "10  32", "10,32", " 10", "99999999999"})
    CHECK(refused("vocabulary.symbols", symbols) == "metadata 'vocabulary.symbols' is damaged");
  CHECK(refused("vocabulary.symbols", "32 10") ==
        "vocabulary: symbol 1 is 10 after 32; symbols must rise, each once");
  CHECK(refused("vocabulary.symbols", "10 32") == "the model has 32 symbols, the vocabulary 2");
  CHECK(refused("vocabulary.symbols", "") == "metadata 'vocabulary.symbols' is damaged");
}
