// 05_head.js: one head: the text, lines from queries to keys, and the matrix, all linked.

const tokens = [];      // the tokens of the text
const lineRows = {query: [], key: []};
const lines = byId("lines"), matrix = byId("matrix");
const lineCanvas = make("canvas"), lineShapes = shape("svg");
const matrixCanvas = make("canvas");
const crossRow = make("div", {class: "cross"}), crossColumn = make("div", {class: "cross column"}),
      crossCell = make("div", {class: "cross cell"});
const bandSize = Math.min(T, largestBand);
const rowHeight = bandSize <= 36 ? 20 : bandSize <= 64 ? 13 : 12;

// ---- the state of query and key

// Shows a query and a key. Views that take longer are drawn only if `settled`.
function point(query, key, settled = false) {
  state.query = query;
  state.key = key;
  showBandOf(query, key);
  markHead();
  markGradient();
  markMap();
  if (settled) drawSum(), markLens();
}
function hover(query, key) {
  if (!state.locked && (query !== state.query || key !== state.key)) point(query, key);
}
function lock(query, key) {
  const same = state.locked && query === state.query && key === state.key;
  state.locked = !same;
  point(query, key, true);
}
function free() {
  state.locked = false;
  point(state.query, state.key, true);
}

function moveQuery(step) {
  const query = Math.min(T - 1, Math.max(0, state.query + step));
  point(query, Math.min(state.key, visibleKeys(query) - 1), true);
}
function moveKey(step) {
  point(state.query, Math.min(visibleKeys(state.query) - 1, Math.max(0, state.key + step)), true);
}

function onKeys(event, horizontal, vertical) {
  const moves = {ArrowLeft: [horizontal, -1], ArrowRight: [horizontal, 1],
                 ArrowUp: [vertical, -1], ArrowDown: [vertical, 1]};
  if (moves[event.key]) moves[event.key][0](moves[event.key][1]);
  else if (event.key === "Home") moveQuery(-T);
  else if (event.key === "End") moveQuery(T);
  else if (event.key === "Enter" || event.key === " ") lock(state.query, state.key);
  else return;
  event.preventDefault();
}

// ---- long texts: a part of bandSize tokens

function showBandOf(query) {
  if (query >= state.band && query < state.band + bandSize) return;
  setBand(query - Math.floor(bandSize / 2));
}
function setBand(first) {
  state.band = Math.min(T - bandSize, Math.max(0, first));
  drawHead();
}

// ---- drawing

function drawHead() {
  const label = labelOf(state.head);
  byId("head-title").textContent = `Layer ${Math.floor(state.head / model.heads)}, head ${state.head % model.heads}` +
                                   (label === "none" ? "" : `: ${label}`);
  byId("bands").hidden = T <= bandSize;
  byId("band-text").textContent = `tokens ${state.band} to ${state.band + bandSize - 1} of ${T}`;
  drawMatrix(matrixCanvas, shown(state.head), weightColour(), state.band, bandSize);
  nameRows();
  drawAllLines();
  drawScale();
  markHead();
}

function nameRows() {
  for (let r = 0; r < bandSize; ++r)
    for (const side of ["query", "key"]) {
      const row = lineRows[side][r];
      row.textContent = shortened(token(r + state.band), 16);
      row.title = named(r + state.band);
    }
}

const lineY = (t) => (t - state.band + 0.5) * rowHeight;
const inBand = (s) => s >= state.band && s < state.band + bandSize;

let lineWidth = 140;
let linesHeight = 0;  // of the part of the lines that can be seen

