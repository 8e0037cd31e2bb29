// A printed page: title, choices, result, pictures and tables, and nothing that only a mouse can
// use.

import { expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, picker } from './visitor.mjs';

/** The window as a sheet of A4 with margins. */
const SHEET = { width: 704, height: 1000 };

const print = async (page) => {
  await page.setViewportSize(SHEET);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
};

test('paper says what the figures rest on, and shows the whole graph', async ({ page, open }) => {
  await open();
  await choosePolicy(page, 'optimal');
  await print(page);
  const head = page.locator('.print-head');
  await expect(head).toContainText('Transformer block');
  for (const words of ['fewest bytes:', 'A100', 'a reshape is a copy', 'S = 2,048']) {
    await expect(head).toContainText(words);
  }
  const outside = () => page.locator('.dag').evaluate((dag) => {
    const frame = dag.getBoundingClientRect();
    const within = (box) => box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
    return [...dag.querySelectorAll('.dag-op, .dag-kernel, .dag-pill')].filter((part) => !within(part.getBoundingClientRect())).length;
  });
  await expect.poll(outside).toBe(0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide).toBeLessThanOrEqual(0);
  for (const control of ['.top-bar', '.splitter', '.dag-tools', '.enlarge', '.hint', '.switch']) {
    for (const part of await page.locator(control).all()) { await expect(part).toBeHidden(); }
  }
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  await expect(page.locator('.dag')).not.toHaveAttribute('viewBox');
  await expect(head).toBeHidden();
});

test('a long program is printed sheet after sheet: result and graph on the first, its text whole, and no controls', async ({ page, open }) => {
  await open();
  await chooseExample(page, 'Llama block');
  await choosePolicy(page, 'optimal');
  await picker(page, 'GPU').selectOption('h200');
  await page.getByRole('tab', { name: 'Compare', exact: true }).click();
  await expect(page.locator('.compared tbody tr')).not.toHaveCount(0);
  await print(page);
  const bottom = (selector) => page.locator(selector).last().evaluate((part) => part.getBoundingClientRect().bottom + scrollY);
  await expect.poll(() => bottom('.graph')).toBeLessThanOrEqual(SHEET.height);
  const lines = page.locator('pre.code .line');
  expect(await lines.count()).toBeGreaterThan(60);
  const text = await bottom('pre.code .line');
  expect(await bottom('.ops')).toBeGreaterThanOrEqual(text);
  expect(await page.locator('.results').evaluate((part) => part.getBoundingClientRect().top + scrollY)).toBeGreaterThanOrEqual(text);
  // Only boxes of this kind go over to another sheet, line by line.
  for (const part of ['.ops', '.ops-panel', '.editor', '.editor-cell']) {
    await expect(page.locator(part).first()).toHaveCSS('display', 'block');
    await expect(page.locator(part).first()).toHaveCSS('break-inside', 'auto');
  }
  await expect(page.getByText('All policies on one roofline')).toBeHidden();
  await expect(page.locator('.compared button').first()).toHaveCSS('border-top-width', '0px');
  for (const swatch of ['.key-read', '.key-written', '.key-solid']) {
    await expect(page.locator(swatch).first()).toHaveCSS('print-color-adjust', 'exact');
  }
  const sizes = await page.locator('.bound').first().evaluate((bound) => [bound, bound.parentElement].map((part) => Number.parseFloat(getComputedStyle(part).fontSize)));
  expect(sizes[0]).toBeLessThan(sizes[1]);
});
