// 01_data.js: the data of the page, its decoding, and the state that all views share.
const {data} = loaded;
const model = data.model;
const T = model.length;
const headCount = model.layers * model.heads;
const largestBand = 128;  // longer texts are shown in parts of this many tokens

const state = {
  head: 0,
  query: T - 1,    // the query that all views show
  key: 0,
  locked: false,   // whether a click has locked the query and the key
  log: false,
  withoutFirst: false,
  target: 0,       // index in gradients()
  frame: 0,        // index in frames
  band: 0,         // first token of the part that the head's view shows
};

// ---- matrices of a text

// Rows that end at the diagonal (of a causal model), or whole rows, as a matrix (T, T).
function unpacked(numbers, rows) {
  const matrix = new Float64Array(T * T);
  let at = 0;
  for (let t = 0; t < rows; ++t)
    for (let s = 0; s < (model.causal ? t + 1 : T); ++s) matrix[t * T + s] = numbers[at++];
  return matrix;
}

const visible = (t, s) => !model.causal || s <= t;
const visibleKeys = (t) => model.causal ? t + 1 : T;

// ---- tokens

const texts = data.texts;
const token = (t) => texts[data.tokens[t]];
const shortened = (text, length = 24) => {
  const characters = Array.from(text);
  return characters.length > length ? characters.slice(0, length - 1).join("") + "…" : text;
};
const named = (t) => `${t} ‘${shortened(token(t))}’`;
const headName = (i) => `layer ${Math.floor(i / model.heads)}, head ${i % model.heads}`;

// ---- the models of the training run: frames; the last frame is the checkpoint itself

const frames = (data.history.models || []).map((kept) => ({
  step: kept.step, weights: kept.weights, scores: kept.scores,
}));
const lastStep = Math.max(0, ...((data.history.validation || [[]])[0]));
if (!frames.length || frames[frames.length - 1].weights.join() !== data.weights.join())
  frames.push({step: lastStep, weights: data.weights, scores: data.scores.of_kind});
state.frame = frames.length - 1;
const isLastFrame = () => state.frame === frames.length - 1;

// ---- matrices

const weightsAt = remembered((frame, i) => unpacked(decoded(frames[frame].weights[i], 0, 1), T));
const weights = (i) => weightsAt(state.frame, i);

// The weights as the settings show them: without the first token, each row divided by its sum.
const shownAt = remembered((frame, i, withoutFirst) => {
  const A = weightsAt(frame, i);
  if (!withoutFirst) return A;
  const shown = A.slice();
  for (let t = 0; t < T; ++t) {
    shown[t * T] = 0;
    let sum = 0;
    for (let s = 1; s < visibleKeys(t); ++s) sum += shown[t * T + s];
    if (sum > 0) for (let s = 1; s < visibleKeys(t); ++s) shown[t * T + s] /= sum;
  }
  return shown;
});
const shown = (i) => shownAt(state.frame, i, state.withoutFirst);

let lossGradients = [];  // set after the first view is drawn
const gradients = () => lossGradients;
const gradientOf = remembered((target, i) => {
  const head = gradients()[target].heads[i];
  return unpacked(decoded(head.codes, -head.limit, head.limit), gradients()[target].rows);
});

// Queries, keys or values of a head, (T, head size), or null if the page leaves them out.
const vectorsOf = remembered((i, kind) => {
  const head = data.vectors[i];
  return head && decoded(head[kind].codes, -head[kind].limit, head[kind].limit);
});

// ---- labels of heads

const kinds = data.scores.kinds;
const clearScore = 0.25;  // a label needs a score of this size, and twice that of uniform weights
function labelOf(i) {
  let best = "none", excess = 0;
  kinds.forEach((kind, k) => {
    const score = frames[state.frame].scores[k][i], uniform = data.scores.uniform[k];
    if (score === null || score < clearScore || score < 2 * uniform) return;
    if (score - uniform > excess) [best, excess] = [kind, score - uniform];
  });
  return best;
}

// The query of the second half (or the last part) of the text whose largest weight is the largest. In
// a causal model the last query does not count: no loss depends on it, as its next token is not known.
function clearestQuery(i) {
  const A = shown(i), end = Math.max(1, T - (model.causal ? 1 : 0)), largest = (t) => A[t * T + largestKey(i, t)];
  let best = end - 1;
  for (let t = Math.max(Math.floor(T / 2), T - largestBand); t < end; ++t) if (largest(t) > largest(best)) best = t;
  return best;
}

function largestKey(i, t) {
  const A = shown(i);
  let best = 0;
  for (let s = 1; s < visibleKeys(t); ++s) if (A[t * T + s] > A[t * T + best]) best = s;
  return best;
}