// All lines of the head, faint, below those of the chosen query.
function drawAllLines() {
  const width = lineWidth = lines.clientWidth * 0.46 || 140, height = bandSize * rowHeight, ratio = devicePixelRatio || 1;
  lineCanvas.width = width * ratio, lineCanvas.height = height * ratio;
  lineCanvas.style.height = `${height}px`;
  const context = lineCanvas.getContext("2d"), A = shown(state.head);
  lineCanvas.style.opacity = 0.5;
  linesHeight = lines.clientHeight;
  context.scale(ratio, ratio);
  context.strokeStyle = getComputedStyle(document.body).getPropertyValue("--query");
  for (let t = state.band; t < state.band + bandSize; ++t)
    for (let s = state.band; s < Math.min(visibleKeys(t), state.band + bandSize); ++s) {
      const strength = shadeOf(A[t * T + s]) / 255;
      if (strength < 0.02) continue;
      context.globalAlpha = 0.08 + 0.5 * strength;
      context.lineWidth = 0.5 + 3 * strength;
      context.beginPath();
      context.moveTo(0, lineY(t));
      context.bezierCurveTo(width * 0.45, lineY(t), width * 0.55, lineY(s), width, lineY(s));
      context.stroke();
    }
}

function drawScale() {
  const canvas = make("canvas", {width: 256, height: 1}), {rgb} = weightScale();
  const image = new ImageData(256, 1);
  rgb.forEach((c, i) => image.data.set([...c, 255], 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
  byId("scale").replaceChildren(state.log ? "0.0001" : "0", canvas, "1",
                                ...(model.causal ? [" · above the diagonal: masked"] : []));
}

// Marks the chosen query and key in the text, the lines and the matrix. Runs at every hover.
function markHead() {
  const A = shown(state.head), scale = weightScale(), t = state.query, s = state.key;
  for (let i = 0; i < T; ++i) {
    const shade = visible(t, i) ? shadeOf(A[t * T + i]) : 0, style = tokens[i].style;
    if (tokens[i].shade === shade && tokens[i].scale === scale) continue;
    style.background = scale.css[shade], style.color = scale.ink[shade];
    tokens[i].shade = shade, tokens[i].scale = scale;
  }
  for (const [name, at] of [["query", t], ["key", s]]) {
    mark(`token ${name}`, tokens[at], name);
    mark(`row ${name}`, inBand(at) ? lineRows[name][at - state.band] : null, "on");
  }
  if (byId("text").getAttribute("aria-activedescendant") !== tokens[t].id) {
    document.getElementById(byId("text").getAttribute("aria-activedescendant"))?.setAttribute("aria-selected", "false");
    tokens[t].setAttribute("aria-selected", "true");
    byId("text").setAttribute("aria-activedescendant", tokens[t].id);
  }
  markLines(A);
  markMatrix(matrix, state.band, bandSize);
  if (!lines.matches(":hover")) showRow(lineY(t));
  byId("readout").replaceChildren(...readout(A));
}

// Gives an element a class, and takes it from the element that had this mark before.
const marked = new Map();
function mark(name, element, className) {
  if (marked.get(name) === element) return;
  marked.get(name)?.classList.remove(className);
  element?.classList.add(className);
  marked.set(name, element);
}

// Scrolls the lines so that the row at height y can be seen.
function showRow(y) {
  if (linesHeight >= bandSize * rowHeight) return;
  if (y < lines.scrollTop + rowHeight || y > lines.scrollTop + linesHeight - rowHeight)
    lines.scrollTop = y - linesHeight / 2;
}

function readout(A) {
  const t = state.query, s = state.key;
  const parts = ["query ", make("b", {text: named(t)}), " attends to key ", make("b", {text: named(s)}), ": "];
  parts.push(visible(t, s) ? make("b", {class: "number", text: fixed(A[t * T + s])}) : "masked");
  if (state.withoutFirst) parts.push(" without the first token");
  let outside = 0;
  for (let k = 0; k < visibleKeys(t); ++k) if (!inBand(k)) outside += A[t * T + k];
  if (T > bandSize) parts.push(` · on tokens outside this part: ${fixed(outside)}`);
  if (state.locked) parts.push(" · locked");
  return parts;
}

function markLines(A) {
  const width = lineWidth, t = state.query, paths = [];
  for (let s = state.band; s < Math.min(visibleKeys(t), state.band + bandSize); ++s) {
    const strength = shadeOf(A[t * T + s]) / 255;
    if (strength < 0.005 && s !== state.key) continue;
    const y0 = lineY(t), y1 = lineY(s);
    paths.push(shape("path", {
      d: `M0 ${y0}C${width * 0.45} ${y0} ${width * 0.55} ${y1} ${width} ${y1}`, fill: "none",
      stroke: s === state.key ? "var(--key)" : "var(--query)", "stroke-width": 0.6 + 9 * strength,
      "stroke-opacity": 0.35 + 0.6 * strength}));
  }
  lineShapes.replaceChildren(...paths);
}

// Puts a frame around the row, the column and the cell of the chosen query and key.
function markMatrix(box, first, count) {
  const [row, column, cell] = box.querySelectorAll(".cross"), part = (n) => `${100 * n / count}%`;
  const t = state.query - first, s = state.key - first;
  const place = (element, top, left, height, width) => {
    Object.assign(element.style, {top: part(top), left: part(left), height: part(height), width: part(width)});
    element.hidden = top < 0 || left < 0 || top >= count || left >= count;
  };
  place(row, t, 0, 1, count);
  place(column, 0, s, count, 1);
  place(cell, t, s, 1, 1);
}

// The cell [query, key] at a pointer's place in a matrix of `count` rows from `first`, or null.
function cellAt(event, canvas, first, count) {
  const box = canvas.getBoundingClientRect();
  const t = Math.floor((event.clientY - box.top) / box.height * count) + first;
  const s = Math.floor((event.clientX - box.left) / box.width * count) + first;
  const inside = t >= first && s >= first && t < first + count && s < first + count;
  return inside && visible(t, s) ? [t, s] : null;
}

function listenToMatrix(box, canvas, first, count) {
  box.addEventListener("pointermove", (event) => {
    const cell = cellAt(event, canvas, first(), count);
    if (cell && event.pointerType !== "touch") hover(...cell);
  });
  box.addEventListener("click", (event) => {
    const cell = cellAt(event, canvas, first(), count);
    if (cell) lock(...cell);
  });
  box.addEventListener("keydown", (event) => onKeys(event, moveKey, moveQuery));
}

function startText() {
  for (let t = 0; t < T; ++t) {
    tokens.push(make("span", {class: "token", role: "option", id: `token-${t}`, "aria-selected": "false",
                              title: named(t), text: token(t)}));
    const at = () => [t, largestKey(state.head, t)];
    tokens[t].addEventListener("pointerenter", (event) => event.pointerType === "touch" || hover(...at()));
    tokens[t].addEventListener("click", () => lock(...at()));
  }
  byId("text").append(...tokens);
  byId("text").addEventListener("keydown", (event) => onKeys(event, moveQuery, moveKey));
}

function startLines() {
  lines.style.setProperty("--row", `${rowHeight}px`);
  const tall = make("div");
  tall.style.height = `${bandSize * rowHeight}px`;
  lineShapes.setAttribute("height", bandSize * rowHeight);
  lines.append(tall, lineCanvas, lineShapes);
  for (let r = 0; r < bandSize; ++r)
    for (const side of ["query", "key"]) {
      const row = make("div", {class: `row ${side}`});
      row.style.top = `${r * rowHeight}px`;
      const at = () => side === "query" ? [r + state.band, largestKey(state.head, r + state.band)]
                                        : [state.query, r + state.band];
      const allowed = () => visible(...at());
      row.addEventListener("pointerenter", (event) => event.pointerType === "touch" || (allowed() && hover(...at())));
      row.addEventListener("click", () => allowed() && lock(...at()));
      lineRows[side].push(row);
      lines.append(row);
    }
}

function startHead() {
  startText();
  startLines();
  matrix.append(matrixCanvas, crossRow, crossColumn, crossCell);
  matrix.setAttribute("aria-label", "attention weights; arrow keys move, Enter locks, Escape frees");
  listenToMatrix(matrix, matrixCanvas, () => state.band, bandSize);
  document.addEventListener("keydown", (event) => event.key === "Escape" && free());
  byId("band-back").addEventListener("click", () => moveBand(-1));
  byId("band-on").addEventListener("click", () => moveBand(1));
}

// Moves by half a part, and the query with it if it would be outside.
function moveBand(direction) {
  setBand(state.band + direction * bandSize / 2);
  const query = Math.min(state.band + bandSize - 1, Math.max(state.band, state.query));
  if (query !== state.query) point(query, largestKey(state.head, query), true);
  else markHead();
}
