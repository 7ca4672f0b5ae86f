// 07_gradient.js: the gradient of a loss with respect to the attention weights, beside the weights.

const gradientBoxes = ["attention weights A", "gradient dA"].map((title) => {
  const canvas = make("canvas");
  const box = make("div", {class: "gradient-map"}, canvas, make("div", {class: "cross"}),
                   make("div", {class: "cross column"}), make("div", {class: "cross cell"}));
  return {canvas, box, figure: make("figure", {}, make("figcaption", {text: title}), box)};
});

function targetText({position, target, known, loss}) {
  if (position === null) return `all next tokens, mean ${fixed(loss)}`;
  const what = known ? "next token" : "most probable token";
  return `position ${named(position)}: ${what} ‘${shortened(texts[target])}’, ${fixed(loss)}`;
}

function gradientValue(x, head) {
  const text = fixed(Math.abs(x), head.decimals);
  return (x < 0 && Number(text) !== 0 ? "−" : "") + text;
}

// Says so if the page leaves out the losses of some positions; the first losses are the last positions'.
function missingTargets() {
  const {position} = gradients()[gradients().length - 1];
  const first = position === null ? T : position;
  if (first === 0) return "";
  const missing = first === 1 ? "position 0" : `positions 0 to ${first - 1}`;
  return ` The losses at ${missing} are left out to keep the file small; a page of a shorter text has them.`;
}

let gradientStarted = false;

function drawGradient() {
  if (!gradientStarted) return;
  const {rgb} = signedScale(), head = gradients()[state.target].heads[state.head];
  drawMatrix(gradientBoxes[0].canvas, weightsAt(frames.length - 1, state.head), weightColour());
  drawMatrix(gradientBoxes[1].canvas, gradientOf(state.target, state.head), (x) => rgb[signedShade(x, head.limit)]);
  byId("gradient-note").textContent =
    `dA is the derivative of the loss with respect to each weight, with the scale from ` +
    `−${gradientValue(head.limit, head)} (orange: more weight lowers the loss) to ` +
    `${gradientValue(head.limit, head)} (blue: more weight raises it).` +
    (isLastFrame() ? "" : " Both are those of the last model.") + missingTargets();
  markGradient();
}

function markGradient() {
  if (!gradientStarted) return;
  const t = state.query, s = state.key, head = gradients()[state.target].heads[state.head];
  for (const {box} of gradientBoxes) markMatrix(box, 0, T);
  const A = weightsAt(frames.length - 1, state.head)[t * T + s];
  const dA = gradientOf(state.target, state.head)[t * T + s];
  const isZero = t >= gradients()[state.target].rows;
  byId("gradient-readout").textContent = !visible(t, s) ? "masked" :
    `query ${named(t)}, key ${named(s)}: A ${fixed(A)}, dA ${gradientValue(dA, head)}` +
    (isZero ? " (the loss is of earlier positions and does not depend on this query)" : "");
}

function startGradient() {
  gradientStarted = true;
  byId("gradient-pair").append(...gradientBoxes.map(({figure}) => figure));
  for (const {box, canvas} of gradientBoxes) {
    box.tabIndex = 0;
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", "matrix of queries and keys; arrow keys move");
    listenToMatrix(box, canvas, () => 0, T);
  }
  byId("target").append(...gradients().map((target, i) => make("option", {value: i, text: targetText(target)})));
  byId("target").addEventListener("change", (event) => {
    state.target = Number(event.target.value);
    drawGradient();
  });
  drawGradient();
}
