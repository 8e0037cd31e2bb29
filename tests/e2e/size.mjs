// What a visitor downloads, as brotli: prints a table and fails above the limit.
// Usage: node size.mjs DIST LIMIT_BYTES. WebAssembly, JavaScript and CSS count; the rest is listed.

import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const [dist, limit] = [process.argv[2], Number(process.argv[3])];
const COUNTED = new Set(['.wasm', '.js', '.css']);

function compressedBytes(bytes) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params }).length;
}

const rows = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .map((path) => {
    const bytes = readFileSync(path);
    return {
      name: relative(dist, path), raw: bytes.length, brotli: compressedBytes(bytes), counted: COUNTED.has(extname(path)),
    };
  })
  .sort((a, b) => Number(b.counted) - Number(a.counted) || b.brotli - a.brotli);

const total = rows.filter((row) => row.counted).reduce((sum, row) => sum + row.brotli, 0);
const line = (name, raw, brotli) => console.log(`${name.padEnd(44)} ${raw.padStart(12)} ${brotli.padStart(12)}`);

line('file', 'bytes', 'brotli -q 11');
for (const row of rows) line(row.counted ? row.name : `(${row.name})`, String(row.raw), String(row.brotli));
line('WebAssembly, JavaScript and CSS together', '', String(total));
line('limit', '', String(limit));

if (rows.every((row) => !row.name.endsWith('.wasm'))) {
  console.error(`no WebAssembly file in ${dist}: was the page built?`);
  process.exit(1);
}
if (total > limit) {
  console.error(`the page is ${total - limit} bytes over the limit`);
  process.exit(1);
}
