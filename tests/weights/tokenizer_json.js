// tokenizer_json.js: token ids by @huggingface/tokenizers with the settings of SmolLM2, Llama 3,
// Qwen2 and Llama 2, and by llama-tokenizer-js, which has the vocabulary of Llama 2.
//
//   node tokenizer_json.js PACKAGES > golden_json.txt
//   node tokenizer_json.js PACKAGES FOLDER VOCAB.JSON MERGES     writes smollm2.json, llama3.json,
//                               qwen2.json and tokenizer.vocab, from which heed reads the settings
//   node tokenizer_json.js PACKAGES - VOCAB.JSON MERGES < texts > ids
//
// PACKAGES is the folder node_modules with @huggingface/tokenizers 0.2.0, and with llama-tokenizer-js
// except for golden_json.txt: each line of that file is a JSON list of three lists of ids, for a
// text of golden_small.txt and the tokens in `small`. Each line of the texts is the UTF-8 of a text
// in hexadecimal; each line of the ids has the lists of SmolLM2, Llama 3, Qwen2, Llama 2 and
// llama-tokenizer-js. \s is given as Unicode's, as in the Rust tokenizers; JavaScript's differs.

const fs = require('fs');
const path = require('path');

const [packages, folder, vocabFile, mergesFile] = process.argv.slice(2);
const {Tokenizer} = require(packages + '/@huggingface/tokenizers/dist/tokenizers.cjs');
const here = (name) => path.join(__dirname, name);
const lines = (name) => fs.readFileSync(name, 'utf8').split('\n').filter((line) => line !== '');

const gpt2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
const with_digits = (digits) => String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|` +
    digits + String.raw`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const in_javascript = (expression) =>
    expression.replaceAll('[^\\s', '[^\\p{White_Space}').replaceAll('\\s', '\\p{White_Space}')
        .replaceAll('\\S', '\\P{White_Space}')
        .replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)",
                 String.raw`'(?:[sS\u017f]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])`);

const bytes = {type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false};
const split = (expression) =>
    ({type: 'Split', pattern: {Regex: expression}, behavior: 'Isolated', invert: false});
const sequence = (parts) => ({type: 'Sequence', pretokenizers: parts});

// The tokenizer.json of SmolLM2, Llama 3 and Qwen2 with given tokens.
function settings(vocab, merges) {
  const json = (pre_tokenizer, ignore_merges, normalizer = null) => ({
    model: {type: 'BPE', vocab, merges, ignore_merges}, normalizer, pre_tokenizer,
    post_processor: null, decoder: {type: 'ByteLevel'}, added_tokens: []});
  return {
    smollm2: json(sequence([{type: 'Digits', individual_digits: true},
                            {...bytes, use_regex: true}]), false),
    llama3: json(sequence([split(with_digits('\\p{N}{1,3}')), bytes]), true),
    qwen2: json(sequence([split(with_digits('\\p{N}')), bytes]), false, {type: 'NFC'})};
}

// The peer's tokenizer, whose expressions are JavaScript's.
function peer(json) {
  const parts = json.pre_tokenizer.pretokenizers.flatMap(
      (part) => part.type === 'Split' ? [split(in_javascript(part.pattern.Regex))]
          : part.type === 'Digits' ? [split('\\p{N}'), split(in_javascript(gpt2))] : [bytes]);
  return new Tokenizer({...json, pre_tokenizer: sequence(parts)}, {});
}

// Llama 2's tokenizer.json, from the vocabulary and the merges of llama-tokenizer-js.
function llama2(pieces) {
  const vocab = Object.fromEntries(pieces.vocabById.map((piece, id) => [piece, id]));
  const normalizers = [{type: 'Prepend', prepend: '\u2581'},
                       {type: 'Replace', pattern: {String: ' '}, content: '\u2581'}];
  return new Tokenizer({
    model: {type: 'BPE', vocab, merges: [...pieces.merges.keys()], byte_fallback: true,
            fuse_unk: true, unk_token: '<unk>'},
    normalizer: {type: 'Sequence', normalizers}, pre_tokenizer: null, post_processor: null,
    decoder: null, added_tokens: []}, {});
}

// The text of spm_export_vocab. The earlier the merge that makes a piece, the higher its score.
function with_scores(pieces) {
  const ranks = new Map();
  [...pieces.merges.keys()].forEach((merge, rank) => {
    const made = merge.replace(' ', '');
    if (!ranks.has(made)) ranks.set(made, rank);
  });
  return pieces.vocabById.map((piece) => piece + '\t' + -(ranks.get(piece) ?? 0) + '\n').join('');
}

const ids = (each, text) => text === '' ? [] : each.encode(text).ids;

async function main() {
  if (!folder) {
    const merges = lines(here('small/merges.txt')).filter((line) => !line.startsWith('#version'));
    const vocab = JSON.parse(fs.readFileSync(here('small/vocab.json'), 'utf8'));
    const all = Object.values(settings(vocab, merges)).map(peer);
    for (const line of lines(here('golden_small.txt')))
      console.log(JSON.stringify(all.map((each) => ids(each, JSON.parse(line)[0]))));
    return;
  }
  const merges = lines(mergesFile).filter((line) => !line.startsWith('#version'));
  const all = settings(JSON.parse(fs.readFileSync(vocabFile, 'utf8')), merges);
  const pieces = (await import(packages + '/llama-tokenizer-js/llama-tokenizer.js')).default;
  if (folder !== '-') {
    for (const [name, json] of Object.entries(all))
      fs.writeFileSync(path.join(folder, name + '.json'), JSON.stringify(json));
    return fs.writeFileSync(path.join(folder, 'tokenizer.vocab'), with_scores(pieces));
  }
  const peers = [...Object.values(all).map(peer), llama2(pieces)];
  for (const line of fs.readFileSync(0, 'utf8').split('\n').slice(0, -1)) {
    const text = Buffer.from(line, 'hex').toString('utf8');
    process.stdout.write(
        JSON.stringify([...peers.map((each) => ids(each, text)), pieces.encode(text)]) + '\n');
  }
}

main();
