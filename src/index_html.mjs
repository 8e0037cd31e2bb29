// Completes index.html of a build with what only the build knows: the size of the program, for the
// progress while it loads, and the address of the preview picture. Trunk runs this after each
// build, before the service worker lists the files.

import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { TRUNK_STAGING_DIR: build, TRUNK_PUBLIC_URL: publicUrl } = process.env;

/** Replaces the value of an attribute, which the minifier leaves with quotes or without. */
function complete(html, attribute, before, after) {
  const completed = html.replace(new RegExp(`${attribute}=("?)${before}\\1(?=[\\s>])`), () => `${attribute}="${after}"`);
  if (completed === html) throw new Error(`index.html has no ${attribute} of ${before}`);
  return completed;
}

const path = join(build, 'index.html');
const wasm = readdirSync(build).find((name) => name.endsWith('.wasm'));
const html = complete(readFileSync(path, 'utf8'), 'data-bytes', '0', statSync(join(build, wasm)).size);
writeFileSync(path, complete(html, 'content', 'preview\\.png', `${publicUrl}preview.png`));
