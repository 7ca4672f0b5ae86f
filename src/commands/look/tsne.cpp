// tsne.cpp: heed look --tsne, a t-SNE map of one head's queries and keys.

#include "heed/study/tsne.hpp"

#include <algorithm>
#include <iostream>
#include <numeric>

#include "commands/look/parts.hpp"
#include "commands/terminal.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/scatter.hpp"
#include "heed/study/heads.hpp"

namespace heed::app {
namespace {

// Returns the value of --perplexity or, if it was not given, min(10, max_perplexity / 3). Throws
// UsageError if the value is larger than max_perplexity or if there are fewer than 2 tokens.
double checked_perplexity(const LookCommand& command, std::size_t T) {
  if (T < 2)
    throw UsageError("--text: needs at least 2 tokens for --tsne, got " + std::to_string(T));
  const std::size_t max_perplexity = 2 * T - 1;  // one less than the number of points
  if (!command.perplexity)
    return static_cast<double>(std::min<std::size_t>(10, max_perplexity / 3));
  if (*command.perplexity > static_cast<double>(max_perplexity))
    throw UsageError("--perplexity " + exact(*command.perplexity) + ": must be at most " +
                     std::to_string(max_perplexity) + " for " + std::to_string(T) +
                     " queries and " + std::to_string(T) + " keys; or give a longer --text");
  return *command.perplexity;
}

ScatterOptions scatter_options(const std::string& title, const std::vector<std::string>& names) {
  ScatterOptions options;
  options.title = title;
  options.group_names = {"query", "key"};
  options.labels = names;
  options.labels.insert(options.labels.end(), names.begin(), names.end());
  options.groups.assign(names.size(), 0);
  options.groups.resize(2 * names.size(), 1);
  options.width = std::clamp<std::size_t>(terminal_width(), 40, 100);
  return options;
}

// Returns a position and the token at this position, such as "4 door".
std::string token_at(std::size_t position, const std::vector<std::string>& names) {
  constexpr std::size_t width = 12;
  return pad_left(std::to_string(position), 3) + " " +
         pad_right(truncated(printable(names[position]), width), width);
}

// Prints for each query the nearest key by cosine similarity and the nearest key in the t-SNE map.
void print_nearest_keys(const Array& points, const Array& map,
                        const std::vector<std::string>& names) {
  const std::size_t T = names.size();
  const Doubles distances = tsne_distances(points, Distance::cosine);
  const Doubles map_distances = tsne_distances(map, Distance::euclidean);
  std::vector<std::size_t> keys(T);  // the row indices of the keys in `points`: T, T + 1, ...
  std::iota(keys.begin(), keys.end(), T);
  std::size_t num_same = 0;
  std::cout << "\n  query          nearest key, cosine similarity   in the map\n";
  for (std::size_t t = 0; t < T; ++t) {
    const std::size_t key = nearest(distances, t, keys), map_key = nearest(map_distances, t, keys);
    num_same += key == map_key;
    std::string line = token_at(t, names) + " " + token_at(key - T, names) + " " +
                       pad_left(decimal(1 - distances(t, key), 4), 8) + "       " +
                       token_at(map_key - T, names) + (key == map_key ? "" : " *");
    std::cout << line.erase(line.find_last_not_of(' ') + 1) << '\n';
  }
  std::cout << num_same << " of " << T
            << " queries have the same nearest key by cosine similarity and in the t-SNE map"
            << (num_same < T ? "; * marks the others" : "") << '\n';
}

// A point of length 0 has no cosine similarity with others.
bool has_zero_point(const Array& points) {
  for (std::size_t i = 0; i < points.shape(0); ++i)
    if (xt::all(xt::equal(xt::view(points, i), Real{0}))) return true;
  return false;
}

Tsne computed_map(const LookCommand& command, const Array& points, double perplexity) {
  TsneOptions options;
  options.perplexity = perplexity;
  options.iterations = command.iterations;
  options.seed = command.seed;
  LiveLine line;
  options.progress = [&](std::size_t done) {
    line.show("t-SNE: iteration " + grouped(static_cast<double>(done)) + " of " +
              grouped(static_cast<double>(command.iterations)));
  };
  return tsne(points, options);
}

}  // namespace

std::optional<Tsne> query_key_map(const LookCommand& command, const Array& queries,
                                  const Array& keys) {
  const Array points = xt::concatenate(xt::xtuple(queries, keys));
  if (has_zero_point(points)) return {};
  TsneOptions options;
  options.perplexity = checked_perplexity(command, queries.shape(0));
  options.iterations = command.iterations;
  options.seed = command.seed;
  return tsne(points, options);
}

int look_tsne(const LookCommand& command, const nn::Gpt& model, const LookText& text) {
  if (model.config.block_size < 2)
    throw UsageError("--tsne: needs a model with a block size of 2 or more; that of " +
                     printable(command.run) + " is 1");
  const double perplexity = checked_perplexity(command, text.names.size());
  const std::string folder = plot_folder(command, "tsne", "x,y,group,label");
  exit_at_interrupt();
  const std::size_t layer = command.layer.value_or(0), head = command.head.value_or(0);
  const LayerAttention attention = capture_attention(model, text.tokens)[layer];
  const Array points =  // (2T, D): queries, then keys
      xt::concatenate(
          xt::xtuple(xt::view(attention.queries, 0, head), xt::view(attention.keys, 0, head)));
  if (has_zero_point(points))
    throw_error("layer ", layer, ", head ", head,
                ": a query or a key is all zeros, so it has no cosine similarity; give another ",
                "--layer or --head");
  const Tsne map = computed_map(command, points, perplexity);

  const std::string title =
      "queries and keys of layer " + std::to_string(layer) + ", head " + std::to_string(head);
  const ScatterOptions scatter = scatter_options(title, text.names);
  std::cout << scatter_text(map.points, scatter) << "\nKL     " << decimal(map.history.y.front(), 4)
            << " at the start, " << decimal(map.kl, 4) << " after "
            << counted(command.iterations, "iteration") << ", perplexity " << exact(perplexity)
            << ", seed " << command.seed << '\n';
  print_nearest_keys(points, map.points, text.names);
  if (model.config.causal)
    std::cout
        << "(The map ignores the causal mask: a query may lie near keys of later positions.)\n";
  print_plot("\nmap    ", draw_scatter(folder, "tsne", map.points, scatter));
  return 0;
}

}  // namespace heed::app
