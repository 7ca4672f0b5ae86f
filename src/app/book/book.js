// book.js: the search box, and tables whose cells are shaded by their numbers while hovered.
"use strict";

const found = document.getElementById("found");
document.getElementById("search").addEventListener("input", ({target}) => {
  const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = words.length === 0 ? [] : entries.filter(([text]) => words.every((word) => text.toLowerCase().includes(word)));
  found.replaceChildren(...matches.slice(0, 20).map(([text, address]) => {
    const link = Object.assign(document.createElement("a"), {href: address, textContent: text});
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
});

for (const table of document.querySelectorAll("table")) {
  const cells = [...table.querySelectorAll("td")].filter((cell) => isFinite(parseFloat(cell.textContent.replace("~", ""))));
  const number = (cell) => parseFloat(cell.textContent.replace("~", ""));
  const limit = Math.max(...cells.map((cell) => Math.abs(number(cell))), 1e-12);
  const shade = (on) => cells.forEach((cell) => {
    const x = number(cell), colour = x < 0 ? "234, 143, 84" : "111, 155, 224";
    cell.style.background = on ? `rgba(${colour}, ${(0.6 * Math.abs(x) / limit).toFixed(3)})` : "";
  });
  table.addEventListener("pointerenter", () => shade(true));
  table.addEventListener("pointerleave", () => shade(false));
}
