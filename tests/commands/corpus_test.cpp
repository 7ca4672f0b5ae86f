// corpus_test.cpp: heed corpus: the text, the printed entropies, and errors.

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

using namespace heed_test;

namespace {

std::string expected_text(const std::string& kind, std::size_t size, std::uint64_t seed) {
  heed::Generator generator(seed);
  return heed::built_in_source(kind).draw(size, generator);
}

std::string entropy_line(const std::string& name, double nats) {
  return "\n" + name + heed::decimal(nats, 4) + "  given ";
}

// The error of `heed corpus`, which must be one line without other output.
std::string rejected(const Sandbox& sandbox, const Arguments& more, int code = 1) {
  const Finished run = sandbox.heed(Arguments{"corpus"} + more);
  CHECK(run.code == code);
  CHECK(run.out == "");
  CHECK(run.err.rfind("heed: error: ", 0) == 0);
  CHECK(run.err.find('\n') == run.err.size() - 1);
  return run.err.substr(13, run.err.size() - 14);
}

std::size_t written_files(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator begin(folder), end;
  return static_cast<std::size_t>(std::distance(begin, end));
}

// The mean of -ln p(letter | the letters before it in its window) over windows of a text, of which
// the first letter is given. The predictor knows the source, but not the state in which a window
// begins: it computes the probability of each state by Bayes' theorem.
double ideal_loss(const heed::MarkovSource& source, const std::string& text, std::size_t window) {
  double nats = 0;
  std::size_t letters = 0;
  for (std::size_t begin = 0; begin + window < text.size(); begin += window) {
    std::vector<double> states = source.stationary_distribution();
    for (std::size_t i = begin; i <= begin + window; ++i) {
      std::vector<double> next(states.size());
      double probability = 0;
      for (std::size_t s = 0; s < states.size(); ++s)
        for (const heed::MarkovSource::Letter& letter : source.states()[s].letters) {
          if (letter.letter != text[i]) continue;
          next[letter.next] += states[s] * letter.probability;
          probability += states[s] * letter.probability;
        }
      for (double& state : next) state /= probability;
      states = next;
      if (i == begin) continue;
      nats -= std::log(probability);
      ++letters;
    }
  }
  return nats / static_cast<double>(letters);
}

double printed_entropy(const std::string& out, const std::string& name) {
  REQUIRE(has(out, "\n" + name + " "));
  return std::stod(out.substr(out.find("\n" + name + " ") + name.size() + 1));
}

}  // namespace

TEST_CASE("corpus writes the text to the file and its entropies to standard output",
          "[commands][corpus]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed({"corpus", "new text.txt", "--size", "3000", "--seed", "7"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(content(sandbox / "new text.txt") == expected_text("grammar", 3000, 7));
  CHECK(written_files(sandbox.path) == 2);  // in.txt and "new text.txt"
  const heed::MarkovSource source = heed::grammar_source();
  CHECK(run.out.rfind("text     new text.txt: 3,000 characters of a grammar, 25 distinct\n", 0) ==
        0);
  CHECK(has(run.out, "\nentropy  nats per character, lower bounds on the loss\n"));
  CHECK(has(run.out, entropy_line("unigram  ", source.unigram_entropy())));
  CHECK(has(run.out, entropy_line("bigram   ", source.bigram_entropy())));
  CHECK(has(run.out, entropy_line("rate     ", source.entropy_rate())));
  CHECK(has(run.out, entropy_line("window   ", source.window_entropy(64))));
  CHECK(has(run.out, "\nnext     ./heed train 'new text.txt'\n"));
}

TEST_CASE("the bound for windows is the loss of an ideal predictor of windows",
          "[commands][corpus]") {
  const Sandbox sandbox;
  const std::string out =
      sandbox.heed({"corpus", "a.txt", "--kind", "chain", "--size", "300000"}).out;
  const heed::MarkovSource source = heed::chain_source();
  const std::string text = content(sandbox / "a.txt");
  const double window = printed_entropy(out, "window"), rate = printed_entropy(out, "rate");
  const double in_windows = ideal_loss(source, text, 64);
  CHECK(std::abs(in_windows - window) < 0.01);
  // This text happens to be a little more or less likely than others; the difference from the loss
  // given all letters is nearly the same for every text.
  const std::vector<double> given_all = source.negative_log_likelihoods(text);
  const double mean = std::accumulate(given_all.begin(), given_all.end(), 0.0) / 3e5;
  CHECK(window - rate > 0.002);
  CHECK(std::abs((in_windows - mean) - (window - rate)) < 0.0005);
}

TEST_CASE("without a file, or with -, the text goes to standard output", "[commands][corpus]") {
  const Sandbox sandbox;
  for (const Arguments& arguments : {Arguments{}, Arguments{"-"}}) {
    const Finished run =
        sandbox.heed(Arguments{"corpus", "--size", "500", "--kind", "chain"} + arguments);
    CHECK(run.code == 0);
    CHECK(run.out == expected_text("chain", 500, 1337));
    CHECK(run.err.rfind("text     standard output: 500 characters of a chain, 3 distinct\n", 0) ==
          0);
    CHECK(has(run.err, entropy_line("rate     ", heed::chain_source().entropy_rate())));
  }
  CHECK(written_files(sandbox.path) == 1);
}

TEST_CASE("corpus writes 100,000 characters of the grammar by default", "[commands][corpus]") {
  const Sandbox sandbox;
  CHECK(sandbox.heed({"corpus"}).out == expected_text("grammar", 100000, 1337));
}

