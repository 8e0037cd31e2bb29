// What is done to a build after Trunk: its compressed copies, who gets them, the list of the
// service worker, and what readers of links see.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test as base } from './fixture.mjs';
import { serve } from './server.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TEXT = 'Each kernel reads from and writes to slow memory.\n'.repeat(100);
const NOISE = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * at * 2654435761) >>> 13));

const test = base.extend({
  /** A folder with a small build, and the scripts that finish it. */
  build: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'build-'));
    writeFileSync(join(folder, 'index.html'), `<meta property=og:image content=preview.png><progress data-bytes=0></progress>${TEXT}`);
    writeFileSync(join(folder, 'fuseline_bg.wasm'), TEXT);
    writeFileSync(join(folder, 'preview.png'), NOISE);
    writeFileSync(join(folder, 'noise.js'), NOISE);
    await use({
      folder,
      names: () => readdirSync(folder).sort(),
      text: (name) => readFileSync(join(folder, name), 'utf8'),
      finish(publicUrl) {
        const env = { ...process.env, TRUNK_STAGING_DIR: folder, TRUNK_PUBLIC_URL: publicUrl };
        execFileSync('node', [`${ROOT}src/after_build.mjs`], { env });
      },
      compress: () => execFileSync('node', [`${ROOT}src/compress.mjs`, folder]),
    });
    rmSync(folder, { recursive: true });
  },
});

test('each file that gains by it lies there compressed, and the browser gets what it asks for', async ({ build }) => {
  build.finish('./');
  build.compress();
  expect(build.names()).toEqual([
    'fuseline_bg.wasm', 'fuseline_bg.wasm.br', 'fuseline_bg.wasm.gz', 'index.html', 'index.html.br', 'index.html.gz', 'noise.js',
    'preview.png', 'service_worker.js', 'service_worker.js.br', 'service_worker.js.gz',
  ]);
  expect(brotliDecompressSync(readFileSync(join(build.folder, 'fuseline_bg.wasm.br'))).toString()).toBe(TEXT);
  expect(gunzipSync(readFileSync(join(build.folder, 'fuseline_bg.wasm.gz'))).toString()).toBe(TEXT);

  const { server, url } = await serve(build.folder);
  for (const [accepted, encoding] of [['gzip, br', 'br'], ['gzip', 'gzip'], ['identity', null]]) {
    const answer = await fetch(`${url}fuseline_bg.wasm`, { headers: { 'Accept-Encoding': accepted } });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('content-type')).toBe('application/wasm');
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    expect(Number(answer.headers.get('content-length')) < TEXT.length).toBe(encoding !== null);
    expect(await answer.text()).toBe(TEXT);
  }
  const noise = await fetch(`${url}noise.js`, { headers: { 'Accept-Encoding': 'br' } });
  expect(noise.headers.get('content-encoding')).toBe(null);
  server.close();
  server.closeAllConnections();
});

test('the service worker keeps what the page asks for, and no copy or preview', async ({ build }) => {
  build.compress();
  build.finish('./');
  const list = build.text('service_worker.js').match(/FILES = new Map\(\[([^]*?)\n\]\)/)[1];
  expect([...list.matchAll(/^\["([^"]+)"/gm)].map(([, name]) => name)).toEqual(['./', 'fuseline_bg.wasm', 'noise.js']);
});

test('index.html gets the size of the program, and the whole address of the preview where the build knows it', async ({ build }) => {
  build.finish('https://example.org/fuseline/');
  expect(build.text('index.html')).toContain('content="https://example.org/fuseline/preview.png"');
  expect(build.text('index.html')).toContain(`data-bytes="${TEXT.length}"`);
});

test('readers of links find a title, a description and a picture of the page', async ({ page, open, site, request }) => {
  await open();
  const meta = (name) => page.locator(`meta[property="${name}"], meta[name="${name}"]`).getAttribute('content');
  expect(await meta('og:description')).toBe(await meta('description'));
  expect(await meta('og:title')).toMatch(/^Fuseline/);
  expect(await meta('twitter:card')).toBe('summary_large_image');
  const picture = await (await request.get(new URL(await meta('og:image'), site).href)).body();
  // The header of a PNG file has its width and height.
  expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([Number(await meta('og:image:width')), Number(await meta('og:image:height'))]);
  expect(picture.length).toBeLessThan(120_000);
  expect(await meta('og:image:alt')).not.toBe('');
});
