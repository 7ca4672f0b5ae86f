// tsne.cpp: heed look --tsne: what a head asks for and what it offers, as points of one map.

#include "app/look/tsne.hpp"

#include <algorithm>
#include <iostream>

#include "heed/app/terminal.hpp"
#include "heed/base/text.hpp"
#include "heed/report/scatter.hpp"
#include "heed/study/heads.hpp"
#include "heed/study/tsne.hpp"

namespace heed::app {
namespace {

// That of --perplexity, or 10, or for fewer than 31 points a third of the most they allow.
double checked_perplexity(const LookCommand& command, std::size_t T) {
  if (T < 2)
    throw UsageError("--text: needs at least 2 symbols for --tsne, got " + std::to_string(T));
  const std::size_t most = 2 * T - 1;  // one less than there are points
  if (!command.perplexity) return static_cast<double>(std::min<std::size_t>(10, most / 3));
  if (*command.perplexity > static_cast<double>(most))
    throw UsageError("--perplexity " + exact(*command.perplexity) + ": must be at most " +
                     std::to_string(most) + " for " + std::to_string(T) + " queries and " +
                     std::to_string(T) + " keys; or give a longer --text");
  return *command.perplexity;
}

// (2T, D): queries, then keys.
Array queries_and_keys(const LayerAttention& layer, std::size_t head) {
  const std::size_t T = layer.queries.shape()[2], D = layer.queries.shape()[3];
  Array points = uninitialized({2 * T, D});
  std::copy_n(layer.queries.data() + head * T * D, T * D, points.data());
  std::copy_n(layer.keys.data() + head * T * D, T * D, points.data() + T * D);
  return points;
}

ScatterOptions drawn(const std::string& title, const std::vector<std::string>& names) {
  ScatterOptions options;
  options.title = title;
  options.group_names = {"query", "key"};
  for (std::size_t group = 0; group < 2; ++group)
    for (const std::string& name : names) {
      options.labels.push_back(name);
      options.groups.push_back(group);
    }
  options.width = std::clamp<std::size_t>(terminal_width(), 40, 100);
  return options;
}

// "4 door": the place, counted from 0, and the symbol.
std::string placed(std::size_t place, const std::vector<std::string>& names, std::size_t width) {
  return pad_left(std::to_string(place), 3) + " " +
         pad_right(truncated(printable(names[place]), width), width);
}

// For each query the key that is nearest in space, and the one nearest in the picture.
void print_nearest(const Array& points, const Array& picture,
                   const std::vector<std::string>& names) {
  const std::size_t T = names.size();
  const Doubles space = tsne_distances(points, Distance::cosine);
  const Doubles page = tsne_distances(picture, Distance::euclidean);
  std::vector<std::size_t> keys(T);
  for (std::size_t t = 0; t < T; ++t) keys[t] = T + t;
  std::size_t same = 0;
  std::cout << "\n  query          its nearest key, by cosine       in the picture\n";
  for (std::size_t t = 0; t < T; ++t) {
    const std::size_t near = nearest(space, t, keys), shown = nearest(page, t, keys);
    same += near == shown;
    std::string line = placed(t, names, 12) + " " + placed(near - T, names, 12) + " " +
                       pad_left(decimal(1 - space(t, near), 4), 8) + "       " +
                       placed(shown - T, names, 12) + (near == shown ? "" : " *");
    std::cout << line.erase(line.find_last_not_of(' ') + 1) << '\n';
  }
  std::cout << same << " of " << T << " queries have the same nearest key in both"
            << (same < T ? "; * where the picture misleads" : "") << '\n';
}

}  // namespace

int look_tsne(const LookCommand& command, const nn::Gpt& model, const LookText& text) {
  TsneOptions options;
  options.perplexity = checked_perplexity(command, text.names.size());
  const std::string folder = picture_folder(command);
  exit_at_interrupt();
  const std::size_t layer = command.layer.value_or(0), head = command.head.value_or(0);
  const Array points = queries_and_keys(capture_attention(model, text.tokens)[layer], head);
  options.iterations = static_cast<std::size_t>(command.iterations);
  options.seed = command.seed;
  LiveLine line;
  options.progress = [&](std::size_t done) {
    line.show("placing points: iteration " + grouped(static_cast<double>(done)) + " of " +
              grouped(static_cast<double>(command.iterations)));
  };
  const Tsne map = tsne(points, options);
  line.wipe();

  const std::string title =
      "queries and keys of layer " + std::to_string(layer) + ", head " + std::to_string(head);
  const ScatterOptions scatter = drawn(title, text.names);
  std::cout << scatter_text(map.points, scatter) << "\nKL     " << decimal(map.history.y.front(), 4)
            << " at first, " << decimal(map.kl, 4) << " after "
            << grouped(static_cast<double>(options.iterations))
            << (options.iterations == 1 ? " iteration" : " iterations") << ", perplexity "
            << exact(options.perplexity) << ", seed " << options.seed << '\n';
  print_nearest(points, map.points, text.names);
  if (model.config.causal)
    std::cout << "(A query may lie near keys of later places, which this model cannot see.)\n";
  const Plot plot = draw_scatter(folder, "tsne", map.points, scatter);
  if (plot.ok)
    std::cout << "\nmap    " << printable(plot.message) << '\n';
  else
    note(plot.message);
  return 0;
}

}  // namespace heed::app
