// known_bound.hpp: the section of lesson 24 on a text whose entropy rate is known: n-gram models
// of its tokens.
#pragma once

#include <cmath>

#include "heed/study/markov_source.hpp"
#include "tokenizers.hpp"

namespace heed {

// Letters of a source whose entropy rate is known. Both texts begin in its state 0.
inline Texts known_text(const MarkovSource& source) {
  Generator training(1), held_out(2);
  return {source.draw(std::size_t(in_brief(200'000, 40'000)), training),
          source.draw(std::size_t(in_brief(100'000, 20'000)), held_out)};
}

// The bits per character of two n-gram models on the held-out text, with the counts of the training
// text. Unigram: p1(token) = (count + 1) / (tokens + V). Bigram, as in lesson 15: p2(token | token
// before it) = (count of the pair + d p1) / (count + d), with d different tokens after that token.
struct NGramBits {
  double unigram = 0, bigram = 0;
};

inline NGramBits n_gram_bits(const BytePairs& tokens, const Texts& texts) {
  const Ids training = tokens.encode(texts.training), held_out = tokens.encode(texts.held_out);
  const std::size_t V = tokens.size();
  std::vector<double> counts(V, 0), different(V, 0);
  std::map<Merge, double> pairs;
  for (std::size_t i = 0; i < training.size(); ++i) {
    counts[std::size_t(training[i])] += 1;
    if (i > 0 && ++pairs[{training[i - 1], training[i]}] == 1)
      different[std::size_t(training[i - 1])] += 1;
  }
  NGramBits bits;
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    const auto id = std::size_t(held_out[i]);
    const double p1 = (counts[id] + 1) / double(training.size() + V);
    double p2 = p1;
    if (i > 0) {
      const auto before = std::size_t(held_out[i - 1]);
      const auto found = pairs.find({held_out[i - 1], held_out[i]});
      const double pair = found == pairs.end() ? 0 : found->second;
      if (counts[before] > 0)
        p2 = (pair + different[before] * p1) / (counts[before] + different[before]);
    }
    bits.unigram -= std::log2(p1) / double(texts.held_out.size());
    bits.bigram -= std::log2(p2) / double(texts.held_out.size());
  }
  return bits;
}

inline double lowest(const Series& curve) {
  return *std::min_element(curve.y.begin(), curve.y.end());
}

// Bits per letter against the vocabulary size, with the entropy rate and the bigram entropy.
inline void picture_of_bound(const std::string& lesson, const std::vector<Series>& curves,
                             double rate, double bigram_entropy) {
  std::string script =
      "set title 'Tables of counts, text of the letters a, b, c: never below the entropy rate'\n"
      "set logscale x 2\nset xtics (256, 288, 320, 384, 512, 1024)\nset rmargin 26\n"
      "set key top right\nset yrange [1:1.65]\nset xlabel 'vocabulary size (tokens)'\n"
      "set ylabel 'bits per letter, new text'\n";
  std::string plots;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    script += block_of(c, curves[c]);
    plots += plotted(c, curves[c].name);
  }
  for (const auto& [name, value] :
       {std::pair("entropy rate", rate), {"bigram entropy of letters", bigram_entropy}}) {
    plots += ", " + decimal(value, 4) + " dashtype 2 lw 2 lc rgb '#666666' notitle";
    script += std::string("set label '") + name + "' tc rgb '#666666' at graph 1.01, first " +
              decimal(value, 4) + "\n";
  }
  picture_by_gnuplot(lesson, "bound", script + plots);
}

inline void known_bound(const std::string& lesson) {
  section("A text of known entropy");
  say("Can tokens lower the bound on the loss of a text? No. A text and its tokens",
      "determine each other, so they have the same information. To compare tokens of",
      "different lengths we use BITS PER CHARACTER: the sum of -log2 p of all tokens,",
      "divided by the number of characters. The entropy rate (lesson 14), in bits, is a",
      "lower bound on their expectation, whatever the tokens are.", "",
      "The source 'chain' (./heed corpus) draws letters a, b and c. A letter depends on",
      "the two before it. Our models are tables of counts (lesson 15): a unigram model",
      "has no context, a bigram model has the previous token. Bits per letter on new",
      "text (V = 256: each letter is a token):", "",
      "   V    tokens per letter   unigram model   bigram model");
  const MarkovSource source = chain_source();
  const double ln2 = std::log(2.0), rate = source.entropy_rate() / ln2,
               letters = source.bigram_entropy() / ln2;
  const Texts texts = known_text(source);
  const double ideal = mean_of(source.negative_log_likelihoods(texts.held_out)) / ln2;
  Series unigram{"unigram model", {}, {}}, bigram{"bigram model", {}, {}};
  for (const std::size_t V : {256u, 258u, 264u, 288u, 320u, 384u, 512u, 1024u}) {
    const BytePairs tokens = BytePairs::trained_on(texts.training, V);
    const NGramBits bits = n_gram_bits(tokens, texts);
    unigram.append(double(V), bits.unigram), bigram.append(double(V), bits.bigram);
    const double per_letter = tokens_per_character(Vocabulary(tokens), texts.held_out);
    say(pad_left(std::to_string(V), 4) + pad_left(decimal(per_letter, 3), 21) +
        pad_left(decimal(bits.unigram, 4), 16) + pad_left(decimal(bits.bigram, 4), 15));
  }
  say("",
      "entropy rate " + decimal(rate, 4) + ", ideal predictor on this text " + decimal(ideal, 4),
      "unigram entropy of letters " + decimal(source.unigram_entropy() / ln2, 4) +
          ", bigram entropy of letters " + decimal(letters, 4),
      "");
  const double least = std::min(lowest(unigram), lowest(bigram));
  claim("no model is below the ideal predictor", least > ideal, decimal(least, 4));
  claim("V = 320: the unigram model is below the bigram entropy of letters", unigram.y[4] < letters,
        decimal(unigram.y[4], 4));
  claim("V = 264: the bigram model is within 6 % of the ideal predictor",
        bigram.y[2] < 1.06 * ideal, decimal(bigram.y[2], 4));
  claim("V = 1024: the bigram model is more than 10 % above the ideal predictor",
        bigram.y[7] > 1.1 * ideal, decimal(bigram.y[7], 4));
  picture_of_bound(lesson, {unigram, bigram}, rate, letters);
  say("", "With tokens of several letters a simple model does what needs a longer context",
      "with letters: a previous token of two letters is all the context that the next",
      "letter depends on. (Rajaraman et al. 2024, \"Toward a Theory of Tokenization in",
      "LLMs\", prove this for unigram models, and observe that transformers on the",
      "letters themselves can stay at the loss of a unigram model.) The first two",
      "merges do not help the unigram model yet: it does not know that after a letter",
      "that is still alone, the other letter of its merge cannot follow. But the more",
      "tokens there are, the fewer counts each has: the bigram model has a best size.");
}

}  // namespace heed
