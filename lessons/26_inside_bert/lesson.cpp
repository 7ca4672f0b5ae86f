// 26 inside_bert: WordPiece, BERT's layers and files, and the head that attends from [MASK].
//
// Before this lesson: 25_from_gpt2_to_llama, the parts of newer models.
// After it: a real BERT. Its files are read by the same program: ./heed lesson 26 FOLDER
// A useful breakpoint: pieces_by_hand (in by_hand.hpp). Continue with `next` and print piece().

#include "by_hand.hpp"
#include "heads.hpp"
#include "heed/files/hugging_face.hpp"

using namespace heed;
namespace fs = std::filesystem;

const std::string lesson = "26_inside_bert", folder = "runs/lessons/" + lesson + "/bert";
const std::string door = "i was watching the door when [MASK] opened .";

void text_to_ids(const WordPiece& pieces) {
  section("From text to token ids: WordPiece");
  say("BERT's tokenizer is WORDPIECE. Like byte-pair encoding (lesson 24) it splits",
      "rare words. Three steps:", "",
      "  1. NORMALIZE: lower case, no accents, no control characters.",
      "  2. Split into words: at white space, and around punctuation.",
      "  3. Take the longest piece of the vocabulary that the word begins with, then",
      "     the longest piece '##...' that the rest begins with, and so on. If none",
      "     fits, the whole word becomes [UNK].", "");
  const std::string text = "I was WATCHING the Dóor, again!";
  const std::string normalized = WordPiece::normalized(text);
  Names split = WordPiece::words_of(normalized), spelled;
  for (const std::size_t id : pieces.encode(text)) spelled.push_back(pieces.piece(id));
  say("  text        " + text, "  normalized  " + normalized,
      "  words       " + joined(split, " | "), "  pieces      " + joined(spelled, " | "), "");
  std::set<std::string> vocabulary;
  for (std::size_t id = 0; id < pieces.size(); ++id) vocabulary.insert(pieces.piece(id));
  Names by_hand;
  for (const std::string& word : words_by_hand("I was WATCHING the door, when they cried."))
    for (const std::string& piece : pieces_by_hand(vocabulary, word)) by_hand.push_back(piece);
  Names one_line;
  for (const std::size_t id : pieces.encode("I was WATCHING the door, when they cried."))
    one_line.push_back(pieces.piece(id));
  claim("pieces by hand = WordPiece::encode", by_hand == one_line, joined(by_hand, " "));
  claim("'WATCHING' = 'watching', 'Dóor' = 'door': case and accents are lost",
        pieces.encode("WATCHING Dóor") == pieces.encode("watching door"), normalized);
  say("", "(Only the start of a word is without ##, so no space is stored. Wu et al. choose",
      "the pieces by the likelihood of a text; BPE chooses the most frequent pair.)", "",
      "Four tokens have a task of their own: [CLS] begins each input, [SEP] ends it,",
      "[MASK] stands for a token to predict, [PAD] fills shorter rows of a batch. They",
      "are found before step 1. BERT reads:", "");
  Names tokens, ids;
  for (const std::size_t id : pieces.encode_sequence(door)) {
    tokens.push_back(pieces.piece(id));
    ids.push_back(std::to_string(id));
  }
  say("  " + joined(tokens, " "), "  " + joined(ids, " "));
}

