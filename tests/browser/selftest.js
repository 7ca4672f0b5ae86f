// selftest.js: drives the events of the page of `heed look --page`, and reports what it finds.

const checks = [];
function check(name, passed, detail = "") {
  checks.push({name, passed: Boolean(passed), detail: String(detail)});
}
const near = (a, b, tolerance) => Math.abs(a - b) <= tolerance;

// Sends a mouse or key event to an element; x and y are proportions of its box.
function send(element, type, x = 0.5, y = 0.5) {
  const box = element.getBoundingClientRect();
  const init = {bubbles: true, clientX: box.left + x * box.width, clientY: box.top + y * box.height};
  element.dispatchEvent(type === "click" ? new MouseEvent(type, init) : new PointerEvent(type, {...init, pointerType: "mouse"}));
}
const press = (element, key) => element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));

// The place of cell (t, s) in a matrix, as proportions.
const placeOf = (t, s) => [(s - state.band + 0.5) / bandSize, (t - state.band + 0.5) / bandSize];
function sendToMatrix(type, t, s) {
  send(matrix.firstChild, type, ...placeOf(t, s));
}
const lastVisible = () => [state.band + bandSize - 1, state.band + Math.min(1, bandSize - 1)];

function testNumbers() {
  const rowError = (A, t) => Math.abs(A.slice(t * T, t * T + visibleKeys(t)).reduce((a, b) => a + b, 0) - 1);
  let worst = 0;
  for (let i = 0; i < headCount; ++i) for (let t = 0; t < T; ++t) worst = Math.max(worst, rowError(weights(i), t));
  check("every row of every head sums to 1", worst < T / 65535, worst);
  const sum = sumOf(state.head, T - 1);
  if (sum) {
    const A = weightsAt(frames.length - 1, state.head);
    const error = Math.max(...sum.keys.map((key, s) => Math.abs(key.weight - A[(T - 1) * T + s])));
    check("the sum gives the weights of the matrix", error < 2e-3, error);
  }
  check("one map for each head", tiles.length === headCount && grid.children.length === headCount);
  check("first view within 1 s", Number(document.documentElement.dataset.ready) < 1000, `${document.documentElement.dataset.ready} ms`);
}

function testPointer() {
  const [t, s] = lastVisible();
  free();
  sendToMatrix("pointermove", t, s);
  check("hover in the matrix shows its query and key", state.query === t && state.key === s, `${state.query} ${state.key}`);
  check("hover does not lock", !state.locked);
  check("the readout has the weight", byId("readout").textContent.includes(fixed(shown(state.head)[t * T + s])));
  check("the text marks query and key", tokens[t].classList.contains("query") && tokens[s].classList.contains("key"));
  check("the lines mark the query", lineRows.query[t - state.band].classList.contains("on"));
  sendToMatrix("click", t, s);
  check("a click locks", state.locked);
  sendToMatrix("pointermove", state.band, state.band);
  check("hover does not move a locked query", state.query === t);
  press(document.body, "Escape");
  check("Escape frees", !state.locked);
  sendToMatrix("pointermove", state.band, state.band);
  check("hover moves again after Escape", state.query === state.band);
  send(lineRows.query[bandSize - 1], "pointerenter");
  check("hover over a token of the lines", state.query === state.band + bandSize - 1);
  send(tokens[state.band], "pointerenter");
  check("hover over a token of the text", state.query === state.band);
  send(tokens[t], "click");
  check("a click on a token locks", state.locked && state.query === t);
  send(tokens[t], "click");
  check("a second click frees", !state.locked);
}

function testKeys() {
  point(state.band + bandSize - 1, state.band, true);
  press(matrix, "ArrowUp");
  check("ArrowUp moves to the previous query", T < 2 || state.query === state.band + bandSize - 2);
  press(matrix, "ArrowDown");
  press(matrix, "ArrowRight");
  check("ArrowRight moves to the next key", state.key === state.band + Math.min(1, T - 1));
  press(matrix, "ArrowLeft");
  check("ArrowLeft moves back", state.key === state.band);
  press(byId("text"), "Home");
  check("Home goes to the first query", state.query === 0);
  press(byId("text"), "End");
  check("End goes to the last query", state.query === T - 1);
  press(byId("text"), "Enter");
  check("Enter locks", state.locked);
  free();
}

function testHeads() {
  const other = headCount - 1;
  send(tiles[other].tile, "click");
  check("a click opens a head", state.head === other && byId("head-title").textContent.startsWith(`Layer ${model.layers - 1}, head ${model.heads - 1}`));
  check("only the open head is current", grid.querySelectorAll("[aria-current=true]").length === 1);
  for (const {value} of byId("sort").options) {
    byId("sort").value = value;
    byId("sort").dispatchEvent(new Event("change"));
    const order = [...grid.children].map((tile) => tiles.findIndex((entry) => entry.tile === tile));
    const key = (i) => value === "loss" ? increase[i] : kinds.includes(value) ? frames[state.frame].scores[kinds.indexOf(value)][i] : null;
    const falling = order.every((i, at) => at === 0 || key(order[at - 1]) >= key(i));
    check(`sort by ${value}`, order.length === headCount && falling);
  }
  byId("sort").value = "place";
  arrangeGrid();
}

