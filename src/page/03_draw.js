// 03_draw.js: elements, matrices on a canvas, and SVG shapes.

// An element with properties (text, class, attributes, listeners) and children.
function make(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "text") element.textContent = value;
    else if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function shape(name, attributes = {}, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Draws cells [first, first + count) of a matrix, one pixel each. colour(x) gives [r, g, b].
function drawMatrix(canvas, matrix, colour, first = 0, count = T) {
  canvas.width = canvas.height = count;
  const image = new ImageData(count, count);
  for (let t = 0; t < count; ++t)
    for (let s = 0; s < count; ++s) {
      if (!visible(t + first, s + first)) continue;  // masked cells stay transparent
      const at = 4 * (t * count + s), rgb = colour(matrix[(t + first) * T + s + first]);
      image.data[at] = rgb[0], image.data[at + 1] = rgb[1], image.data[at + 2] = rgb[2];
      image.data[at + 3] = 255;
    }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function weightColour() {
  const {rgb} = weightScale();
  return (x) => rgb[shadeOf(x)];
}

// A table with a header, rows of texts, and an optional footer.
function makeTable(head, rows, foot) {
  const line = (tag, cells) => make("tr", {}, ...cells.map((text) => make(tag, {text})));
  const table = make("table", {}, make("thead", {}, line("th", head)),
                     make("tbody", {}, ...rows.map((cells) => line("td", cells))));
  if (foot) table.append(make("tfoot", {}, line("td", foot)));
  return table;
}

// Shades a cell as a weight (x from 0 to 1) or as a signed number (-limit to limit).
function shadeCell(cell, x, limit) {
  const scale = limit === undefined ? weightScale() : signedScale();
  const i = limit === undefined ? shadeOf(x) : signedShade(x, limit);
  cell.style.background = scale.css[i];
  cell.style.color = scale.ink[i];
}
