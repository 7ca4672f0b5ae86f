// tokenizer_json.js: token ids by @huggingface/tokenizers with the settings of SmolLM2 and Llama 3.
//
//   node tokenizer_json.js PACKAGES > golden_json.txt
//
// PACKAGES is the folder node_modules with @huggingface/tokenizers 0.2.0. Each line of the output is
// a JSON list of two lists of ids, for a text of golden_small.txt and the tokens in `small`. \s is
// given as Unicode's, as in the Rust tokenizers; JavaScript's differs.

const fs = require('fs');
const path = require('path');

const {Tokenizer} = require(process.argv[2] + '/@huggingface/tokenizers/dist/tokenizers.cjs');
const here = (name) => path.join(__dirname, name);
const lines = (name) => fs.readFileSync(here(name), 'utf8').split('\n').filter((line) => line !== '');

const unicode = (expression) =>
    expression.replaceAll('[^\\s', '[^\\p{White_Space}').replaceAll('\\s', '\\p{White_Space}')
        .replaceAll('\\S', '\\P{White_Space}');
const gpt2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const llama3 = String.raw`'(?:[sS\u017f]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])|` +
    String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

const split = (expression) =>
    ({type: 'Split', pattern: {Regex: unicode(expression)}, behavior: 'Isolated', invert: false});
const bytes = {type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false};

function tokenizer(splits, ignore_merges) {
  const vocab = JSON.parse(fs.readFileSync(here('small/vocab.json'), 'utf8'));
  const merges = lines('small/merges.txt').filter((line) => !line.startsWith('#version'));
  return new Tokenizer({
    model: {type: 'BPE', vocab, merges, ignore_merges},
    normalizer: null, pre_tokenizer: {type: 'Sequence', pretokenizers: [...splits, bytes]},
    post_processor: null, decoder: {type: 'ByteLevel'}, added_tokens: []}, {});
}

const all = [tokenizer([split('\\p{N}'), split(gpt2)], false), tokenizer([split(llama3)], true)];
for (const line of lines('golden_small.txt')) {
  const text = JSON.parse(line)[0];
  console.log(JSON.stringify(all.map((each) => text === '' ? [] : each.encode(text).ids)));
}
