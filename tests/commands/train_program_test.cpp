// train_program_test.cpp: heed train: files, output, reproducibility and notes.

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/train/loss_csv.hpp"

using namespace heed_test;

namespace {

// The notes of a run, without the one that gnuplot is not installed.
std::string notes_of(const Finished& run) {
  CHECK(run.code == 0);
  std::string notes;
  for (const std::string& line : heed::lines_of(run.err))
    if (!has(line, "gnuplot")) notes += line + "\n";
  return notes;
}

}  // namespace

TEST_CASE("a run writes its checkpoint, losses and a sample, and prints their names",
          "[commands][train]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed(train_tiny);
  CHECK(run.code == 0);
  CHECK(has(run.out, "text   in.txt: 3,0"));
  CHECK(has(run.out, "model  1 layer, 2 heads, width 16: "));
  CHECK(has(run.out, "steps  0 to 20, each 12 x 16 tokens, on 1 thread\n"));
  CHECK(has(run.out, "\nstep  1  train "));
  CHECK(has(run.out, "\nstep 20  train "));
  CHECK(has(run.out, content(sandbox / "o/sample.txt")));
  CHECK(has(run.out, "\no/ has checkpoint.safetensors, loss.csv, sample.txt\n"));
  CHECK(has(run.out, "./heed sample o --temperature 0.8\n"));
  const Finished spaced = sandbox.heed(Arguments{"train", "in.txt", "--out", "the run"} + tiny);
  CHECK(has(spaced.out, "./heed sample 'the run' --temperature 0.8\n"));
  CHECK(content(sandbox / "o/sample.txt").size() == 501);
  CHECK(state(sandbox / "o").at("train.step") == "20");
}

TEST_CASE(
    "loss.csv has a header and rows for the first, each --log-every-th, validated and last step",
    "[commands][train]") {
  const Sandbox sandbox;
  const Arguments arguments = train_tiny + Arguments{"--log-every", "8", "--eval-every", "5"};
  REQUIRE(sandbox.heed(arguments).code == 0);
  const std::string csv = content(sandbox / "o/loss.csv");
  CHECK(csv.substr(0, csv.find('\n')) == "step,train_loss,val_loss,learning_rate,grad_norm,ms");
  std::string steps, validated;
  for (std::size_t at = csv.find('\n'); at + 1 < csv.size(); at = csv.find('\n', at + 1)) {
    const std::size_t comma = csv.find(',', at), second = csv.find(',', comma + 1);
    const std::string step = csv.substr(at + 1, comma - at - 1) + " ";
    steps += step;
    if (csv[second + 1] != ',') validated += step;
  }
  CHECK(steps == "1 5 8 10 15 16 20 ");
  CHECK(validated == "5 10 15 20 ");
}

TEST_CASE("the curve is plotted if gnuplot is installed; otherwise a note names gnuplot",
          "[commands][train]") {
  const Sandbox sandbox;
  Call call = sandbox.call(train_tiny + Arguments{"--replace"});
  const Finished without = run(call);
  CHECK(has(without.err, "heed: note: gnuplot is not installed"));
  CHECK_FALSE(sandbox.has_file("o/loss.svg"));
  call.environment.clear();
  const Finished with = run(call);
  CHECK(with.code == 0);
  CHECK(sandbox.has_file("o/loss.svg") == (with.err == ""));
  CHECK(has(with.out, "loss.svg") == (with.err == ""));
}

TEST_CASE("the number of threads is OMP_NUM_THREADS unless --threads is given",
          "[commands][train]") {
  const Sandbox sandbox;
  Arguments arguments = {"train", "in.txt", "--steps", "1", "--layers", "1", "--replace"};
  const auto output = [&](const char* variable) {
    Call call = sandbox.call(arguments);
    call.environment["OMP_NUM_THREADS"] = variable;
    return run(call).out;
  };
  CHECK(has(output("1"), ", on 1 thread\n"));
  CHECK(has(output("3"), ", on 3 threads\n"));
  arguments.insert(arguments.end(), {"--threads", "2"});
  CHECK(has(output("3"), ", on 2 threads\n"));
}

