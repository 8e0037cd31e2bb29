// What the benchmarks of the page measure with: the main thread's time from an action to the end of
// the frame that shows it.

import { createRequire } from 'node:module';
import { args, executablePath } from '../e2e/chromium.mjs';

const { chromium } = createRequire(new URL('../e2e/', import.meta.url))('@playwright/test');

/** Counts the processor's time instead of the clock's: for a machine that does other work at the same time. */
const CPU_TIME = process.env.CPU_TIME === '1';

/** The size of a small laptop's window. */
export const viewport = { width: 1366, height: 768 };

export const launch = () => chromium.launch({ executablePath, args });

/** The value below which a share of the values lies. */
export const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1];

export const ms = (value) => `${value.toFixed(2)} ms`;

/** One line of a table: a name, the median and the 95th percentile. */
export const row = (name, median, p95) => console.log(`${name.padEnd(64)} ${median.padStart(10)} ${p95.padStart(10)}`);

/**
 * Does an action once a frame and marks the moment of each and the end of the frame that follows it. Runs in the page.
 * `kind` names one of `actions`, `target` is its element.
 */
async function actEachFrame({ kind, target, events }) {
  const nextFrameEnd = () => new Promise((ended) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ended; // runs after the frame's style, layout and paint
      port2.postMessage(null);
    });
  });
  const element = document.querySelector(target);
  const { left, top, width, height } = element.getBoundingClientRect();
  const middle = { clientX: left + width / 2, clientY: top + height / 2 };
  const pointer = (type, dy) => element.dispatchEvent(new PointerEvent(type, {
    ...middle, clientY: middle.clientY + dy, pointerId: 1, button: 0, bubbles: true, cancelable: true,
  }));
  const actions = {
    /** Moves a slider. */
    slider: (event) => {
      const [min, max, step] = [element.min, element.max, element.step].map(Number);
      const steps = Math.floor((max - min) / step);
      element.value = String(min + step * (1 + ((event * 7) % steps)));
      element.dispatchEvent(new Event('input', { bubbles: true }));
    },
    /** Drags the picture up by 40 pixels, as one scrolls through a graph. */
    pan: (event) => {
      if (event === 0) pointer('pointerdown', 0);
      pointer('pointermove', -40 * (event + 1));
      if (event === events - 1) pointer('pointerup', -40 * events);
    },
    /** Turns the wheel: out to the whole graph in the first half, in again in the second. */
    zoom: (event) => element.dispatchEvent(new WheelEvent('wheel', {
      ...middle, deltaY: event < events / 2 ? 40 : -40, ctrlKey: true, bubbles: true, cancelable: true,
    })),
  };
  for (let event = 0; event < events; event += 1) {
    await nextFrameEnd();
    await new Promise((task) => { setTimeout(task); });
    performance.mark(`event-${event}`);
    actions[kind](event);
    await nextFrameEnd();
    performance.mark(`frame-${event}`);
  }
}

/** Trace events in which the main thread runs JavaScript or WebAssembly. */
const SCRIPT = new Set(['EvaluateScript', 'FunctionCall', 'EventDispatch', 'FireAnimationFrame', 'RunMicrotasks', 'TimerFire']);

/** The part of `[from, to]` that intervals, ascending by start, cover together. */
function covered(intervals, from, to) {
  let [sum, end] = [0, from];
  for (const { ts, dur } of intervals) {
    sum += Math.max(0, Math.min(ts + dur, to) - Math.max(ts, end));
    end = Math.max(end, ts + dur);
  }
  return sum;
}

/**
 * For each event the milliseconds between its two marks: all of them, those in which the main thread was busy, and those in which
 * it ran script.
 */
function millisecondsOfEvents(trace, events) {
  const marks = new Map();
  for (const { name, ts, cat, ph } of trace.traceEvents) {
    if (cat.includes('blink.user_timing') && ph !== 'E') marks.set(name, ts);
  }
  const main = trace.traceEvents.find((event) => event.name === 'event-0');
  const ofThread = (isWanted) => trace.traceEvents
    // What runs when the trace ends has no duration.
    .filter(({ name, pid, tid, dur }) => isWanted(name) && pid === main.pid && tid === main.tid && dur)
    .sort((before, after) => before.ts - after.ts);
  const scripts = ofThread((name) => SCRIPT.has(name));
  let next = 0;
  const tasks = ofThread((name) => name === 'RunTask').map((task) => {
    const first = next;
    while (next < scripts.length && scripts[next].ts < task.ts + task.dur) next += 1;
    return { ...task, scripts: scripts.slice(first, next) };
  });
  return Array.from({ length: events }, (_, event) => {
    const [from, to] = [marks.get(`event-${event}`), marks.get(`frame-${event}`)];
    let [busy, script] = [0, 0];
    for (const task of tasks) {
      const [start, end] = [Math.max(task.ts, from), Math.min(task.ts + task.dur, to)];
      const share = CPU_TIME ? (task.tdur ?? task.dur) / task.dur : 1;
      busy += Math.max(0, end - start) * share;
      script += covered(task.scripts, start, end) * share;
    }
    return { clock: (to - from) / 1000, busy: busy / 1000, script: script / 1000 };
  });
}

/** The milliseconds of each of so many events that `act` marks in the page. */
export async function measureMarked(browser, page, events, act) {
  await browser.startTracing(page, {
    categories: ['blink.user_timing', 'devtools.timeline', 'disabled-by-default-devtools.timeline'],
  });
  await act();
  const trace = JSON.parse((await browser.stopTracing()).toString());
  return millisecondsOfEvents(trace, events);
}

/** The milliseconds of each of `events` actions of a kind on an element, after some to warm up. */
export async function measure(browser, page, kind, target, { events, warmUp = 0 }) {
  if (warmUp > 0) await page.evaluate(actEachFrame, { kind, target, events: warmUp });
  await page.evaluate(() => performance.clearMarks());
  return measureMarked(browser, page, events, () => page.evaluate(actEachFrame, { kind, target, events }));
}
