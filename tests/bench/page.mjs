// The page's speed as a visitor feels it: main-thread time from a slider's `input` event to the end
// of the next frame, beside the same for a bare page with one slider; and of a first visit the time
// from navigation to the first picture and to the first answer, and the bytes until then, on this
// machine and as a visitor with a slow line and a slow processor has it. Usage: node
// tests/bench/page.mjs [FOLDER], after ./dev build, whose folder dist/ it measures. Another folder
// needs `node src/compress.mjs FOLDER` before, else the slow line is measured with files that no
// host would send.

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '../e2e/server.mjs';
import { launch, measure, ms, quantile, row, viewport } from './frames.mjs';

const EVENTS = 200;
const WARM_UP_EVENTS = 20;
const LOADS = 7;
/** Tabs that are open while the slider is dragged: only the open one is mounted. */
const TABS = ['Kernels', 'Limits'];
const BARE_PAGE = `<!doctype html><input type="range" min="128" max="16384" step="128" value="2048"><output>2048</output>`;
const CHART = '.chart-panel svg.chart';
/** Also one that stands in index.html. */
const PICTURE = 'body svg path';
const SLOW_MBIT_PER_S = 10;
const SLOW_LATENCY_MS = 40;
const SLOW_PROCESSOR = 4;
const SLOW_PICTURE_LIMIT_S = 1;
const SLOW_ANSWER_LIMIT_S = 3;

/** Gives a page a slow line and a slow processor. Chromium slows the main thread alone. */
async function slowDown(page) {
  const devtools = await page.context().newCDPSession(page);
  const bytesPerSecond = SLOW_MBIT_PER_S * 1e6 / 8;
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false, latency: SLOW_LATENCY_MS, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond,
  });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_PROCESSOR });
}

/**
 * Milliseconds from navigation to the first frame with a picture, and to the first that answers a press of *Fuse*, which comes as
 * soon as there is one; and the bytes that came over the line until then. In a fresh profile.
 */
async function measureLoad(browser, url, { slow }) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  if (slow) await slowDown(page);
  await page.addInitScript((picture) => {
    const found = {};
    let unfused;
    const look = () => {
      if (document.querySelector(picture)) found.pictureMs ??= performance.now();
      const fuse = document.querySelector('main .fuse-button');
      const sentence = document.querySelector('main .claim')?.textContent;
      if (unfused === undefined && fuse) {
        unfused = sentence;
        fuse.click();
      } else if (unfused !== undefined && sentence !== unfused) {
        found.answerMs = performance.now();
        const loads = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
        found.bytes = loads.reduce((sum, { transferSize }) => sum + transferSize, 0);
        globalThis.load = found;
        return;
      }
      requestAnimationFrame(look);
    };
    look();
  }, PICTURE);
  await page.goto(url);
  await page.waitForFunction(() => globalThis.load !== undefined);
  const load = await page.evaluate(() => globalThis.load);
  await context.close();
  return load;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const { server, url } = await serve(resolve(root, process.argv[2] ?? 'dist'));
const browser = await launch();
const count = { events: EVENTS, warmUp: WARM_UP_EVENTS };

const bare = await browser.newPage();
await bare.setContent(BARE_PAGE);
await bare.evaluate(() => {
  const [input, output] = [document.querySelector('input'), document.querySelector('output')];
  input.addEventListener('input', () => { output.textContent = input.value; });
});
const busyMs = (events) => events.map(({ busy }) => busy);
const bareMs = busyMs(await measure(browser, bare, 'slider', 'input', count));

const page = await browser.newPage({ viewport });
await page.goto(url);
await page.waitForSelector(CHART);
// The block of 14 ops, whose times are known from earlier versions.
await page.getByRole('combobox', { name: 'Example', exact: true }).selectOption('transformer');
const pageMs = {};
for (const tab of TABS) {
  // Without the mouse, which would scroll the pictures out of sight.
  await page.getByRole('tab', { name: tab, exact: true }).dispatchEvent('click');
  pageMs[tab] = busyMs(await measure(browser, page, 'slider', '.slider-list input[type=range]', count));
}

const loads = [];
const slowLoads = [];
for (let load = 0; load < LOADS; load += 1) {
  loads.push(await measureLoad(browser, url, { slow: false }));
  slowLoads.push(await measureLoad(browser, url, { slow: true }));
}

row(`main-thread time, slider event to next frame (n=${EVENTS})`, 'median', '95th pct');
for (const tab of TABS) {
  row(`  the page, transformer example of 14 ops, ${tab} open`, ms(quantile(pageMs[tab], 0.5)), ms(quantile(pageMs[tab], 0.95)));
}
row('  a bare page with one slider', ms(quantile(bareMs, 0.5)), ms(quantile(bareMs, 0.95)));
const SLOW = `at ${SLOW_MBIT_PER_S} Mbit/s, processor slowed ${SLOW_PROCESSOR} times`;
for (const [name, key, limitS] of [['picture', 'pictureMs', SLOW_PICTURE_LIMIT_S], ['answer', 'answerMs', SLOW_ANSWER_LIMIT_S]]) {
  for (const [title, measured] of [[`first visit, to the first ${name} (n=${LOADS})`, loads], [`  ${SLOW} (at most ${limitS} s)`, slowLoads]]) {
    const values = measured.map((load) => load[key]);
    row(title, ms(quantile(values, 0.5)), ms(quantile(values, 0.95)));
  }
}
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(3)} MB`;
const bytes = [...loads, ...slowLoads].map((load) => load.bytes);
row('  bytes over the line until then', megabytes(quantile(bytes, 0.5)), megabytes(quantile(bytes, 0.95)));

await browser.close();
server.close();
server.closeAllConnections();
