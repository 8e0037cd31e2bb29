// The page in long use: what was shown before is gone. Memory of WebAssembly never shrinks, so each
// test first does all there is once.

import { expect, test } from './fixture.mjs';
import { OPS_PER_BLOCK, gpt2Blocks } from './gpt2.mjs';
import { drop, editor, grouped, picker, put } from './visitor.mjs';

const MEGABYTE = 1e6;

/** What the page holds, once what nobody refers to is collected. */
async function held(page) {
  const browser = await page.context().newCDPSession(page);
  await browser.send('Performance.enable');
  await browser.send('HeapProfiler.collectGarbage');
  const { metrics } = await browser.send('Performance.getMetrics');
  await browser.detach();
  const metric = (name) => metrics.find((one) => one.name === name).value;
  return {
    nodes: metric('Nodes'),
    listeners: metric('JSEventListeners'),
    bytes: await page.evaluate(async () => (await globalThis.wasmBindings.default()).memory.buffer.byteLength),
  };
}

/** Does something `few` times and then `many` times more, which leaves the page as the first times did. */
async function expectNothingHeld(page, few, many, act) {
  for (let time = 0; time < few; time += 1) await act(time);
  const before = await held(page);
  for (let time = few; time < few + many; time += 1) await act(time);
  const after = await held(page);
  expect(after.bytes - before.bytes).toBeLessThan(MEGABYTE);
  expect(after.nodes).toBeLessThan(before.nodes + 100);
  expect(after.listeners).toBeLessThan(before.listeners + 20);
}

test('another example takes the memory of the one before', async ({ page, open }) => {
  await open();
  const examples = picker(page, 'Example');
  const ids = await examples.locator('option:not([disabled])').evaluateAll((options) => options.map((option) => option.value));
  // Playwright's own choice takes longer than the page does.
  const choose = (time) => examples.evaluate((select, id) => {
    select.value = id;
    select.dispatchEvent(new Event('change', { bubbles: true }));
    return new Promise((drawn) => { requestAnimationFrame(() => setTimeout(drawn)); });
  }, ids[time % ids.length]);
  await expectNothingHeld(page, 2 * ids.length, 3 * ids.length, choose);
});

test('another file takes the memory of the one before', async ({ page, open }) => {
  await open();
  await expectNothingHeld(page, 10, 90, async (time) => {
    const text = `input x : f32[${time + 1}, 64]\ny = relu(x)\nz = exp(y)\n`;
    await drop(page, 'program.fuse', text);
    await expect(editor(page)).toHaveValue(text);
  });
});

test('another program of the worker takes the memory of the one before', async ({ page, open }) => {
  await open();
  const canvas = page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: /^graph of/ });
  await expectNothingHeld(page, 6, 24, async (time) => {
    const blocks = 12 + time % 2;
    await put(page, gpt2Blocks(blocks));
    await expect(canvas).toHaveAccessibleName(new RegExp(`^graph of ${grouped(blocks * OPS_PER_BLOCK)} operations`));
  });
});
