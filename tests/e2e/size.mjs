// What a visitor downloads, as brotli: prints a table and fails above the limit. Usage: node
// size.mjs DIST LIMIT_BYTES, after ./dev build, which writes the compressed files. WebAssembly,
// JavaScript and CSS count; the rest is listed.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';

const [dist, limit] = [process.argv[2], Number(process.argv[3])];
const COUNTED = new Set(['.wasm', '.js', '.css']);
const COMPRESSED = new Set(['.br', '.gz']);

const rows = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !COMPRESSED.has(extname(entry.name)))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .map((path) => {
    const sent = existsSync(`${path}.br`) ? `${path}.br` : path;
    return { name: relative(dist, path), raw: statSync(path).size, brotli: statSync(sent).size, counted: COUNTED.has(extname(path)) };
  })
  .sort((a, b) => Number(b.counted) - Number(a.counted) || b.brotli - a.brotli);

const total = rows.filter((row) => row.counted).reduce((sum, row) => sum + row.brotli, 0);
const line = (name, raw, brotli) => console.log(`${name.padEnd(44)} ${raw.padStart(12)} ${brotli.padStart(12)}`);

line('file', 'bytes', 'brotli -q 11');
for (const row of rows) line(row.counted ? row.name : `(${row.name})`, String(row.raw), String(row.brotli));
line('WebAssembly, JavaScript and CSS together', '', String(total));
line('limit', '', String(limit));

if (rows.every((row) => !row.name.endsWith('.wasm') || row.brotli === row.raw)) {
  console.error(`no compressed WebAssembly file in ${dist}: was the page built by ./dev build?`);
  process.exit(1);
}
if (total > limit) {
  console.error(`the page is ${total - limit} bytes over the limit`);
  process.exit(1);
}
