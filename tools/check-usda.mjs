// The part of tools/check-usda that runs in node.
import fs from "fs";

const [usda, csv] = process.argv.slice(2);
const text = fs.readFileSync(usda, "utf8");
const fail = (what) => { console.error(what); process.exit(1); };

// TinyUSDZ is built for browsers: it takes its own code from a fetch, and looks for a worker.
async function tinyusdz() {
  process.type = "renderer";
  globalThis.WorkerGlobalScope = function () {};
  globalThis.fetch = async () => ({});
  WebAssembly.instantiateStreaming = (response, imports) =>
    WebAssembly.instantiate(fs.readFileSync("node_modules/tinyusdz/tinyusdz.wasm"), imports);
  const native = await (await import("./node_modules/tinyusdz/tinyusdz.js")).default({});
  return new native.TinyUSDZLoaderNative();
}

// {prim/attribute: {time: [numbers]}} of all time samples.
function samples(source) {
  const found = {};
  let prim = "", attribute = null;
  for (const line of source.split("\n")) {
    const def = line.match(/^\s*def (Mesh|BasisCurves) "(\w+)"/);
    const head = line.match(/^\s*\S+\[\] (\w+)\.timeSamples = \{/);
    const row = line.match(/^\s*(\S+): \[(.*)\],?\s*$/);
    if (def) prim = def[2];
    if (head) attribute = found[`${prim}/${head[1]}`] = {};
    else if (row && attribute) attribute[Number(row[1])] = row[2].match(/[-+0-9.eE]+/g).map(Number);
    else attribute = null;
  }
  return found;
}

const reader = await tinyusdz();
const bytes = new Uint8Array(fs.readFileSync(usda));
if (!reader.loadAsLayerFromBinary(bytes, "x.usda")) fail(`TinyUSDZ: ${reader.error()}`);
const written = samples(text), back = samples(reader.layerToString());
if (Object.keys(written).sort().join() !== Object.keys(back).sort().join()) fail("TinyUSDZ: other attributes");
let count = 0, worst = 0;
for (const name in written)
  for (const time in written[name]) {
    const a = written[name][time], b = back[name][time];
    if (!b || a.length !== b.length) fail(`${name} at ${time}: ${a.length} numbers, TinyUSDZ has ${b?.length}`);
    a.forEach((x, i) => { worst = Math.max(worst, Math.abs(x - b[i]) / Math.max(1, Math.abs(x))); });
    count += a.length;
  }
if (worst > 1e-7) fail(`TinyUSDZ: numbers differ by up to ${worst}`);

const places = new Map();
for (const line of fs.readFileSync(csv, "utf8").trim().split("\n").slice(1)) {
  const [frame, , , ...q] = line.split(",").map(Number);
  if (!places.has(frame)) places.set(frame, new Set());
  places.get(frame).add(q.slice(0, 3).map(Math.fround).join());
}
let points = 0;
for (const name in written)
  for (const time in name.endsWith("/points") ? written[name] : {}) {
    const q = written[name][time];
    for (let i = 0; i < q.length; i += 3, points++)
      if (!places.get(Number(time))?.has(q.slice(i, i + 3).map(Math.fround).join()))
        fail(`${name} at ${time}: point ${i / 3} is not in the CSV`);
  }

const { USDLoader } = await import("three/addons/loaders/USDLoader.js");
const meshes = [];
new USDLoader().parse(text).traverse((object) => { if (object.isMesh) meshes.push(object.name); });
if (meshes.length !== (text.match(/def Mesh /g) ?? []).length) fail(`three.js finds the meshes ${meshes}`);
console.log(`TinyUSDZ: ${count} numbers in time samples, none off by more than ${worst.toExponential(1)}; ` +
            `${points} points are in the CSV; three.js: ${meshes.length} meshes`);
