// 22 vision: a vision transformer, whose tokens are patches of an image, and attention rollout.
//
// Worth a breakpoint: VisionTransformer::embedded. Continue with `next`.

#include <algorithm>
#include <cmath>

#include "baselines.hpp"
#include "guess.hpp"
#include "measures.hpp"
#include "models_in_threads.hpp"
#include "pictures.hpp"
#include "tuning.hpp"

using namespace heed;

constexpr std::size_t C = 32, num_heads = 4, num_layers = 2;
const std::int64_t steps = in_brief(800, 250);
const std::size_t seeds = std::size_t(in_brief(5, 2)), few = std::size_t(in_brief(3, 2));

// Patches are tokens; a linear layer on the output of [CLS] gives the logits of the four shapes.
struct VisionTransformer {
  VisionTransformer(const Scope& scope, bool with_positions)
      : patches(scope / "patches", 1, P, C),
        class_token((scope / "class").parameter("weight", normal(scope, {1, 1, C}))),
        norm(scope / "norm", C),
        head(scope / "head", C, 4) {
    for (std::size_t i = 0; i < num_layers; ++i)
      blocks.emplace_back(scope / "blocks" / i, C, num_heads);
    if (!with_positions) return;
    positions = (scope / "positions").parameter("weight", normal(scope, {N + 1, C}));
  }
  static Array normal(const Scope& scope, const Shape& shape) {
    return scope.generator.normal(shape, 0, 0.5);
  }

  // The input of block 0: (B, 1, side, side) -> (B, N + 1, C).
  Tensor embedded(const Tensor& images) const {
    const Tensor first = expand(class_token, {images.size(0), 1, C});
    const Tensor x = concat({first, patches(images)}, 1);
    return positions.defined() ? x + positions : x;
  }
  Tensor operator()(const Tensor& images) const {  // -> logits (B, 4)
    Tensor x = embedded(images);
    for (const nn::Block& block : blocks) x = block(x);
    return head(norm(select(x, 1, 0)));
  }

  nn::PatchEmbedding patches;  // a patch of P P pixels -> C numbers
  Tensor class_token;          // (1, 1, C)
  Tensor positions;            // (N + 1, C), undefined without position encodings
  std::vector<nn::Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;
};

const std::string lesson = "22_vision";

void an_image_as_tokens(const LabelledImages& four) {
  section("An image as tokens");
  draw_patches(lesson, xt::view(four.images, 0, 0));
  Generator g(0);
  Parameters parameters;
  const VisionTransformer model({parameters, g}, true);
  const Tensor images(four.images);
  say({{"embeddings", str(model.patches(images).shape())},
       {"x", str(model.embedded(images).shape())}});
}

void without_positions(const LabelledImages& four) {
  section("Without positions");
  Generator g(5);
  Parameters parameters, others;
  const VisionTransformer model({parameters, g}, false), other({others, g}, true);
  const Tensor images(four.images);
  const Indices drawn = g.randperm(N);
  const Tensor shuffled(in_order(four.images, {drawn.begin(), drawn.end()}));
  check("no positions: the logits after a shuffle of the patches", model(images), model(shuffled));
  check("no positions: all four shapes have the same logits", model(images),
        expand(slice(model(images), 0, 0, 1), {4, 4}));
  const double change = largest_difference(other(images), other(shuffled));
  claim("with positions a shuffle changes the logits", change > 0.001, decimal(change, 4));
  say();
}

struct Setting {
  std::string name;
  double rate;  // the learning rate
  std::size_t seeds;
};

