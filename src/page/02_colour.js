// 02_colour.js: colour scales for weights (sequential) and gradients (diverging), light and dark.

const darkMode = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
const isDark = () => darkMode.matches && !printing.matches;

const anchors = {
  light: {weights: ["#f1efe9", "#c5d5f0", "#7ba0de", "#2f5bb7", "#10245a"],
          signed: ["#9a3412", "#ea8f54", "#f1efe9", "#6f9be0", "#1e429f"]},
  dark: {weights: ["#232831", "#23406f", "#3b73c6", "#8fc0ff", "#f2f8ff"],
         signed: ["#ffb27d", "#a8551f", "#232831", "#2f65b8", "#a9ccff"]},
};

const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

// 256 colours between the anchors.
function ramp(colours) {
  const points = colours.map(channels);
  return Array.from({length: 256}, (_, i) => {
    const x = i / 255 * (points.length - 1), k = Math.min(Math.floor(x), points.length - 2);
    return points[k].map((c, j) => Math.round(c + (points[k + 1][j] - c) * (x - k)));
  });
}

function luminance([r, g, b]) {
  const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}
const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

// A scale: colours, their CSS texts, and black or white text that is legible on each.
function scaleOf(colours) {
  const rgb = ramp(colours);
  return {rgb,
          css: rgb.map((c) => `rgb(${c.join()})`),
          ink: rgb.map((c) => contrast(c, [0, 0, 0]) > contrast(c, [255, 255, 255]) ? "#000" : "#fff")};
}
const scales = remembered((dark, kind) => scaleOf(anchors[dark ? "dark" : "light"][kind]));
const weightScale = () => scales(isDark(), "weights");
const signedScale = () => scales(isDark(), "signed");

// The index of a weight's colour. On the log scale, four powers of ten from 0.0001 to 1.
function shadeOf(weight) {
  const x = state.log ? (weight > 0 ? 1 + Math.log10(weight) / 4 : 0) : weight;
  return Math.round(255 * Math.min(1, Math.max(0, x)));
}
const signedShade = (x, limit) => limit > 0 ? Math.round(127.5 + 127.5 * Math.max(-1, Math.min(1, x / limit))) : 128;
