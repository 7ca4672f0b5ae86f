// sample_test.cpp: heed sample and heed inspect on valid and on damaged checkpoints.

#include <algorithm>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/files/model_file.hpp"
#include "heed/gemm/bf16.hpp"
#include "sanitized.hpp"
#include "small_model.hpp"

using namespace heed_test;

namespace {

// A sandbox with a model in o/ whose predictions are not uniform.
struct TrainedSandbox : Sandbox {
  TrainedSandbox() {
    REQUIRE(heed(train_tiny + Arguments{"--lr", "0.01", "--warmup", "0"}).code == 0);
  }

  // The output of `heed sample`, which must succeed.
  std::string generated(const Arguments& more, const std::string& run = "o") const {
    const Finished result = heed(Arguments{"sample", run} + more);
    CHECK(result.code == 0);
    CHECK(result.err == "");
    return result.out;
  }
  // The error of `heed sample`, which must be one line without other output.
  std::string rejected(const Arguments& more, int code) const {
    const Finished result = heed(Arguments{"sample", "o"} + more);
    CHECK(result.code == code);
    CHECK(result.out == "");
    CHECK(result.err.rfind("heed: error: ", 0) == 0);
    CHECK(result.err.find('\n') == result.err.size() - 1);
    return result.err.substr(13, result.err.size() - 14);
  }
  std::filesystem::path checkpoint() const { return path / "o" / "checkpoint.safetensors"; }
  // Replaces each value of the linear layers and the token embedding by change(value).
  template <class Change>
  void change_matrices(const Change& change) const {
    heed::SafetensorsFile file = heed::read_safetensors(checkpoint());
    std::vector<heed::Array> changed;
    changed.reserve(file.tensors.size());  // the tensors point into the arrays
    for (heed::StoredTensor& tensor : file.tensors) {
      if (tensor.shape.size() != 2 || tensor.name == "position.weight") continue;
      heed::Array& values = changed.emplace_back(file.array(tensor));
      std::transform(values.begin(), values.end(), values.begin(), change);
      tensor = heed::stored_tensor(tensor.name, values);
    }
    for (const char* own : {"heed.checksum", "heed.format"}) file.metadata.erase(own);
    heed::write_safetensors(checkpoint(), file.metadata, file.tensors);
  }
};

}  // namespace

TEST_CASE("the same seed generates the same text, another seed another text",
          "[commands][sample]") {
  const TrainedSandbox sandbox;
  const std::string text = sandbox.generated({"--tokens", "100"});
  CHECK(text.size() == 101);
  CHECK(sandbox.generated({"--tokens", "100", "--seed", "1337"}) == text);
  CHECK(sandbox.generated({"--tokens", "100", "--threads", "2"}) == text);
  CHECK(sandbox.generated({"--tokens", "100", "--top-k", "100000"}) == text);
  CHECK(sandbox.generated({"--tokens", "100", "--no-cache"}) == text);
  CHECK(sandbox.generated({"--tokens", "100"}, "o/checkpoint.safetensors") == text);
  CHECK(sandbox.generated({"--tokens", "40"}) == text.substr(0, 40) + "\n");
  CHECK(sandbox.generated({"--tokens", "100", "--seed", "1"}) != text);
}

TEST_CASE("--weights bf16 and int8 generate the same text on every run and number of threads",
          "[commands][sample][bf16][int8]") {
  const TrainedSandbox sandbox;
  for (const char* weights : {"bf16", "int8"}) {
    const Arguments arguments = {"--tokens", "100", "--weights", weights};
    const std::string text = sandbox.generated(arguments);
    CHECK(text.size() == 101);
    CHECK(sandbox.generated(arguments + Arguments{"--threads", "2"}) == text);
    CHECK(sandbox.generated(arguments + Arguments{"--no-cache"}) == text);
  }
  CHECK(sandbox.generated({"--tokens", "100", "--weights", "f32"}) ==
        sandbox.generated({"--tokens", "100"}));
  CHECK(has(sandbox.generated({"--samples", "9", "--weights", "bf16"}), "---- seed 1345\n"));
}

