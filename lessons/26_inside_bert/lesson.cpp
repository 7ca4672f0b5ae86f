// 26 inside_bert: a BERT computed from its three files: pieces, embeddings, post-norm blocks, head.
//
// Worth a breakpoint: post_norm_block. Continue with `next`.

#include "guess.hpp"
#include "heed/files/hugging_face.hpp"
#include "in_threads.hpp"
#include "measures.hpp"

using namespace heed;
namespace fs = std::filesystem;

const std::string folder = "runs/lessons/26_inside_bert/bert";
const std::string door = "i was watching the door when [MASK] opened .";

// BERT's layers, with sizes of our own.
nn::GptConfig small_bert_config(std::size_t vocab_size) {
  nn::GptConfig c;
  c.vocab_size = vocab_size, c.block_size = 16;
  c.layers = 2, c.heads = 4, c.embed_dim = 32;
  c.bias = true, c.causal = false, c.norm_eps = 1e-12;
  c.post_norm = true, c.token_types = 2, c.masked_lm_head = true;
  return c;
}

struct SmallBert {
  SmallBert(std::uint64_t seed, nn::GptConfig config)
      : generator(seed), gpt(Scope(parameters, generator), config) {
    for (Tensor weight : parameters)  // as in lesson 18: 0.02 is for large widths
      if (weight.dim() == 2) weight.mutable_value() *= Real(8);
  }
  Parameters parameters;
  Generator generator;
  nn::Gpt gpt;
};

const WordPiece& small_pieces() {
  static const WordPiece pieces = WordPiece::from_contents(small_vocab_txt());
  return pieces;
}

// 64 sentences of lesson 18, masked as there.
Masked new_batch(Generator& g) {
  const WordPiece& pieces = small_pieces();
  const Masking masking = {std::int64_t(pieces.mask()), std::int64_t(*pieces.find(".")), 5,
                           std::int64_t(pieces.size())};
  Names texts;
  for (const Names& words : training_texts(g)) texts.push_back(text_of(words));
  return masked(ids_of(pieces, texts), masking, g);
}

// Trains on new batches. Returns the losses.
std::vector<double> train(const SmallBert& bert, const optim::WarmupCosine& rate, Generator g) {
  return train(bert.gpt, bert.parameters, rate, [&] { return new_batch(g); });
}

void text_to_ids(const WordPiece& pieces) {
  section("From text to token ids");
  const std::string text = "I was WATCHING the Dóor, again!";
  const std::string normalized = WordPiece::normalized(text);
  std::vector<std::size_t> ids;
  for (const std::string& word : WordPiece::words_of(normalized))
    for (const std::size_t id : pieces.pieces_of(word)) ids.push_back(id);
  say("text        " + text);
  say("normalized  " + normalized);
  say("words       " + joined(WordPiece::words_of(normalized), " | "));
  say("pieces      " + joined(names_of(pieces, ids), " | "));
  claim("these pieces = WordPiece::encode of the text", ids == pieces.encode(text), normalized);
  say();
  say("  " + joined(names_of(pieces, pieces.encode_sequence(door)), " "));
}

// The number of parameters: the elements of all tensors.
std::size_t count_of(const Parameters& parameters) {
  std::size_t count = 0;
  for (const Tensor& p : parameters) count += p.value().size();
  return count;
}

void three_files(const SmallBert& bert, const Guess& guess) {
  section("Three files");
  write_bert(bert.gpt.config, bert.parameters, folder);
  const ImportedModel read(folder);
  const std::size_t count = count_of(bert.parameters);
  claim(grouped(double(count)) + " parameters are written and read, as parameter_count() says",
        count_of(read.parameters) == count && parameter_count(bert.gpt.config) == count, "not so");
  bool equal = true;
  for (const Tensor& p : bert.parameters)
    equal = equal && read.parameters.at(p.name()).value() == p.value();
  claim("each of them is the same, bit for bit", equal, "one differs");
  const Indices ids = ids_of(small_pieces(), {door});
  check("logits of the model that was read = logits of ours", read.model(ids), bert.gpt(ids), 0);
  say();
  nn::GptConfig base = small_bert_config(30522);
  base.block_size = 512, base.layers = 12, base.heads = 12, base.embed_dim = 768;
  const std::string millions = decimal(double(parameter_count(base)) / 1e6, 1);
  guess.compare(millions);
  say({{"millions", millions}});
}

