// 22 vision: a vision transformer, whose tokens are patches of an image, and attention rollout.
//
// Before this lesson: 21_additive_attention, attention on a recurrent network.
// After it: 23_what_attention_costs, the time and memory of attention.
// A useful breakpoint: VisionTransformer::embedded (in vision_transformer.hpp). Step with
// `next`.

#include "by_hand.hpp"
#include "maps.hpp"

using namespace heed;
const std::string lesson = "22_vision";

void patches_as_tokens(const VisionTransformer& model, const Array& images) {
  section("Patches as tokens");
  say("A transformer reads a sequence of vectors. An image becomes such a sequence if",
      "we cut it into PATCHES: our 24 x 24 grey pixels become 36 squares of 4 x 4",
      "pixels, row by row. The PATCH EMBEDDING is a linear layer from the 16 pixels of",
      "a patch to C = 32 numbers, the same for all patches. (It is a convolution with",
      "kernel size 4 and stride 4.) Our images show one of four shapes in noise. Each",
      "quarter of a shape is a diagonal line through one patch or through 2 x 2", "patches:", "",
      "  diamond    cross    up       down", "    /\\        \\/      /\\        \\/",
      "    \\/        /\\      /\\        \\/", "",
      "All four consist of the same patches: two quarters '/' and two '\\'. They differ",
      "only in the positions of these patches.", "");
  const nn::Linear& layer = model.patches.projection;
  const Tensor embeddings = model.patches(Tensor(images));  // (4, 36, 32)
  say("images " + str(images.shape()) + ", weight " + str(layer.weight.shape()) + ", embeddings " +
      str(embeddings.shape()));
  check("loops over patches = nn::PatchEmbedding",
        embeddings_by_hand(images, layer.weight.value(), layer.bias.value()), embeddings);
}

void class_token_and_positions(const VisionTransformer& model, const Array& images) {
  section("The class token");
  say("The VISION TRANSFORMER (ViT) puts a learned vector in front of the patches, the",
      "same for all images: the CLASS TOKEN, or [CLS] (Devlin et al. 2019, BERT). It",
      "adds a learned position encoding (lesson 11) to each of the 37 vectors. Then",
      "come transformer blocks (lesson 12), here two with four heads. There is no mask:",
      "each token attends to all 37, a complete graph (lesson 03). A norm and a linear",
      "layer turn the output at [CLS] into the logits of the four shapes. The other",
      "outputs are not used: what the model knows about the image has reached [CLS] by",
      "attention.", "");
  const Tensor x = model.embedded(Tensor(images));  // (4, 37, 32)
  check("VisionTransformer::embedded by hand = the module's", input_by_hand(model, images), x);
  const nn::Block& block = model.blocks[0];
  const Array first_image = select(block.norm1(x), 0, 0).value();  // (37, 32)
  const Tensor A = layer_weights(model, Tensor(images))[0];        // (4, 37, 37)
  check("weights of [CLS], the mean of the heads, by hand = the module's",
        class_weights_by_hand(block.attention, first_image), select(select(A, 0, 0), 0, 0));
}

void patches_in_another_order(const VisionTransformer& with_positions, const Array& images) {
  section("Patches in another order");
  say("We shuffle the 36 patches of each image. Without position encodings the output",
      "at [CLS] stays the same: it depends on the patches only through sums over all",
      "keys, whose order does not matter. Only rounding can differ. heed adds in double",
      "and rounds once: all bits of the logits agree here for one layer whose queries,",
      "keys and values have no rounding error (multiples of 1/8, lesson 11).", "");
  Generator g(5);
  Parameters parameters, eighths_only;
  const VisionTransformer model({parameters, g}, false), rounded({eighths_only, g}, false);
  for (Tensor p : eighths_only) p.mutable_value() = eighths(p.value());
  const Indices drawn = g.randperm(N);
  const Array shuffled = in_order(images, {drawn.begin(), drawn.end()});
  check("no positions, one layer, multiples of 1/8: all bits of the logits",
        one_layer_logits(rounded, images), one_layer_logits(rounded, shuffled), 0);
  check("no positions, two blocks: the logits", model(Tensor(images)), model(Tensor(shuffled)));
  const Array change = (with_positions(Tensor(images)) - with_positions(Tensor(shuffled))).value();
  const Real largest = xt::amax(xt::abs(change))();
  claim("with positions the logits differ", largest > 0.001, decimal(largest, 4));
}

