// corpus_test.cpp: heed corpus writes the text it was asked for, says its floors, or refuses.

#include <sys/stat.h>
#include <unistd.h>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/base/text.hpp"
#include "heed/study/markov_source.hpp"

using namespace heed_test;

namespace {

std::string drawn(const std::string& kind, std::size_t size, std::uint64_t seed) {
  heed::Generator generator(seed);
  return heed::built_in_source(kind).draw(size, generator);
}

std::string floor_line(const std::string& name, double nats) {
  return "\n" + name + heed::decimal(nats, 4) + "  looking ";
}

// What it is refused with, in one line and with nothing else said or left behind.
std::string refused(const Desk& desk, const Words& more, int code = 1) {
  const Finished run = desk.heed(Words{"corpus"} + more);
  CHECK(run.code == code);
  CHECK(run.out == "");
  CHECK(run.err.rfind("heed: error: ", 0) == 0);
  CHECK(run.err.find('\n') == run.err.size() - 1);
  return run.err.substr(13, run.err.size() - 14);
}

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator begin(folder), end;
  return static_cast<std::size_t>(std::distance(begin, end));
}

}  // namespace

TEST_CASE("a text goes to its file, and its floors to standard output", "[app][corpus]") {
  const Desk desk;
  const Finished run = desk.heed({"corpus", "new text.txt", "--size", "3000", "--seed", "7"});
  CHECK(run.code == 0);
  CHECK(run.err == "");
  CHECK(content(desk / "new text.txt") == drawn("grammar", 3000, 7));
  CHECK(files_in(desk.path) == 2);  // with the desk's own
  const heed::MarkovSource source = heed::grammar_source();
  CHECK(run.out.rfind("text     new text.txt: 3,000 characters of a grammar, 25 distinct\n", 0) ==
        0);
  CHECK(has(run.out, "\nunigram  " + heed::decimal(source.unigram(), 4) + "  without "));
  CHECK(has(run.out, floor_line("bigram   ", source.bigram())));
  CHECK(has(run.out, floor_line("true     ", source.entropy())));
  CHECK(has(run.out, floor_line("window   ", source.window_entropy(64))));
  CHECK(has(run.out, "\nnext     ./heed train 'new text.txt'\n"));
}

TEST_CASE("without a file, or with -, the text goes to standard output", "[app][corpus]") {
  const Desk desk;
  for (const Words& words : {Words{}, Words{"-"}}) {
    const Finished run = desk.heed(Words{"corpus", "--size", "500", "--kind", "chain"} + words);
    CHECK(run.code == 0);
    CHECK(run.out == drawn("chain", 500, 1337));
    CHECK(run.err.rfind("text     standard output: 500 characters of a chain, 3 distinct\n", 0) ==
          0);
    CHECK(has(run.err, floor_line("true     ", heed::chain_source().entropy())));
  }
  CHECK(files_in(desk.path) == 1);
}

TEST_CASE("100,000 characters of the grammar unless told otherwise", "[app][corpus]") {
  const Desk desk;
  CHECK(desk.heed({"corpus"}).out == drawn("grammar", 100000, 1337));
}

TEST_CASE("a text larger than the pieces it is written in is whole", "[app][corpus]") {
  const Desk desk;
  CHECK(desk.heed({"corpus", "a.txt", "--size", "1048577", "--kind", "chain"}).code == 0);
  CHECK(content(desk / "a.txt") == drawn("chain", 1048577, 1337));
}

TEST_CASE("the text can be trained on, as the last line says", "[app][corpus]") {
  const Desk desk;
  CHECK(desk.heed({"corpus", "a.txt", "--size", "2000"}).code == 0);
  const Finished run = desk.heed(Words{"train", "a.txt", "--out", "o"} + tiny);
  CHECK(run.code == 0);
  CHECK(has(run.out, "a.txt: 2,000 bytes, 25 distinct symbols"));
}