void from_ids_to_logits(const nn::Gpt& gpt, const WordPiece& pieces) {
  section("From ids to logits");
  const Indices ids = ids_of(pieces, {door});  // (1, T)
  const Tensor P = slice(gpt.position->weight, 0, 0, long(ids.shape(1)));
  const Tensor S = slice(gpt.token_type->weight, 0, 0, 1);
  Tensor x = gpt.norm(gpt.token(ids) + P + S);  // (1, T, C)
  check("x = the input of the first block", x, gpt.embed(ids), 1e-4);
  for (const nn::Block& block : gpt.blocks) x = block(x);
  say();
  const nn::MaskedLmHead& head = *gpt.masked_lm;
  const Tensor y = head.norm(gelu(head.transform(x)));
  const Tensor logits = matmul(y, transpose(gpt.token.weight, 0, 1)) + head.bias;  // (1, T, V)
  check("the model's logits", logits, gpt(ids), 1e-3);
  for (const char* text : {"i was watching the door when [MASK] opened .",
                           "i was watching the doors when [MASK] opened .",
                           "i was watching the [MASK] when it barked ."})
    quote_predictions(gpt, pieces, text);
  say();
}

// (B, T, C) -> (B, T, C)
Tensor post_norm_block(const nn::Block& block, Tensor x) {
  x = block.norm1(x + block.attention(x));
  return block.norm2(x + block.mlp(x));
}

void post_norm_blocks(const nn::Gpt& gpt, const WordPiece& pieces) {
  section("Post-norm blocks");
  picture("26_inside_bert", "blocks", blocks_graph);
  const Tensor x = gpt.embed(ids_of(pieces, {door}));  // (1, T, C)
  check("two lines = nn::Block", post_norm_block(gpt.blocks[0], x), gpt.blocks[0](x), 1e-3);
  say();
}

SmallBert deep_bert(bool post_norm, std::uint64_t seed) {
  nn::GptConfig config = small_bert_config(small_pieces().size());
  config.layers = 12, config.post_norm = post_norm;
  return SmallBert(seed, config);
}

const std::size_t seeds = std::size_t(in_brief(5, 2));

// The norms of the gradient of W_down in the last of 12 blocks, for each seed, after some steps
// with the learning rate 0.01.
std::vector<double> gradient_norms(bool post_norm, std::int64_t steps) {
  return in_threads<double>(seeds, [=](std::uint64_t seed) {
    const SmallBert deep = deep_bert(post_norm, seed);
    train(deep, {0.01, 0.01, 0, steps}, Generator(18 + seed));
    Generator g(38 + seed);
    const Masked batch = new_batch(g);
    optim::zero_grad(deep.parameters.tensors());
    backward(cross_entropy(deep.gpt(batch.seen), batch.targets));
    return double(xt::linalg::norm(deep.gpt.blocks.back().mlp.down.weight.grad()));
  });
}

// The mean loss of the last 20 steps of training 12 blocks, for each seed.
std::vector<double> losses_of(bool post_norm, double rate, std::int64_t warmup) {
  return in_threads<double>(seeds, [=](std::uint64_t seed) {
    const SmallBert deep = deep_bert(post_norm, seed);
    const auto losses =
        train(deep, {rate, rate / 10, warmup, in_brief(90, 30)}, Generator(18 + seed));
    return estimate({losses.end() - 20, losses.end()}).mean;
  });
}

void warm_up() {
  section("Does post-norm need a warm-up?");
  quote("steps                   0               5              20");
  for (const bool post_norm : {true, false}) {
    std::string line = pad_right(post_norm ? "post-norm" : "pre-norm", 20);
    for (const std::int64_t steps : {0, 5, 20})
      line += "   " + mean_and_error(gradient_norms(post_norm, steps));
    quote(line);
  }
  say();
  quote("learning rate          0.003          0.01");
  for (const auto& [post_norm, warmup] :
       {std::pair(true, 0), std::pair(true, 60), std::pair(false, 0)}) {
    const std::string name = post_norm ? "post-norm" : "pre-norm";
    std::string line = pad_right(name + (warmup > 0 ? ", warm-up" : ""), 20);
    for (const double rate : {0.003, 0.01})
      line += "   " + mean_and_error(losses_of(post_norm, rate, warmup));
    quote(line);
  }
  say();
}

int main(int argc, char** argv) {
  set_num_threads(1);  // each model has a thread of its own
  opening();
  if (argc > 1) {  // the folder of a downloaded BERT
    const WordPiece pieces = WordPiece::load(fs::path(argv[1]) / "vocab.txt");
    const ImportedModel bert(argv[1]);
    text_to_ids(pieces);
    from_ids_to_logits(bert.model, pieces);
    post_norm_blocks(bert.model, pieces);
    quote_heads(bert.model, pieces);
    return 0;
  }
  const Guess guess("millions of parameters of BERT base");
  text_to_ids(small_pieces());
  const SmallBert bert(1, small_bert_config(small_pieces().size()));
  train(bert, {0.005, 0.0001, 100, in_brief(2000, 500)}, Generator(19));
  three_files(bert, guess);
  from_ids_to_logits(bert.gpt, small_pieces());
  post_norm_blocks(bert.gpt, small_pieces());
  warm_up();
  ending();
}
