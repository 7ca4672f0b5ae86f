// fields.hpp: the sizes and variants of a model and the options of a training run as lists, from
// which flags, checkpoint metadata and checks are made, so that each name, limit and description is
// written once.
#pragma once

#include <string>
#include <vector>

#include "base/field.hpp"
#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

constexpr Field batch_size_field{"batch_size", any_size, "windows per batch"};

// Calls visit(field, value) for each size of a nn::GptConfig that a user chooses.
template <class Config, class Visit>
void each_size(Config&& c, const Visit& visit) {
  visit(Field{"block_size", any_size, "context length in tokens"}, c.block_size);
  visit(Field{"layers", any_size, "number of transformer blocks"}, c.layers);
  visit(Field{"heads", any_size, "attention heads per block"}, c.heads);
  visit(Field{"embed_dim", any_size, "width of the embeddings"}, c.embed_dim);
}

// A choice between GPT-2's architecture and a variant of it: the flag is --norm, the entry of a
// checkpoint model.norm.
struct Variant {
  const char* name;
  std::vector<std::string> values;  // the names of the values of an enumeration, GPT-2's first
  const char* help;
};

// Calls visit(variant, value) for each variant of a nn::GptConfig that a user chooses.
template <class Config, class Visit>
void each_variant(Config&& c, const Visit& visit) {
  visit(Variant{"norm", {"layer", "rms"}, "layer normalization or RMS normalization"}, c.norm);
  visit(Variant{"positions", {"learned", "rotary"}, "position embedding; rotary: RoPE"},
        c.positions);
  visit(Variant{"mlp", {"gelu", "swiglu"}, "feed-forward network"}, c.mlp);
  visit(Variant{"rotary_pairs", {"interleaved", "halves"}, "which elements of a head RoPE pairs"},
        c.rotary_pairs);
}

// Calls visit(field, value, usual) for each size of a nn::GptConfig that has the value `usual`,
// which follows from the other sizes, if it is 0.
template <class Config, class Visit>
void each_optional_size(Config& c, const Visit& visit) {
  visit(Field{"kv_heads", any_size,
              "heads of keys and values, for grouped-query attention [--heads]"},
        c.kv_heads, c.heads);
  visit(Field{"head_dim", any_size, "width of a head [--embed-dim / --heads]"}, c.head_dim,
        c.heads == 0 || c.embed_dim % c.heads != 0 ? 0 : c.embed_dim / c.heads);
  visit(
      Field{"intermediate_size", any_size,
            "width of the MLP's hidden layer [4 --embed-dim; swiglu: 8/3, up to a multiple of 8]"},
      c.intermediate_size, nn::mlp_width(c.embed_dim, c.mlp));
  visit(Field{"rotary_dim", any_size, "elements of a head that RoPE rotates [all]"}, c.rotary_dim,
        c.head_width());
}
constexpr Field rope_theta_field{"rope_theta", {0, infinite, true}, "base of RoPE's angles"};

// Calls visit(field, value) for each option of a TrainOptions.
template <class Options, class Visit>
void each_option(Options& o, const Visit& visit) {
  visit(Field{"dropout", any_rate, "dropout probability"}, o.dropout);
  visit(batch_size_field, o.batch_size);
  visit(Field{"shards", any_size,
              "parts of a batch with their own gradients, a power of two; --processes can share "
              "them"},
        o.shards);
  visit(Field{"steps", any_steps, "optimizer steps"}, o.steps);
  visit(Field{"lr", {0, infinite, true}, "maximum learning rate"}, o.lr);
  visit(Field{"min_lr", not_negative, "learning rate after the decay"}, o.min_lr);
  visit(Field{"warmup", {0, 1e12}, "steps of linear learning rate warm-up"}, o.warmup);
  visit(Field{"decay_steps", any_steps,
              "step at which the learning rate has decayed to --min-lr [the run's first --steps]"},
        o.decay_steps);
  visit(Field{"weight_decay", not_negative, "AdamW's weight decay of matrices"}, o.weight_decay);
  visit(Field{"beta1", any_rate, "AdamW's decay rate of the first moment"}, o.beta1);
  visit(Field{"beta2", any_rate, "AdamW's decay rate of the second moment"}, o.beta2);
  visit(Field{"clip", not_negative, "maximum norm of the gradient; 0: no clipping"}, o.clip);
  visit(Field{"seed", seeds, "seed of all random numbers"}, o.seed);
  visit(Field{"eval_every", any_steps, "steps between validations and saves"}, o.eval_every);
  visit(Field{"eval_batches", any_size, "batches per validation"}, o.eval_batches);
  visit(Field{"log_every", any_steps, "steps between rows of loss.csv"}, o.log_every);
}

}  // namespace HEED_NAMESPACE
