// 04_heads.js: all heads as small maps, with label and loss, in a grid of layers by heads.

const grid = byId("grid");
const tiles = [];
const increase = data.ablation.increase;
const largestIncrease = increase ? Math.max(...increase.map(Math.abs), 1e-9) : 1;

function makeTile(i) {
  const canvas = make("canvas"), kind = make("span", {class: "kind"});
  const tile = make("button", {class: "tile", type: "button", onclick: () => openHead(i)}, canvas,
                    make("span", {class: "name", text: `L${Math.floor(i / model.heads)} H${i % model.heads}`}), kind);
  if (increase) {
    const fill = make("span", {class: "fill"});
    fill.style.width = `${100 * Math.max(0, increase[i]) / largestIncrease}%`;
    tile.append(make("span", {class: "loss"}, make("span", {class: "track"}, fill),
                     make("span", {class: "number", text: signedText(increase[i])})));
  }
  return {tile, canvas, kind, i};
}
const signedText = (x) => (x >= 0.00005 ? "+" : "") + fixed(x).replace("-", "−");

function describeTile({tile, kind, i}) {
  const label = labelOf(i), scores = frames[state.frame].scores, sorted = kinds.indexOf(byId("sort").value);
  kind.textContent = sorted < 0 ? label : `${kinds[sorted]} ${fixed(scores[sorted][i])}`;
  const list = kinds.map((name, k) => `${name} ${fixed(scores[k][i])}`).join(", ");
  const loss = increase ? `; loss without it ${signedText(increase[i])}` : "";
  tile.title = `${headName(i)}\n${list}${loss}`;
  tile.setAttribute("aria-label", `${headName(i)}: ${label}; ${list}${loss}`);
}

function drawGrid() {
  const colour = weightColour();
  for (const entry of tiles) {
    drawMatrix(entry.canvas, shown(entry.i), colour);
    describeTile(entry);
    entry.tile.setAttribute("aria-current", String(entry.i === state.head));
  }
}

// The heads in the order of the select element.
function sortedHeads() {
  const order = tiles.map((_, i) => i), by = byId("sort").value;
  const scores = frames[state.frame].scores;
  if (by === "label") order.sort((a, b) => labelOf(a).localeCompare(labelOf(b)) || a - b);
  if (by === "loss") order.sort((a, b) => increase[b] - increase[a] || a - b);
  if (kinds.includes(by)) {
    const column = scores[kinds.indexOf(by)];
    order.sort((a, b) => (column[b] ?? -1) - (column[a] ?? -1) || a - b);
  }
  return order;
}
const arrangeGrid = () => grid.append(...sortedHeads().map((i) => tiles[i].tile));

function moveInGrid(event) {
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -gridColumns, ArrowDown: gridColumns}[event.key];
  const at = [...grid.children].indexOf(document.activeElement);
  if (!step || at < 0) return;
  event.preventDefault();
  grid.children[Math.min(grid.children.length - 1, Math.max(0, at + step))].focus();
}

const gridColumns = Math.min(model.heads, 6);
function startGrid() {
  grid.style.setProperty("--columns", gridColumns);
  const names = [["place", "layer and head"], ["label", "label"], ...kinds.map((kind) => [kind, kind])];
  if (increase) names.push(["loss", "loss without it"]);
  byId("sort").append(...names.map(([value, text]) => make("option", {value, text})));
  byId("sort").addEventListener("change", () => (tiles.forEach(describeTile), arrangeGrid()));
  grid.addEventListener("keydown", moveInGrid);
  for (let i = 0; i < headCount; ++i) tiles.push(makeTile(i));
  byId("heads-note").textContent =
    `Rows of a map are query positions, columns key positions. A label names the keys that get much of a ` +
    `head's weight` + (kinds.includes("induction") ? ` (induction: the tokens that followed the query's token earlier)` : "") +
    `. Their weight, a mean over ${data.scores.description}, is then at least ${clearScore} and twice that of ` +
    `uniform weights. ` +
    (increase ? `The bar is the rise of the loss without the head, from ${fixed(data.ablation.loss)} nats ` +
                `per token (${data.ablation.description}).`
              : `No loss without each head: ${data.ablation.description}.`);
  arrangeGrid();
}

function openHead(i) {
  state.head = i;
  if (!state.locked) state.key = largestKey(i, state.query);
  tiles.forEach((entry) => entry.tile.setAttribute("aria-current", String(entry.i === i)));
  drawHead();
  drawSum();
  drawGradient();
  drawMap();
  if (byId("head").getBoundingClientRect().top > innerHeight * 0.8) byId("head").scrollIntoView();
}
