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

// Trains on batches of 64 sentences of lesson 18, masked as there. Returns the losses.
std::vector<double> train(const SmallBert& bert, const optim::WarmupCosine& rate, Generator g) {
  const WordPiece& pieces = small_pieces();
  const Masking masking = {std::int64_t(pieces.mask()), std::int64_t(*pieces.find(".")), 5,
                           std::int64_t(pieces.size())};
  return train(bert.gpt, bert.parameters, rate, [&] {
    Names texts;
    for (const Names& words : training_texts(g)) texts.push_back(text_of(words));
    return masked(ids_of(pieces, texts), masking, g);
  });
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
  say("  " + joined(numbers_of(pieces.encode_sequence(door)), " "));
}

// The number of parameters: the elements of all tensors.
std::size_t count_of(const Parameters& parameters) {
  std::size_t count = 0;
  for (const Tensor& p : parameters) count += p.value().size();
  return count;
}

void three_files(const SmallBert& bert, const Guess& guess) {
  section("Three files");
  for (const std::string name :
       {"token", "token_type", "embedding_norm", "blocks.0.attention.query", "blocks.0.norm1",
        "blocks.0.mlp.up", "masked_lm.transform"}) {
    const std::string theirs = bert_name(name + ".weight");
    say("  " + pad_right(name, 26) + theirs.substr(0, theirs.rfind('.')));
  }
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
}

// (B, T, C) -> (B, T, C)
Tensor post_norm_block(const nn::Block& block, Tensor x) {
  x = block.norm1(x + block.attention(x));
  return block.norm2(x + block.mlp(x));
}

void post_norm_blocks(const nn::Gpt& gpt, const WordPiece& pieces) {
  section("Post-norm blocks");
  picture("26_inside_bert", "blocks", blocks_graph);
  Tensor x = gpt.embed(ids_of(pieces, {door}));  // (1, T, C)
  check("two lines = nn::Block", post_norm_block(gpt.blocks[0], x), gpt.blocks[0](x), 1e-3);
  for (const nn::Block& block : gpt.blocks) x = post_norm_block(block, x);
  const nn::Norm& last = gpt.blocks.back().norm2;
  const Array rows = (x.value() - last.bias.value()) / last.weight.value();  // (1, T, C)
  check("rows after the last block: mean 0", xt::mean(rows, {2}), 0 * xt::mean(rows, {2}), 1e-4);
  check("variance 1", xt::variance(rows, {2}), 1 + 0 * xt::mean(rows, {2}), 1e-3);
  say();
}

// The mean loss of the last 20 steps of training 12 blocks, for three seeds.
std::vector<double> losses_of(bool post_norm, std::int64_t warmup) {
  return in_threads<double>(3, [=](std::uint64_t seed) {
    nn::GptConfig config = small_bert_config(small_pieces().size());
    config.layers = 12, config.post_norm = post_norm;
    const SmallBert deep(seed, config);
    const auto losses = train(deep, {0.01, 0.001, warmup, in_brief(90, 30)}, Generator(18 + seed));
    return estimate({losses.end() - 20, losses.end()}).mean;
  });
}

void warm_up() {
  section("Does post-norm need a warm-up?");
  show_warm_up({{"post-norm", losses_of(true, 0)},
                {"post-norm, warm-up", losses_of(true, 60)},
                {"pre-norm", losses_of(false, 0)},
                {"pre-norm, warm-up", losses_of(false, 60)}});
  say();
}

std::vector<SmallBert> five_models() {
  return in_threads<SmallBert>(5, [](std::uint64_t seed) {
    SmallBert bert(seed, small_bert_config(small_pieces().size()));
    train(bert, {0.005, 0.0001, 100, in_brief(2000, 500)}, Generator(18 + seed));
    return bert;
  });
}

void the_head_again(const std::vector<SmallBert>& models) {
  const auto held_out = held_out_once([](const Sentence& s) { return s.of_object; });
  section("The head again", {{"about", held_out.size()}});
  const auto rows = in_threads<HeadRow>(5, [&](std::uint64_t seed) {
    const nn::Gpt& gpt = models[seed - 1].gpt;
    const auto training = training_sentences_about_objects(100);
    HeadRow row = {largest_head(weights_to_object(gpt, small_pieces(), training))};
    row.weight = weights_to_object(gpt, small_pieces(), held_out)(row.head.layer, row.head.head);
    row.accuracy = pronoun_accuracy(gpt, small_pieces(), held_out);
    row.without = zeros({2, 4});
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t h = 0; h < 4; ++h) {
        const AblatedHead ablated(gpt, l, h);
        row.without(l, h) = Real(pronoun_accuracy(gpt, small_pieces(), held_out));
      }
    return row;
  });
  show_rows(rows);
  say();
  const double weight = picture_of_head(models[0].gpt, rows[0].head, small_pieces());
  say({{"door", trained(weight)}});
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
  const std::vector<SmallBert> models = five_models();
  three_files(models[0], guess);
  from_ids_to_logits(models[0].gpt, small_pieces());
  post_norm_blocks(models[0].gpt, small_pieces());
  warm_up();
  the_head_again(models);
  ending();
}
