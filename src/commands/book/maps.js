// maps.js: attention maps: lines from queries to keys, and the matrix, linked.
"use strict";

const svgNamespace = "http://www.w3.org/2000/svg";
function shape(name, attributes, text) {
  const element = document.createElementNS(svgNamespace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const maskedText = "masked";
const numberText = (x) => x === null ? maskedText : (Math.abs(x) < 0.00005 ? 0 : x).toFixed(4);

// The names of rows or columns: those of the lesson, or their numbers.
function namesOf(names, count) {
  return Array.from({length: count}, (_, i) => names.length ? (names[i] === " " ? "␣" : names[i]) : String(i));
}
const shortened = (text, length = 14) => {
  const characters = Array.from(text);
  return characters.length > length ? characters.slice(0, length - 1).join("") + "…" : text;
};

// An attention map in a figure, whose script element has the numbers.
class AttentionMap {
  constructor(figure) {
    this.data = JSON.parse(figure.querySelector("script").textContent);
    this.map = 0;
    this.locked = false;
    this.rows = namesOf(this.data.rows, this.matrix.length);
    this.columns = namesOf(this.data.columns, this.matrix[0].length);
    const marked = this.rows.findIndex((name) => name.startsWith("▶") || name === "[MASK]");
    this.query = marked >= 0 ? marked : this.rows.length - 1;
    this.key = this.largestKey(this.query);
    this.build(figure);
    this.draw();
  }

  get matrix() { return this.data.maps[this.map]; }

  // From 0 to 1 on the colour scale; a masked cell is at 0.
  strength(x) {
    const {low, high} = this.data;
    return x === null || high <= low ? 0 : Math.min(1, Math.max(0, (x - low) / (high - low)));
  }
  largestKey(query) {
    const row = this.matrix[query].map((x) => x === null ? -Infinity : x);
    return row.indexOf(Math.max(...row));
  }

  // ---- building

  build(figure) {
    const caption = document.createElement("figcaption");
    caption.textContent = `${this.data.title || "attention map"} (rows: queries, columns: keys)`;
    this.readout = document.createElement("p");
    this.readout.className = "readout";
    this.readout.setAttribute("role", "status");
    this.lines = shape("svg", {class: "lines", role: "img", "aria-label": "lines from queries to keys"});
    this.cells = shape("svg", {class: "matrix", role: "img", tabindex: 0,
                               "aria-label": "matrix of queries and keys; arrow keys move, Enter locks, Escape frees"});
    const pair = document.createElement("div");
    pair.className = "pair";
    pair.append(this.lines, this.cells);
    figure.append(caption, ...this.choice(), pair, this.readout);
    this.cells.addEventListener("keydown", (event) => this.press(event));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.free());
  }

  // A select element, if there is more than one map.
  choice() {
    if (this.data.maps.length < 2) return [];
    const select = document.createElement("select");
    select.setAttribute("aria-label", "attention map");
    select.append(...this.data.titles.map((title, i) => new Option(title, i)));
    select.addEventListener("change", () => {
      this.map = Number(select.value);
      this.draw();
    });
    return [select];
  }

  listen(element, query, key) {
    const place = () => [query ?? this.query, key ?? this.largestKey(query)];
    element.addEventListener("pointerenter", (event) => event.pointerType === "touch" || this.locked || this.point(...place()));
    element.addEventListener("click", () => {
      const [q, k] = place();
      this.locked = !(this.locked && q === this.query && k === this.key);
      this.point(q, k);
    });
  }

  // ---- drawing

  draw() {
    this.drawLines();
    this.drawCells();
    this.point(this.query, this.key);
  }

  drawLines() {
    const step = 22, count = Math.max(this.rows.length, this.columns.length), width = 360, left = 118, right = width - 118;
    const height = count * step + 6;
    const y = (i, of) => (i + 0.5) * height / of;
    this.lines.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.lines.replaceChildren();
    this.paths = this.matrix.map((row, t) => row.map((x, s) => {
      if (x === null) return null;
      const [y0, y1, middle] = [y(t, this.rows.length), y(s, this.columns.length), (left + right) / 2];
      const path = shape("path", {d: `M${left} ${y0}C${middle} ${y0} ${middle} ${y1} ${right} ${y1}`, fill: "none"});
      this.lines.append(path);
      return path;
    }));
    const label = (name, x, at, anchor, query, key) => {
      const text = shape("text", {x, y: at + 5, "text-anchor": anchor}, shortened(name));
      text.append(shape("title", {}, name));
      this.listen(text, query, key);
      this.lines.append(text);
      return text;
    };
    this.queryLabels = this.rows.map((name, t) => label(name, left - 8, y(t, this.rows.length), "end", t));
    this.keyLabels = this.columns.map((name, s) => label(name, right + 8, y(s, this.columns.length), "start", undefined, s));
  }

  drawCells() {
    const {diverging} = this.data, limit = Math.max(Math.abs(this.data.low), Math.abs(this.data.high));
    this.cells.setAttribute("viewBox", `-0.15 -0.15 ${this.columns.length + 0.3} ${this.rows.length + 0.3}`);
    this.cells.replaceChildren();
    this.matrix.forEach((row, t) => row.forEach((x, s) => {
      const colour = x === null ? "var(--masked)" : diverging && x < 0 ? "var(--below)" : "var(--above)";
      const opacity = x === null ? 1 : diverging ? Math.abs(x) / limit : this.strength(x);
      const cell = shape("rect", {x: s + 0.03, y: t + 0.03, width: 0.94, height: 0.94, fill: colour,
                                  "fill-opacity": opacity.toFixed(3), class: "cell"});
      cell.append(shape("title", {}, this.text(t, s)));
      this.listen(cell, t, s);
      this.cells.append(cell);
    }));
    this.frame = shape("rect", {width: 1, height: 1, fill: "none", class: "frame"});
    this.cells.append(this.frame);
  }

  text(query, key) {
    const named = (i, names, all) => names.length ? `${i} ‘${all[i]}’` : `${i}`;
    return `query ${named(query, this.data.rows, this.rows)}, key ${named(key, this.data.columns, this.columns)}: ` +
           numberText(this.matrix[query][key]);
  }

  point(query, key) {
    this.query = query;
    this.key = key;
    this.paths.forEach((row, t) => row.forEach((path, s) => {
      if (!path) return;
      const strength = this.strength(this.matrix[t][s]), on = t === query;
      path.setAttribute("stroke", on && s === key ? "var(--below)" : "var(--above)");
      path.setAttribute("stroke-width", on ? 0.8 + 8 * strength : 0.5 + 2 * strength);
      path.setAttribute("stroke-opacity", on ? (strength < 0.005 ? 0.1 : 0.3 + 0.7 * strength) : strength < 0.02 ? 0 : 0.06 + 0.2 * strength);
    }));
    this.queryLabels.forEach((label, t) => label.classList.toggle("on", t === query));
    this.keyLabels.forEach((label, s) => label.classList.toggle("on", s === key));
    this.frame.setAttribute("x", key);
    this.frame.setAttribute("y", query);
    this.readout.textContent = this.text(query, key) + (this.locked ? " · locked" : "");
  }

  free() {
    this.locked = false;
    this.point(this.query, this.key);
  }

  press(event) {
    const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    const within = (i, count) => Math.min(count - 1, Math.max(0, i));
    if (steps[event.key]) {
      const [down, right] = steps[event.key];
      this.point(within(this.query + down, this.rows.length), within(this.key + right, this.columns.length));
    } else if (event.key === "Enter" || event.key === " ") {
      this.locked = !this.locked;
      this.point(this.query, this.key);
    } else {
      return;
    }
    event.preventDefault();
  }
}

const attentionMaps = [...document.querySelectorAll("figure.attention")].map((figure) => new AttentionMap(figure));
