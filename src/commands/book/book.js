// book.js: the search box, and tables whose cells are shaded by their numbers while hovered.
"use strict";

// ---- search

const found = document.getElementById("found"), search = document.getElementById("search");
const maxFound = 20;

function matching(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length === 0 ? [] : entries.filter(([name]) => words.every((word) => name.toLowerCase().includes(word)));
}

function listItem(...parts) {
  const item = document.createElement("li");
  item.append(...parts);
  return item;
}

search.addEventListener("input", () => {
  const matches = matching(search.value);
  const items = matches.slice(0, maxFound).map(([text, address]) =>
    listItem(Object.assign(document.createElement("a"), {href: address, textContent: text})));
  if (matches.length > maxFound) items.push(listItem(`and ${matches.length - maxFound} more`));
  if (search.value.trim() && matches.length === 0) items.push(listItem("nothing found"));
  found.replaceChildren(...items);
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") found.querySelector("a")?.click();
  if (event.key !== "Escape") return;
  search.value = "";
  found.replaceChildren();
});

// ---- tables

// Orange for numbers below 0, blue for the others; at most 45 %, so that the text stays legible.
function shadeOf(x, limit) {
  return `color-mix(in srgb, var(--${x < 0 ? "below" : "above"}) ${(45 * Math.min(1, Math.abs(x) / limit)).toFixed(1)}%, transparent)`;
}

const numberOf = (cell) => parseFloat(cell.textContent.replace("~", ""));

for (const table of document.querySelectorAll("#output table")) {
  const cells = [...table.querySelectorAll("td")].filter((cell) => isFinite(numberOf(cell)));
  const limit = Math.max(...cells.map((cell) => Math.abs(numberOf(cell))), 1e-12);
  const shade = (on) => cells.forEach((cell) => cell.style.background = on ? shadeOf(numberOf(cell), limit) : "");
  table.addEventListener("pointerenter", () => shade(true));
  table.addEventListener("pointerleave", () => shade(false));
}