TEST_CASE("heed prints the number of threads that OMP_THREAD_LIMIT allows", "[commands][train]") {
  const Sandbox sandbox;
  for (const Arguments& more : {Arguments{}, Arguments{"--threads", "4"}}) {
    Call call = sandbox.call(
        Arguments{"train", "in.txt", "--steps", "1", "--layers", "1", "--replace"} + more);
    call.environment["OMP_NUM_THREADS"] = "3";
    call.environment["OMP_THREAD_LIMIT"] = "2";
    CHECK(has(run(call).out, ", on 2 threads\n"));
  }
}

#ifdef __linux__
TEST_CASE("if OpenMP binds threads to cores, heed and the programs that it starts use all cores",
          "[commands][train]") {
  const Sandbox sandbox;
  std::filesystem::create_directory(sandbox / "bin");
  put(sandbox / "bin/gnuplot",
      "#!/bin/sh\nwhile read -r line; do case $line in Cpus_allowed_list*) echo \"$line\" ;; esac\n"
      "done </proc/self/status >>cores\n");
  std::filesystem::permissions(sandbox / "bin/gnuplot", std::filesystem::perms::owner_all);
  const auto result = [&](const std::string& setting) {
    std::filesystem::remove_all(sandbox / "o");
    Call call = sandbox.call({});
    call.environment["PATH"] = (sandbox / "bin").string();
    call.arguments = {"/bin/sh", "-c",
                      "unset OMP_NUM_THREADS GOMP_SPINCOUNT OPENBLAS_NUM_THREADS; " + setting +
                          " \"$0\" train in.txt --out o --layers 1 --embed-dim 16 --steps 2",
                      HEED_BINARY_DIR "/heed"};
    const std::string out = run(call).out;
    const std::size_t threads = out.find(" tokens, on ");
    REQUIRE(threads != out.npos);
    return out.substr(threads, out.find('\n', threads) - threads) + ", " +
           content(sandbox / "o/cores");
  };
  const std::string unbound = result("");
  CHECK(has(unbound, "Cpus_allowed_list"));
  CHECK(result("OMP_PROC_BIND=true") == unbound);
  CHECK(result("OMP_PLACES=threads") == unbound);
}
#endif

TEST_CASE("the same seed gives the same bits with one, two, four and sixteen threads",
          "[commands][train]") {
  const Sandbox sandbox;
  const Arguments wide = {"train",        "in.txt", "--layers",       "1",  "--embed-dim", "64",
                          "--batch-size", "8",      "--block-size",   "64", "--steps",     "3",
                          "--log-every",  "1",      "--eval-batches", "1",  "--dropout",   "0.1"};
  for (const std::string threads : {"1", "2", "4", "16"})
    REQUIRE(sandbox.heed(wide + Arguments{"--threads", threads, "--out", threads}).code == 0);
  for (const char* threads : {"2", "4", "16"}) {
    INFO("threads " << threads);
    CHECK(losses(sandbox / threads) == losses(sandbox / "1"));
    CHECK(difference(sandbox / "1", sandbox / threads) == "");
    CHECK(content(sandbox / "1" / "sample.txt") == content(sandbox / threads / "sample.txt"));
  }
}

TEST_CASE("a validation's line ends with the first 40 characters of the sample",
          "[commands][train]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed(train_tiny);
  std::string preview;
  for (const char c : content(sandbox / "o/sample.txt").substr(0, 40))
    preview += c == '\n' ? " / " : std::string(1, c);
  const std::size_t begin = run.out.find("\nstep 20  train ") + 1;
  const std::string line = run.out.substr(begin, run.out.find('\n', begin) - begin);
  INFO(line << "\n" << preview);
  CHECK(line.size() - line.rfind("   " + preview) == preview.size() + 3);
}

TEST_CASE("another seed gives another run", "[commands][train]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--seed=1338", "--out=p"}).code ==
          2);  // --out is given twice
  REQUIRE(sandbox.heed(Arguments{"train", "in.txt", "--out=p", "--seed=1338"} + tiny).code == 0);
  CHECK(losses(sandbox / "o") != losses(sandbox / "p"));
  CHECK(has(difference(sandbox / "o", sandbox / "p"), "tensor token.weight\n"));
}

