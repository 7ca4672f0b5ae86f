// 12_start.js: draws everything, and again when a setting changes.

function drawFirst() {
  drawTime();
  drawGrid();
  drawHead();
}

function drawEverything() {
  drawFirst();
  drawSum();
  drawGradient();
  drawLens();
  drawMap();
}

function startSettings() {
  byId("log").addEventListener("change", (event) => (state.log = event.target.checked, drawEverything()));
  byId("without-first").addEventListener("change", (event) => (state.withoutFirst = event.target.checked, drawEverything()));
  darkMode.addEventListener("change", drawEverything);
  printing.addEventListener("change", drawEverything);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(drawHead);
  });
}

byId("run").textContent = model.run;
byId("about").textContent =
  `${model.layers} layers of ${model.heads} heads, width ${model.width}, ${model.causal ? "causal" : "bidirectional"}. ` +
  `Text: ${model.text}, ${T} tokens.`;
state.head = increase ? increase.indexOf(Math.max(...increase)) : 0;
state.query = clearestQuery(state.head);
state.key = largestKey(state.head, state.query);
state.band = Math.max(0, T - bandSize);
startTraining();
startGrid();
startHead();
startSettings();
drawFirst();
document.documentElement.dataset.ready = Math.round(performance.now());
requestAnimationFrame(() => setTimeout(() => {  // after the first view
  startLens();
  drawSum();
  drawLens();
  drawMap();
  loaded.gradients.then((gradients) => {
    lossGradients = gradients;
    startGradient();
  }).catch(sayError);
}));
