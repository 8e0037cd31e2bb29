// Writes service_worker.js of a build: the names and hashes of the files that a visit without a
// network needs, and then src/service_worker.js. Trunk runs this after each build.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const NAME = 'service_worker.js';
/** Never asked for by the page: copies for hosts that send them compressed, and the picture for readers of links. */
const UNASKED = /\.(br|gz)$|^preview\.png$/;
const build = process.env.TRUNK_STAGING_DIR;
if (!build) throw new Error('TRUNK_STAGING_DIR is not set: Trunk runs this script, and sets it to the folder of the build');
const source = readFileSync(new URL(NAME, import.meta.url), 'utf8');

// Some hosts answer `index.html` by a redirect, which may not be the answer to a navigation.
const addressOf = (path) => (path === 'index.html' ? './' : path);
const files = readdirSync(build, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .map((path) => [path, relative(build, path).split(sep).join('/')])
  .filter(([, name]) => name !== NAME && !UNASKED.test(name))
  .map(([path, name]) => [addressOf(name), `sha256-${createHash('sha256').update(readFileSync(path)).digest('base64')}`])
  .sort(([a], [b]) => (a < b ? -1 : 1));
const list = `const FILES = new Map([\n${files.map((file) => JSON.stringify(file)).join(',\n')},\n]);\n`;
const version = createHash('sha256').update(list).update(source).digest('hex').slice(0, 16);

writeFileSync(join(build, NAME), `const VERSION = '${version}';\n${list}${source}`);
