// Lays out the same graphs with ELK's layered algorithm and prints its figures beside ours:
//
//   npm install --prefix tests/bench
//   cargo bench --bench layout -- --graph | node tests/bench/layout_elk.mjs
//
// Kernels are compound nodes; boxes have the same sizes as in our layout.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const ELK = createRequire(import.meta.url)("elkjs/lib/elk.bundled.js");
const text = readFileSync(0, "utf8");
const cases = JSON.parse(text.slice(text.indexOf("[")));

const row = (cells) => console.log(cells.map((cell, i) => (i < 2 ? String(cell).padEnd(i ? 6 : 30) : String(cell).padStart(10))).join(""));
row(["graph", "by", "ms", "width", "height", "crossings"]);
for (const graph of cases) {
  const { ours } = graph;
  row([graph.name, "ours", ours.ms.toFixed(1), Math.round(ours.width), Math.round(ours.height), ours.crossings]);
  const elk = await byElk(graph);
  row([graph.name, "ELK", elk.ms.toFixed(1), Math.round(elk.width), Math.round(elk.height), elk.crossings]);
}

async function byElk({ groups, ops, pills, edges, panel_padding: pad }) {
  const box = (id, [width, height]) => ({ id, width, height });
  const input = {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "DOWN",
      "elk.hierarchyHandling": "INCLUDE_CHILDREN",
      "elk.json.edgeCoords": "ROOT",
    },
    children: [
      ...groups.map((members, group) => ({
        id: `group${group}`,
        layoutOptions: { "elk.padding": `[top=${pad},left=${pad},bottom=${pad},right=${pad}]` },
        children: members.map((op) => box(`op${op}`, ops[op])),
      })),
      ...pills.map((size, pill) => box(`pill${pill}`, size)),
    ],
    edges: edges.map(([, from, to], edge) => ({ id: `edge${edge}`, sources: [from], targets: [to] })),
  };
  const elk = new ELK();
  await elk.layout({ id: "warm-up", children: [{ id: "a", width: 1, height: 1 }] });
  const began = performance.now();
  const placed = await elk.layout(input);
  const ms = performance.now() - began;
  return { ms, width: placed.width, height: placed.height, crossings: crossings(placed, edges) };
}

/** Number of points where lines of different tensors cross; lines that only touch do not count. */
function crossings(placed, edges) {
  const across = [];
  const down = [];
  for (const edge of placed.edges) {
    const tensor = edges[Number(edge.id.slice(4))][0];
    for (const { startPoint, bendPoints = [], endPoint } of edge.sections) {
      const points = [startPoint, ...bendPoints, endPoint];
      for (let i = 1; i < points.length; i += 1) {
        const [a, b] = [points[i - 1], points[i]];
        if (Math.abs(a.y - b.y) < 0.01) {
          across.push({ tensor, y: a.y, from: Math.min(a.x, b.x), to: Math.max(a.x, b.x) });
        } else {
          down.push({ tensor, x: a.x, from: Math.min(a.y, b.y), to: Math.max(a.y, b.y) });
        }
      }
    }
  }
  down.sort((s, t) => s.x - t.x);
  const met = new Set();
  for (const h of across) {
    for (const v of down) {
      if (v.x > h.from + 0.1 && v.x < h.to - 0.1 && v.tensor !== h.tensor && v.from < h.y - 0.1 && v.to > h.y + 0.1) {
        met.add(`${h.tensor} ${v.tensor} ${Math.round(v.x)} ${Math.round(h.y)}`);
      }
    }
  }
  return met.size;
}
