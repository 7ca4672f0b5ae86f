// film.js: plays the frames of a training step, node by node, or of a parameter, step by step.

const {data} = loaded;
const nodes = data.nodes || [];
const order = nodes.map((_, i) => i).filter((i) => nodes[i].inputs.length);
const leaves = nodes.map((_, i) => i).filter((i) => !nodes[i].inputs.length);
const state = {frame: 0};
const pointing = "Point at a cell to read its number; click a picture to go to its node.";

const nodeName = (i) => i === null ? "constant" : nodes[i].name || nodes[i].op;
const shapeText = (picture) => `(${picture.shape.join(", ")})`;

// ---- frames: what is computed, its note, its pictures as [caption, picture, node], its source

function forwardFrame(i, k) {
  const node = nodes[i];
  const inputs = node.inputs.map((from, n) => from === null ? null : [`input ${n}: ${nodeName(from)}`, nodes[from].value, from]);
  return {phase: "forward", text: `forward ${k + 1} of ${order.length}`, node: i, title: `${node.op}: forward`,
          note: `y = ${node.name || node.op}, made at ${node.place}`,
          pictures: [...inputs.filter(Boolean), ["result y", node.value, i]]};
}

function backwardFrame(i, k) {
  const node = nodes[i];
  const parts = node.parts.map((part, n) => part && [`to input ${n}: ${nodeName(node.inputs[n])}`, part, node.inputs[n]]);
  return {phase: "backward", text: `backward ${k + 1} of ${order.length}`, node: i, title: `${node.op}: backward`,
          note: "dy, the derivative of the loss with respect to the result, is complete. The operation computes from it what it adds " +
            "to the gradient of each input.",
          pictures: [["dy", node.gradient, i], ...parts.filter(Boolean)]};
}

function updateFrame(i, k) {
  const node = nodes[i];
  return {phase: "update", text: `update ${k + 1} of ${leaves.length}`, node: i, title: `${nodeName(i)}: the optimizer's step`,
          note: "AdamW adds the update to the parameter, from this gradient and those of earlier steps.",
          pictures: [["value before", node.value, i], ["gradient", node.gradient, i], ["update", node.update, i]]};
}

function stepFrame(step) {
  const {facts} = step;
  return {phase: "step", text: `step ${facts.step}`, title: `${data.parameter} at step ${facts.step}`,
          note: `loss ${facts.loss}, gradient norm ${facts.norm}, learning rate ${facts.lr}`,
          pictures: [["value before", step.value], ["gradient", step.gradient], ["update", step.update]].filter(([, picture]) => picture)};
}

const frames = data.steps ? data.steps.map(stepFrame) : [
  ...order.map(forwardFrame), ...[...order].reverse().map(backwardFrame), ...leaves.map(updateFrame)];

// ---- pictures

const sizeOf = (picture) => {
  const [rows, columns] = [1, 1, ...picture.shape].slice(-2);
  return {rows: Math.ceil(rows / picture.row_step) || 0, columns: Math.ceil(columns / picture.column_step)};
};
const numbersOf = (picture) => picture.numbers ??= decoded(picture.codes, -picture.limit, picture.limit);
// Whether the rows are positions in the text: an axis of tokens stands before that of features.
const hasPositions = (picture) => data.tokens && picture.shape.length > 2 && picture.row_step === 1 && picture.shape.at(-2) === data.tokens.length;
const number = (x) => Number(x.toPrecision(4)).toString().replace("-", "−");

function drawPicture(canvas, picture) {
  const {rows, columns} = sizeOf(picture), numbers = numbersOf(picture), {rgb} = signedScale();
  canvas.width = columns, canvas.height = Math.max(rows, 1);
  const image = new ImageData(canvas.width, canvas.height);
  for (let i = 0; i < numbers.length; ++i)
    image.data.set([...rgb[signedShade(numbers[i], picture.limit)], 255], 4 * i);
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.style.aspectRatio = `${columns} / ${Math.max(rows, columns / 16)}`;
}

function cellText(picture, row, column) {
  const {columns} = sizeOf(picture), position = row * picture.row_step;
  const index = [...picture.shape.slice(0, -2).map(() => 0), position, column * picture.column_step].slice(-Math.max(1, picture.shape.length));
  const value = fixed(numbersOf(picture)[row * columns + column], picture.decimals);
  const token = hasPositions(picture) ? `, token ‘${data.tokens[position]}’` : "";
  return `(${picture.shape.length ? index.join(", ") : ""})${token}: ${value}`;
}

function markToken(position) {
  document.querySelectorAll("#window span").forEach((span, t) => span.classList.toggle("on", t === position));
}

const sampledText = (step, name) => step > 1 ? [`1 ${name} in ${step}`] : [];

