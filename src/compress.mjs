// Writes FILE.br and FILE.gz beside each file of a build that gains by it, for hosts that send
// files as they lie there. Usage: node src/compress.mjs DIST, after the build.

import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const TEXTS = new Set(['.css', '.html', '.js', '.json', '.py', '.svg', '.wasm', '.webmanifest']);
/** A file that does not shrink below this part of itself is sent as it is. */
const MOST = 0.9;

const brotli = (bytes) => promisify(brotliCompress)(bytes, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    // The longest window that browsers take.
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  },
});
const gz = (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION });

const paths = readdirSync(process.argv[2], { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && TEXTS.has(extname(entry.name)))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
await Promise.all(paths.map(async (path) => {
  const bytes = await readFile(path);
  for (const [ending, compress] of [['.br', brotli], ['.gz', gz]]) {
    const compressed = await compress(bytes);
    if (compressed.length < MOST * bytes.length) await writeFile(path + ending, compressed);
  }
}));