void train_and_write(const fs::path& path) {
  section("A small BERT, and its files");
  const std::int64_t steps = in_brief(2000, 700);
  say("BERT base has 110 million parameters. We train a small one, with such layers,",
      "on the sentences of lesson 18: 2 blocks, 4 heads, width 32, " + std::to_string(steps) +
          " steps.",
      "");
  set_num_threads(1);  // batches this small are not faster with two
  SmallBert bert(5);
  const std::vector<double> losses = train(bert, steps, Generator(19));
  loss_curves("loss (nats per chosen token)", {series_of("training loss", losses)});
  say("loss, first step                " + decimal(losses[0], 4),
      "loss, last 100 steps            " +
          trained(xt::mean(
              xt::view(xt::adapt(losses), xt::range(losses.size() - 100, losses.size())))()),
      "", "A BERT as it is published is a folder with three files: config.json (the sizes),",
      "vocab.txt (one piece a line) and model.safetensors (the parameters). We write",
      "our model in this layout. Matrices are (out, in), in both. Only the names", "differ:", "");
  for (const std::string name :
       {"token", "token_type", "embedding_norm", "blocks.0.attention.query",
        "blocks.0.attention.out", "blocks.0.norm1", "blocks.0.mlp.up", "masked_lm.transform"}) {
    const std::string theirs = bert_name(name + ".weight");
    say("  " + pad_right(name, 26) + theirs.substr(0, theirs.rfind('.')));
  }
  write_bert(bert, path);
  const ImportedModel imported(path);
  say("");
  check("number of parameters: written = read", scalar(Real(bert.parameters.tensors().size())),
        scalar(Real(imported.parameters.tensors().size())), 0);
  Real largest = 0;
  for (const Tensor& p : bert.parameters) {
    const Array difference = xt::abs(p.value() - imported.parameters.at(p.name()).value());
    largest = std::max(largest, xt::amax(difference)());
  }
  check("largest difference between a number written and read = 0", scalar(largest), scalar(0), 0);
  const Indices ids = ids_of(bert.pieces, {door});
  check("logits of the imported model = logits of the trained one", bert.gpt(ids),
        imported.model(ids), 0);
}

// The output (1, T, C) of the last block.
Tensor sum_of_embeddings(const nn::Gpt& gpt, const Indices& ids) {
  section("The sum of three embeddings");
  say("Each token is a sum of three vectors: of the piece, of its position, and of its",
      "TOKEN TYPE (also: segment), which tells two sentences of one input apart. We",
      "have one sentence: type 0. GPT-2 has no types and no norm here; BERT has both:", "",
      "  x[t] = LayerNorm(E[id[t]] + P[t] + S[0])", "");
  const auto T = std::int64_t(ids.shape(1));
  const Tensor one_line = gpt.norm(gpt.token(ids) + slice(gpt.position->weight, 0, 0, T) +
                                   slice(gpt.token_type->weight, 0, 0, 1));  // (1, T, C)
  check("by hand = in one line", embedding_by_hand(gpt, ids), select(one_line, 0, 0), 1e-4);
  check("in one line = Gpt::embed", one_line, gpt.embed(ids), 1e-4);
  return one_line;
}

Tensor post_norm_blocks(const nn::Gpt& gpt, Tensor x) {
  section("Post-norm blocks");
  say("GPT-2's blocks (lesson 12) normalize the input of attention and MLP: pre-norm.",
      "BERT's are those of Vaswani et al.: POST-NORM. The norm follows the sum:", "",
      "  x = LayerNorm(x + attention(x))      x = LayerNorm(x + mlp(x))", "",
      "So the residual stream itself is normalized, and no final norm is needed. But",
      "the gradient passes through each norm: post-norm needs a warm-up of the learning",
      "rate, or it often fails to train (Xiong et al. 2020). Newer models are pre-norm.", "");
  const nn::Block& block = gpt.blocks[0];
  const Tensor attended = block.norm1(x + block.attention(x));
  const Tensor one_line = block.norm2(attended + block.mlp(attended));  // (1, T, C)
  check("by hand = in one line", block_by_hand(block, select(x, 0, 0).value()),
        select(one_line, 0, 0), 1e-3);
  check("in one line = nn::Block", one_line, block(x), 1e-3);
  for (const nn::Block& b : gpt.blocks) x = b(x);
  const nn::Norm& last = gpt.blocks.back().norm2;
  const Array standard = (x.value() - last.bias.value()) / last.weight.value();  // (1, T, C)
  const Array means = xt::mean(standard, {2}), variances = xt::variance(standard, {2});  // (1, T)
  check("after the last block, without weight and bias: mean 0", means, zeros(shape_of(means)),
        1e-4);
  check("the same: variance 1", variances, ones(shape_of(variances)), 1e-3);
  return x;
}