TEST_CASE("--weights bf16 generates the text of the model whose weights were rounded to BF16",
          "[commands][sample][bf16]") {
  const TrainedSandbox sandbox;
  const Arguments f32 = {"--tokens", "1000"}, bf16 = f32 + Arguments{"--weights", "bf16"};
  sandbox.change_matrices([](heed::Real value) { return 8 * value; });  // rounding changes the text
  const std::string text = sandbox.generated(bf16);
  CHECK(sandbox.generated(f32) != text);
  sandbox.change_matrices(
      [](heed::Real value) { return heed::float_of_bf16(heed::bf16_of_float(value)); });
  CHECK(sandbox.generated(f32) == text);
}

TEST_CASE("--weights rejects other words, and train and look have no such flag",
          "[commands][sample][bf16]") {
  const TrainedSandbox sandbox;
  CHECK(sandbox.rejected({"--weights", "fp16"}, 2) == "--weights fp16: must be f32, bf16 or int8");
  CHECK(sandbox.rejected({"--weights"}, 2).find("--weights") != std::string::npos);
  for (const char* command : {"train", "look"}) {
    const Finished finished = sandbox.heed({command, "o", "--weights", "bf16"});
    CHECK(finished.code == 2);
    CHECK(has(finished.err, "heed: error: unknown option --weights; "));
  }
}

TEST_CASE("--samples prints the texts of the seeds --seed, --seed + 1, ...", "[commands][sample]") {
  const TrainedSandbox sandbox;
  std::string expected;
  for (const char* seed : {"7", "8", "9"})
    expected += std::string("---- seed ") + seed + "\n" +
                sandbox.generated({"--prompt", "the ", "--tokens", "50", "--seed", seed});
  CHECK(sandbox.generated(
            {"--prompt", "the ", "--tokens", "50", "--seed", "7", "--samples", "3"}) == expected);
  CHECK(sandbox.rejected({"--samples", "0"}, 2) ==
        "--samples 0: out of range: must be a whole number at least 1 and at most 1024");
  CHECK(sandbox.rejected({"--samples", "3", "--seed", "4294967294"}, 2) ==
        "--samples 3: the seeds --seed, --seed + 1, ... must be at most 4294967295");
}

TEST_CASE("sample.txt equals the output of the command that train prints", "[commands][sample]") {
  const TrainedSandbox sandbox;
  CHECK(sandbox.generated({"--temperature", "0.8"}) == content(sandbox / "o/sample.txt"));
}

TEST_CASE("temperature 0 and --top-k 1 choose the most likely token for any seed",
          "[commands][sample]") {
  const TrainedSandbox sandbox;
  const std::string most_likely = sandbox.generated({"--temperature", "0", "--tokens", "60"});
  CHECK(sandbox.generated({"--top-k", "1", "--tokens", "60"}) == most_likely);
  CHECK(sandbox.generated({"--temperature", "0", "--tokens", "60", "--seed", "5"}) == most_likely);
  CHECK(sandbox.generated({"--temperature", "1", "--tokens", "60"}) != most_likely);
}

TEST_CASE("the prompt is printed before the generated text", "[commands][sample]") {
  const TrainedSandbox sandbox;
  CHECK(sandbox.generated({"--prompt", "the sea", "--tokens", "0"}) == "the sea\n");
  const std::string text = sandbox.generated({"--prompt", "the sea", "--tokens", "9"});
  CHECK(text.rfind("the sea", 0) == 0);
  CHECK(text.size() == 17);
  CHECK(sandbox.generated({"--tokens", "0"}) == "\n");
}

TEST_CASE("an empty prompt and one longer than the block are noted", "[commands][sample]") {
  const TrainedSandbox sandbox;
  const Finished empty = sandbox.heed({"sample", "o", "--prompt", "", "--tokens", "5"});
  CHECK(empty.code == 0);
  CHECK(empty.err == "heed: note: --prompt is empty: starting from '\\n'\n");
  CHECK(empty.out == sandbox.generated({"--tokens", "5"}));
  const Finished length = sandbox.heed({"sample", "o", "--prompt", "the quay took the sea"});
  CHECK(length.code == 0);
  CHECK(length.err ==
        "heed: note: --prompt has 21 tokens; the model uses the last 16, its block size\n");
}

