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

function lensRow(l) {
  const row = make("tr", {}, make("th", {text: layerName(l), scope: "row"}));
  lensCells[l] = [];
  for (let t = 0; t < T; ++t) {
    const [best] = predictions(l, t);
    const cell = make("td", {text: shortened(best.text, 10), title: `${layerName(l)}, position ${named(t)}: ${fixed(best.p)}`});
    cell.addEventListener("click", () => (lensLayer = l, state.locked = true, point(t, largestKey(state.head, t), true)));
    lensCells[l].push(cell);
    row.append(cell);
  }
  return row;
}

function startLens() {
  const head = make("tr", {}, make("th", {text: "position"}),
                    ...Array.from({length: T}, (_, t) => make("th", {text: shortened(token(t), 10), title: named(t), scope: "col"})));
  const body = make("tbody");
  for (let l = model.layers; l >= 0; --l) body.append(lensRow(l));
  if (model.causal)
    body.append(make("tr", {class: "known-row"}, make("th", {text: "next token", scope: "row"}),
                     ...Array.from({length: T}, (_, t) => make("td", {text: nextKnown(t) ? shortened(token(t + 1), 10) : ""}))));
  byId("lens-body").append(make("table", {}, make("thead", {}, head), body));
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
