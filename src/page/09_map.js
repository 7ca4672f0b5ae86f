// 09_map.js: the queries and keys of a head in the plane (t-SNE), linked to the matrix.

const mapWidth = 720, mapHeight = 520, mapMargin = 28;
let mapPoints = [];  // of the head that is shown: queries, then keys

const mapOf = remembered((i) => {
  const map = data.maps[i];
  if (!map || map.zero) return null;
  const xy = decoded(map.codes, map.low, map.high);
  const range = (axis) => {
    const numbers = xy.filter((_, n) => n % 2 === axis);
    return [Math.min(...numbers), Math.max(...numbers)];
  };
  const scaled = (x, [low, high], size) => mapMargin + (size - 2 * mapMargin) * (high > low ? (x - low) / (high - low) : 0.5);
  const [xs, ys] = [range(0), range(1)];
  return Array.from({length: 2 * T}, (_, n) => ({
    x: scaled(xy[2 * n], xs, mapWidth), y: mapHeight - scaled(xy[2 * n + 1], ys, mapHeight),
    query: n < T, at: n % T,
  }));
});

function mapSymbol({x, y, query}) {
  return query ? shape("circle", {cx: x, cy: y, r: 5, fill: "var(--query)", "fill-opacity": 0.55})
               : shape("rect", {x: x - 4.5, y: y - 4.5, width: 9, height: 9, fill: "var(--key)", "fill-opacity": 0.55});
}

function drawMap() {
  const points = mapOf(state.head), body = byId("map-body");
  mapPoints = [];
  if (!points) {
    byId("map-note").textContent = T < 2 ? "A map needs at least two tokens." : data.maps[state.head] ?
      "This head has no map: a query or a key is zero, so it has no cosine similarity with others." :
      `The page has no map of this head, because maps of all heads would take too long. heed look ${model.run} --tsne ` +
      `--layer ${Math.floor(state.head / model.heads)} --head ${state.head % model.heads} draws it.`;
    body.replaceChildren();
    return;
  }
  byId("map-note").textContent =
    `Circles are queries, squares are keys of ${headName(state.head)}, by t-SNE with cosine distance ` +
    `(KL ${fixed(data.maps[state.head].kl)}). Point at one to see its row or column.` +
    (model.causal ? " The map ignores the causal mask." : "") + (isLastFrame() ? "" : " It is that of the last model.");
  const picture = shape("svg", {viewBox: `0 0 ${mapWidth} ${mapHeight}`, role: "img", "aria-label": "map of queries and keys"});
  for (const place of points) {
    const symbol = mapSymbol(place), label = shape("text", {x: place.x + 8, y: place.y + 4}, shortened(token(place.at), 8));
    const group = shape("g", {}), choose = () => chosenAt(place);
    group.append(symbol, label, shape("title", {}, `${place.query ? "query" : "key"} ${named(place.at)}`));
    group.addEventListener("pointerenter", (event) => event.pointerType === "touch" || hover(...choose()));
    group.addEventListener("click", () => lock(...choose()));
    picture.append(group);
    mapPoints.push({symbol, label, place});
  }
  body.replaceChildren(picture);
  markMap();
}

// The query and key that a point of the map chooses.
function chosenAt({query, at}) {
  if (query) return [at, largestKey(state.head, at)];
  return visible(state.query, at) ? [state.query, at] : [at, at];
}

function markMap() {
  const A = shown(state.head);
  for (const entry of mapPoints) {
    const {symbol, label, place} = entry, on = place.at === (place.query ? state.query : state.key);
    const weight = !place.query && visible(state.query, place.at) ? A[state.query * T + place.at] : 0;
    const opacity = on ? 1 : place.query ? 0.3 : Math.round(25 + 75 * weight) / 100;
    if (entry.opacity !== opacity) symbol.setAttribute("fill-opacity", opacity);
    entry.opacity = opacity;
    if (entry.on === on) continue;
    entry.on = on;
    symbol.setAttribute("stroke", on ? "var(--ink)" : "none");
    symbol.setAttribute("stroke-width", on ? 2 : 0);
    label.setAttribute("font-weight", on ? 700 : 400);
    label.classList.toggle("on", on);
    label.setAttribute("visibility", on || T <= 64 ? "visible" : "hidden");
  }
}
