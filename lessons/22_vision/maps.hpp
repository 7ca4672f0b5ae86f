// maps.hpp: attention weights of patches, their measures and their picture, for lesson 22.
#pragma once

#include "gnuplot_picture.hpp"
#include "train.hpp"

namespace heed {

// The attention weights of each layer, the mean over the heads: num_layers times (B, N + 1, N + 1).
inline std::vector<Tensor> layer_weights(const VisionTransformer& model, const Tensor& images) {
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
inline Tensor rollout(const VisionTransformer& model, const Tensor& images) {
  const Array identity = xt::eye<Real>(N + 1);
  Tensor product(identity);
  for (const Tensor& A : layer_weights(model, images))
    product = matmul((A + identity) / 2, product);
  return select(product, 1, 0);
}

// Rows (B, N + 1) of [CLS] without its own column: (B, N).
inline Array patch_weights(const Tensor& rows) { return slice(rows, 1, 1).value(); }

// The fraction of the weights (B, N) of all patches that is on patches with lines.
inline double fraction_on_lines(const Array& weights, const Array& lines) {
  double on = 0, all = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    all += weights.data()[i];
    on += weights.data()[i] * lines.data()[i];
  }
  return on / all;
}

// The fraction on lines of each layer and of rollout (columns) for each model (rows), as text, and
// the least fraction of rollout.
inline std::pair<std::string, double> table_of_fractions(
    const std::vector<VisionTransformer>& models, const LabelledImages& test) {
  std::string text = "         layer 0  layer 1  rollout";
  double least = 1;
  const Tensor images(test.images);
  const auto append = [&](const Tensor& rows) {
    const double fraction = fraction_on_lines(patch_weights(rows), test.lines);
    text += pad_left(decimal(fraction, 2), 9);
    return fraction;
  };
  for (std::size_t i = 0; i < models.size(); ++i) {
    text += "\nseed " + std::to_string(first_seed + i) + "  ";
    for (const Tensor& A : layer_weights(models[i], images)) append(select(A, 1, 0));
    least = std::min(least, append(rollout(models[i], images)));
  }
  return {text, least};
}

// The images with new noise in the `count` patches that have the largest priority (B, N).
inline Array replace_patches(const Array& images, const Array& priority, std::size_t count) {
  Generator g(7);
  const Array noise_only = g.randn(shape_of(images)) * Real(noise);
  const TopK chosen = topk(Tensor(priority), std::max<std::size_t>(count, 1), 1);
  Array result = images;
  for (std::size_t b = 0; b < images.shape(0); ++b)
    for (std::size_t i = 0; i < count; ++i) {
      const auto n = std::size_t(chosen.indices(b, i));
      copy_patch(&noise_only(b, 0, 0, 0), n, &result(b, 0, 0, 0), n);
    }
  return result;
}

// The accuracy after the replacement of 0 to 8 patches, as a curve.
inline Series deletion_curve(const std::string& name, const VisionTransformer& model,
                             const LabelledImages& test, const Array& priority) {
  const NoGrad no_grad;
  Series curve{name, {}, {}, /*points=*/true};
  for (const std::size_t count : {0, 1, 2, 4, 8}) {
    const Tensor images(replace_patches(test.images, priority, count));
    curve.append(double(count), evaluate(model(images), test.label).accuracy);
  }
  return curve;
}

// The curves of one model by rollout, by the attention weights of [CLS] in each layer, and at
// random.
inline std::vector<Series> deletion_curves(const VisionTransformer& model,
                                           const LabelledImages& test) {
  Generator g(3);
  const Tensor images(test.images);
  const std::vector<Tensor> A = layer_weights(model, images);  // (B, N + 1, N + 1) each
  const Array by_rollout = patch_weights(rollout(model, images)),
              random = g.rand(by_rollout.shape());
  return {deletion_curve("largest rollout first", model, test, by_rollout),
          deletion_curve("random, lines first", model, test, random + test.lines),
          deletion_curve("random", model, test, random),
          deletion_curve("smallest rollout first", model, test, -by_rollout),
          deletion_curve("layer 0 first", model, test, patch_weights(select(A[0], 1, 0))),
          deletion_curve("layer 1 first", model, test, patch_weights(select(A[1], 1, 0)))};
}

// The means of these curves over all models.
inline std::vector<Series> deletion_curves(const std::vector<VisionTransformer>& models,
                                           const LabelledImages& test) {
  const NoGrad no_grad;
  std::vector<Series> means = deletion_curves(models[0], test);
  for (std::size_t m = 1; m < models.size(); ++m) {
    const std::vector<Series> curves = deletion_curves(models[m], test);
    for (std::size_t c = 0; c < means.size(); ++c)
      for (std::size_t i = 0; i < means[c].y.size(); ++i) means[c].y[i] += curves[c].y[i];
  }
  for (Series& mean : means)
    for (double& y : mean.y) y /= double(models.size());
  return means;
}

// A row for each curve, a column for each x, as text.
inline std::string table_of_curves(const std::string& x_name, const std::vector<Series>& curves) {
  std::string text = pad_right(x_name, 23);
  for (const double x : curves[0].x) text += pad_left(decimal(x, 0), 6);
  for (const Series& curve : curves) {
    text += "\n" + pad_right(curve.name, 23);
    for (const double y : curve.y) text += pad_left(decimal(y, 2), 6);
  }
  return text;
}

// Draws the first four curves, and rollout beside single layers and random patches.
inline void draw_deletion(const std::string& lesson, const std::vector<Series>& c) {
  const CurveOptions options{
      "patches replaced by noise", "patches", "accuracy", {{"guessing", 0.25}}};
  picture(lesson, "deletion", {c[0], c[1], c[2], c[3]}, options);
  picture(lesson, "deletion_layers", {c[0], c[4], c[2], c[5]}, options);
}

// gnuplot commands that draw an image (side, side) in grey and, over it, a square for each patch
// with weight: the larger the weight (N), the less transparent.
inline std::string panel(const std::string& name, const Array& image, const Array& weights) {
  const Real largest = xt::amax(weights)();
  std::string squares = "$squares" + name + " << END\n";
  for (std::size_t n = 0; n < weights.size(); ++n) {
    const double opacity = largest > 0 ? 0.75 * weights(n) / largest : 0;
    const auto color =
        std::int64_t(255 * (1 - opacity)) << 24 | 0xE66000;  // alpha, red, green, blue
    squares += std::to_string(n % grid * P + P / 2) + " " + std::to_string(n / grid * P + P / 2) +
               " " + std::to_string(color) + "\n";
  }
  const std::string half = decimal(double(P) / 2, 1);
  return gnuplot_block("image" + name, image) + squares + "END\nplot $image" + name +
         " matrix using ($1+0.5):($2+0.5):3 with image pixels notitle, $squares" + name +
         " using 1:2:(" + half + "):(" + half +
         "):3 with boxxyerror fs solid noborder fc rgb variable notitle\n";
}

// Draws the images number which[0], which[1], ... (columns) with the weights (B, N) of patches laid
// over them (rows).
inline void draw_maps(const std::string& lesson, const Array& images,
                      const std::vector<std::size_t>& which, const std::vector<Array>& rows,
                      const Names& row_titles) {
  std::string script =
      "set terminal svg size 900,870 font 'sans-serif,14' background rgb 'white'\n"
      "set multiplot\nunset key\nunset colorbox\nunset grid\nunset tics\nset border 15\n"
      "set palette defined (0 '#000000', 1 '#FFFFFF')\nset cbrange [-0.9:1.5]\n"
      "set xrange [0:24]\nset yrange [24:0]\n";
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t b = 0; b < which.size(); ++b) {
      const double left = 90 + 200 * double(b), top = 40 + 205 * double(r);  // pixels
      script += "set lmargin at screen " + decimal(left / 900, 4) + "\nset rmargin at screen " +
                decimal((left + 190) / 900, 4) + "\nset tmargin at screen " +
                decimal(1 - top / 870, 4) + "\nset bmargin at screen " +
                decimal(1 - (top + 190) / 870, 4) + "\n";
      script += r == 0 ? "set title '" + shapes[b] + "' offset 0,-0.5\n" : "unset title\n";
      script += b == 0 ? "set ylabel \"" + row_titles[r] + "\" offset 0,0\n" : "unset ylabel\n";
      script += panel(std::to_string(r) + "_" + std::to_string(b), xt::view(images, which[b], 0),
                      xt::view(rows[r], which[b]));
    }
  picture_by_gnuplot(lesson, "maps", script + "unset multiplot");
}

// Draws four images, then the attention weights of [CLS] in both layers, and attention rollout.
inline void draw_layers(const std::string& lesson, const VisionTransformer& model,
                        const LabelledImages& test) {
  const Tensor images(test.images);
  const std::vector<Tensor> A = layer_weights(model, images);  // (B, N + 1, N + 1) each
  const Array both = patch_weights(rollout(model, images));    // (B, N)
  draw_maps(lesson, test.images, {0, 5, 10, 15},
            {zeros(both.shape()), patch_weights(select(A[0], 1, 0)),
             patch_weights(select(A[1], 1, 0)), both},
            {"image", "layer 0", "layer 1", "rollout"});
}

}  // namespace heed