TEST_CASE("training on standard input equals training on a file", "[commands][train]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const Finished piped = sandbox.heed(Arguments{"train", "-"} + tiny, Sandbox::story());
  CHECK(piped.code == 0);
  CHECK(has(piped.out, "text   standard input: 3,0"));
  CHECK(losses(sandbox / "runs" / "stdin") == losses(sandbox / "o"));
  CHECK(difference(sandbox / "o", sandbox / "runs" / "stdin") == "text.path\n");
}

TEST_CASE("without a text, heed trains on its own text", "[commands][train]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed(Arguments{"train"} + tiny);
  CHECK(run.code == 0);
  CHECK(has(run.out, "text   harbour.txt: "));
  CHECK(state(sandbox / "runs" / "harbour").at("text.path") == "");
}

TEST_CASE("--bytes trains on a text in any encoding", "[commands][train]") {
  const Sandbox sandbox;
  std::string latin1;
  for (int i = 0; i < 200; ++i) latin1 += "caf\xe9 ";
  put(sandbox / "in.txt", latin1);
  const Finished run = sandbox.heed(train_tiny + Arguments{"--bytes"});
  CHECK(run.code == 0);
  CHECK(has(run.out, "text   in.txt: 1,000 bytes, 5 distinct bytes\n"));
  CHECK(state(sandbox / "o").at("vocabulary.tokens") == "32 97 99 102 233");
  CHECK(sandbox.heed({"sample", "o", "--prompt", "caf\xe9", "--tokens", "1"}).code == 0);
}

TEST_CASE("a byte order mark is removed, and a note says so", "[commands][train]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  put(sandbox / "marked.txt", "\xef\xbb\xbf" + Sandbox::story());
  const Finished run = sandbox.heed(Arguments{"train", "marked.txt"} + tiny);
  CHECK(run.code == 0);
  CHECK(has(run.err, "heed: note: marked.txt begins with a byte order mark, which heed removes\n"));
  CHECK(difference(sandbox / "o", sandbox / "runs" / "marked") == "text.path\n");
}

TEST_CASE("CRLF line ends, a single distinct character and a large vocabulary are noted",
          "[commands][train]") {
  const Sandbox sandbox;
  std::string crlf = Sandbox::story(), many;
  for (std::size_t i = 0; (i = crlf.find('\n', i)) != crlf.npos; i += 2) crlf.insert(i, "\r");
  for (int i = 0; i < 2400; ++i)  // characters from U+4E00 on, of three bytes each
    many += {'\xe4', static_cast<char>(0xb8 + i / 64 % 8), static_cast<char>(0x80 + i % 64)};
  for (int i = 0; i < 2400; ++i)
    many += {'\xe5', static_cast<char>(0x80 + i / 64), static_cast<char>(0x80 + i % 64)};
  const std::map<std::string, std::string> notes = {
      {crlf,
       "has CRLF line ends: the model will learn them as two characters; tr -d '\\r' removes the "
       "CR"},
      {std::string(400, 'a'), "has one distinct character: the model can only learn to repeat it"},
      {many,
       "has a vocabulary of 2912 characters: steps are slow; with --bytes it has 256 at most"}};
  for (const auto& [text, note] : notes) {
    put(sandbox / "in.txt", text);
    const Finished run = sandbox.heed(train_tiny + Arguments{"--steps=1"});
    CHECK(run.code == 2);  // --steps is given twice
    const Finished again =
        sandbox.heed({"train", "in.txt", "--layers=1", "--embed-dim=8", "--heads=1",
                      "--block-size=8", "--steps=1", "--eval-batches=1", "--replace"});
    CHECK(again.code == 0);
    CHECK(has(again.err, "heed: note: in.txt " + note + "\n"));
  }
}

