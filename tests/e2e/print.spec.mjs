// A printed page: title, choices, result, pictures and tables, and nothing that only a mouse can use.

import { expect, test } from './fixture.mjs';
import { picker } from './visitor.mjs';

/** The window as a sheet of A4 with margins. */
const SHEET = { width: 704, height: 1000 };

const print = async (page) => {
  await page.setViewportSize(SHEET);
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
};

test('paper says what the figures rest on, and shows the whole graph', async ({ page, open }) => {
  await open();
  await picker(page, 'Fusion').selectOption('optimal');
  await print(page);
  const head = page.locator('.print-head');
  await expect(head).toContainText('Transformer block');
  for (const words of ['optimal:', 'least bytes', 'A100', 'a reshape is a copy', 'S = 2,048']) {
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
