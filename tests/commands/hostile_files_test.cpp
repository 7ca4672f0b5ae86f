// hostile_files_test.cpp: files and names that someone else chose harm no other file and no
// terminal.

#include <sys/resource.h>
#include <sys/stat.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"
#include "sanitized.hpp"
#include "small_model.hpp"

using namespace heed_test;

namespace {

namespace fs = std::filesystem;

// Whether the terminal would interpret a part of the text: an escape or C1 control character, a
// change of direction, a line separator or an invisible tag.
bool has_controls(const std::string& text) {
  for (const char* control :
       {"\x1b", "\xc2\x9b", "\u202e", "\u2066", "\u2028", "\U000e0041", "\xe9"})
    if (has(text, control)) return true;
  return false;
}

const std::string odd = "a\x1b[31m\u009b\u202e\u2066\u2028\U000e0041";

// A program `gnuplot` that creates the file `proof`.
void put_program(const fs::path& path, const fs::path& proof) {
  put(path, "#!/bin/sh\n: >'" + proof.string() + "'\nexit 1\n");
  fs::permissions(path, fs::perms::owner_all);
}

Call with_path(Call call, const std::string& path) {
  call.environment["PATH"] = path;
  return call;
}

// A checkpoint with `layers` layers of width 1, which is all names and little data.
heed::SafetensorsFile deep(const heed::SafetensorsFile& file, std::size_t layers) {
  heed::SafetensorsFile result;
  result.metadata = file.metadata;
  result.metadata["model.layers"] = std::to_string(layers);
  for (const heed::StoredTensor& tensor : file.tensors) {
    const std::size_t block = tensor.name.find("blocks.0.");
    for (std::size_t i = 0; i < (block == tensor.name.npos ? 1 : layers); ++i) {
      result.tensors.push_back(tensor);
      if (block != tensor.name.npos)
        result.tensors.back().name.replace(block, 9, "blocks." + std::to_string(i) + ".");
    }
  }
  return result;
}

// The processor time that all ended children of this process have used.
double seconds_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Runs the program, which must end with `code`, and returns its processor time.
double seconds_of(const Call& call, int code) {
  const double before = seconds_of_children();
  CHECK(run(call).code == code);
  return seconds_of_children() - before;
}

}  // namespace

TEST_CASE("a text whose name is not UTF-8 is trained on, saved and resumed",
          "[commands][hostile]") {
  const Sandbox sandbox;
  for (const std::string name : {"caf\xe9.txt", "100%\xff \n.txt"}) {
    fs::remove_all(sandbox / "o");
    put(sandbox / name, Sandbox::story());
    REQUIRE(sandbox.heed(Arguments{"train", name, "--out", "o"} + tiny).code == 0);
    const Finished more = sandbox.heed({"train", "--resume", "--out", "o", "--steps", "25"});
    CHECK(more.code == 0);
    CHECK(has(more.out,
              "text   " + std::string(name[0] == 'c' ? "caf\\xe9.txt" : "100%\\xff \\n.txt")));
    CHECK(sandbox.heed({"look", "o"}).code == 0);
  }
  CHECK(state(sandbox / "o").at("text.path") == "100%25%ff%20%0a.txt");
}

TEST_CASE("names with control characters are escaped in every line of train",
          "[commands][hostile]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  put(sandbox / (odd + ".txt"), Sandbox::story());
  for (const bool terminal : {false, true}) {
    Call call = sandbox.call(Arguments{"train", odd + ".txt", "--replace"} + tiny);
    if (terminal) call.terminal = 100;
    const Finished run = heed_test::run(call);
    CHECK(run.code == 0);
    std::string text = run.out + run.err;
    for (std::size_t i; (i = text.find("\x1b[K")) != text.npos;) text.erase(i, 3);
    CHECK_FALSE(has_controls(text));
    CHECK(has(text, "run    runs/a\\x1b[31m\\x9b\\u202e\\u2066\\u2028\\U000e0041"));
    CHECK(has(text, "./heed sample $'runs/a\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xae"));
  }
}

TEST_CASE("sample writes escape sequences to a terminal only as text", "[commands][hostile]") {
  if (!has_terminals()) return;
  const Sandbox sandbox;
  std::string text;
  while (text.size() < 3000) text += odd + "\t\u00e9\n";
  put(sandbox / "in.txt", text);
  const Finished trained = sandbox.heed(train_tiny + Arguments{"--bytes"});
  REQUIRE(trained.code == 0);
  const Call call =
      sandbox.call({"sample", "o", "--prompt", odd + "\t\u00e9\n", "--tokens", "300"});
  Call on_terminal = call;
  on_terminal.terminal = 80;
  const std::string piped = run(call).out, both = run(on_terminal).out;
  const std::string shown = both.substr(both.find('\n') + 1);  // after a note on stderr
  CHECK(piped.rfind(odd + "\t\u00e9\n", 0) == 0);
  CHECK(shown.rfind("a\\x1b[31m\\x9b\\u202e\\u2066\\u2028\\U000e0041\t\u00e9\n", 0) == 0);
  CHECK(has_controls(piped));
  CHECK_FALSE(has(shown, "\x1b"));
  CHECK(shown == heed::escaped_lines(piped));  // characters stay whole, although tokens are bytes
}

