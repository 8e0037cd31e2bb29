// The page's speed on big graphs: from a text to its picture, for each event of a slider, and for
// each frame in which the picture is moved or zoomed; and how many elements the picture has. The
// text is written out, or a block that is repeated, whose first slider is the number of rounds.
// Limits are those of a machine with nothing else to do. Usage: node tests/bench/big_graphs.mjs
// [DIST [BLOCKS...]], after the release build.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPS_PER_BLOCK, gpt2Blocks, gpt2Repeated } from '../e2e/gpt2.mjs';
import { serve } from '../e2e/server.mjs';
import { launch, measure, measureMarked, ms, quantile, row, viewport } from './frames.mjs';

/** Most milliseconds of the main thread by blocks: for a picture, for each event of a slider. */
const LIMITS_MS = { 12: [300, 50], 48: [500, 100], 200: [1500, 400] };
/** Most milliseconds of 95 in 100 frames at 48 blocks. */
const FRAME_LIMIT_MS = 16.7;
const LOADS = 4;

const [dist = fileURLToPath(new URL('../../dist', import.meta.url)), ...chosen] = process.argv.slice(2);
const BLOCKS = chosen.length ? chosen.map(Number) : [12, 48, 200];
const SLIDER = '.slider-list input[type=range]';
const PICTURE = 'svg.dag';

/** From the text to the end of the frame that shows its picture, in a fresh page. */
async function measurePicture(browser, url, text, ops) {
  const page = await browser.newPage({ viewport });
  await page.goto(url);
  await page.waitForSelector('svg.dag .dag-op');
  const showText = async ({ value, name, picture }) => {
    const area = document.querySelector('textarea');
    const graph = document.querySelector(picture);
    performance.mark('event-0');
    area.value = value;
    area.dispatchEvent(new Event('input', { bubbles: true }));
    while (!graph.getAttribute('aria-label').startsWith(name)) await new Promise((task) => { setTimeout(task); });
    await new Promise((ended) => { requestAnimationFrame(() => setTimeout(ended)); });
    performance.mark('frame-0');
  };
  const of = { value: text, name: `graph of ${ops.toLocaleString('en-US')} `, picture: PICTURE };
  const [shown] = await measureMarked(browser, page, 1, () => page.evaluate(showText, of));
  return { page, shown };
}

/** A line for each of `parts` of the events: all the time, the main thread's, its script. */
function print(name, events, parts, limit) {
  for (const part of parts) {
    const most = limit === undefined || part !== 'busy' ? '' : ` (at most ${limit} ms)`;
    const values = events.map((event) => event[part]);
    row(`  ${name}, ${part}${most}`, ms(quantile(values, 0.5)), ms(quantile(values, 0.95)));
  }
}

const { server, url } = await serve(resolve(dist));
const browser = await launch();
row('big graphs: clock, main thread busy, its script', 'median', '95th pct');
for (const blocks of BLOCKS) {
  const ops = blocks * OPS_PER_BLOCK;
  const [pictureLimit, eventLimit] = LIMITS_MS[blocks] ?? [];
  const frameLimit = blocks === 48 ? FRAME_LIMIT_MS : undefined;
  const events = { events: blocks > 100 ? 10 : 30, warmUp: 2 };
  for (const [kind, text] of [['written out', gpt2Blocks(blocks)], ['repeated', gpt2Repeated(blocks)]]) {
    const shown = [];
    let page;
    for (let load = 0; load < LOADS; load += 1) {
      await page?.close();
      const measured = await measurePicture(browser, url, text, ops);
      ({ page } = measured);
      shown.push(measured.shown);
    }
    const elements = await page.locator(`${PICTURE} *`).count();
    console.log(`${ops} ops, ${kind}, ${elements} elements in the picture`);
    print('text to picture', shown, ['clock', 'busy', 'script'], pictureLimit);
    if (kind === 'repeated') {
      print('slider of the rounds', await measure(browser, page, 'slider', SLIDER, events), ['busy', 'script']);
    } else {
      print('slider event', await measure(browser, page, 'slider', SLIDER, events), ['busy', 'script'], eventLimit);
      print('pan frame', await measure(browser, page, 'pan', PICTURE, { events: 120 }), ['busy'], frameLimit);
      print('zoom frame', await measure(browser, page, 'zoom', PICTURE, { events: 80 }), ['busy'], frameLimit);
    }
    await page.close();
  }
}
await browser.close();
server.close();
server.closeAllConnections();