function makePicture([caption, picture, node]) {
  const canvas = make("canvas", {role: "img", "aria-label": `${caption} ${shapeText(picture)}`});
  if (node !== undefined && node !== frames[state.frame].node) canvas.addEventListener("click", () => openNode(node));
  drawPicture(canvas, picture);
  canvas.addEventListener("mousemove", (event) => {
    const {rows, columns} = sizeOf(picture), box = canvas.getBoundingClientRect();
    const inside = (x, count) => Math.min(count - 1, Math.max(0, Math.floor(x * count)));
    if (!rows) return;
    const row = inside((event.clientY - box.top) / box.height, rows);
    byId("readout").textContent = caption + " " + cellText(picture, row, inside((event.clientX - box.left) / box.width, columns));
    markToken(hasPositions(picture) ? row * picture.row_step : -1);
  });
  canvas.addEventListener("mouseleave", () => (byId("readout").textContent = pointing, markToken(-1)));
  const {all} = picture;
  const shown = [...(picture.shape.length > 2 ? ["window 0"] : []), ...sampledText(picture.row_step, "row"), ...sampledText(picture.column_step, "column")];
  const numbers = [`${number(all.min)} to ${number(all.max)}, norm ${number(all.norm)}`, ...(all.not_finite ? [`${all.not_finite} not finite`] : []),
                   ...(shown.length ? [`shown: ${shown.join(", ")}`] : [])].join("; ");
  return make("figure", {}, make("figcaption", {}, make("b", {text: caption}), ` ${shapeText(picture)}`), canvas,
              make("div", {class: "numbers", text: numbers}));
}

// The source, in which the function of the phase is marked. It ends on the line of its { or, if that
// line has no }, at the next line that begins with one.
function drawSource(frame) {
  const text = frame.phase === "update" || frame.node === undefined ? "" : (data.sources[nodes[frame.node].op] || "");
  const lines = text.split("\n"), begins = new RegExp(`^  \\S.*\\b${frame.phase}\\(`);
  const first = lines.findIndex((line) => begins.test(line));
  let last = lines.findIndex((line, i) => i >= first && /[{;]/.test(line));
  if (!/}|;/.test(lines[last])) last = lines.findIndex((line, i) => i > last && line.startsWith("  }"));
  const part = (from, to, on) => make("span", {class: on ? "part on" : "part", text: lines.slice(from, to).join("\n")});
  byId("source").replaceChildren(...(first < 0 ? [text] : [
    part(0, first), part(first, last + 1, true), part(last + 1, lines.length)]));
}

// ---- the player

function drawFrame() {
  const frame = frames[state.frame];
  byId("time").value = state.frame;
  byId("time-text").textContent = `${frame.text} (${state.frame + 1} / ${frames.length})`;
  byId("frame-title").textContent = frame.title;
  byId("frame-note").textContent = frame.note;
  byId("readout").textContent = pointing;
  byId("pictures").replaceChildren(...frame.pictures.map(makePicture));
  drawSource(frame);
  for (const entry of byId("list").children) {
    const button = entry.firstChild, on = Number(button.dataset.node) === frame.node;
    button.setAttribute("aria-current", String(on));
    if (on) byId("list").scrollTop = entry.offsetTop - byId("list").clientHeight / 2;
  }
}

function setFrame(k) {
  state.frame = Math.min(frames.length - 1, Math.max(0, k));
  drawFrame();
}

let player = 0;
function play(on) {
  clearInterval(player);
  player = on ? setInterval(() => {
    setFrame(state.frame + 1);
    if (state.frame === frames.length - 1) play(false);
  }, 700) : 0;
  byId("play").textContent = on ? "⏸" : "▶";
  byId("play").setAttribute("aria-label", on ? "pause" : "play");
}
function togglePlay() {
  if (!player && state.frame === frames.length - 1) setFrame(0);
  play(!player);
}

function keyPressed(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const step = {ArrowLeft: state.frame - 1, ArrowRight: state.frame + 1, Home: 0, End: frames.length - 1}[event.key];
  const isPlay = event.key === " " && event.target.tagName !== "BUTTON";
  if (step === undefined && !isPlay) return;
  event.preventDefault();
  if (isPlay) return togglePlay();
  play(false);
  setFrame(step);
}

// Goes to the node's frame in the phase that is shown; of a parameter, to its update.
function openNode(i) {
  const phase = !nodes[i].inputs.length ? "update" : frames[state.frame].phase === "backward" ? "backward" : "forward";
  play(false);
  setFrame(frames.findIndex((frame) => frame.node === i && frame.phase === phase));
}

function makeEntry(i) {
  return make("li", {}, make("button", {type: "button", "data-node": i, onclick: () => openNode(i), title: nodes[i].place},
                             `${nodeName(i)} `, make("span", {class: "shape", text: shapeText(nodes[i].value)})));
}

byId("run").textContent = data.run;
const diverged = data.diverged ? ` The run diverged here: ${data.diverged}` : "";
if (data.steps) {
  byId("about").textContent = `The parameter ${data.parameter} over ${data.steps.length} steps.${diverged}`;
} else {
  const {facts} = data, shard = data.shards > 1 ? ` The film shows the first of ${data.shards} shards.` : "";
  byId("about").textContent = `Step ${facts.step}: loss ${facts.loss}, gradient norm ${facts.norm}, learning rate ${facts.lr}.` + diverged +
    shard + ` The text below is window 0 of the batch of ${data.windows}.`;
  byId("window").append(...data.tokens.map((text) => make("span", {text})));
  byId("nodes").hidden = false;
  byId("list").append(...[...leaves, ...order].map(makeEntry));
}
byId("time").max = frames.length - 1;
byId("time").addEventListener("input", (event) => (play(false), setFrame(Number(event.target.value))));
byId("play").addEventListener("click", togglePlay);
document.addEventListener("keydown", keyPressed);
darkMode.addEventListener("change", drawFrame);
printing.addEventListener("change", drawFrame);
drawFrame();
document.documentElement.dataset.ready = Math.round(performance.now());
