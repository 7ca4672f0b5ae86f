// 11_save.js: saves what a view shows as an SVG file.

const views = {heads: "grid", lines: "lines", matrix: "matrix", sum: "sum-body", gradient: "gradient-pair",
               lens: "lens-body", map: "map-body"};

const opaque = (colour) => colour && colour !== "rgba(0, 0, 0, 0)" && colour !== "transparent";
const resolved = (text, style) => text.replace(/var\((--[a-z]+)\)/g, (_, name) => style.getPropertyValue(name).trim());

// Adds the shapes that show an element and what it contains; `origin` is the picture's corner.
function pictured(element, picture, origin) {
  const style = getComputedStyle(element), box = element.getBoundingClientRect();
  const place = {x: box.left - origin.left, y: box.top - origin.top, width: box.width, height: box.height};
  if (style.visibility === "hidden" || style.display === "none") return;
  if (element instanceof SVGSVGElement) return void picture.append(clonedSvg(element, place));
  if (opaque(style.backgroundColor)) picture.append(shape("rect", {...place, rx: 3, fill: style.backgroundColor}));
  if (element.classList.contains("cross"))
    picture.append(shape("rect", {...place, fill: "none", stroke: style.borderTopColor, "stroke-width": 1.5}));
  if (element instanceof HTMLCanvasElement)
    picture.append(shape("image", {...place, href: element.toDataURL(), preserveAspectRatio: "none",
                                   opacity: style.opacity, "image-rendering": style.imageRendering}));
  for (const child of element.childNodes) {
    if (child.nodeType === Node.ELEMENT_NODE) pictured(child, picture, origin);
    else if (child.nodeType === Node.TEXT_NODE && child.data.trim()) picture.append(...picturedText(child, style, origin));
  }
}

// The lines of a text, each as one shape. A word that begins lower than the last one begins a line.
function picturedText(node, style, origin) {
  const rows = [], range = document.createRange();
  for (const {index, 0: word} of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getClientRects()[0];
    if (!box) continue;
    if (rows.length && Math.abs(rows[rows.length - 1].box.top - box.top) < 2) rows[rows.length - 1].text += word;
    else rows.push({box, text: word});
  }
  return rows.map(({box, text}) => shape("text", {
    x: box.left - origin.left, y: box.top - origin.top + box.height * 0.78, fill: style.color,
    "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight}, text));
}

// A copy of an SVG element with its colours and fonts, which do not depend on the page's style sheet.
function clonedSvg(element, place) {
  const copy = element.cloneNode(true), style = getComputedStyle(element);
  for (const [key, value] of Object.entries(place)) copy.setAttribute(key, value);
  for (const part of copy.querySelectorAll("*"))
    for (const name of ["fill", "stroke"])
      if (part.hasAttribute(name)) part.setAttribute(name, resolved(part.getAttribute(name), style));
  for (const text of copy.querySelectorAll("text")) {
    text.setAttribute("fill", style.getPropertyValue("--soft").trim());
    text.setAttribute("font-family", "sans-serif");
    text.setAttribute("font-size", 12);
  }
  return copy;
}

// While a view is saved, nothing in it scrolls.
function svgOf(view) {
  byId(views[view]).classList.add("whole");
  const picture = pictureOf(byId(views[view]));
  byId(views[view]).classList.remove("whole");
  return new XMLSerializer().serializeToString(picture);
}

function pictureOf(element) {
  const origin = element.getBoundingClientRect();
  const width = element.scrollWidth, height = element.scrollHeight;
  const picture = shape("svg", {xmlns: "http://www.w3.org/2000/svg", viewBox: `-8 -8 ${width + 16} ${height + 16}`,
                                width: width + 16, height: height + 16});
  const paper = getComputedStyle(document.body).getPropertyValue("--card").trim();
  picture.append(shape("rect", {x: -8, y: -8, width: width + 16, height: height + 16, fill: paper}));
  pictured(element, picture, {left: origin.left - element.scrollLeft, top: origin.top - element.scrollTop});
  return picture;
}

function saveView(view) {
  const link = make("a", {download: `${view}.svg`, href: URL.createObjectURL(new Blob([svgOf(view)], {type: "image/svg+xml"}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

for (const button of document.querySelectorAll(".save"))
  button.addEventListener("click", () => saveView(button.dataset.view));