std::vector<VisionTransformer> train_models(const LabelledImages& test) {
  section("Training");
  const std::int64_t steps = in_brief(800, 250);
  say("The held-out images come in fours: the same noise and the same patches, arranged",
      "as each of the four shapes. A model without positions computes the same logits",
      "for all four, so it is right for exactly one of them: its accuracy is 1/4, as by",
      "guessing. Its loss is at least ln 4 = 1.3863, the smallest mean of -ln p for",
      "four probabilities p with sum 1. (On photographs positions matter less: ViT-B/16",
      "falls only from 0.64 to 0.61 without them, appendix D.4.)", "",
      "We compare with two models that read all 576 pixels at once: LOGISTIC",
      "REGRESSION, which is a single linear layer, and an MLP with 64 hidden units. All",
      "models train on " + std::to_string(steps) +
          " batches of 32 new images. Each learning rate was chosen from",
      "five, on other images. The table has means over three seeds, +- standard error",
      "(one seed without positions, where the accuracy is known):", "");
  const std::uint64_t seeds = brief() ? 1 : 3;
  const auto linear = train_seeds<LinearModel>({"logistic regression", 0.005, steps, seeds}, test);
  const auto mlp = train_seeds<PixelMlp>({"MLP on pixels", 0.02, steps, seeds}, test);
  const auto without = train_seeds<VisionTransformer>(
      {"transformer, no positions", 0.005, in_brief(800, 40), 1}, test, false);
  const auto vit =
      train_seeds<VisionTransformer>({"vision transformer", 0.005, steps, seeds}, test, true);
  quote("held-out images           parameters   loss   accuracy\n" + row_of(linear) + "\n" +
        row_of(mlp) + "\n" + row_of(without) + "\n" + row_of(vit));
  picture(lesson, "loss", {linear.curve, mlp.curve, without.curve, vit.curve},
          {"training loss, first seed", "step", "loss (nats)", {{"ln 4", std::log(4.0)}}});
  say("");
  const double known = without.accuracies[0];
  claim("without positions the accuracy is 1/4", std::abs(known - 0.25) < 0.01, decimal(known, 4));
  claim("without positions the loss is not below ln 4", without.losses[0] > std::log(4) - 1e-4,
        decimal(without.losses[0], 4));
  claim("vision transformer, all seeds: above 0.9 and above logistic regression",
        vit.lowest() > std::max(0.9, linear.highest()), decimal(vit.lowest(), 4));
  say("", "The MLP comes close without attention: a shape has only 34 possible positions",
      "and sizes, and training shows each of them often. Our images test the parts of a",
      "transformer; they are no reason to prefer one. (Dosovitskiy et al. found that a",
      "ViT needs a large training set to be better than a convolutional network.)");
  return vit.models;
}

void attention_of_class_token(const std::vector<VisionTransformer>& models,
                              const LabelledImages& test) {
  section("Which patches does [CLS] attend to?");
  const Tensor images(test.images);
  const std::vector<Tensor> A = layer_weights(models[0], images);  // (B, 37, 37) each
  const Tensor result = rollout(models[0], images);                // (B, 37)
  say("Layer 1 (the second block) attends to tokens that are no longer single patches:",
      "layer 0 has added to each a weighted sum of the values of all tokens. ATTENTION",
      "ROLLOUT (Abnar and Zuidema 2020; ViT, appendix D.8) follows both layers. With",
      "A_l, the mean of the heads' attention weights in layer l, it is the row of [CLS]",
      "in ((A_1 + I) / 2) ((A_0 + I) / 2). I stands for the residual connection.",
      "Values, MLPs and norms are left out.", "");
  check("rollout of one image: sum over paths by hand = product of matrices",
        rollout_by_hand(select(A[0], 0, 0).value(), select(A[1], 0, 0).value()),
        select(result, 0, 0));
  const double lines = xt::mean(test.lines)();
  say("",
      "A line goes through " + decimal(lines, 2) +
          " of the patches. What fraction of the weight that",
      "[CLS] puts on patches is on these?", "");
  const auto [rows, least] = table_of_fractions(models, test);
  quote(rows);
  claim("rollout, all seeds: more than twice the fraction of patches", least > 2 * lines,
        decimal(least, 4));
  draw_layers(lesson, models[0], test);
  say("", "The picture lays the weights over four images (model of seed 1): the largest",
      "weight of an image is orange. A single layer can mislead: in layer 1 of seed 1",
      "most weight is on patches without a line. Rollout does not fail like that, but",
      "in each seed one layer alone has a larger fraction. Without knowing the lines we",
      "could not tell which layer. (Darcet et al. 2024, \"Vision Transformers Need",
      "Registers\", find tokens of background patches that carry information about the",
      "whole image.)");
}