// Trains on new images, 32 in each step. The shapes begin in column `first_column` or right of it.
template <class Network>
void train(const Network& model, const Parameters& parameters, double rate, Generator& g,
           std::size_t first_column) {
  optim::AdamW optimizer(parameters, {rate, 0.9, 0.999, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine schedule{rate, rate / 20, 20, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const LabelledImages batch = new_images(g, 32, first_column);
    const Tensor loss = cross_entropy(model(Tensor(batch.images)), batch.label);
    optim::zero_grad(parameters);
    backward(loss);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
}

// A network for each seed, as many at once as heed has threads. `arguments` are those of its
// constructor after the scope.
template <class Network, class... Arguments>
std::vector<Network> train_seeds(const Setting& setting, std::size_t first_column,
                                 std::uint64_t first_seed, Arguments... arguments) {
  return models_in_threads<Network>({setting.seeds}, [&](std::size_t, std::uint64_t i) {
    Parameters parameters;
    Generator initial(first_seed + i), images(1000 + first_seed + i);
    const Network network(Scope(parameters, initial), arguments...);
    train(network, parameters, setting.rate, images, first_column);
    return network;
  })[0];
}

const std::vector<Setting> settings = {
    {"MLP on pixels", 0.02, few}, {"convolution", 0.01, few}, {"transformer", 0.0025, seeds}};

// Trains without shapes in column 0. Prints the accuracy on shapes that begin in the other columns
// and in column 0, and returns the networks.
template <class Network, class... Arguments>
std::vector<Network> print_row(const std::string& name, const Setting& setting,
                               const LabelledImages& others, const LabelledImages& column_0,
                               Arguments... arguments) {
  Generator initial(1);
  Parameters parameters;
  const Network one(Scope(parameters, initial), arguments...);
  const auto networks = train_seeds<Network>(setting, 1, 1, arguments...);
  std::vector<double> seen, unseen;
  for (const Network& network : networks) {
    seen.push_back(accuracy(network, others));
    unseen.push_back(accuracy(network, column_0));
  }
  quote(line_of(name, parameters.count(), seen, unseen));
  return networks;
}

void who_needs_attention(const Guess& guess) {
  section("Who needs attention?");
  Generator g(6);
  const std::size_t count = brief() ? 50 : 100;
  const LabelledImages others = four_of_each(g, count, 1), column_0 = four_of_each(g, count, 0, 0);
  quote("                      parameters   columns 1 to 4  column 0, not in training");
  print_row<PixelMlp>("MLP on pixels", settings[0], others, column_0);
  print_row<ConvolutionalNetwork>("convolution", settings[1], others, column_0, false);
  print_row<ConvolutionalNetwork>("convolution, padded", settings[1], others, column_0, true);
  const auto transformers = print_row<VisionTransformer>(
      "transformer", {"transformer", settings[2].rate, few}, others, column_0, true);
  std::vector<double> unseen;
  for (const VisionTransformer& model : transformers) unseen.push_back(accuracy(model, column_0));
  guess.compare(decimal(estimate(unseen).mean, 2));
  say();
  quote("shapes in column 0        right         taken for the mirrored shape");
  for (const std::size_t columns : {2, 4}) {
    std::vector<double> right, mirrored;
    for (const VisionTransformer& model : transformers) {
      right.push_back(fraction_predicted(model, column_0, columns, /*mirrored=*/false));
      mirrored.push_back(fraction_predicted(model, column_0, columns, /*mirrored=*/true));
    }
    quote(std::to_string(columns) + " columns wide            " +
          pad_right(mean_and_error(right), 14) + mean_and_error(mirrored));
  }
  say();
}

// The attention weights of each layer, the mean over the heads: num_layers times (B, N + 1, N + 1).
std::vector<Tensor> layer_weights(const VisionTransformer& model, const Tensor& images) {
  std::vector<Tensor> layers;
  Tensor x = model.embedded(images);
  for (const nn::Block& block : model.blocks) {
    const Tensor normed = block.norm1(x);
    layers.push_back(mean(block.attention.weights(normed, normed), {1}));
    x = block(x);
  }
  return layers;
}

// Attention rollout: the row of [CLS] of ((A_1 + I) / 2) ((A_0 + I) / 2): (B, N + 1).
Tensor rollout(const VisionTransformer& model, const Tensor& images) {
  const Array identity = xt::eye<Real>(N + 1);
  Tensor product(identity);
  for (const Tensor& A : layer_weights(model, images))
    product = matmul((A + identity) / 2, product);
  return select(product, 1, 0);
}

// The weights of [CLS] on the patches, without its own: of layer 0, layer 1 and rollout, (B, N)
// each.
std::vector<Array> maps_of(const VisionTransformer& model, const LabelledImages& images) {
  const NoGrad no_grad;
  std::vector<Tensor> rows;  // of [CLS], (B, N + 1) each
  for (const Tensor& A : layer_weights(model, Tensor(images.images)))
    rows.push_back(select(A, 1, 0));
  rows.push_back(rollout(model, Tensor(images.images)));
  std::vector<Array> maps;
  for (const Tensor& row : rows) maps.push_back(slice(row, 1, 1).value());
  return maps;
}

void what_it_attends_to(const std::vector<VisionTransformer>& models, const LabelledImages& test) {
  section("Which patches does [CLS] attend to?", {{"lines", decimal(xt::mean(test.lines)(), 2)}});
  quote("         layer 0   layer 1   rollout    accuracy");
  std::vector<double> accuracies;
  for (std::size_t m = 0; m < models.size(); ++m) {
    accuracies.push_back(accuracy(models[m], test));
    std::string row = "seed " + std::to_string(m + 1);
    for (const Array& map : maps_of(models[m], test))
      row += pad_left(decimal(fraction_on_lines(map, test.lines), 2), 10);
    quote(row + pad_left(decimal(accuracies[m], 2), 12));
  }
  guard("each accuracy is above 0.9", smallest(accuracies) > (brief() ? 0.7 : 0.9),
        decimal(smallest(accuracies), 4));
  say();
  const std::vector<Array> maps = maps_of(models[0], test);
  draw_maps(lesson, test.images, {0, 5, 10, 15},
            {zeros(shape_of(maps[0])), maps[0], maps[1], maps[2]},
            {"image", "layer 0", "layer 1", "rollout"});
  say();
}

void does_it_need_them(const std::vector<VisionTransformer>& models, const LabelledImages& test) {
  section("Does the prediction need these patches?");
  std::vector<DeletionCurve> curves = {
      {"largest rollout first", "#E66000"}, {"lines, at random", "#0072B2"},
      {"largest of layer 0", "#CC79A7"},    {"largest of layer 1", "#E69F00"},
      {"any, at random", "#888888"},        {"smallest rollout first", "#009E73"}};
  for (const VisionTransformer& model : models) {
    const std::vector<Array> maps = maps_of(model, test);  // of layer 0, of layer 1, rollout
    const Array random = Generator(3).rand(shape_of(maps[2]));
    const std::vector<Array> orders = {maps[2], random + test.lines, maps[0], maps[1], random,
                                       -maps[2]};
    for (std::size_t c = 0; c < curves.size(); ++c)
      curves[c].accuracies.push_back(deletion_curve(model, test, orders[c]));
  }
  quote(table_of_curves(curves));
  const Estimate more = estimate(differences(curves[1], curves[0]));
  claim("4 patches: rollout costs more than lines at random, by more than 2.8 standard errors",
        brief() || more.mean > 2.8 * more.standard_error, decimal(more.mean, 4));
  say();
  draw_deletion(lesson, curves);
  say();
}

// One setting's losses on the tuning images, for one learning rate.
template <class Network, class... Arguments>
TuningRow tuned(Setting setting, double rate, const LabelledImages& images,
                Arguments... arguments) {
  setting.rate = rate, setting.seeds = 2;
  std::vector<double> losses;
  for (const Network& network : train_seeds<Network>(setting, 0, 11, arguments...))
    losses.push_back(loss(network, images));
  const Estimate e = estimate(losses);
  return {setting.name, rate, e.mean, e.standard_error};
}

std::vector<TuningRow> sweep() {
  Generator g(2027);
  const LabelledImages images = four_of_each(g, 250);
  std::vector<TuningRow> rows;
  for (const double rate : {0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04}) {
    if (rate < 0.03)  // 0.02 is too large already
      rows.push_back(tuned<VisionTransformer>(settings[2], rate, images, true));
    if (rate < 0.002) continue;  // for the others 0.0025 is too small already
    rows.push_back(tuned<PixelMlp>(settings[0], rate, images));
    if (rate < 0.03) rows.push_back(tuned<ConvolutionalNetwork>(settings[1], rate, images, false));
  }
  return rows;
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  if (tuning()) return write_tuning("loss on the tuning images, seeds 11 and 12", sweep());
  opening();
  const Guess guess("the transformer's accuracy for shapes in a column that it has never seen");
  Generator g(0);
  const LabelledImages four = four_of_each(g, 1), test = four_of_each(g, brief() ? 50 : 250);
  an_image_as_tokens(four);
  without_positions(four);
  who_needs_attention(guess);
  const auto models = train_seeds<VisionTransformer>(settings[2], 0, 1, true);  // all columns
  what_it_attends_to(models, test);
  does_it_need_them(models, test);
  if (appendix("How the learning rates were chosen")) {
    std::vector<ChosenRate> chosen;
    for (const Setting& setting : settings) chosen.push_back({setting.name, setting.rate});
    show_tuning(chosen);
  }
  ending();
}
