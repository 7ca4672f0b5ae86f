// 08_lens.js: the next-token probabilities at each position, after each layer (logit lens).

const lensTop = decoded(data.lens.top, 0, 1), lensNext = decoded(data.lens.next, 0, 1);
const lensCells = [];
const layerName = (l) => l === 0 ? "embedding" : l === model.layers ? "the model" : `layer ${l - 1}`;
let lensLayer = model.layers;

// The most probable tokens after layer l at position t: [{text, p}].
function predictions(l, t) {
  const first = (l * T + t) * data.lens.count;
  return Array.from({length: data.lens.count}, (_, k) =>
    ({text: texts[data.lens.tokens[first + k]], p: lensTop[first + k]}));
}
const nextKnown = (t) => model.causal && t + 1 < T;

// The predictions after layer l at the positions [first, end).
function lensRow(l, first, end) {
  const row = make("tr", {}, make("th", {text: layerName(l), scope: "row"}));
  for (let t = first; t < end; ++t) {
    const [best] = predictions(l, t);
    const cell = make("td", {text: shortened(best.text, 10), title: `${layerName(l)}, position ${named(t)}: ${fixed(best.p)}`});
    cell.addEventListener("click", () => (lensLayer = l, state.locked = true, point(t, largestKey(state.head, t), true)));
    lensCells[l].push(cell);
    row.append(cell);
  }
  return row;
}

function lensTable(first, end) {
  const positions = Array.from({length: end - first}, (_, i) => first + i);
  const head = make("tr", {}, make("th", {text: "position"}),
                    ...positions.map((t) => make("th", {text: shortened(token(t), 10), title: named(t), scope: "col"})));
  const body = make("tbody");
  for (let l = model.layers; l >= 0; --l) body.append(lensRow(l, first, end));
  if (model.causal)
    body.append(make("tr", {class: "known-row"}, make("th", {text: "next token", scope: "row"}),
                     ...positions.map((t) => make("td", {text: nextKnown(t) ? shortened(token(t + 1), 10) : ""}))));
  return make("table", {}, make("thead", {}, head), body);
}

// The ends of the parts of the text: one part, which scrolls, or on paper as many as its width needs.
const paperWidth = 66;  // in characters, without the names of the layers; a column has a margin of 2
function lensParts() {
  if (!printing.matches) return [T];
  const ends = [];
  let width = 0;
  for (let t = 0; t < T; ++t) {
    const shownTexts = [token(t), ...Array.from({length: model.layers + 1}, (_, l) => predictions(l, t)[0].text)];
    const column = 2 + Math.max(...shownTexts.map((text) => Array.from(shortened(text, 10)).length));
    if (width && width + column > paperWidth) ends.push(t), width = 0;
    width += column;
  }
  return [...ends, T];
}

function buildLens() {
  for (let l = 0; l <= model.layers; ++l) lensCells[l] = [];
  const ends = lensParts();
  byId("lens-body").replaceChildren(...ends.map((end, i) => lensTable(i ? ends[i - 1] : 0, end)));
}

function startLens() {
  buildLens();
  printing.addEventListener("change", () => (buildLens(), drawLens()));
  byId("lens-body").tabIndex = 0;
  byId("lens-note").textContent =
    (model.causal ? "The most probable next token" : "The most probable token") +
    " at each position, shaded by its probability: of the model, and of the residual stream after each layer, " +
    "read through the final norm and the output layer. Click a cell for more.";
}

function drawLens() {
  const scale = weightScale();
  lensCells.forEach((row, l) => row.forEach((cell, t) => {
    const i = shadeOf(predictions(l, t)[0].p);
    cell.style.background = scale.css[i], cell.style.color = scale.ink[i];
  }));
  markLens();
}

function markLens() {
  if (!lensCells.length) return;
  const t = state.query, l = lensLayer, bars = make("div", {class: "bars"});
  for (const {text, p} of predictions(l, t)) {
    const bar = make("i");
    bar.style.width = `${100 * p}%`;
    bars.append(make("code", {text: shortened(text), title: text}), bar, make("span", {class: "number", text: fixed(p)}));
  }
  const rest = nextKnown(t) ? `; the next token ‘${shortened(token(t + 1))}’ has ${fixed(lensNext[l * T + t])}` : "";
  byId("lens-detail").replaceChildren(make("p", {class: "note", text: `${layerName(l)}, position ${named(t)}${rest}`}), bars);
}
