// The page's speed on big graphs: from a text to its picture, for each event of a slider, and for each frame in which the
// picture is moved or zoomed; and how many elements the picture has. Limits are those of a machine with nothing else to do.
// Usage: node tests/bench/big_graphs.mjs [DIST [BLOCKS...]], after the release build.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPS_PER_BLOCK, gpt2Blocks } from '../e2e/gpt2.mjs';
import { serve } from '../e2e/server.mjs';
import { launch, measure, measureMarked, ms, quantile, row, viewport } from './frames.mjs';

/** Most milliseconds by blocks: for a picture, for each event of a slider. */
const LIMITS_MS = { 12: [300, 50], 48: [500, 100], 200: [1500, 400] };
/** Most milliseconds of 95 in 100 frames at 48 blocks. */
const FRAME_LIMIT_MS = 16.7;

const [dist = fileURLToPath(new URL('../../dist', import.meta.url)), ...chosen] = process.argv.slice(2);
const BLOCKS = chosen.length ? chosen.map(Number) : [12, 48, 200];
const SLIDER = '.slider-list input[type=range]';
const PICTURE = 'svg.dag';

/** Milliseconds from the text to the end of the frame that shows its picture, in a fresh page. */
async function measurePicture(browser, url, blocks) {
  const page = await browser.newPage({ viewport });
  await page.goto(url);
  await page.waitForSelector('svg.dag .dag-op');
  const showText = async ({ text, ops, picture }) => {
    const area = document.querySelector('textarea');
    const graph = document.querySelector(picture);
    performance.mark('event-0');
    area.value = text;
    area.dispatchEvent(new Event('input', { bubbles: true }));
    while (!graph.getAttribute('aria-label').startsWith(`graph of ${ops} `)) await new Promise((task) => { setTimeout(task); });
    await new Promise((ended) => { requestAnimationFrame(() => setTimeout(ended)); });
    performance.mark('frame-0');
  };
  const of = { text: gpt2Blocks(blocks), ops: blocks * OPS_PER_BLOCK, picture: PICTURE };
  const [shown] = await measureMarked(browser, page, 1, () => page.evaluate(showText, of));
  return { page, shown };
}

const { server, url } = await serve(resolve(dist));
const browser = await launch();
row('big graphs: time of the main thread', 'median', '95th pct');
for (const blocks of BLOCKS) {
  const shown = [];
  for (let load = 0; load < 3; load += 1) {
    const { page, shown: took } = await measurePicture(browser, url, blocks);
    shown.push(took);
    await page.close();
  }
  const { page, shown: took } = await measurePicture(browser, url, blocks);
  shown.push(took);
  const elements = await page.locator(`${PICTURE} *`).count();
  const print = (name, values, limit) => {
    const most = limit === undefined ? '' : ` (at most ${limit} ms)`;
    row(`  ${name}${most}`, ms(quantile(values, 0.5)), ms(quantile(values, 0.95)));
  };
  const [pictureLimit, eventLimit] = LIMITS_MS[blocks] ?? [];
  const frameLimit = blocks === 48 ? FRAME_LIMIT_MS : undefined;
  console.log(`${blocks * OPS_PER_BLOCK} ops, ${elements} elements in the picture`);
  print('text to picture', shown, pictureLimit);
  const events = blocks > 100 ? 10 : 30;
  print('slider event', await measure(browser, page, 'slider', SLIDER, { events, warmUp: 2 }), eventLimit);
  print('pan frame', await measure(browser, page, 'pan', PICTURE, { events: 120 }), frameLimit);
  print('zoom frame', await measure(browser, page, 'zoom', PICTURE, { events: 80 }), frameLimit);
  await page.close();
}
await browser.close();
server.close();
server.closeAllConnections();