function testSettings() {
  byId("without-first").click();
  const A = shown(state.head), t = T - 1;
  const total = A.slice(t * T, t * T + visibleKeys(t)).reduce((a, b) => a + b, 0);
  check("without the first token the rest sums to 1", A[t * T] === 0 && (near(total, 1, 1e-9) || total === 0), total);
  byId("without-first").click();
  byId("log").click();
  check("on the log scale 0.01 has half of the colours", shadeOf(0.01) === 128 && shadeOf(1) === 255 && shadeOf(0) === 0);
  byId("log").click();
  check("on the linear scale 0.01 is faint", shadeOf(0.01) === 3);
}

function testViews() {
  drawSum();
  const rows = document.querySelectorAll("#sum-body table:first-of-type tbody tr");
  check("the sum lists its keys", !vectorsOf(state.head, "queries") || rows.length >= T);
  byId("target").value = gradients().length - 1;
  byId("target").dispatchEvent(new Event("change"));
  const {rows: count} = gradients()[state.target], dA = gradientOf(state.target, state.head);
  check("a target's gradient ends at its position", dA.slice(count * T).every((x) => x === 0));
  check("the gradient's readout has a number", /dA −?\d/.test(byId("gradient-readout").textContent) || !visible(state.query, state.key));
  lensCells[model.layers][0].click();
  check("a prediction opens", document.querySelectorAll("#lens-detail .bars i").length === data.lens.count);
  const p = predictions(model.layers, T - 1).map((best) => best.p);
  check("predictions fall and sum to at most 1", p.every((x, k) => k === 0 || x <= p[k - 1]) && p.reduce((a, b) => a + b) <= 1.0001);
  free();
  if (mapPoints.length) {
    mapPoints[0].symbol.parentNode.dispatchEvent(new PointerEvent("pointerenter"));
    check("a point of the map shows its row", state.query === 0);
  }
  for (const view of Object.keys(views)) {
    const parsed = new DOMParser().parseFromString(svgOf(view), "image/svg+xml");
    check(`${view} as SVG`, !parsed.querySelector("parsererror") && parsed.documentElement.children.length > 0);
  }
}

function testTime() {
  if (frames.length < 2) return;
  byId("time").value = 0;
  byId("time").dispatchEvent(new Event("input"));
  check("the slider shows the first model", state.frame === 0 && byId("time-text").textContent.startsWith(`step ${frames[0].step}`));
  check("its weights differ from the last model's", weights(state.head).some((x, i) => Math.abs(x - weightsAt(frames.length - 1, state.head)[i]) > 1e-3));
  byId("play").click();
  check("play starts", player !== 0);
  byId("play").click();
  check("pause stops", player === 0);
  setFrame(frames.length - 1);
}

// The background behind an element: the nearest that is not transparent.
function backgroundOf(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor;
    if (opaque(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
}
const numbersOf = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);

function testAccess() {
  let worst = 21, where = "";
  for (const element of document.querySelectorAll("h1, h2, h3, p, a, label, button, td, th, .token, .row, .kind, .loss, .note, output")) {
    if (!element.textContent.trim() || !element.getClientRects().length) continue;
    const ratio = contrast(numbersOf(getComputedStyle(element).color), numbersOf(backgroundOf(element)));
    if (ratio < worst) [worst, where] = [ratio, `${element.tagName}.${element.className} ${element.textContent.slice(0, 20)}`];
  }
  check("contrast of all text is at least 4.5 (AA)", worst >= 4.5, `${worst.toFixed(2)} ${where}`);
  const unnamed = [...document.querySelectorAll("button, input, select, canvas[role], [role=img], [role=listbox]")].filter((e) =>
    !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")));
  check("every control has a name", unnamed.length === 0, unnamed.map((e) => e.outerHTML.slice(0, 60)));
  check("the page is not wider than the window", document.documentElement.scrollWidth <= innerWidth, document.documentElement.scrollWidth);
  matrix.focus();
  check("the matrix can have the focus", document.activeElement === matrix);
}

// The median time of a hover, with layout.
function testSpeed() {
  const times = [];
  free();
  for (let i = 0; i < 60; ++i) {
    const t = state.band + Math.floor(bandSize * (0.3 + 0.7 * ((i * 7) % 60) / 60)), begin = performance.now();
    sendToMatrix("pointermove", Math.min(t, T - 1), state.band + i % Math.max(1, Math.floor(bandSize * 0.3)));
    document.body.getBoundingClientRect();
    times.push(performance.now() - begin);
  }
  const median = times.sort((a, b) => a - b)[30];
  check("hover within 16 ms (median)", median < 16, `${median.toFixed(1)} ms`);
}

function selftest() {
  for (const test of [testNumbers, testPointer, testKeys, testHeads, testSettings, testViews, testTime, testAccess, testSpeed]) {
    try {
      test();
    } catch (error) {
      check(test.name, false, error.stack);
    }
  }
  const passed = checks.filter((one) => one.passed).length;
  return checks.map(({name, passed: ok, detail}) => `${ok ? "passed" : "FAILED"}  ${name}${detail ? `: ${detail}` : ""}`).join("\n") +
         `\n${passed} of ${checks.length} passed`;
}

return selftest();