TEST_CASE("inspect escapes what a file contains", "[commands][hostile]") {
  const Sandbox sandbox;
  heed::write_safetensors(sandbox / "f", {{odd, odd}}, {});
  const Finished run = sandbox.heed({"inspect", "f"});
  CHECK(run.code == 0);
  CHECK_FALSE(has_controls(run.out));
}

TEST_CASE("plots follow no link, wait for no pipe and keep permissions", "[commands][hostile]") {
  const Sandbox sandbox;
  Call call = sandbox.call(train_tiny + Arguments{"--replace"});
  call.environment.clear();
  if (run(call).err != "") return;  // gnuplot is not installed
  put(sandbox / "victim", "mine");
  fs::permissions(sandbox / "o/loss.svg", fs::perms::owner_read | fs::perms::owner_write);
  CHECK(run(call).err == "");
  CHECK(fs::status(sandbox / "o/loss.svg").permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
  for (const std::string name : {"loss.gp", "loss.svg"}) {
    fs::remove(sandbox / ("o/" + name));
    fs::create_symlink("../victim", sandbox / ("o/" + name));
    const Finished linked = run(call);
    CHECK(linked.code == 0);
    CHECK(has(linked.err, "heed: note: o/" + name + ": is a symbolic link, "));
    fs::remove(sandbox / ("o/" + name));
    REQUIRE(::mkfifo((sandbox / ("o/" + name)).c_str(), 0600) == 0);
    const Finished piped = run(call);
    CHECK(piped.code == 0);
    CHECK(has(piped.err, "heed: note: o/" + name + ": is not a regular file, "));
    fs::remove(sandbox / ("o/" + name));
  }
  CHECK(content(sandbox / "victim") == "mine");
}

TEST_CASE("a program in the run's folder is never run", "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  put_program(sandbox / "o/gnuplot", sandbox / "proof");
  for (const std::string path : {":/nothing", ".:/nothing", "/nothing:"})
    CHECK(run(with_path(sandbox.call({"look", "o"}), path)).code == 0);
  CHECK_FALSE(sandbox.has_file("proof"));
  put_program(sandbox / "gnuplot", sandbox / "proof");  // in the user's folder, as for a shell
  CHECK(run(with_path(sandbox.call({"look", "o"}), "/nothing:")).code == 0);
  CHECK(sandbox.has_file("proof"));
}

TEST_CASE("a text whose name gives no folder is rejected", "[commands][hostile]") {
  const Sandbox sandbox;
  for (const std::string name : {"...txt", "..txt"}) {
    put(sandbox / name, Sandbox::story());
    const Finished run = sandbox.heed(Arguments{"train", name} + tiny);
    CHECK(run.code == 2);
    CHECK(run.err == "heed: error: TEXT '" + name +
                         "': its name gives no name for the run's folder; give --out\n");
  }
  CHECK_FALSE(sandbox.has_file("runs"));
}

TEST_CASE("after -- a name is never a flag", "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy_file(sandbox / "in.txt", sandbox / "--steps");
  const Finished run = sandbox.heed({"train", "--steps", "2", "--layers", "1", "--embed-dim", "16",
                                     "--block-size", "8", "--out", "o", "--", "--steps"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(sandbox.has_file("o/checkpoint.safetensors"));
}

TEST_CASE("look --page rejects a loss.csv that is a pipe, a device or too large",
          "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const fs::path file = sandbox / "o/loss.csv";
  const auto rejected = [&] {
    const Finished run = sandbox.heed({"look", "o", "--text", "On day", "--page", "p.html"});
    fs::remove(file);
    CHECK(run.code == 1);
    return run.err;
  };
  fs::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
  CHECK(rejected() == "heed: error: o/loss.csv: not a regular file\n");
  fs::create_symlink("/dev/zero", file);
  CHECK(rejected() == "heed: error: o/loss.csv: not a regular file\n");
  put(file, "");
  fs::resize_file(file, 1'000'000'001);
  CHECK(rejected() ==
        "heed: error: o/loss.csv: has 1,000,000,001 bytes, more than 1,000,000,000; it is not a "
        "loss.csv of heed's\n");
}

TEST_CASE("paths that begin with a dash are printed as paths", "[commands][hostile]") {
  const Sandbox sandbox;
  fs::copy(HEED_TESTS_DIR "/weights/gpt2", sandbox / "gpt2");
  CHECK(has(sandbox
                .heed({"train", "in.txt", "--out", "-x", "--steps", "2", "--layers", "1",
                       "--embed-dim", "16", "--block-size", "8"})
                .out,
            "./heed sample ./-x --temperature"));
  CHECK(has(sandbox.heed({"import", "gpt2", "--out", "-im"}).out, "./heed sample ./-im --prompt"));
  CHECK(has(sandbox.heed({"export", "--to", "pytorch", "--", "-im", "-ex"}).out,
            "python3 ./-ex/load.py"));
}

TEST_CASE("a checkpoint of many layers is loaded in linear time", "[commands][hostile]") {
  const Sandbox sandbox;
  Arguments narrow = train_tiny;
  *(std::find(narrow.begin(), narrow.end(), "--embed-dim") + 1) = "1";
  *(std::find(narrow.begin(), narrow.end(), "--heads") + 1) = "1";
  REQUIRE(sandbox.heed(narrow).code == 0);
  const fs::path path = sandbox / "o/checkpoint.safetensors";
  const heed::SafetensorsFile file = heed::read_safetensors(path);
  const Call sample = sandbox.call({"sample", "o", "--tokens", "0"});
  const Call resume = sandbox.call({"train", "--resume", "--out", "o", "--steps", "20"});
  const int steps_are_done = 2;
  const heed::SafetensorsFile some = deep(file, 1000), many = deep(file, 4000);
  const auto write = [&](const heed::SafetensorsFile& checkpoint) {
    heed::write_safetensors(path, checkpoint.metadata, checkpoint.tensors);
    put(sandbox / "o/sample.txt", "");  // later, as at the end of a run
  };
  write(some);
  const double short_sample = seconds_of(sample, 0);
  const double short_resume = seconds_of(resume, steps_are_done);
  write(many);  // 96,000 tensors, 10 MB
  const double long_sample = seconds_of(sample, 0);
  const double long_resume = seconds_of(resume, steps_are_done);
  CAPTURE(short_sample, long_sample, short_resume, long_resume);
  CHECK(long_sample < 9 * short_sample);  // 4 times as many tensors; quadratic work takes 16 times
  CHECK(long_resume < 9 * short_resume);
  heed::Metadata metadata = file.metadata;
  metadata["model.layers"] = "9";
  heed::write_safetensors(path, metadata, many.tensors);
  metadata["model.layers"] = "4000";
  std::vector<heed::StoredTensor> few = file.tensors;
  const std::string zeros(4'000'000, '\0');
  few.push_back({"many",
                 "F32",
                 {1'000'000},
                 reinterpret_cast<const unsigned char*>(zeros.data()),
                 zeros.size()});
  heed::write_safetensors(path, metadata, few);
  CHECK(sandbox.heed({"sample", "o"}).err ==
        "heed: error: o/checkpoint.safetensors: its metadata describes a model of 4,000 layers, "
        "each of at least 8 tensors, but it has 34 tensors\n");
}

TEST_CASE("a file larger than the memory is rejected before it is read", "[commands][hostile]") {
  const Sandbox sandbox;
  put(sandbox / "sparse", std::string("\x10\0\0\0\0\0\0\0{}              ", 24));
  fs::resize_file(sandbox / "sparse", std::uintmax_t{1} << 42);
  for (const char* command : {"sample", "look"})  // read the weights piece by piece
    CHECK(sandbox.heed({command, "sparse"}).err ==
          "heed: error: sparse: left over after the last tensor: 4398046511080 bytes\n");
  const Finished run = sandbox.heed({"inspect", "sparse"});
  CHECK(run.code == 1);
  CHECK(has(run.err, "heed: error: sparse: has 4,398,046,511,104 bytes, but only "));
  CHECK(has(run.err, " bytes of memory are available\n"));
}

TEST_CASE("a saved model larger than the memory is rejected, with half the bytes for BF16",
          "[commands][hostile]") {
  if (sanitized) return;  // AddressSanitizer itself needs more memory than the limit
  const Sandbox sandbox;
  const heed::Vocabulary vocabulary = heed::Vocabulary::from_words("a b c");
  const heed::test::SmallModel small(heed::test::small_config(vocabulary.size(), {7, 8}), 1);
  heed::save_model(sandbox / "small", small.parameters, small.config, vocabulary);
  // A sparse file, in which all sizes that are multiples of the width are larger by this factor.
  constexpr std::uint64_t factor = 556;  // 1.9 GB in F32
  const std::string bytes = content(sandbox / "small");
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  nlohmann::json header = nlohmann::json::parse(bytes.substr(sizeof size, size));
  for (const char* own : {"heed.checksum", "heed.format"}) header["__metadata__"].erase(own);
  header["__metadata__"]["model.embed_dim"] = std::to_string(8 * factor);
  std::uint64_t end = 0, parameters = 0;
  for (auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    std::uint64_t count = 1;
    for (auto& element : tensor["shape"]) {
      const auto n = element.get<std::uint64_t>();
      element = n % 8 == 0 ? n * factor : n;
      count *= element.get<std::uint64_t>();
    }
    tensor["data_offsets"] = {end, end + 4 * count};
    end += 4 * count, parameters += count;
  }
  const std::string text = header.dump();
  size = text.size();
  put(sandbox / "large", std::string(reinterpret_cast<const char*>(&size), sizeof size) + text);
  fs::resize_file(sandbox / "large", sizeof size + text.size() + end);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_DATA, &old_limit) == 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 900'000'000;
  const auto needed = [&](const char* weights) {
    ::setrlimit(RLIMIT_DATA, &limit);
    const Finished run = sandbox.heed({"sample", "large", "--trust", "--weights", weights});
    ::setrlimit(RLIMIT_DATA, &old_limit);
    CHECK(run.code == 1);
    return run.err.substr(0, run.err.find(", but only"));
  };
  const std::string begin = "heed: error: large: its model needs ";
  CHECK(needed("f32") == begin + heed::grouped(4.0 * static_cast<double>(parameters)) + " bytes");
  CHECK(needed("bf16") == begin + heed::grouped(2.0 * static_cast<double>(parameters)) + " bytes");
}

TEST_CASE("weights whose logits overflow are rejected", "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const fs::path path = sandbox / "o/checkpoint.safetensors";
  heed::SafetensorsFile file = heed::read_safetensors(path);
  const std::vector<float> huge(1'000, 3e38f);
  for (heed::StoredTensor& tensor : file.tensors)
    if (tensor.name.rfind("optimizer.", 0) != 0 && tensor.bytes <= huge.size() * sizeof(float))
      tensor.data = reinterpret_cast<const unsigned char*>(huge.data());
  heed::write_safetensors(path, file.metadata, file.tensors);
  const std::string message = "the logits are not finite; the weights are too large or damaged\n";
  const Finished sampled = sandbox.heed({"sample", "o"});
  CHECK(sampled.code == 1);
  CHECK(sampled.err == "heed: error: o/checkpoint.safetensors: generate: " + message);
  const Finished looked = sandbox.heed({"look", "o", "--text", "On day"});
  CHECK(looked.code == 1);
  CHECK(looked.out == "");
  CHECK(looked.err == "heed: error: o/checkpoint.safetensors: " + message);
}

TEST_CASE("weights whose logits are finite and whose loss is not are rejected by look",
          "[commands][hostile]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const fs::path path = sandbox / "o/checkpoint.safetensors";
  heed::SafetensorsFile file = heed::read_safetensors(path);
  const std::vector<float> large(16, 7e19f);
  for (heed::StoredTensor& tensor : file.tensors)
    if (tensor.name == "blocks.0.norm1.weight")
      tensor.data = reinterpret_cast<const unsigned char*>(large.data());
  heed::write_safetensors(path, file.metadata, file.tensors);
  for (const Arguments& more : {Arguments{}, Arguments{"--page", "o.html"}}) {
    const Finished looked = sandbox.heed(Arguments{"look", "o", "--text", "On day"} + more);
    CHECK(looked.code == 1);
    CHECK_FALSE(has(looked.out, "nan"));
    CHECK(
        looked.err ==
        "heed: error: the loss is not finite; the weights of the model are too large or damaged\n");
  }
}

TEST_CASE("a text in UTF-16 or UTF-32 is recognised by its byte order mark",
          "[commands][hostile]") {
  const Sandbox sandbox;
  for (const auto& [mark, encoding] :
       std::map<std::string, std::string>{{"\xff\xfe", "UTF-16"},
                                          {"\xfe\xff", "UTF-16"},
                                          {std::string("\xff\xfe\0\0", 4), "UTF-32"},
                                          {std::string("\0\0\xfe\xff", 4), "UTF-32"}}) {
    put(sandbox / "in.txt", mark + std::string("h\0e\0l\0l\0o\0", 10));
    CHECK(sandbox.heed(train_tiny).err ==
          "heed: error: in.txt: is " + encoding +
              ", as its byte order mark says, not UTF-8; convert it with iconv -f " + encoding +
              " -t UTF-8, or use --bytes\n");
  }
}
