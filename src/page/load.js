// load.js: decompresses the data of the page, then runs its script.
"use strict";

const byId = (id) => document.getElementById(id);

// The JSON in an element: compressed with zlib, in base64.
async function inflated(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

const sayError = (error) => byId("about").textContent = `This browser cannot decompress the page: ${error}`;

const loaded = {};  // the data; and a promise of the gradients, which the first view does not need
inflated("data").then((data) => {
  loaded.data = data;
  if (byId("gradients")) loaded.gradients = inflated("gradients");
  const script = document.createElement("script");
  script.textContent = byId("script").textContent;  // the Content-Security-Policy has its hash
  document.body.append(script);
}).catch(sayError);