TEST_CASE("an imported GPT-2 begins a text without a prompt after <|endoftext|>",
          "[commands][sample][weights]") {
  const Sandbox sandbox;
  const std::string folder = HEED_TESTS_DIR "/weights/gpt2";
  REQUIRE(sandbox.heed({"import", folder, "--out", "g"}).code == 0);
  const auto text = [&](const Arguments& prompt) {
    return sandbox.heed(Arguments{"sample", "g", "--tokens", "5"} + prompt);
  };
  const Finished empty = text({"--prompt", ""});
  CHECK(empty.err == "heed: note: --prompt is empty: starting from '<|endoftext|>'\n");
  CHECK(empty.out == text({}).out);
  CHECK("\n" + empty.out != text({"--prompt", "\n"}).out);
}

TEST_CASE("a prompt outside the vocabulary is a usage error that names the character",
          "[commands][sample]") {
  const TrainedSandbox sandbox;
  const std::string remedy = " is not in the vocabulary; use only tokens of the training text";
  CHECK(sandbox.rejected({"--prompt", "the \u00e9"}, 2) == "--prompt: '\u00e9' (U+00E9)" + remedy);
  CHECK(sandbox.rejected({"--prompt", "\u6f22\u5b57"}, 2) ==
        "--prompt: '\u6f22' (U+6F22)" + remedy);
  CHECK(sandbox.rejected({"--prompt", "a\033[31m"}, 2) == "--prompt: U+001B" + remedy);
  CHECK(sandbox.rejected({"--prompt", "the \xe9t"}, 2)
            .rfind("--prompt: not UTF-8: byte 4 is 0xe9", 0) == 0);
}

TEST_CASE("a missing checkpoint is rejected in one line", "[commands][sample]") {
  const TrainedSandbox sandbox;
  std::filesystem::create_symlink("loop", sandbox / "loop");
  std::filesystem::create_directory(sandbox / "empty");
  const auto error_of = [&](const std::string& run) { return sandbox.heed({"sample", run}).err; };
  const std::string remedy =
      ": No such file or directory; give a run's folder, such as runs/harbour, or a checkpoint\n";
  CHECK(error_of("nope") == "heed: error: nope" + remedy);
  CHECK(error_of("empty") == "heed: error: empty/checkpoint.safetensors" + remedy);
  CHECK(error_of("loop").rfind("heed: error: loop: Too many", 0) == 0);
  CHECK(error_of(std::string(300, 'x')).rfind("heed: error: xxx", 0) == 0);
  CHECK(sandbox.heed({"sample", "nope"}).code == 1);
}

