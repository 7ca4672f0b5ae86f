// similar.cpp: the name that a misspelt command or option may mean.

#include "commands/similar.hpp"

#include <algorithm>
#include <map>

namespace heed::app {
namespace {

// Options of nanoGPT, char-rnn and other programs, and heed's options with the same meaning.
const std::map<std::string, std::string> options_elsewhere = {{"--bytes", "--tokenizer"},
                                                              {"--context-length", "--block-size"},
                                                              {"--d-model", "--embed-dim"},
                                                              {"--epochs", "--steps"},
                                                              {"--eval-interval", "--eval-every"},
                                                              {"--eval-iters", "--eval-batches"},
                                                              {"--grad-clip", "--clip"},
                                                              {"--hidden-size", "--embed-dim"},
                                                              {"--init-from", "--init"},
                                                              {"--iters", "--steps"},
                                                              {"--jobs", "--parallel"},
                                                              {"--learning-rate", "--lr"},
                                                              {"--length", "--tokens"},
                                                              {"--log-interval", "--log-every"},
                                                              {"--lr-decay-iters", "--decay-steps"},
                                                              {"--max-epochs", "--steps"},
                                                              {"--max-iters", "--steps"},
                                                              {"--max-length", "--tokens"},
                                                              {"--max-new-tokens", "--tokens"},
                                                              {"--max-steps", "--steps"},
                                                              {"--n-embd", "--embed-dim"},
                                                              {"--n-head", "--heads"},
                                                              {"--n-layer", "--layers"},
                                                              {"--num-heads", "--heads"},
                                                              {"--num-layers", "--layers"},
                                                              {"--num-samples", "--samples"},
                                                              {"--out-dir", "--out"},
                                                              {"--primetext", "--prompt"},
                                                              {"--rnn-size", "--embed-dim"},
                                                              {"--seq-length", "--block-size"},
                                                              {"--start", "--prompt"},
                                                              {"--threads", "--parallel"},
                                                              {"--warmup-iters", "--warmup"},
                                                              {"--warmup-steps", "--warmup"}};

}  // namespace

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      d[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  if (word.size() > 40) return "";  // names are shorter, and edit_distance() would be slow
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names)
    if (const std::size_t distance = edit_distance(word, name); distance < least) {
      least = distance;
      best = name;
    }
  return best;
}

std::string option_of_meaning(const std::string& option) {
  const auto found = options_elsewhere.find(option);
  return found == options_elsewhere.end() ? "" : found->second;
}

}  // namespace heed::app
