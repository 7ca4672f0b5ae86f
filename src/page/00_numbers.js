// 00_numbers.js: decodes and prints numbers, for both pages.
"use strict";

// The codes of a text: 16-bit numbers in base64, first all high bytes, then all low bytes.
function codesOf(text) {
  const bytes = atob(text), count = bytes.length / 2;
  return Uint16Array.from({length: count}, (_, i) => 256 * bytes.charCodeAt(i) + bytes.charCodeAt(count + i));
}

// The numbers low + c * (high - low) / 65535 of the codes c.
function decoded(text, low, high) {
  return Float64Array.from(codesOf(text), (code) => low + code * (high - low) / 65535);
}

// A function whose results are kept. The keys are its arguments, joined.
function remembered(compute) {
  const results = new Map();
  return (...key) => {
    const name = key.join();
    if (!results.has(name)) results.set(name, compute(...key));
    return results.get(name);
  };
}

const fixed = (x, decimals = 4) => x === null ? "-" : (Math.abs(x) < 0.5 * 10 ** -decimals ? 0 : x).toFixed(decimals);
