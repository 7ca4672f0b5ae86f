// peers.js: token ids of texts by the tokenizers of other projects. Called by the script `peers`.
//
//   node peers.js PACKAGES VOCAB.JSON MERGES VOCAB.TXT < texts > ids
//
// PACKAGES is the folder node_modules with @huggingface/tokenizers and gpt-3-encoder. Each line of
// the input is the UTF-8 of a text in hexadecimal. Each line of the output is a JSON list:
//   0 byte-level BPE ids by @huggingface/tokenizers, with GPT-2's expression and \s as Unicode's
//   1 the same with the expression in the package, whose \s is JavaScript's
//   2 ids by gpt-3-encoder, which always uses its own vocabulary; null if that is not VOCAB.JSON
//   3 WordPiece ids by @huggingface/tokenizers, which knows no Chinese characters above U+FFFF; here
//     they are given with spaces around them
//   4 the same without these spaces
//   5 the words before WordPiece, with these spaces, in hexadecimal

const fs = require('fs');
const readline = require('readline');

const [packages, vocabFile, mergesFile, wordsFile] = process.argv.slice(2);
const {Tokenizer} = require(packages + '/@huggingface/tokenizers/dist/tokenizers.cjs');

const expression = String.raw
    `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];

const lines = (file) => fs.readFileSync(file, 'utf8').split('\n').filter((line) => line !== '');

function byteLevel(preTokenizer) {
  const merges = lines(mergesFile).filter((line) => !line.startsWith('#version'));
  const vocab = JSON.parse(fs.readFileSync(vocabFile, 'utf8'));
  return new Tokenizer({
    model: {type: 'BPE', vocab, merges},
    normalizer: null, pre_tokenizer: preTokenizer, post_processor: null,
    decoder: {type: 'ByteLevel'}, added_tokens: []}, {});
}

function wordPiece() {
  const pieces = lines(wordsFile);
  const vocab = Object.fromEntries(pieces.map((piece, id) => [piece, id]));
  return new Tokenizer({
    model: {type: 'WordPiece', vocab, unk_token: '[UNK]', continuing_subword_prefix: '##',
            max_input_chars_per_word: 100},
    normalizer: {type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true,
                 strip_accents: null, lowercase: true},
    pre_tokenizer: {type: 'BertPreTokenizer'}, post_processor: null,
    decoder: {type: 'WordPiece', prefix: '##'},
    added_tokens: special.map((content) => ({
      id: vocab[content], content, special: true, normalized: false, lstrip: false,
      rstrip: false, single_word: false}))}, {});
}

const bpe = byteLevel({type: 'Sequence', pretokenizers: [
  {type: 'Split', pattern: {Regex: expression}, behavior: 'Isolated', invert: false},
  {type: 'ByteLevel', add_prefix_space: false, use_regex: false}]});
const bpeOfPackage = byteLevel({type: 'ByteLevel', add_prefix_space: false});
const official = fs.realpathSync(vocabFile).startsWith(fs.realpathSync(packages));
const gpt3 = official ? require(packages + '/gpt-3-encoder') : null;
const bert = wordPiece();

const chinese =
    /[\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu;
const ids = (tokenizer, text) => tokenizer.encode(text, {add_special_tokens: false}).ids;

readline.createInterface({input: process.stdin}).on('line', (line) => {
  const text = Buffer.from(line, 'hex').toString('utf8');
  const spaced = text.replace(chinese, ' $& ');
  const words = bert.pre_tokenizer(bert.normalizer(spaced));
  process.stdout.write(JSON.stringify([
    ids(bpe, text), ids(bpeOfPackage, text), gpt3 && gpt3.encode(text),
    ids(bert, spaced), ids(bert, text),
    words.map((word) => Buffer.from(word, 'utf8').toString('hex')).join(' ')]) + '\n');
});
