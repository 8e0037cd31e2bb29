// The page's speed as a visitor feels it: main-thread time from a slider's `input` event to the end of the next frame,
// beside the same for a bare page with one slider, and the time from navigation to the first drawn chart.
// Usage: node tests/bench/page.mjs, after the release build.

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

/** Milliseconds from navigation to the first frame with the chart, in a fresh profile. */
async function measureLoad(browser, url) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  await page.addInitScript((chart) => {
    const look = () => {
      const marks = document.querySelectorAll(`:is(${chart}) :is(circle, path)`);
      if (marks.length > 0) globalThis.chartDrawnMs = performance.now();
      else requestAnimationFrame(look);
    };
    look();
  }, CHART);
  await page.goto(url);
  await page.waitForFunction(() => globalThis.chartDrawnMs !== undefined);
  const drawn = await page.evaluate(() => globalThis.chartDrawnMs);
  await context.close();
  return drawn;
}

const { server, url } = await serve(fileURLToPath(new URL('../../dist', import.meta.url)));
const browser = await launch();
const count = { events: EVENTS, warmUp: WARM_UP_EVENTS };

const bare = await browser.newPage();
await bare.setContent(BARE_PAGE);
await bare.evaluate(() => {
  const [input, output] = [document.querySelector('input'), document.querySelector('output')];
  input.addEventListener('input', () => { output.textContent = input.value; });
});
const bareMs = await measure(browser, bare, 'slider', 'input', count);

const page = await browser.newPage({ viewport });
await page.goto(url);
await page.waitForSelector(CHART);
const pageMs = {};
for (const tab of TABS) {
  await page.getByRole('tab', { name: tab, exact: true }).click();
  pageMs[tab] = await measure(browser, page, 'slider', '.slider-list input[type=range]', count);
}

const loadMs = [];
for (let load = 0; load < LOADS; load += 1) loadMs.push(await measureLoad(browser, url));

row(`main-thread time, slider event to next frame (n=${EVENTS})`, 'median', '95th pct');
for (const tab of TABS) {
  row(`  the page, transformer example, ${tab} open`, ms(quantile(pageMs[tab], 0.5)), ms(quantile(pageMs[tab], 0.95)));
}
row('  a bare page with one slider', ms(quantile(bareMs, 0.5)), ms(quantile(bareMs, 0.95)));
row(`navigation to the first drawn chart (n=${LOADS})`, ms(quantile(loadMs, 0.5)), ms(quantile(loadMs, 0.95)));

await browser.close();
server.close();
server.closeAllConnections();