TEST_CASE("a file of another format is rejected", "[commands][sample]") {
  const TrainedSandbox sandbox;
  const std::string begin = "o/checkpoint.safetensors: not a checkpoint";
  for (const std::string& other :
       {std::string("hello world this is text\n"),
        std::string("\x80\x04\x95\x0a\0\0\0\0\0\0\0}.", 13),
        std::string("<!DOCTYPE html><html></html>"), std::string("PK\3\4 and so on")}) {
    put(sandbox.checkpoint(), other);
    CHECK(sandbox.rejected({}, 1).rfind(begin, 0) == 0);
  }
  std::filesystem::copy_file(HEED_TESTS_DIR "/invalid_files/valid_basic.safetensors",
                             sandbox.checkpoint(),
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(has(sandbox.rejected({}, 1), "o/checkpoint.safetensors: "));
}

TEST_CASE("a truncated checkpoint is rejected for any length", "[commands][sample]") {
  const TrainedSandbox sandbox;
  const std::string whole = content(sandbox.checkpoint());
  for (const std::size_t length : {whole.size() - 1, whole.size() / 2, std::size_t{100}}) {
    put(sandbox.checkpoint(), whole.substr(0, length));
    CHECK(sandbox.rejected({}, 1).rfind("o/checkpoint.safetensors: truncated", 0) == 0);
  }
}

TEST_CASE("a checkpoint with one bit changed is rejected by its checksum", "[commands][sample]") {
  const TrainedSandbox sandbox;
  const std::string whole = content(sandbox.checkpoint());
  const std::size_t config = whole.find("\"train.lr\":\"0.01\"") + 14;
  for (const std::size_t at : {whole.size() - 1, whole.size() / 2, config}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    put(sandbox.checkpoint(), changed);
    const std::string text = sandbox.rejected({}, 1);
    INFO(text);
    CHECK(text.rfind("o/checkpoint.safetensors: ", 0) == 0);
    CHECK(has(text, "checksum"));
  }
}

TEST_CASE("a tensor of another shape is rejected by its name", "[commands][sample]") {
  const TrainedSandbox sandbox;
  heed::SafetensorsFile file = heed::read_safetensors(sandbox.checkpoint());
  for (heed::StoredTensor& tensor : file.tensors)
    if (tensor.name == "blocks.0.mlp.up.weight") std::swap(tensor.shape[0], tensor.shape[1]);
  for (const char* own : {"heed.checksum", "heed.format"}) file.metadata.erase(own);
  heed::write_safetensors(sandbox.checkpoint(), file.metadata, file.tensors);
  const std::string text = sandbox.rejected({}, 1);
  INFO(text);
  CHECK(has(text, "blocks.0.mlp.up.weight"));
  CHECK(has(text, "(16, 64)"));
  CHECK(has(text, "(64, 16)"));
}

TEST_CASE("inspect lists a checkpoint's tensors, its step, its options and its vocabulary",
          "[commands][inspect]") {
  const TrainedSandbox sandbox;
  const Finished run = sandbox.heed({"inspect", "o/checkpoint.safetensors"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  for (const char* part :
       {"F32      'position.weight' (16, 16)\n", "F32      'blocks.0.mlp.up.weight' (64, 16)\n",
        "F32      'optimizer.norm.weight.exp_avg_sq' (16)\n", " bytes, checksum right\n",
        "\n'train.step' = '20'\n", "\n'model.embed_dim' = '16'\n", "\n'train.lr' = '0.01'\n",
        "\n'vocabulary.unit' = 'code_point'\n", "\n'vocabulary.tokens' = '10 32 44 "})
    CHECK(has(run.out, part));
}

TEST_CASE("inspect of a run shows its generators and its history", "[commands][inspect]") {
  const TrainedSandbox sandbox;
  const Finished run = sandbox.heed({"inspect", "o"});
  CHECK(run.code == 0);
  for (const char* entry :
       {"\n'train.generator' = '", "\n'train.dropout_generator' = '", "\n'train.history' = '1,"})
    CHECK(has(run.out, entry));
}

#ifdef __linux__
TEST_CASE("sample has little more than the model in memory", "[commands][sample]") {
  if (heed_test::sanitized) return;
  const Sandbox sandbox;
  // The peak memory of heed sample in bytes, after 500 tokens. (That of wait4 would be at least the
  // memory that this program had when it started heed.)
  const auto peak = [&](std::size_t embed_dim) {
    using namespace heed::test;
    const heed::Vocabulary vocabulary = heed::Vocabulary::of_text(sandbox.story());
    const SmallModel model(small_config(vocabulary.size(), {128, embed_dim, 2, 8}));
    heed::save_model(sandbox / "m.safetensors", model.parameters, model.config, vocabulary);
    Child child(sandbox.call({"sample", "m.safetensors", "--tokens", "100000000"}));
    child.read_bytes(500);
    const std::string status = content("/proc/" + std::to_string(child.process()) + "/status");
    REQUIRE(has(status, "VmHWM:"));
    return 1024 * std::stod(status.substr(status.find("VmHWM:") + 6));
  };
  const double tiny_model = peak(16), large_model = peak(512);
  const double bytes = static_cast<double>(std::filesystem::file_size(sandbox / "m.safetensors"));
  CHECK(bytes > 2.5e7);
  CHECK(large_model - tiny_model > 0.9 * bytes);
  CHECK(large_model - tiny_model < 1.3 * bytes);  // a copy of the weights would make it 2
}
#endif

TEST_CASE("inspect reads any safetensors file and escapes control characters in it",
          "[commands][inspect]") {
  const Sandbox sandbox;
  const std::string files = HEED_TESTS_DIR "/invalid_files/";
  const Finished basic = sandbox.heed({"inspect", files + "valid_basic.safetensors"});
  CHECK(basic.code == 0);
  CHECK(basic.out == "F32      'w' (2, 2)\n1 tensor, 16 bytes, no checksum\n");
  const Finished escape = sandbox.heed({"inspect", files + "name_escape_codes.safetensors"});
  CHECK_FALSE(has(escape.out + escape.err, "\033"));
  const Finished pickle = sandbox.heed({"inspect", files + "foreign_pickle.safetensors"});
  CHECK(pickle.code == 1);
  CHECK(pickle.err == "heed: error: " + files +
                          "foreign_pickle.safetensors: not a safetensors file: it looks like a "
                          "Python pickle\n");
}

TEST_CASE("a full standard output is an error, and a closed pipe ends sample without an error text",
          "[commands][sample]") {
  const TrainedSandbox sandbox;
  Child child(sandbox.call({"sample", "o", "--tokens", "100000000"}));
  child.read_until("\n");
  child.close_output();
  const Finished piped = child.finish();
  CHECK(piped.code == 128 + SIGPIPE);
  CHECK(piped.err == "");
  if (!std::filesystem::exists("/dev/full")) return;
  for (const std::string arguments : {"sample o", "inspect o/checkpoint.safetensors", "--help"}) {
    Call call = sandbox.call({});
    call.arguments = {"/bin/sh", "-c", "exec \"$0\" " + arguments + " >/dev/full",
                      HEED_BINARY_DIR "/heed"};
    const Finished full = run(call);
    CHECK(full.code == 1);
    CHECK(full.err ==
          "heed: error: standard output: cannot be written; is it closed, or the disk full?\n");
  }
}

TEST_CASE("a checkpoint with a damaged vocabulary is rejected with the reason",
          "[commands][sample]") {
  const TrainedSandbox sandbox;
  const heed::SafetensorsFile file = heed::read_safetensors(sandbox.checkpoint());
  const auto rejected = [&](const std::string& key, const std::string& value) {
    heed::Metadata metadata = file.metadata;
    for (const char* own : {"heed.checksum", "heed.format"}) metadata.erase(own);
    metadata[key] = value;
    heed::write_safetensors(sandbox.checkpoint(), metadata, file.tensors);
    const std::string text = sandbox.rejected({}, 1), begin = "o/checkpoint.safetensors: ";
    CHECK(text.compare(0, begin.size(), begin) == 0);
    return text.substr(std::min(text.size(), begin.size()));
  };
  CHECK(rejected("vocabulary.unit", "letter") ==
        "metadata 'vocabulary.unit' is 'letter', none of byte, byte_level_bpe, byte_pair, "
        "code_point, sentence_piece, word and word_piece");
  for (const char* symbols : {"x", "10 x", "10  32", "10,32", " 10", "99999999999"})
    CHECK(rejected("vocabulary.tokens", symbols) == "metadata 'vocabulary.tokens' is damaged");
  CHECK(rejected("vocabulary.tokens", "32 10") ==
        "vocabulary: token 1 is 10 after 32; tokens must be sorted and distinct");
  CHECK(rejected("vocabulary.tokens", "10 32") ==
        "the model's vocab_size is 32, but its vocabulary has 2 tokens");
  CHECK(rejected("vocabulary.tokens", "") == "metadata 'vocabulary.tokens' is damaged");
}
