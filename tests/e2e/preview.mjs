// The picture that readers of links show, public/preview.png: the opening program as the page draws
// it, before and after Fuse. Usage: node tests/e2e/preview.mjs [DIST], after ./dev build.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { args, executablePath } from './chromium.mjs';
import { serve } from './server.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { server, url } = await serve(resolve(root, process.argv[2] ?? 'dist'));
const browser = await chromium.launch({ executablePath, args });
const page = await browser.newPage({ viewport: { width: 1366, height: 1000 }, colorScheme: 'light', reducedMotion: 'reduce' });

/** The graph with the classes of its styles, cut to what is drawn in it. */
const graph = () => page.locator('main:not(#loading) svg.dag').evaluate((svg) => {
  const { x, y, width, height } = svg.querySelector('.dag-parts').getBBox();
  const copy = svg.cloneNode(true);
  copy.querySelector('.dag-parts').removeAttribute('transform');
  copy.setAttribute('viewBox', `${x - 4} ${y - 4} ${width + 8} ${height + 8}`);
  return copy.outerHTML;
});

await page.goto(url);
await page.locator('svg.dag .dag-op').first().waitFor();
const unfused = await graph();
await page.getByRole('button', { name: 'Fuse', exact: true }).click();
await page.waitForTimeout(1000); // transitions
const fused = await graph();
const sentence = await page.locator('.claim').textContent();

const sheets = ['tokens', 'base', 'dag'].map((name) => readFileSync(`${root}style/${name}.css`, 'utf8')).join('\n');
await page.setViewportSize({ width: 1200, height: 630 });
await page.goto('about:blank');
await page.setContent(`<!doctype html><style>${sheets}
  body { display: grid; grid-template: minmax(0, 1fr) / minmax(0, 1fr) 20.5rem 20.5rem; gap: 2rem; height: 630px; padding: 2.5rem; font-size: 1rem; }
  section { display: grid; align-content: center; gap: 1.5rem; }
  h1 { font-size: 1.75rem; color: var(--accent); }
  h2 { font-size: 2.375rem; line-height: 1.2; }
  figure { display: grid; grid-template-rows: auto minmax(0, 1fr); gap: 0.75rem; text-align: center; font-size: 1.25rem; font-weight: 650; }
  svg.dag { position: static; width: 100%; height: 100%; }
</style>
<section><h1>Fuseline</h1><h2></h2></section>
<figure><figcaption>unfused</figcaption>${unfused}</figure>
<figure><figcaption>fused</figcaption>${fused}</figure>`);
await page.locator('h2').evaluate((heading, text) => { heading.textContent = text; }, sentence);
await page.screenshot({ path: `${root}public/preview.png` });
await browser.close();
server.close();
server.closeAllConnections();
