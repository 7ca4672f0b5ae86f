// 06_sum.js: the attention of one query, number by number: scores, softmax, weighted values.

const headSize = model.head_size;

// Everything that one query computes, from its query, the keys and the values. The tables show the
// stored weights, as all views do: a weight from the rounded numbers may differ in the last decimal.
function sumOf(i, t) {
  const q = vectorsOf(i, "queries"), k = vectorsOf(i, "keys"), v = vectorsOf(i, "values");
  if (!q) return null;
  const keys = Array.from({length: T}, (_, s) => {
    let dot = 0;
    for (let d = 0; d < headSize; ++d) dot += q[t * headSize + d] * k[s * headSize + d];
    return {dot, score: dot / Math.sqrt(headSize)};
  });
  const largest = Math.max(...keys.slice(0, visibleKeys(t)).map(({score}) => score));
  let total = 0;
  keys.forEach((key, s) => {
    key.exp = visible(t, s) ? Math.exp(key.score - largest) : 0;
    total += key.exp;
  });
  keys.forEach((key) => key.weight = key.exp / total);
  const output = Array.from({length: headSize}, (_, d) =>
    keys.reduce((sum, key, s) => sum + key.weight * v[s * headSize + d], 0));
  const stored = weightsAt(frames.length - 1, i).subarray(t * T, (t + 1) * T);
  return {q, k, v, keys, largest, total, output, stored};
}

function drawSum() {
  const t = state.query, s = state.key, sum = sumOf(state.head, t), body = byId("sum-body");
  if (!sum) {
    body.replaceChildren(make("p", {text: "The queries, keys and values of this head are left out to keep the " +
      `file small. heed look ${model.run} --page FILE --layer ${Math.floor(state.head / model.heads)} ` +
      `--head ${state.head % model.heads} writes a page that has them.`}));
    return;
  }
  const where = body.querySelector(".scroll")?.scrollTop || 0;
  body.replaceChildren(weightsTable(sum, t, s), vectorsTable(sum, t, s));
  showKey(body.querySelector(".scroll"), where);
}

// Scrolls the table to where it was, or to the chosen key if that could not be seen.
function showKey(box, where) {
  const row = box.querySelector("tr.on"), head = box.querySelector("thead").offsetHeight, foot = box.querySelector("tfoot").offsetHeight;
  const top = row.offsetTop - head, bottom = row.offsetTop + row.offsetHeight + foot - box.clientHeight;
  box.scrollTop = where < bottom || where > top ? (top + bottom) / 2 : where;
}

function weightsTable(sum, t, s) {
  const rows = sum.keys.map((key, at) => {
    const masked = !visible(t, at);
    return [named(at), fixed(key.dot, 3), fixed(key.score, 3), masked ? "−∞" : fixed(key.score, 3),
            fixed(key.exp), fixed(sum.stored[at])];
  });
  const table = makeTable(["key", "q · k", `÷ √${headSize}`, "masked", "exp", "weight"], rows,
                          ["sum", "", "", "", fixed(sum.total), fixed(1)]);
  [...table.tBodies[0].rows].forEach((row, at) => {
    row.classList.toggle("on", at === s);
    shadeCell(row.cells[5], sum.stored[at]);
    if (!visible(t, at)) return;
    row.classList.add("pick");
    row.addEventListener("click", () => (state.locked = true, point(t, at, true)));
  });
  return make("div", {}, make("h3", {text: `Softmax over the keys of query ${named(t)}`}),
              make("p", {text: `exp is e to the masked score less the largest, ${fixed(sum.largest, 3)}; the weight is exp divided by the sum of all. ` +
                               (isLastFrame() ? "Click a row to see its key." : "These are the numbers of the last model.")}),
              make("div", {class: "scroll", tabindex: 0}, table));
}

function vectorsTable(sum, t, s) {
  const {q, k, v} = sum, weight = sum.stored[s], rows = [];
  const limit = (numbers, at) => Math.max(...numbers.slice(at * headSize, (at + 1) * headSize).map(Math.abs));
  for (let d = 0; d < headSize; ++d) {
    const a = q[t * headSize + d], b = k[s * headSize + d], c = v[s * headSize + d];
    rows.push([`${d}`, fixed(a, 3), fixed(b, 3), fixed(a * b, 3), fixed(c, 3), fixed(weight * c, 3), fixed(sum.output[d], 3)]);
  }
  const table = makeTable(["", "q", "k", "q × k", "v", "A × v", "output"], rows,
                          ["sum", "", "", fixed(sum.keys[s].dot, 3), "", "", ""]);
  const limits = [limit(q, t), limit(k, s), 0, limit(v, s), limit(v, s), limit(v, s)];
  limits[2] = limits[0] * limits[1];
  [...table.tBodies[0].rows].forEach((row) => limits.forEach((m, c) =>
    shadeCell(row.cells[c + 1], parseFloat(row.cells[c + 1].textContent), m)));
  return make("div", {}, make("h3", {text: `Query ${named(t)} and key ${named(s)}, dimension by dimension`}),
              make("p", {text: `q · k = ${fixed(sum.keys[s].dot, 3)} is the sum of the products; the weight is ` +
                `A = ${fixed(weight)}; the output is the sum of A × v over all keys.`}),
              make("div", {class: "scroll", tabindex: 0}, table));
}