TEST_CASE("a file that exists is not written over", "[app][corpus][refusals]") {
  const Desk desk;
  const std::string remedy = ": exists already; give another name, or remove it first";
  CHECK(refused(desk, {"in.txt"}) == "in.txt" + remedy);
  CHECK(content(desk / "in.txt") == Desk::story());
  const std::string other = ": is there, and no regular file; give another name";
  CHECK(refused(desk, {"."}) == "." + other);
  CHECK(refused(desk, {"/dev/null"}) == "/dev/null" + other);
  CHECK(files_in(desk.path) == 1);
}

TEST_CASE("a folder that is missing or may not be written is refused", "[app][corpus][refusals]") {
  const Desk desk;
  CHECK(refused(desk, {"no/a.txt"}) == "no/a.txt: No such file or directory");
  CHECK(refused(desk, {"in.txt/a.txt"}) == "in.txt/a.txt: Not a directory");
  CHECK(refused(desk, {"/proc/a.txt"}).rfind("/proc/a.txt: ", 0) == 0);
  CHECK(refused(desk, {std::string(300, 'x')}).find("name too long") != std::string::npos);
  if (::geteuid() == 0) return;  // who may write everywhere
  ::mkdir((desk / "shut").c_str(), 0500);
  CHECK(refused(desk, {"shut/a.txt"}) == "shut/a.txt: Permission denied");
}

TEST_CASE("a full disk leaves no part of the text", "[app][corpus][refusals]") {
  const Desk desk;
  Call call = desk.call({});
  call.words = {"/bin/sh", "-c", "ulimit -f 8; exec \"$0\" corpus a.txt", HEED_BINARY_DIR "/heed"};
  const Finished run = heed_test::run(call);
  CHECK(run.code == 1);
  CHECK(run.out == "");
  CHECK(run.err ==
        "heed: error: a.txt: no space left: the limit on the size of a file (ulimit -f) is 4096 "
        "bytes\n");
  CHECK(files_in(desk.path) == 1);
  if (!std::filesystem::exists("/dev/full")) return;
  call.words[2] = "exec \"$0\" corpus > /dev/full";
  const Finished full = heed_test::run(call);
  CHECK(full.code == 1);
  CHECK(full.err == "heed: error: standard output: cannot be written; is the disk full?\n");
}

TEST_CASE("sizes and kinds that make no sense are wrong use", "[app][corpus][refusals]") {
  const Desk desk;
  const std::string range =
      ": out of range: must be a whole number at least 1 and at most 1000000000";
  CHECK(refused(desk, {"a.txt", "--size", "0"}, 2) == "--size 0" + range);
  CHECK(refused(desk, {"a.txt", "--size", "-5"}, 2) == "--size -5" + range);
  CHECK(refused(desk, {"a.txt", "--size", "1000000001"}, 2) == "--size 1000000001" + range);
  CHECK(refused(desk, {"a.txt", "--size", "many"}, 2) ==
        "--size many: must be a whole number, at least 1 and at most 1000000000");
  CHECK(refused(desk, {"a.txt", "--kind", "novel"}, 2) == "--kind novel: must be grammar or chain");
  CHECK(refused(desk, {"a.txt", "--kind", ""}, 2) == "--kind '': must be grammar or chain");
  CHECK(refused(desk, {"a.txt", "--seed", "4294967296"}, 2).rfind("--seed 4294967296: ", 0) == 0);
  CHECK(refused(desk, {"a.txt", "b.txt"}, 2) == "'b.txt' is one argument too many; see --help");
  CHECK(refused(desk, {""}, 2) == "FILE '': needs the name of a file");
  CHECK(refused(desk, {"--kin", "chain"}, 2) == "unknown option --kin; did you mean --kind?");
  CHECK_FALSE(desk.has_file("a.txt"));
}

TEST_CASE("its help lists every option", "[app][corpus]") {
  const Desk desk;
  const Finished run = desk.heed({"corpus", "--help"});
  CHECK(run.code == 0);
  for (const char* word : {"FILE", "--kind", "--size", "100000", "--seed", "1337"})
    CHECK(has(run.out, word));
}
