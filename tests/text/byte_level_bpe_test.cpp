// byte_level_bpe_test.cpp: GPT-2's tokenizer: chunks, merges, special tokens, rejected files.

#include "text/byte_level_bpe.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"
#include "scratch_folder.hpp"

namespace heed::test {

namespace {

using Ids = std::vector<std::size_t>;
using Chunks = std::vector<std::string_view>;

// Letters a to d, the space, and what four merges make of them.
const std::string vocab =
    R"({"a": 0, "b": 1, "c": 2, "d": 3, "Ġ": 4, "ab": 5, "Ġab": 6, "cd": 7, "abcd": 8,
        "<|endoftext|>": 9, "é": 10, "Ċ": 11, "Ã": 12, "©": 13})";
const std::string merges = "#version: 0.2\na b\nĠ ab\nc d\nab cd\n";

ByteLevelBpe bpe() { return ByteLevelBpe::from_contents(vocab, merges); }

std::string rejection(const std::string& vocab_json, const std::string& merges_txt = "") {
  return message_of([&] { ByteLevelBpe::from_contents(vocab_json, merges_txt); });
}

std::string merge_rejection(const std::string& merges_txt) { return rejection(vocab, merges_txt); }

}  // namespace

TEST_CASE("merges are applied in the order of the list", "[text][byte_level_bpe]") {
  CHECK(bpe().size() == 14);
  CHECK(bpe().encode("ab ab abcd") == Ids{5, 6, 6, 7});  // Ġ ab comes before ab cd
  CHECK(bpe().encode("abcd") == Ids{8});
  CHECK(bpe().encode("acdb") == Ids{0, 7, 1});
  CHECK(bpe().encode("").empty());
}

TEST_CASE("bytes are written as visible characters in the files", "[text][byte_level_bpe]") {
  CHECK(bpe().piece(6) == " ab");
  CHECK(bpe().piece(11) == "\n");
  CHECK(bpe().piece(10) == "\xe9");  // the character é is the byte 0xe9
  CHECK(bpe().encode("é") == Ids{12, 13});
  CHECK(bpe().decode({6, 7, 11, 12, 13}) == " abcd\né");
}

TEST_CASE("printable bytes stand for themselves, the other 68 for U+0100 to U+0143",
          "[text][byte_level_bpe]") {
  const ByteLevelBpe ends = ByteLevelBpe::from_contents(
      R"({"!": 0, "~": 1, "¡": 2, "¬": 3, "®": 4, "ÿ": 5, "Ā": 6, "Ġ": 7, "ġ": 8, "ł": 9, "Ń": 10})",
      "#version: 0.2\n");
  const std::string bytes = std::string("!~\xa1\xac\xae\xff") + '\0' + " \x7f\xa0\xad";
  for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(ends.piece(i) == bytes.substr(i, 1));
}

TEST_CASE("a merge is applied to all its occurrences before the next one",
          "[text][byte_level_bpe]") {
  // 'aaa' has the pair a a twice, of which the left one is merged.
  const auto doubling =
      ByteLevelBpe::from_contents(R"({"a": 0, "aa": 1, "aaaa": 2})", "a a\naa aa");
  CHECK(doubling.encode("aaa") == Ids{1, 0});
  CHECK(doubling.encode("aaaaaaa") == Ids{2, 1, 0});
  // The token abc is made in two ways. The last merge makes it twice, and only then could the
  // merge before it join the first abc and an ab: too late.
  const auto two_ways = ByteLevelBpe::from_contents(
      R"({"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5, "abcab": 6})",
      "a b\nb c\na bc\nabc ab\nab c\n");
  CHECK(two_ways.encode("abcabc") == Ids{5, 5});
}

