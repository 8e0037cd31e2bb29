// The *Your GPU* tab in a browser that has none for it.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { openTab, write } from './visitor.mjs';
import { PROGRAM, own, run } from './webgpu.mjs';

test('a browser without it says so and offers the script', async ({ page, open }) => {
  await page.addInitScript(() => { Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined }); });
  await open();
  await write(page, PROGRAM);
  await openTab(page, 'Your GPU');
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText('This browser has no WebGPU');
  expect(await accessibilityFindings(page)).toEqual([]);
  const download = page.waitForEvent('download');
  await own(page).getByRole('button', { name: 'Save the PyTorch script' }).click();
  expect((await download).suggestedFilename()).toBe('bench.py');
});

test('a browser that finds no GPU says so', async ({ page, open, problems }) => {
  await open();
  await write(page, PROGRAM);
  await openTab(page, 'Your GPU');
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText(/This browser has no WebGPU|WebGPU finds no GPU/);
  // Chromium's own words.
  problems.splice(0, problems.length, ...problems.filter((problem) => problem !== 'console warning: No available adapters.'));
});
