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
  // Softmax of the k largest logits, divided by the temperature.
  temperature({temperature: [[t]], k: [[k]], logits: [z]}) {
    const smallest = [...z].sort((a, b) => b - a)[k - 1];
    const p = softmax(z.map((x) => x < smallest ? -Infinity : x / t));
    const entropy = -p.reduce((sum, x) => sum + (x > 0 ? x * Math.log(x) : 0), 0);
    let sum = 0;
    return {"probabilities": [p], "sum of the probabilities so far": [p.map((x) => sum += x)],
            "entropy in nats": [[entropy]], "as many equally likely tokens": [[Math.exp(entropy)]]};
  },
  // The score of a rotated query and a rotated key: pair i of D / 2 turns by position 10000^(-2i/D).
  rotary({"query position": [[t]], "key position": [[s]], q: [q], k: [k]}) {
    const angle = (j, position) => position * 10000 ** (-(j - j % 2) / q.length);
    const rotated = (x, position) => x.map((_, j) => j % 2 === 0
      ? x[j] * Math.cos(angle(j, position)) - x[j + 1] * Math.sin(angle(j, position))
      : x[j - 1] * Math.sin(angle(j, position)) + x[j] * Math.cos(angle(j, position)));
    const R_q = rotated(q, t), R_k = rotated(k, s);
    const score = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0);
    const at = Array.from({length: 10}, (_, position) => score(R_q, rotated(k, position)));
    return {"R_t q": [R_q], "R_s k": [R_k], "score": [[score(R_q, R_k)]], "scores of this key at positions 0 to 9": [at]};
  },
  // Attention of one query, with a block of keys at a time.
  online({"block size": [[size]], scores: [scores], V}) {
    const steps = [], factors = [];
    let m = -Infinity, l = 0, o = V[0].map(() => 0);
    for (let begin = 0; begin < scores.length; begin += size) {
      const block = scores.slice(begin, begin + size), largest = Math.max(m, ...block);
      const e = block.map((x) => Math.exp(x - largest)), factor = Math.exp(m - largest);
      m = largest;
      l = factor * l + e.reduce((a, b) => a + b, 0);
      o = o.map((x, d) => factor * x + e.reduce((sum, x, i) => sum + x * V[begin + i][d], 0));
      steps.push([m, l, ...o.map((x) => x / l)]);
      factors.push(factor);
    }
    return {"m, l and o / l after each block": steps, "factor on the earlier l and o": [factors]};
  },
};

// What to try.
const captions = {
  temperature: "Lower the temperature: the largest probability grows, and the entropy falls. Lower k: the ratios of the others stay.",
  rotary: "Move one position: the score rises and falls. Move both by as much: the vectors turn, and the score stays.",
  online: "Change the block size: the last row stays. Enlarge a late score: its block multiplies the earlier sums by a small factor.",
};

// The least and greatest value of a slider, and its step.
const ranges = {
  factor: [0, 64, 0.01], temperature: [0.05, 4, 0.01], k: [1, 10, 1], "query position": [0, 9, 1],
  "key position": [0, 9, 1], "block size": [1, 12, 1],
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

  get place() { return JSON.parse(this.select.value); }
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
    caption.textContent = `Choose a number and move the slider: the page computes again. ${captions[this.widget] ?? ""}`;
    this.select = document.createElement("select");
    this.select.setAttribute("aria-label", "number to change");
    for (const [array, matrix] of Object.entries(this.original))
      this.select.append(...matrix.flatMap((row, i) => row.map((_, j) => new Option(this.placeName(array, i, j), JSON.stringify([array, i, j])))));
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
    const x = this.number, isSingle = this.original[this.place[0]].flat().length === 1;
    const [min, max, step] = isSingle ? ranges[this.place[0]] : [Math.min(-3, Math.floor(x)), Math.max(3, Math.ceil(x)), 0.01];
    Object.assign(this.range, {min, max, step, value: x});
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
