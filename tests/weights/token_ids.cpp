// token_ids.cpp: prints the token ids of texts, for comparison with other tokenizers.
//
//   heed_token_ids bpe vocab.json merges.txt < texts    token ids of GPT-2's tokenizer
//   heed_token_ids wordpiece vocab.txt < texts          token ids of BERT's tokenizer
//   heed_token_ids json tokenizer.json < texts          token ids of Llama 3's tokenizer and others
//   heed_token_ids pieces tokenizer.vocab < texts       token ids of Llama 2's tokenizer
//   heed_token_ids chunks < texts                       sizes in bytes of GPT-2's chunks
//   heed_token_ids words < texts                        BERT's words before WordPiece, in
//   hexadecimal
//
// Each line of the input is the UTF-8 of one text in hexadecimal, each line of the output its ids,
// separated by spaces.

#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/text/word_piece.hpp"
#include "text/byte_level_bpe.hpp"
#include "text/sentence_piece.hpp"

namespace {

using Numbers = std::vector<std::size_t>;
using Function = std::function<std::string(const std::string&)>;

std::string line_of(const Numbers& numbers) {
  std::string line;
  for (const std::size_t n : numbers) line += (line.empty() ? "" : " ") + std::to_string(n);
  return line;
}

std::string chunk_sizes(const std::string& text) {
  Numbers sizes;
  for (const std::string_view chunk : heed::ByteLevelBpe::chunks_of(text))
    sizes.push_back(chunk.size());
  return line_of(sizes);
}

std::string hexadecimal_of(const std::string& text) {
  std::string digits;
  for (const char c : text)
    for (const int shift : {4, 0})
      digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  return digits;
}

std::string words_in_hexadecimal(const std::string& text) {
  std::string line;
  for (const std::string& word : heed::WordPiece::words_of(heed::WordPiece::normalized(text)))
    line += (line.empty() ? "" : " ") + hexadecimal_of(word);
  return line;
}

std::string bytes_of(const std::string& digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(value(digits[i]) << 4 | value(digits[i + 1]));
  return bytes;
}

Function function_of(const std::vector<std::string>& words) {
  const auto is = [&](const char* name, std::size_t files) {
    return words.size() == files + 1 && words[0] == name;
  };
  if (is("bpe", 2))
    return [bpe = heed::ByteLevelBpe::load(words[1], words[2])](const std::string& text) {
      return line_of(bpe.encode(text));
    };
  if (is("wordpiece", 1))
    return [pieces = heed::WordPiece::load(words[1])](const std::string& text) {
      return line_of(pieces.encode(text));
    };
  if (is("json", 1))
    return [bpe = heed::ByteLevelBpe::from_tokenizer_json(heed::read_text(words[1]))](
               const std::string& text) { return line_of(bpe.encode(text)); };
  if (is("pieces", 1))
    return [pieces = heed::SentencePiece::from_contents(heed::read_text(words[1]))](
               const std::string& text) { return line_of(pieces.encode(text)); };
  if (is("chunks", 0)) return chunk_sizes;
  if (is("words", 0)) return words_in_hexadecimal;
  heed::throw_error("give bpe vocab.json merges.txt, wordpiece vocab.txt, json tokenizer.json, "
      "pieces tokenizer.vocab, chunks or words");
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  try {
    const Function function = function_of({argv + 1, argv + argc});
    for (std::string line; std::getline(std::cin, line);)
      std::cout << function(bytes_of(line)) << '\n';
  } catch (const heed::Error& error) {
    std::cerr << "heed_token_ids: error: " << error.what() << '\n';
    return 1;
  }
}