void replace_patches_by_noise(const std::vector<VisionTransformer>& models,
                              const LabelledImages& test) {
  section("Does the prediction need these patches?");
  say("Attention weights are not yet an explanation (lesson 18). So we replace patches",
      "of the held-out images by new noise, those of largest rollout first. The",
      "accuracy against the number of patches is a DELETION CURVE (Petsiuk et al. 2018,",
      "\"RISE\", plot the probability of the class). Here it is the mean of all seeds.",
      "Row 2 takes patches with lines in random order, then the others.", "");
  const std::vector<Series> curves = deletion_curves(models, test);
  quote(table_of_curves("patches replaced", curves));
  const double largest = curves[0].y[3], any = curves[2].y[3],
               loss = curves[3].y[0] - curves[3].y[4];
  claim("4 patches of largest rollout: more than 0.15 below 4 random patches", any - largest > 0.15,
        decimal(any, 4) + " and " + decimal(largest, 4));
  claim("8 patches of smallest rollout: less than 0.03 lost", loss < 0.03, decimal(loss, 4));
  draw_deletion(lesson, curves);
  say("", "So rollout finds the patches with lines. It tells less well which of them matter",
      "most: replacing random patches with lines (row 2) costs nearly as much accuracy.",
      "In the mean of the seeds one layer alone (rows 5 and 6) finds them less well.");
}

int main() {
  set_num_threads(1);  // the arrays are so small that a second thread would save little time
  opening({"to classify images with a transformer and to test an attention map",
           "x = [x_class; p_1 E; ...; p_N E] + E_pos\n"
           "p_n (P P) pixels, E (P P, C), x and E_pos (N + 1, C)",
           "Dosovitskiy et al., \"An Image is Worth 16x16 Words: Transformers for\n"
           "Image Recognition at Scale\", section 3.1 (2021); attention rollout:\n"
           "Abnar and Zuidema, \"Quantifying Attention Flow in Transformers\",\n"
           "section 3 (2020)",
           "torchvision.models.VisionTransformer; nn.Conv2d(1, C, P, stride=P)"});
  Generator g(0);
  Parameters parameters;
  const VisionTransformer untrained({parameters, g}, true);
  const Array four = four_of_each(g, 1).images;  // (4, 1, 24, 24)
  patches_as_tokens(untrained, four);
  class_token_and_positions(untrained, four);
  patches_in_another_order(untrained, four);
  const LabelledImages test = four_of_each(g, brief() ? 50 : 250);
  const std::vector<VisionTransformer> models = train_models(test);
  const NoGrad no_grad;
  attention_of_class_token(models, test);
  replace_patches_by_noise(models, test);
  say("", "Attention has its price: 23_what_attention_costs measures time and memory.");
  questions(
      "In VisionTransformer::normal (vision_transformer.hpp), change the standard\n"
      "deviation 0.5 to 0.02. How long does the training loss stay at ln 4?",
      "In new_images (shapes.hpp), write random_place(g, 1): no training image\n"
      "has a shape that begins in column 0. What are the accuracies now?",
      "In replace_patches_by_noise, write deletion_curves(models[0], test): only\n"
      "seed 1. Which layer finds the patches that the prediction needs?");
}
