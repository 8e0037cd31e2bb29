// Speed of the page: main-thread time from a slider's `input` event to the end of the next frame, the same for an
// empty page with one slider, and the time from navigation to the first drawn chart.
// Usage: node tests/bench/page.mjs, after the release build.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { args, executablePath } from '../e2e/chromium.mjs';
import { serve } from '../e2e/server.mjs';

const { chromium } = createRequire(new URL('../e2e/', import.meta.url))('@playwright/test');

const EVENTS = 200;
const WARM_UP_EVENTS = 20;
const LOADS = 7;
/** Tabs that are open while the slider is dragged: only the open one is mounted. */
const TABS = ['Kernels', 'Limits'];
const BARE_PAGE = `<!doctype html><input type="range" min="128" max="16384" step="128" value="2048"><output>2048</output>`;
const CHART = '.chart-panel svg.chart';

/** The quantile of the values at `share`, by nearest rank. */
const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1];

/**
 * Moves the slider once per frame and records a performance mark at each event and at the end of the next frame.
 * Runs in the page.
 */
async function dragSlider({ slider, events }) {
  const nextFrameEnd = () => new Promise((ended) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ended; // runs after the frame's style, layout and paint
      port2.postMessage(null);
    });
  });
  const input = document.querySelector(slider);
  const [min, max, step] = [input.min, input.max, input.step].map(Number);
  const steps = Math.floor((max - min) / step);
  for (let event = 0; event < events; event += 1) {
    await nextFrameEnd();
    await new Promise((task) => { setTimeout(task); });
    performance.mark(`event-${event}`);
    input.value = String(min + step * (1 + ((event * 7) % steps)));
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await nextFrameEnd();
    performance.mark(`frame-${event}`);
  }
}

/** For each event the time between its two marks in which the main thread was busy, in milliseconds. */
function busyMilliseconds(trace) {
  const marks = new Map();
  for (const { name, ts, cat, ph } of trace.traceEvents) {
    if (cat.includes('blink.user_timing') && ph !== 'E') marks.set(name, ts);
  }
  const main = trace.traceEvents.find((event) => event.name === 'event-0');
  const tasks = trace.traceEvents.filter((event) => event.name === 'RunTask' && event.pid === main.pid && event.tid === main.tid);
  return Array.from({ length: EVENTS }, (_, event) => {
    const [from, to] = [marks.get(`event-${event}`), marks.get(`frame-${event}`)];
    const busy = tasks.reduce((sum, task) => {
      return sum + Math.max(0, Math.min(task.ts + task.dur, to) - Math.max(task.ts, from));
    }, 0);
    return busy / 1000;
  });
}

async function measureSlider(browser, page, slider) {
  await page.evaluate(dragSlider, { slider, events: WARM_UP_EVENTS });
  await page.evaluate(() => performance.clearMarks());
  await browser.startTracing(page, {
    categories: ['blink.user_timing', 'devtools.timeline', 'disabled-by-default-devtools.timeline'],
  });
  await page.evaluate(dragSlider, { slider, events: EVENTS });
  const trace = JSON.parse((await browser.stopTracing()).toString());
  return busyMilliseconds(trace);
}

/** Milliseconds from navigation to the first frame with the chart, in a fresh profile. */
async function measureLoad(browser, url) {
  const context = await browser.newContext({ viewport: { width: 1366, height: 768 } });
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
const browser = await chromium.launch({ executablePath, args });

const bare = await browser.newPage();
await bare.setContent(BARE_PAGE);
await bare.evaluate(() => {
  const [input, output] = [document.querySelector('input'), document.querySelector('output')];
  input.addEventListener('input', () => { output.textContent = input.value; });
});
const bareMs = await measureSlider(browser, bare, 'input');

const page = await browser.newPage({ viewport: { width: 1366, height: 768 } });
await page.goto(url);
await page.waitForSelector(CHART);
const pageMs = {};
for (const tab of TABS) {
  await page.getByRole('tab', { name: tab, exact: true }).click();
  pageMs[tab] = await measureSlider(browser, page, '.slider-list input[type=range]');
}

const loadMs = [];
for (let load = 0; load < LOADS; load += 1) loadMs.push(await measureLoad(browser, url));

const row = (name, median, p95) => console.log(`${name.padEnd(52)} ${median.padStart(10)} ${p95.padStart(10)}`);
const ms = (value) => `${value.toFixed(2)} ms`;
row(`main-thread time, slider event to next frame (n=${EVENTS})`, 'median', '95th pct');
for (const tab of TABS) {
  row(`  the page, transformer example, ${tab} open`, ms(quantile(pageMs[tab], 0.5)), ms(quantile(pageMs[tab], 0.95)));
}
row('  a bare page with one slider', ms(quantile(bareMs, 0.5)), ms(quantile(bareMs, 0.95)));
row(`navigation to the first drawn chart (n=${LOADS})`, ms(quantile(loadMs, 0.5)), ms(quantile(loadMs, 0.95)));

await browser.close();
server.close();
server.closeAllConnections();