// With a scan of the word for every merge, this would take hours.
TEST_CASE("a word of a million bytes is encoded", "[text][byte_level_bpe]") {
  const auto doubling =
      ByteLevelBpe::from_contents(R"({"a": 0, "aa": 1, "aaaa": 2})", "a a\naa aa");
  CHECK(doubling.encode(std::string(1'000'000, 'a')) == Ids(250'000, 2));
}

TEST_CASE("<|endoftext|> is a token on request only", "[text][byte_level_bpe]") {
  CHECK(bpe().end_of_text() == std::optional<std::size_t>(9));
  CHECK(bpe().encode("ab<|endoftext|> ab", SpecialTokens::as_tokens) == Ids{5, 9, 6});
  CHECK(bpe().encode("<|endoftext|><|endoftext|>", SpecialTokens::as_tokens) == Ids{9, 9});
  CHECK(message_of([] { bpe().encode("ab<|endoftext|>"); }) ==
        "encode: the byte 0x3c in '<|' is not in the vocabulary");
  CHECK_FALSE(ByteLevelBpe::from_contents(R"({"a": 0})", "").end_of_text());
}

TEST_CASE("chunks are those of GPT-2's regular expression", "[text][byte_level_bpe]") {
  const auto chunks = ByteLevelBpe::chunks_of;
  CHECK(chunks("Hello world, it's 2024!") ==
        Chunks{"Hello", " world", ",", " it", "'s", " 2024", "!"});
  CHECK(chunks("a  b") == Chunks{"a", " ", " b"});
  CHECK(chunks("a \n\nb ") == Chunks{"a", " \n", "\n", "b", " "});
  CHECK(chunks("a\u0085\u0085b") == Chunks{"a", "\u0085", "\u0085", "b"});
  CHECK(chunks("a\ufeffb") == Chunks{"a", "\ufeff", "b"});
  CHECK(chunks("a \u00a0b") == Chunks{"a", " ", "\u00a0", "b"});
  CHECK(chunks("I'll I'LL '' 's") == Chunks{"I", "'ll", " I", "'", "LL", " ''", " '", "s"});
  CHECK(chunks("x²½ مرحبا") == Chunks{"x", "²½", " مرحبا"});
  CHECK(chunks("").empty());
}

TEST_CASE("a text that is not UTF-8 is rejected with the byte", "[text][byte_level_bpe]") {
  CHECK(message_of([] { bpe().encode("ab\xff"); }) ==
        "encode: the text is not UTF-8 at byte 2 (0xff); convert it with iconv -t UTF-8");
  CHECK(message_of([] { bpe().encode("ab x"); }) ==
        "encode: the byte 0x78 in ' x' is not in the vocabulary");
  CHECK(message_of([] { bpe().decode({14}); }) == "id 14 is not in the vocabulary of 14 tokens");
}

TEST_CASE("a vocab.json with wrong ids is rejected with its entry", "[text][byte_level_bpe]") {
  CHECK(rejection(R"({"a": 0, "b": 2})") ==
        "vocab.json: entry 2, 'b', has the id 2, but 2 tokens must have the ids 0 to 1 without "
        "holes");
  CHECK(rejection(R"({"a": 0, "b": 0})") ==
        "vocab.json: entries 1 and 2, 'a' and 'b', both have the id 0; ids must be distinct");
  CHECK(rejection(R"({"a": 0, "b": 1, "a": 2})") ==
        "vocab.json: entries 1 and 3 are both 'a'; tokens must be distinct");
  CHECK(rejection(R"({"a": -1})") ==
        "vocab.json: entry 1, 'a': the id must be a whole number below the number of tokens, not "
        "-1");
  for (const std::string value : {"0.5", "1e3", "true", "null", "\"0\"", "[0]", "{}", "4294967296"})
    CHECK(rejection("{\"a\": " + value + "}").find("vocab.json: entry 1, 'a': the id must") == 0);
}

TEST_CASE("what is no vocab.json is rejected in one line", "[text][byte_level_bpe]") {
  CHECK(rejection("") ==
        "vocab.json: not valid JSON in UTF-8 at byte 1, after 0 tokens; download the "
        "file again");
  CHECK(rejection("{}") == "vocab.json: has no tokens; download the file again");
  CHECK(rejection("7") == "vocab.json: must be an object that maps tokens to their ids, not 7");
  CHECK(rejection("[\"a\"]") ==
        "vocab.json: must be an object that maps tokens to their ids, not a list");
  CHECK(rejection(std::string(1000000, '[')) ==
        "vocab.json: must be an object that maps tokens to their ids, not a list");
  CHECK(rejection("{\"a\":" + std::string(1000000, '{')).find("entry 1, 'a': the id must") !=
        std::string::npos);
  CHECK(rejection(R"({"a": 0, "b")") ==
        "vocab.json: not valid JSON in UTF-8 at byte 13, after 2 tokens; download the file again");
  CHECK(rejection("{\"\xff\": 0}") ==
        "vocab.json: not valid JSON in UTF-8 at byte 3, after 0 tokens; download the file again");
  CHECK(rejection(std::string("{\"a\": 0}\0", 9)) ==
        "vocab.json: has a zero byte at 8; download the file again");
  CHECK(rejection(R"({"": 0})") == "vocab.json: entry 1 is an empty token");
  CHECK(rejection(R"({"a b": 0})") ==
        "vocab.json: id 0: 'a b' has the character U+0020, which stands for no byte");
  CHECK(rejection(R"({"中": 0})") ==
        "vocab.json: id 0: '中' has the character U+4E2D, which stands for no byte");
}

TEST_CASE("a merge of unknown parts or out of order is rejected with its line",
          "[text][byte_level_bpe]") {
  CHECK(merge_rejection("a b\na x\n") == "merges.txt: line 2: 'x' is not a token of vocab.json");
  CHECK(merge_rejection("a b\nb a\n") == "merges.txt: line 2: 'ba' is not a token of vocab.json");
  CHECK(merge_rejection("#version: 0.2\nĠ ab\na b\n") ==
        "merges.txt: line 2: no earlier line makes 'ab'; merges must be in the order of training");
  CHECK(merge_rejection("c d\na b\n") ==
        "merges.txt: line 2: makes token 5 after token 7; merges must be in the order of training, "
        "which is that of the ids");
  CHECK(merge_rejection("a b\nc d\na b\n") ==
        "merges.txt: the merges 1 and 3 are the same; each pair may be merged once");
  for (const std::string line : {"ab", "a b c", " a", "a ", "", "a  b"})
    CHECK(merge_rejection(line + "\na b\n") ==
          "merges.txt: line 1: '" + line + "' must be two tokens, separated by one space");
  CHECK(merge_rejection("a\tb") ==
        "merges.txt: line 1: 'a\\tb' must be two tokens, separated by one space");
  CHECK(merge_rejection("a \xff") == "merges.txt: line 1: '\\xff' is not UTF-8");
}

TEST_CASE("lines of merges can end in a carriage return, and the last one in nothing",
          "[text][byte_level_bpe]") {
  const auto read =
      ByteLevelBpe::from_contents(vocab, "#version: 0.2\r\na b\r\nĠ ab\r\nc d\r\nab cd");
  CHECK(read.encode(" ab") == Ids{6});
  CHECK(read.encode("abcd") == Ids{8});
}

TEST_CASE("merges that were cut off are rejected with a token that they do not make",
          "[text][byte_level_bpe]") {
  CHECK(merge_rejection("") ==
        "merges.txt: no line makes 4 of the tokens, such as 'ab', id 5; "
        "download the file again");
  CHECK(merge_rejection("a b\nĠ ab\n") ==
        "merges.txt: no line makes 2 of the tokens, such as 'cd', "
        "id 7; download the file again");
  CHECK(rejection(R"({"a": 0, "<pad>": 1, "[MASK]": 2})").empty());
}

TEST_CASE("load names the files", "[text][byte_level_bpe]") {
  const heed_test::ScratchFolder folder;
  folder.write("v.json", vocab);
  folder.write("m.txt", "a b\nx y\n");
  const std::string v = (folder / "v.json").string(), m = (folder / "m.txt").string();
  CHECK(message_of([&] { ByteLevelBpe::load(v, m); }) ==
        m + ": line 2: 'x' is not a token of " + v);
  CHECK(message_of([&] { ByteLevelBpe::load(folder / "none", m); }) ==
        (folder / "none").string() + ": No such file or directory");
  CHECK(message_of([&] { ByteLevelBpe::load(folder.path, m); }) ==
        folder.path.string() + ": Is a directory");
  std::filesystem::resize_file(v, 32'000'001);
  CHECK(message_of([&] { ByteLevelBpe::load(v, m); }) ==
        v + ": has 32,000,001 bytes; a vocabulary may have up to 32,000,000");
}

}  // namespace heed::test