TEST_CASE("texts of other encodings, lossy conversions and CR line ends are noted, with a remedy",
          "[commands][train]") {
  const Sandbox sandbox;
  const std::string story = Sandbox::story();
  std::string cr = story, lossy = story, zeros = story;
  std::replace(cr.begin(), cr.end(), '\n', '\r');
  lossy.replace(5, 1, "\ufffd");
  zeros[7] = '\0';
  // The text with `before` and `after` zero bytes around each byte.
  const auto wide = [&](std::size_t before, std::size_t after) {
    std::string text;
    for (const char c : story) text += std::string(before, '\0') + c + std::string(after, '\0');
    return text;
  };
  const std::string count = heed::grouped(static_cast<double>(story.size())),
                    thrice = heed::grouped(static_cast<double>(3 * story.size()));
  const auto note_about = [&](const std::string& zero_bytes, const std::string& encoding) {
    return "has " + zero_bytes + " zero bytes, as a text in " + encoding + " has; iconv -f " +
           encoding + " -t UTF-8 converts it";
  };
  const std::map<std::string, std::string> notes = {
      {wide(0, 1), note_about(count, "UTF-16LE")},
      {wide(1, 0), note_about(count, "UTF-16BE")},
      {wide(0, 3), note_about(thrice, "UTF-32LE")},
      {wide(3, 0), note_about(thrice, "UTF-32BE")},
      {zeros,
       "has 1 zero byte, which the model will learn as characters; tr -d '\\0' removes them"},
      {cr,
       "has line ends of CR alone: the model will not learn line breaks; tr '\\r' '\\n' makes "
       "them"},
      {lossy,
       "has 1 character U+FFFD, as a conversion writes for what it cannot read; convert the "
       "original again, such as with iconv -f WINDOWS-1252 -t UTF-8"}};
  for (const auto& [text, note] : notes) {
    put(sandbox / "in.txt", text);
    const Finished run = sandbox.heed(train_tiny + Arguments{"--replace"});
    CHECK(notes_of(run) == "heed: note: in.txt " + note + "\n");
  }
  put(sandbox / "in.txt", std::string(2000, '\0'));
  CHECK(has(notes_of(sandbox.heed(train_tiny + Arguments{"--replace"})),
            "heed: note: in.txt has only zero bytes; give a text\n"));
  put(sandbox / "in.txt", wide(0, 1));  // --bytes is for any encoding
  CHECK(notes_of(sandbox.heed(train_tiny + Arguments{"--replace", "--bytes"})) == "");
}

TEST_CASE("characters that only the validation data has are noted", "[commands][train]") {
  const Sandbox sandbox;
  const auto note_of = [&](const std::string& text) {
    put(sandbox / "in.txt", text);
    return notes_of(sandbox.heed(train_tiny + Arguments{"--replace"}));
  };
  CHECK(note_of(Sandbox::story() + "\u00e9") ==
        "heed: note: in.txt has '\u00e9' only in its last tenth, the validation data: the model "
        "cannot learn it\n");
  CHECK(note_of(Sandbox::story() + "z\u00e9\u6f22") ==
        "heed: note: in.txt has 'z' and 2 other characters only in its last tenth, the validation "
        "data: the model cannot learn them\n");
  CHECK(note_of("\u00e9" + Sandbox::story() + "\u00e9") == "");
}

TEST_CASE("a run that ends within its warm-up says which learning rate it reaches",
          "[commands][train]") {
  const Sandbox sandbox;
  const auto output_of = [&](const std::string& warmup) {
    return sandbox.heed(train_tiny + Arguments{"--replace", "--warmup", warmup}).out;
  };
  CHECK(has(output_of("39"),
            "\nlr     reaches 50 % of 0.001: the last step is within the warm-up of 39 steps; give "
            "a smaller --warmup\n"));
  CHECK_FALSE(has(output_of("19"), "\nlr "));
}

TEST_CASE("a run that ends with a worse validation loss names its best step", "[commands][train]") {
  const Sandbox sandbox;
  const Arguments flags = {"--lr",         "1", "--min-lr", "1", "--warmup", "0",
                           "--eval-every", "1", "--replace"};
  const Finished run = sandbox.heed(train_tiny + flags);
  REQUIRE(run.code == 0);
  const heed::LossCsv losses = heed::read_loss_csv((sandbox / "o/loss.csv").string());
  const auto& values = losses.validation.values;
  const auto best = std::min_element(values.begin(), values.end());
  REQUIRE(values.back() > 1.01 * *best);
  const std::string step =
      heed::exact(losses.validation.steps[static_cast<std::size_t>(best - values.begin())]);
  const std::string start = "validation loss " + heed::decimal(values.back(), 4) +
                            " after 20 steps\nthe lowest was " + heed::decimal(*best, 4) +
                            " after " + step + " steps; ";
  CHECK(has(run.out, start + "--keep-history keeps the model of each validation\n"));
  const Finished kept = sandbox.heed(train_tiny + flags + Arguments{"--keep-history"});
  const std::string model = "o/history/step-" + step + ".safetensors";
  CHECK(has(kept.out, start + "to sample that model: ./heed sample " + model + "\n"));
  CHECK(sandbox.heed({"sample", model}).code == 0);
  CHECK_FALSE(has(sandbox.heed(train_tiny + Arguments{"--replace"}).out, "the lowest was"));
}

