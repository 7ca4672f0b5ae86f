// train_program_test.cpp: heed train as it runs: what it writes, says and repeats.

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

TEST_CASE("a run writes its checkpoint, its losses and a sample, and says where", "[app][train]") {
  const Desk desk;
  const Finished run = desk.heed(train_tiny);
  CHECK(run.code == 0);
  CHECK(has(run.out, "text   in.txt: 3,0"));
  CHECK(has(run.out, "model  1 layer, 2 heads, width 16: "));
  CHECK(has(run.out, "steps  0 to 20, each 12 x 16 symbols, on 1 thread\n"));
  CHECK(has(run.out, "\nstep  1  train "));
  CHECK(has(run.out, "\nstep 20  train "));
  CHECK(has(run.out, content(desk / "o/sample.txt")));
  CHECK(has(run.out, "\no/ has checkpoint.safetensors, loss.csv, sample.txt\n"));
  CHECK(has(run.out, "./heed sample o --temperature 0.8\n"));
  const Finished spaced = desk.heed(Words{"train", "in.txt", "--out", "the run"} + tiny);
  CHECK(has(spaced.out, "./heed sample 'the run' --temperature 0.8\n"));
  CHECK(content(desk / "o/sample.txt").size() == 501);
  CHECK(state(desk / "o").at("train.step") == "20");
}

