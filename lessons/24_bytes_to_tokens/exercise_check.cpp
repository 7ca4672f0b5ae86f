// Tests exercise 24 encode with words and merges that show each mistake, and with random words.

#include <map>

#include "exercise.hpp"
#include "heed/text/byte_pairs.hpp"

using namespace heed;

using Ids = std::vector<std::int64_t>;
using Merge = std::pair<std::int64_t, std::int64_t>;

Ids encode(const std::vector<Merge>& merges, Ids ids);

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;  // {"e", "l"}, {"el", "l"}

// Pairs of strings as pairs of ids. Each string is a letter or made by an earlier pair.
std::vector<Merge> merges_of(const Pairs& pairs) {
  std::map<std::string, std::int64_t> ids;
  for (int letter = 0; letter < 256; ++letter) ids[std::string(1, char(letter))] = letter;
  std::vector<Merge> merges;
  for (const auto& [left, right] : pairs) {
    ids[left + right] = 256 + std::int64_t(merges.size());
    merges.push_back({ids.at(left), ids.at(right)});
  }
  return merges;
}

Ids bytes_of(const std::string& word) {
  Ids ids;
  for (const char c : word) ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

// "s el (256) l": each token as text, new tokens with their id.
std::string described(const BytePairs& tokens, const Ids& ids) {
  if (ids.empty()) return "no token";
  Names names;
  for (const std::int64_t id : ids) {
    const bool known = id >= 0 && id < std::int64_t(tokens.size());
    const std::string name = known ? printable(tokens.bytes(id)) : "unknown token";
    names.push_back(known && id < 256 ? name : name + " (" + std::to_string(id) + ")");
  }
  return joined(names, " ");
}

// "e+l, el+l"
std::string list_of(const BytePairs& tokens) {
  Names names;
  for (const auto& [left, right] : tokens.merges())
    names.push_back(printable(tokens.bytes(left)) + "+" + printable(tokens.bytes(right)));
  return names.empty() ? "no merge" : joined(names, ", ");
}

// Encodes by the rule of the exercise: the earliest merge that applies, until none applies.
Ids expected_ids(const std::vector<Merge>& merges, const std::string& word) {
  Ids ids = bytes_of(word);
  while (true) {
    std::size_t earliest = merges.size();
    for (std::size_t i = 1; i < ids.size(); ++i)
      for (std::size_t m = 0; m < earliest; ++m)
        if (merges[m].first == ids[i - 1] && merges[m].second == ids[i]) earliest = m;
    if (earliest == merges.size()) return ids;
    std::size_t size = 0;
    for (std::size_t i = 0; i < ids.size(); ++i, ++size) {
      const bool pair = i + 1 < ids.size() && ids[i] == merges[earliest].first &&
                        ids[i + 1] == merges[earliest].second;
      ids[size] = pair ? 256 + std::int64_t(earliest) : ids[i];
      i += pair;
    }
    ids.resize(size);
  }
}

// "" if the ids are right.
std::string fault_of(const std::vector<Merge>& merges, const std::string& word) {
  const BytePairs tokens(merges);
  const Ids expected = expected_ids(merges, word), got = encode(merges, bytes_of(word));
  if (got == expected) return "";
  return "word " + in_quotes(word) + ", merges " + list_of(tokens) + ": expected " +
         described(tokens, expected) + ", got " + described(tokens, got);
}

void judge(const std::string& what, const Pairs& pairs, const Names& words) {
  std::string fault;
  for (std::size_t i = 0; i < words.size() && fault.empty(); ++i)
    fault = fault_of(merges_of(pairs), words[i]);
  expect(what, fault.empty(), fault);
}

// Random words of the letters a, b, c, and random merges.
std::string random_fault() {
  Generator g(23);
  for (int round = 0; round < 500; ++round) {
    std::vector<Merge> merges;
    Names names = {"a", "b", "c"};
    const auto pick = [&] { return names[std::size_t(g.randint(0, int(names.size()), {1})(0))]; };
    Pairs pairs;
    for (int m = 0; m < 6; ++m) {
      const std::string left = pick(), right = pick(), both = left + right;
      if (std::find(names.begin(), names.end(), both) != names.end() || both.size() > 6) continue;
      pairs.push_back({left, right}), names.push_back(both);
    }
    std::string word;
    for (int i = 0; i <= round % 12; ++i) word += "abc"[g.randint(0, 3, {1})(0)];
    const std::string fault = fault_of(merges_of(pairs), word);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace

int main() {
  judge("a word without a pair that has a merge", {{"e", "l"}}, {"sea", "", "e", "le"});
  judge("one pair, also at the end of the word", {{"e", "l"}}, {"el", "sell", "eel"});
  judge("every occurrence of a pair", {{"e", "l"}}, {"elel", "selfelse"});
  judge("new tokens are merged again", {{"e", "l"}, {"l", "s"}, {"el", "ls"}, {"s", "ells"}},
        {"ells", "sells", "sellsells"});
  judge("the earliest merge first, not the leftmost pair", {{"e", "a"}, {"s", "e"}},
        {"sea", "seasea", "see"});
  judge("the earliest merge first, not the latest", {{"s", "e"}, {"e", "a"}}, {"sea", "easea"});
  judge("the earliest merge first, not the longest token", {{"h", "e"}, {"t", "h"}, {"th", "e"}},
        {"the", "tth"});
  judge("the earliest merge first, not the most frequent pair", {{"e", "l"}, {"l", "l"}},
        {"ellllel", "elllll"});
  judge("a a a becomes aa a", {{"a", "a"}}, {"aa", "aaa", "aaaa", "aaaaa"});
  judge("pairs of new tokens, from left to right", {{"a", "a"}, {"aa", "aa"}, {"aa", "a"}},
        {"aaaa", "aaaaaa", "aaaaaaa"});
  judge("bytes that are no letters", {{"\xc3", "\xa9"}, {"f", "\xc3\xa9"}, {"\xff", "\xff"}},
        {"caf\xc3\xa9", "\xff\xff\xff"});
  const std::string fault = random_fault();
  expect("500 random words and merges", fault.empty(), fault);

  const std::string text = "she sells sea shells by the sea shore and she sees the sea";
  const BytePairs tokens = BytePairs::trained_on(text, 300);
  std::string difference;
  for (const std::string_view chunk : BytePairs::chunks_of("the shells she sees by the shore"))
    if (difference.empty() &&
        encode(tokens.merges(), bytes_of(std::string(chunk))) != tokens.encode(chunk))
      difference = fault_of(tokens.merges(), std::string(chunk));
  expect("merges learned from a text: the ids of BytePairs", difference.empty(), difference);
  return verdict();
}