TEST_CASE("a run in an empty environment has the same result", "[commands][train]") {
  const Sandbox sandbox;
  Call reference = sandbox.call(train_tiny);
  reference.environment["HEED_GEMM"] =
      "openblas";  // as without a home folder for a measured choice
  REQUIRE(run(reference).code == 0);
  Call bare = sandbox.call({});
  bare.arguments = {"/usr/bin/env", "-i"};
  if (const char* const core = std::getenv("OPENBLAS_CORETYPE"))  // kernels round differently
    bare.arguments.push_back(std::string("OPENBLAS_CORETYPE=") + core);
  bare.arguments = bare.arguments + Arguments{HEED_BINARY_DIR "/heed", "train", "in.txt"} + tiny;
  CHECK(run(bare).code == 0);
  CHECK(difference(sandbox / "o", sandbox / "runs" / "in") == "");
}

TEST_CASE("output for a closed stream is not written into a file", "[commands][train]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  for (const std::string closed : {">&-", "<&- >&- 2>&-"}) {
    Call call = sandbox.call({});
    call.arguments =
        Arguments{
            "/bin/sh", "-c",       "exec \"$0\" \"$@\" " + closed, HEED_BINARY_DIR "/heed", "train",
            "in.txt",  "--replace"} +
        tiny;
    CHECK(run(call).code == 0);
    CHECK(losses(sandbox / "runs" / "in") == losses(sandbox / "o"));
    CHECK(difference(sandbox / "o", sandbox / "runs" / "in") == "");
  }
}

TEST_CASE("a standard stream that is closed leads to /dev/null", "[commands][train]") {
  if (!std::filesystem::exists("/proc/self/fd")) return;
  const Sandbox sandbox;
  const std::pair<const char*, std::vector<int>> cases[] = {
      {"<&-", {0}}, {"2>&-", {2}}, {"<&- 2>&-", {0, 2}}};
  for (const auto& [closed, descriptors] : cases) {
    Call call = sandbox.call({});
    call.arguments = {
        "/bin/sh", "-c",
        std::string("exec \"$0\" train in.txt --replace --steps 1000000000 ") + closed,
        HEED_BINARY_DIR "/heed"};
    Child child(call);
    child.read_until("\nstep ");
    const std::string folder = "/proc/" + std::to_string(child.process()) + "/fd/";
    for (const int descriptor : descriptors)
      CHECK(std::filesystem::read_symlink(folder + std::to_string(descriptor)) == "/dev/null");
  }
}

TEST_CASE("the program sets environment variables for OpenBLAS and OpenMP unless they are set",
          "[commands][train]") {
  const Sandbox sandbox;
  if (!std::filesystem::exists("/proc/self/environ")) return;
  const auto settings = [&](const Arguments& given) {
    Call call = sandbox.call({});
    call.arguments = Arguments{"/usr/bin/env", "-i"} + given +
                     Arguments{HEED_BINARY_DIR "/heed",
                               "train",
                               "in.txt",
                               "--layers",
                               "1",
                               "--embed-dim",
                               "16",
                               "--heads",
                               "2",
                               "--steps",
                               "1000000000",
                               "--out",
                               "o"};
    Child child(call);
    child.read_until("\nstep ");
    return content("/proc/" + std::to_string(child.process()) + "/environ");
  };
  const std::string none = settings({});
  CHECK(has(none, "GOMP_SPINCOUNT=10000"));
  CHECK(has(none, "OPENBLAS_NUM_THREADS=1"));
  const std::string given = settings({"GOMP_SPINCOUNT=7", "OPENBLAS_CORETYPE=Prescott"});
  CHECK(has(given, "GOMP_SPINCOUNT=7"));
  CHECK(has(given, "OPENBLAS_CORETYPE=Prescott"));
  CHECK(has(settings({"OPENBLAS_CORETYPE=Prescott"}), "OPENBLAS_CORETYPE=Prescott"));
}