TEST_CASE("the temporary file of a killed corpus is removed", "[commands][corpus]") {
  const Sandbox sandbox;
  put(sandbox / ".a.txt.tmp-99999", "half of a text");
  CHECK(sandbox.heed({"corpus", "a.txt", "--size", "10"}).code == 0);
  CHECK_FALSE(sandbox.has_file(".a.txt.tmp-99999"));
}

TEST_CASE("a text larger than one piece is written completely", "[commands][corpus]") {
  const Sandbox sandbox;
  CHECK(sandbox.heed({"corpus", "a.txt", "--size", "1048577", "--kind", "chain"}).code == 0);
  CHECK(content(sandbox / "a.txt") == expected_text("chain", 1048577, 1337));
}

TEST_CASE("a written text can be trained on", "[commands][corpus]") {
  const Sandbox sandbox;
  CHECK(sandbox.heed({"corpus", "a.txt", "--size", "2000"}).code == 0);
  const Finished run = sandbox.heed(Arguments{"train", "a.txt", "--out", "o"} + tiny);
  CHECK(run.code == 0);
  CHECK(has(run.out, "a.txt: 2,000 bytes, 25 distinct characters"));
}

TEST_CASE("an existing file is not overwritten", "[commands][corpus][rejections]") {
  const Sandbox sandbox;
  const std::string remedy = ": exists already; give another name, or remove it first";
  CHECK(rejected(sandbox, {"in.txt"}) == "in.txt" + remedy);
  CHECK(content(sandbox / "in.txt") == Sandbox::story());
  const std::string other = ": exists and is not a regular file; give another name";
  CHECK(rejected(sandbox, {"."}) == "." + other);
  REQUIRE(::mkfifo((sandbox / "pipe").c_str(), 0600) == 0);
  CHECK(rejected(sandbox, {"pipe"}) == "pipe" + other);
  CHECK(std::filesystem::is_fifo(sandbox / "pipe"));
  CHECK(written_files(sandbox.path) == 2);  // in.txt and pipe
}

TEST_CASE("a folder that is missing or not writable is rejected",
          "[commands][corpus][rejections]") {
  const Sandbox sandbox;
  CHECK(rejected(sandbox, {"no/a.txt"}) == "no/a.txt: No such file or directory");
  CHECK(rejected(sandbox, {"in.txt/a.txt"}) == "in.txt/a.txt: Not a directory");
  CHECK(rejected(sandbox, {"/proc/a.txt"}).rfind("/proc/a.txt: ", 0) == 0);
  CHECK(rejected(sandbox, {std::string(300, 'x')}).find("name too long") != std::string::npos);
  if (::geteuid() == 0) return;  // root may write everywhere
  ::mkdir((sandbox / "shut").c_str(), 0500);
  CHECK(rejected(sandbox, {"shut/a.txt"}) == "shut/a.txt: Permission denied");
}

TEST_CASE("a full disk leaves no part of the text", "[commands][corpus][rejections]") {
  const Sandbox sandbox;
  Call call = sandbox.call({});
  call.arguments = {"/bin/sh", "-c", "ulimit -f 8; exec \"$0\" corpus a.txt",
                    HEED_BINARY_DIR "/heed"};
  const Finished run = heed_test::run(call);
  CHECK(run.code == 1);
  CHECK(run.out == "");
  CHECK(run.err ==
        "heed: error: a.txt: no space left: the limit on the size of a file (ulimit -f) is 4096 "
        "bytes\n");
  CHECK(written_files(sandbox.path) == 1);
  if (!std::filesystem::exists("/dev/full")) return;
  call.arguments[2] = "exec \"$0\" corpus > /dev/full";
  const Finished full = heed_test::run(call);
  CHECK(full.code == 1);
  CHECK(full.err ==
        "heed: error: standard output: cannot be written; is it closed, or the disk full?\n");
}

TEST_CASE("invalid sizes and kinds are usage errors", "[commands][corpus][rejections]") {
  const Sandbox sandbox;
  const std::string range =
      ": out of range: must be a whole number at least 1 and at most 1000000000";
  CHECK(rejected(sandbox, {"a.txt", "--size", "0"}, 2) == "--size 0" + range);
  CHECK(rejected(sandbox, {"a.txt", "--size", "-5"}, 2) == "--size -5" + range);
  CHECK(rejected(sandbox, {"a.txt", "--size", "1000000001"}, 2) == "--size 1000000001" + range);
  CHECK(rejected(sandbox, {"a.txt", "--size", "many"}, 2) ==
        "--size many: must be a whole number, at least 1 and at most 1000000000");
  CHECK(rejected(sandbox, {"a.txt", "--kind", "novel"}, 2) ==
        "--kind novel: must be grammar or chain");
  CHECK(rejected(sandbox, {"a.txt", "--kind", ""}, 2) == "--kind '': must be grammar or chain");
  CHECK(rejected(sandbox, {"a.txt", "--seed", "4294967296"}, 2).rfind("--seed 4294967296: ", 0) ==
        0);
  CHECK(rejected(sandbox, {"a.txt", "b.txt"}, 2) == "'b.txt' is one argument too many; see --help");
  CHECK(rejected(sandbox, {""}, 2) == "FILE '': is empty; give a name");
  CHECK(rejected(sandbox, {"--kin", "chain"}, 2) == "unknown option --kin; did you mean --kind?");
  CHECK_FALSE(sandbox.has_file("a.txt"));
}

TEST_CASE("corpus --help lists every option", "[commands][corpus]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed({"corpus", "--help"});
  CHECK(run.code == 0);
  for (const char* argument : {"FILE", "--kind", "--size", "100000", "--seed", "1337"})
    CHECK(has(run.out, argument));
}
