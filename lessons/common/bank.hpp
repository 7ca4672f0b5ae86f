// bank.hpp: a small task for lessons 01 to 09: predict the word after the ambiguous word 'bank'.
#pragma once

#include <functional>

#include "lesson.hpp"

namespace heed {

// A text in which 'bank' stands twice: after 'river' it floods, after 'money' it lends.
struct BankText {
  Names words;                       // the text's N tokens
  Array X;                           // (N, 2): how much a word has to do with water and with money
  std::vector<std::size_t> banks;    // the positions of 'bank'
  std::vector<std::size_t> targets;  // the component of X that the next word has: 0 floods, 1 lends
};

// "the river and a bank floods the money and then a bank lends": for each topic ('river' or
// 'money') a sentence, in which 'then' stands fillers(i) times before 'a bank'.
BankText bank_text(const Names& topics, const std::vector<std::int64_t>& fillers);

// Two texts of twelve tokens: 'river' comes first in one of them, 'money' in the other.
const std::vector<BankText>& bank_texts();

// The same two texts with one more word, 'then', between each topic word and 'bank'.
const std::vector<BankText>& longer_bank_texts();

// (N, 4): the embeddings with two more components: 1 for the ambiguous 'bank', and the position.
Array bank_with_positions(const BankText& text);

// The weights (N, N) of a text: rows query position, columns key position.
using BankWeights = std::function<Array(const BankText&)>;

// The mean over the texts and their 'bank's of -ln p(next word). The context vector c (2) at 'bank'
// is the weighted sum of X, and p = softmax(factor c).
double bank_loss(const BankWeights& weights_of, const std::vector<BankText>& texts = bank_texts(),
                 double factor = 8);

// The output (2) at the second 'bank' of the first text, which is the weighted sum of X there: the
// text's later topic is money. Used for a row of the table below, too.
Array bank_output(const BankWeights& weights_of);
Array bank_output(const std::string& row);

// Prints the losses of all ways of mixing up to this lesson (1 to 9): the mean, at the first and
// the second 'bank', and on the longer texts. The last rows are the lesson's own: their losses are
// computed with `weights_of` or, if there are several, with each of `own`. The lesson's page shows
// the line of the call above the table.
void show_bank_losses(int lesson, const BankWeights& weights_of,
                      SourceLocation location = SourceLocation::current());
void show_bank_losses(int lesson, const std::vector<BankWeights>& own,
                      SourceLocation location = SourceLocation::current());

// Prints the same losses of the given ways of mixing, without the column of lessons.
struct BankRow {
  std::string name;
  BankWeights weights_of;
};
void show_bank_losses(const std::vector<BankRow>& rows,
                      SourceLocation location = SourceLocation::current());

}  // namespace heed