void masked_lm_head(const nn::Gpt& gpt, const WordPiece& pieces, const Indices& ids,
                    const Tensor& x) {
  section("The masked-LM head");
  say("GPT-2's logits are E x: the head is tied to the embeddings. BERT has one more",
      "layer before it and a bias b after it:", "", "  logits = E LayerNorm(gelu(W x + c)) + b",
      "");
  const nn::MaskedLmHead& head = *gpt.masked_lm;
  const Tensor y = head.norm(gelu(head.transform(x)));
  const Tensor logits = matmul(y, transpose(gpt.token.weight, 0, 1)) + head.bias;  // (1, T, V)
  check("by hand = in one line", masked_lm_head_by_hand(gpt, select(x, 0, 0).value()),
        select(logits, 0, 0), 1e-3);
  check("in one line = the model", logits, gpt(ids), 1e-3);
  say("", "The most probable pieces for [MASK]:", "");
  for (const char* text : {"i was watching the door when [MASK] opened .",
                           "i was watching the doors when [MASK] opened .",
                           "i was watching the [MASK] when it barked ."}) {
    std::string line;
    for (const Prediction& p : predictions(gpt, pieces, text, 3))
      line += "   " + pad_right(p.piece, 6) + decimal(p.probability, 2);
    quote(pad_right(text, 45) + line);
  }
}

int main(int argc, char** argv) {
  opening({"to read a BERT, from its text and files to the attention of [MASK]",
           "x = LayerNorm(x + attention(x)); x = LayerNorm(x + mlp(x)) x (T, C)\n"
           "logits = E LayerNorm(gelu(W x + c)) + b     E (V, C), W (C, C)",
           "Devlin et al., \"BERT: Pre-training of Deep Bidirectional\n"
           "Transformers for Language Understanding\" (2019); WordPiece: Wu et\n"
           "al., \"Google's Neural Machine Translation System\", 4.1 (2016);\n"
           "Xiong et al., \"On Layer Normalization in the Transformer\n"
           "Architecture\" (2020)",
           "nn.TransformerEncoderLayer(norm_first=False); in Hugging Face's\n"
           "transformers BertTokenizer and BertForMaskedLM"});
  const bool ours = argc < 2;
  const fs::path files = ours ? fs::path(folder) : fs::path(argv[1]);
  text_to_ids(ours ? WordPiece::from_contents(small_vocab_txt())
                   : WordPiece::load(files / "vocab.txt"));
  if (ours) train_and_write(files);
  const ImportedModel bert(files);
  const WordPiece pieces = WordPiece::load(files / "vocab.txt");
  const NoGrad no_grad;
  const Indices ids = ids_of(pieces, {door});  // (1, T)
  const Tensor x = post_norm_blocks(bert.model, sum_of_embeddings(bert.model, ids));
  masked_lm_head(bert.model, pieces, ids, x);
  find_the_head(lesson, bert.model, pieces, ours);
  say("", "The same for a real BERT: put config.json, vocab.txt and model.safetensors of",
      "bert-base-uncased (440 MB) or of prajjwal1/bert-tiny (17 MB), both from",
      "Hugging Face, into a folder, and give it as argument: ./heed lesson 26 FOLDER", "",
      "Large models are trained by several processes at once: 27_many_hands.");
  questions(
      "Which head attends to the noun with other initial weights? In train_and_write\n"
      "change bert(5) to bert(6).",
      "Which pieces has a word that the vocabulary lacks? In text_to_ids write\n"
      "'Unaffable DOORS: 12' as text.",
      "A known mistake: what notices it if the epsilon of the norms is 1e-5 when the\n"
      "model is trained? Change c.norm_eps in small_bert_config (model.hpp).");
}
