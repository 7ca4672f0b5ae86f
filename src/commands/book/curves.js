// curves.js: the losses of a training over its steps, as curves.
"use strict";

// Round numbers from `low` to `high`, about `count` of them.
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10), numbers = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) numbers.push(Number((i * step).toPrecision(12)));
  return numbers;
}

// A loss as text. A loss that is not finite is null in the numbers.
function lossText(loss) {
  return loss === null ? "not finite" : numberText(loss);
}

// Loss curves in a figure, whose script element has the numbers.
class LossCurves {
  constructor(figure) {
    const {y_title, curves} = JSON.parse(figure.querySelector("script").textContent);
    this.curves = curves.filter((curve) => curve.x.length);
    this.title = y_title;
    if (!this.curves.length) return;
    const ys = this.curves.flatMap((curve) => curve.y).filter((y) => y !== null);
    this.x = [0, Math.max(1, ...this.curves.flatMap((curve) => curve.x))];
    this.y = [Math.min(0, ...ys), Math.max(...ys, 1e-9)];
    const width = Math.min(640, Math.max(260, figure.clientWidth));  // narrow on a phone, so that text keeps its size
    this.size = {width, height: width < 480 ? 240 : 300, left: 52, right: 14, top: 12, bottom: 40};
    this.build(figure);
  }

  // ---- positions in the picture

  left(x) {
    const {width, left, right} = this.size;
    return left + (x - this.x[0]) / (this.x[1] - this.x[0]) * (width - left - right);
  }
  top(y) {
    const {height, top, bottom} = this.size;
    return height - bottom - (y - this.y[0]) / (this.y[1] - this.y[0]) * (height - top - bottom);
  }

  // ---- building

  build(figure) {
    const {width, height} = this.size, caption = document.createElement("figcaption");
    const most = Math.max(...this.curves.map((curve) => curve.points));
    caption.textContent = `The loss while this lesson trained${most > 1 ? `; each point is the mean of ${most} steps` : ""}`;
    this.svg = shape("svg", {viewBox: `0 0 ${width} ${height}`, class: "curves", role: "img", tabindex: 0, "aria-label": this.summary()});
    this.axes();
    this.curves.forEach((curve, i) => this.svg.append(this.line(curve, i)));
    this.dots = this.curves.map((_, i) => shape("circle", {r: 4, class: `dot curve${i % 6}`}));
    this.cursor = shape("line", {class: "cursor"});
    this.svg.append(this.cursor, ...this.dots);
    this.legend = document.createElement("ul");
    this.legend.className = "legend";
    figure.append(caption, this.svg, this.legend);
    this.svg.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
    this.svg.addEventListener("keydown", (event) => this.press(event));
    this.point(this.longest.x.length - 1);
  }

  // "loss (nats per token), steps 0 to 299: causal mask from 1.5000 to 1.3860".
  summary() {
    const ends = this.curves.map(({name, y}) => `${name} from ${lossText(y[0])} to ${lossText(y[y.length - 1])}`);
    return `${this.title}, steps ${Math.round(this.x[0])} to ${Math.round(this.x[1])}: ${ends.join(", ")}; arrow keys move`;
  }

  axes() {
    const {width, height, left, right, top, bottom} = this.size;
    const text = (words, attributes) => this.svg.append(shape("text", attributes, words));
    for (const y of ticks(...this.y, 5)) {
      this.svg.append(shape("line", {x1: left, x2: width - right, y1: this.top(y), y2: this.top(y), class: "grid"}));
      text(String(y), {x: left - 7, y: this.top(y) + 4, "text-anchor": "end"});
    }
    for (const x of ticks(...this.x, width / 100)) text(String(x), {x: this.left(x), y: height - bottom + 17, "text-anchor": "middle"});
    text("step", {x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle"});
    text(this.title, {transform: `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle"});
  }

  line({x, y}, i) {
    let d = "";
    x.forEach((step, j) => {
      if (y[j] !== null) d += `${d && y[j - 1] !== null ? "L" : "M"}${this.left(step).toFixed(1)} ${this.top(y[j]).toFixed(1)}`;
    });
    return shape("path", {d, fill: "none", class: `curve${i % 6}`});
  }

  // ---- the point that is read

  get longest() { return this.curves.reduce((a, b) => b.x.length > a.x.length ? b : a); }
  nearest(event) {
    const box = this.svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * this.size.width;
    const distances = this.longest.x.map((x) => Math.abs(this.left(x) - at));
    return distances.indexOf(Math.min(...distances));
  }

  point(index) {
    this.index = index;
    const {height, top, bottom} = this.size, step = this.longest.x[index];
    for (const [name, value] of Object.entries({x1: this.left(step), x2: this.left(step), y1: top, y2: height - bottom})) this.cursor.setAttribute(name, value);
    this.legend.replaceChildren(...this.curves.map(({name, x, y}, i) => {
      const far = x.map((other) => Math.abs(other - step)), at = far.indexOf(Math.min(...far));
      this.dots[i].setAttribute("cx", this.left(x[at]));
      this.dots[i].setAttribute("cy", this.top(y[at] ?? 0));
      const row = Object.assign(document.createElement("li"), {className: `curve${i % 6}`});
      row.textContent = `${name}: ${lossText(y[at])} at step ${Math.round(x[at])}`;
      return row;
    }));
  }

  press(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    this.point(Math.min(this.longest.x.length - 1, Math.max(0, this.index + step)));
    event.preventDefault();
  }
}

const lossCurves = [...document.querySelectorAll("figure.curves")].map((figure) => new LossCurves(figure));
