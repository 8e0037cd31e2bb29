// The icons of the installed page, from public/icon.svg: node tests/e2e/icons.mjs.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { args, executablePath } from './chromium.mjs';

const folder = fileURLToPath(new URL('../../public/', import.meta.url));
const svg = readFileSync(`${folder}icon.svg`, 'utf8');
// Systems cut a maskable icon to a shape of their own, at most to a circle of four fifths of its
// width.
const ground = /fill="(#\w+)"\/>/.exec(svg)[1];
const maskable = svg.replace('viewBox="0 0 64 64"', 'viewBox="-8 -8 80 80"').replace(/<rect [^>]*>/, `<rect x="-8" y="-8" width="80" height="80" fill="${ground}"/>`);

const browser = await chromium.launch({ executablePath, args });
for (const [name, picture, size] of [['icon-192', svg, 192], ['icon-512', svg, 512], ['icon-maskable-512', maskable, 512], ['icon-apple-180', maskable, 180]]) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(`<style>body { margin: 0 } svg { display: block; width: 100vw; height: 100vh }</style>${picture}`);
  await page.screenshot({ path: `${folder}${name}.png`, omitBackground: true });
  await page.close();
}
await browser.close();
