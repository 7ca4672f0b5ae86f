// sliders.js: a slider changes one number of a lesson's arrays, and the page computes again what
// depends on it. The tests compare these results with those of heed's engine.
"use strict";

const transposed = (x) => x[0].map((_, j) => x.map((row) => row[j]));
const product = (a, b) => a.map((row) => transposed(b).map((column) => row.reduce((sum, x, i) => sum + x * column[i], 0)));
const mapped = (x, change) => x.map((row, i) => row.map((number, j) => change(number, i, j)));
function softmax(row) {
  const largest = Math.max(...row), e = row.map((x) => Math.exp(x - largest));
  const sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => x / sum);
}

// What each widget computes: from the arrays, results by name.
const computed = {
  // Scaled dot-product attention with a causal mask.
  attention({X, W_Q, W_K, W_V}) {
    const Q = product(X, W_Q), K = product(X, W_K), V = product(X, W_V);
    const scores = mapped(product(Q, transposed(K)), (x) => x / Math.sqrt(K[0].length));
    const weights = mapped(scores, (x, i, j) => j <= i ? x : -Infinity).map(softmax);
    return {"scores S": scores, "attention weights": weights, output: product(weights, V)};
  },
  // Softmax of scores times a factor, and its derivatives.
  saturation({factor: [[f]], scores}) {
    const weights = mapped(scores, (x) => f * x).map(softmax);
    const jacobian = (p) => p.map((a, i) => p.map((b, j) => a * ((i === j) - b)));
    const norm = (J) => Math.sqrt(J.flat().reduce((sum, x) => sum + x * x, 0));
    const norms = weights.map((p) => norm(jacobian(p)));
    return {"attention weights": weights, "Jacobian of the second query": jacobian(weights[1]),
            "Frobenius norm": [norms], "factor times norm": [norms.map((x) => f * x)]};
  },
};

class Sliders {
  constructor(figure) {
    const {widget, names, arrays} = JSON.parse(figure.querySelector("script").textContent);
    Object.assign(this, {widget, names, original: Object.fromEntries(arrays)});
    this.arrays = structuredClone(this.original);
    this.build(figure);
    this.choose();
  }

  // ---- the number that the slider changes

  get place() { return this.select.value.split(" "); }
  get number() {
    const [array, i, j] = this.place;
    return this.arrays[array][i][j];
  }
  set number(x) {
    const [array, i, j] = this.place;
    this.arrays[array][i][j] = x;
    this.compute();
  }

  placeName(array, i, j) {
    const matrix = this.original[array];
    if (matrix.length === 1 && matrix[0].length === 1) return array;
    const row = matrix.length === this.names.length ? `‘${this.names[i]}’` : i;
    const column = matrix[0].length === this.names.length ? `‘${this.names[j]}’` : j;
    return `${array} [${row}, ${column}]`;
  }

  // ---- building

  build(figure) {
    const caption = document.createElement("figcaption");
    caption.textContent = "Choose a number and move the slider: the page computes again.";
    this.select = document.createElement("select");
    this.select.setAttribute("aria-label", "number to change");
    for (const [array, matrix] of Object.entries(this.original))
      this.select.append(...matrix.flatMap((row, i) => row.map((_, j) => new Option(this.placeName(array, i, j), `${array} ${i} ${j}`))));
    this.range = Object.assign(document.createElement("input"), {type: "range"});
    this.range.setAttribute("aria-label", "value of the number");
    this.value = document.createElement("output");
    this.reset = Object.assign(document.createElement("button"), {type: "button", textContent: "Reset"});
    this.results = document.createElement("div");
    this.results.className = "results";
    const bar = document.createElement("div");
    bar.className = "bar";
    bar.append(this.select, this.range, this.value, this.reset);
    figure.append(caption, bar, this.results);
    this.select.addEventListener("change", () => this.choose());
    this.range.addEventListener("input", () => this.number = Number(this.range.value));
    this.reset.addEventListener("click", () => {
      this.arrays = structuredClone(this.original);
      this.choose();
    });
  }

  choose() {
    const x = this.number, [low, high] = this.place[0] === "factor" ? [0, 64] : [-3, 3];
    Object.assign(this.range, {min: Math.min(low, Math.floor(x)), max: Math.max(high, Math.ceil(x)), step: 0.01, value: x});
    this.compute();
  }

  compute() {
    this.value.textContent = numberText(this.number);
    this.results.replaceChildren(...Object.entries(computed[this.widget](this.arrays)).map(([name, x]) => this.table(name, x)));
  }

  table(name, x) {
    const table = document.createElement("table"), limit = Math.max(...x.flat().map(Math.abs), 1e-12);
    const title = name.replace("the second query", `‘${this.names[1]}’`);
    table.createCaption().textContent = `${title} (${x.length}, ${x[0].length})`;
    const isNamed = (count) => count === this.names.length;
    if (isNamed(x[0].length)) {
      const head = table.createTHead().insertRow();
      if (isNamed(x.length)) head.append(document.createElement("th"));
      head.append(...this.names.map((text) => Object.assign(document.createElement("th"), {textContent: text, scope: "col"})));
    }
    const body = table.createTBody();
    x.forEach((numbers, i) => {
      const row = body.insertRow();
      if (isNamed(x.length)) row.append(Object.assign(document.createElement("th"), {textContent: this.names[i], scope: "row"}));
      for (const number of numbers) {
        const cell = row.insertCell();
        cell.textContent = numberText(number);
        cell.style.background = shadeOf(number, limit);
      }
    });
    return table;
  }
}

const sliders = [...document.querySelectorAll("figure.sliders")].map((figure) => new Sliders(figure));