TEST_CASE("loss.csv has its header, the first step, every log-every'th and the last",
          "[app][train]") {
  const Desk desk;
  const Words words = train_tiny + Words{"--log-every", "8", "--eval-every", "5"};
  REQUIRE(desk.heed(words).code == 0);
  const std::string csv = content(desk / "o/loss.csv");
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

TEST_CASE("the curve is drawn where gnuplot is, and one line says what to install where it is not",
          "[app][train]") {
  const Desk desk;
  Call call = desk.call(train_tiny);
  const Finished without = run(call);
  CHECK(has(without.err, "heed: note: gnuplot is not installed"));
  CHECK_FALSE(desk.has_file("o/loss.svg"));
  call.environment.clear();
  const Finished with = run(call);
  CHECK(with.code == 0);
  CHECK(desk.has_file("o/loss.svg") == (with.err == ""));
  CHECK(has(with.out, "loss.svg") == (with.err == ""));
}

TEST_CASE("the same seed gives the same bits with one, two and four threads", "[app][train]") {
  const Desk desk;
  const Words wide = {"train",        "in.txt", "--layers",       "1",  "--embed-dim", "64",
                      "--batch-size", "8",      "--block-size",   "64", "--steps",     "3",
                      "--log-every",  "1",      "--eval-batches", "1",  "--dropout",   "0.1"};
  for (const std::string threads : {"1", "2", "4"})
    REQUIRE(desk.heed(wide + Words{"--threads", threads, "--out", threads}).code == 0);
  for (const char* threads : {"2", "4"}) {
    INFO("threads " << threads);
    CHECK(losses(desk / threads) == losses(desk / "1"));
    CHECK(difference(desk / "1", desk / threads) == "");
    CHECK(content(desk / "1" / "sample.txt") == content(desk / threads / "sample.txt"));
  }
}

TEST_CASE("another seed gives another run", "[app][train]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  REQUIRE(desk.heed(train_tiny + Words{"--seed=1338", "--out=p"}).code == 2);  // --out is twice
  REQUIRE(desk.heed(Words{"train", "in.txt", "--out=p", "--seed=1338"} + tiny).code == 0);
  CHECK(losses(desk / "o") != losses(desk / "p"));
  CHECK(has(difference(desk / "o", desk / "p"), "tensor token.weight\n"));
}

TEST_CASE("a text on standard input is learnt as from a file", "[app][train]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  const Finished piped = desk.heed(Words{"train", "-"} + tiny, Desk::story());
  CHECK(piped.code == 0);
  CHECK(has(piped.out, "text   standard input: 3,0"));
  CHECK(losses(desk / "runs" / "stdin") == losses(desk / "o"));
  CHECK(difference(desk / "o", desk / "runs" / "stdin") == "text.path\n");
}

TEST_CASE("without a text heed learns the one it comes with", "[app][train]") {
  const Desk desk;
  const Finished run = desk.heed(Words{"train"} + tiny);
  CHECK(run.code == 0);
  CHECK(has(run.out, "text   harbour.txt: "));
  CHECK(state(desk / "runs" / "harbour").at("text.path") == "");
}

TEST_CASE("--bytes learns a text in any encoding", "[app][train]") {
  const Desk desk;
  std::string latin1;
  for (int i = 0; i < 200; ++i) latin1 += "caf\xe9 ";
  put(desk / "in.txt", latin1);
  const Finished run = desk.heed(train_tiny + Words{"--bytes"});
  CHECK(run.code == 0);
  CHECK(has(run.out, "text   in.txt: 1,000 bytes, 5 distinct symbols\n"));
  CHECK(state(desk / "o").at("vocabulary.symbols") == "32 97 99 102 233");
  CHECK(desk.heed({"sample", "o", "--prompt", "caf\xe9", "--tokens", "1"}).code == 0);
}

TEST_CASE("a byte order mark is left out, and a note says so", "[app][train]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  put(desk / "marked.txt", "\xef\xbb\xbf" + Desk::story());
  const Finished run = desk.heed(Words{"train", "marked.txt"} + tiny);
  CHECK(run.code == 0);
  CHECK(has(run.err, "heed: note: marked.txt begins with a byte order mark, which is left out\n"));
  CHECK(difference(desk / "o", desk / "runs" / "marked") == "text.path\n");
}

TEST_CASE("CRLF line ends, one lone character and a huge vocabulary are noted", "[app][train]") {
  const Desk desk;
  std::string crlf = Desk::story(), many;
  for (std::size_t i = 0; (i = crlf.find('\n', i)) != crlf.npos; i += 2) crlf.insert(i, "\r");
  for (int i = 0; i < 2400; ++i)  // U+4E00 and so on, three bytes each
    many += {'\xe4', static_cast<char>(0xb8 + i / 64 % 8), static_cast<char>(0x80 + i % 64)};
  for (int i = 0; i < 2400; ++i)
    many += {'\xe5', static_cast<char>(0x80 + i / 64), static_cast<char>(0x80 + i % 64)};
  const std::map<std::string, std::string> notes = {
      {crlf, "has CRLF line ends: the model will learn them as two characters"},
      {std::string(400, 'a'),
       "has one distinct character: there is nothing to learn but to repeat it"},
      {many, "has a vocabulary of 2912 characters: steps are slow; --bytes needs 256 at most"}};
  for (const auto& [text, note] : notes) {
    put(desk / "in.txt", text);
    const Finished run = desk.heed(train_tiny + Words{"--steps=1"});
    CHECK(run.code == 2);  // --steps is given twice
    const Finished again = desk.heed({"train", "in.txt", "--layers=1", "--embed-dim=8", "--heads=1",
                                      "--block-size=8", "--steps=1", "--eval-batches=1"});
    CHECK(again.code == 0);
    CHECK(has(again.err, "heed: note: in.txt " + note + "\n"));
  }
}

TEST_CASE("a run in an empty environment is the same run", "[app][train]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  Call bare = desk.call({});
  bare.words = {"/usr/bin/env", "-i"};
  if (const char* const core = std::getenv("OPENBLAS_CORETYPE"))  // whose sums are others
    bare.words.push_back(std::string("OPENBLAS_CORETYPE=") + core);
  bare.words = bare.words + Words{HEED_BINARY_DIR "/heed", "train", "in.txt"} + tiny;
  CHECK(run(bare).code == 0);
  CHECK(difference(desk / "o", desk / "runs" / "in") == "");
}

TEST_CASE("what would be printed on a closed stream gets into no file", "[app][train]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  for (const std::string closed : {">&-", "<&- >&- 2>&-"}) {
    Call call = desk.call({});
    call.words = Words{"/bin/sh", "-c",    "exec \"$0\" \"$@\" " + closed, HEED_BINARY_DIR "/heed",
                       "train",   "in.txt"} +
                 tiny;
    CHECK(run(call).code == 0);
    CHECK(losses(desk / "runs" / "in") == losses(desk / "o"));
    CHECK(difference(desk / "o", desk / "runs" / "in") == "");
  }
}

TEST_CASE("the program gives itself better settings, but none that it was given", "[app][train]") {
  const Desk desk;
  if (!std::filesystem::exists("/proc/self/environ")) return;
  const auto settings = [&](const Words& given) {
    Call call = desk.call({});
    call.words = Words{"/usr/bin/env", "-i"} + given +
                 Words{HEED_BINARY_DIR "/heed",
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
    child.until("\nstep ");
    return content("/proc/" + std::to_string(child.process()) + "/environ");
  };
  CHECK(has(settings({}), "GOMP_SPINCOUNT=10000"));
  const std::string given = settings({"GOMP_SPINCOUNT=7", "OPENBLAS_CORETYPE=Prescott"});
  CHECK(has(given, "GOMP_SPINCOUNT=7"));
  CHECK(has(given, "OPENBLAS_CORETYPE=Prescott"));
  CHECK(has(settings({"OPENBLAS_CORETYPE=Prescott"}), "OPENBLAS_CORETYPE=Prescott"));
}
