// 10_training.js: the models of the training run: a slider over their steps, and the loss curve.

let player = 0;

function setFrame(frame) {
  state.frame = Math.min(frames.length - 1, Math.max(0, frame));
  byId("time").value = state.frame;
  drawEverything();
  arrangeGrid();
}

function lossAt(step) {
  const [steps, losses] = data.history.validation || [[], []];
  const at = steps.indexOf(step);
  return at < 0 ? "" : `, loss ${fixed(losses[at])}`;
}

function drawTime() {
  const {step} = frames[state.frame];
  byId("time-text").textContent = `step ${step}${lossAt(step)}`;
  byId("time").setAttribute("aria-valuetext", byId("time-text").textContent);
  const marker = byId("curve").querySelector(".marker");
  if (marker) marker.setAttribute("d", `M${curveX(step)} 8V130`);
}

function play(on) {
  clearInterval(player);
  player = on ? setInterval(() => {
    if (isLastFrame()) play(false);
    else setFrame(state.frame + 1);
  }, 700) : 0;
  byId("play").textContent = on ? "⏸" : "▶";
  byId("play").setAttribute("aria-label", on ? "pause" : "play");
}
function togglePlay() {
  if (!player && isLastFrame()) setFrame(0);
  play(!player);
}

const curveX = (step) => 44 + 340 * step / Math.max(1, lastStep);

function drawCurve() {
  const {training, validation} = data.history;
  if (!training || !training[1].length) return;
  const all = [...training[1], ...validation[1]].filter((x) => x !== null);
  const low = Math.floor(Math.min(...all) * 2) / 2, high = Math.ceil(Math.max(...all) * 2) / 2;
  const y = (loss) => 130 - 118 * (loss - low) / (high - low || 1);
  const path = ([steps, losses]) => "M" + steps.map((step, i) => `${curveX(step).toFixed(1)} ${y(losses[i]).toFixed(1)}`).join("L");
  const picture = shape("svg", {viewBox: "0 0 396 152", role: "img", "aria-label": "training and validation loss over the steps"});
  for (const loss of [low, (low + high) / 2, high])
    picture.append(shape("path", {d: `M44 ${y(loss)}H384`, stroke: "var(--line)"}),
                   shape("text", {x: 38, y: y(loss) + 4, "text-anchor": "end"}, loss.toFixed(2)));
  picture.append(shape("path", {d: path(training), fill: "none", stroke: "var(--query)", "stroke-width": 1.5}),
                 shape("path", {class: "marker", stroke: "var(--soft)", "stroke-dasharray": "3 3", d: ""}),
                 shape("text", {x: 44, y: 147}, "0"), shape("text", {x: 384, y: 147, "text-anchor": "end"}, `step ${lastStep}`));
  validation[0].forEach((step, i) => picture.append(
    shape("circle", {cx: curveX(step), cy: y(validation[1][i]), r: 3.2, fill: "var(--key)"})));
  byId("curve").replaceChildren(picture);
}

function startTraining() {
  byId("training").hidden = frames.length < 2;
  document.querySelector("nav a[href='#training']").hidden = frames.length < 2;
  document.querySelector("main").classList.toggle("history", frames.length > 1);
  if (frames.length < 2) return;
  byId("time").max = frames.length - 1;
  byId("time").value = state.frame;
  byId("time").addEventListener("input", (event) => (play(false), setFrame(Number(event.target.value))));
  byId("play").addEventListener("click", togglePlay);
  const left = data.history.kept - data.history.models.length;
  byId("training-note").textContent = "The attention weights and scores are those of the model after this step. Line: training loss; dots: " +
    "validation loss, in nats per token." +
    (left > 0 ? ` ${left} of the ${data.history.kept} kept models are left out to keep the file small.` : "");
  drawCurve();
}
