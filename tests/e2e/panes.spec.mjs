// The lines between ops, graph and charts: by pointer and by keys, kept for the next visit.

import { expect, test } from './fixture.mjs';

const divider = (page, name) => page.getByRole('separator', { name });
const width = (page, name) => page.getByRole('region', { name, exact: true }).evaluate((pane) => pane.getBoundingClientRect().width);
const height = (page) => page.getByRole('region', { name: 'Graph', exact: true }).evaluate((pane) => pane.getBoundingClientRect().height);

test.beforeEach(async ({ page, open }) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await open();
});

test('a line between panes is dragged, stays for the next visit, and goes back by a double click', async ({ page }) => {
  const before = await width(page, 'Graph');
  const line = await divider(page, 'Width of the operations').boundingBox();
  const [x, y] = [line.x + line.width / 2, line.y + line.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 100, y, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => width(page, 'Graph')).toBeGreaterThan(before + 90);
  await page.mouse.move(x + 50, y);
  const wide = await width(page, 'Graph');
  expect(wide).toBeLessThan(before + 110);
  await page.reload();
  await expect.poll(() => width(page, 'Graph')).toBeCloseTo(wide, 0);
  await divider(page, 'Width of the operations').dblclick();
  await expect.poll(() => width(page, 'Graph')).toBeCloseTo(before, 0);
});

test('arrow keys move a line, and no pane becomes too narrow', async ({ page }) => {
  const line = divider(page, 'Width of the graph');
  await line.focus();
  await expect(line).toHaveAttribute('aria-valuenow', '67');
  await page.keyboard.press('ArrowLeft');
  await expect(line).toHaveAttribute('aria-valuenow', '65');
  await page.keyboard.press('End');
  await expect(line).toHaveAttribute('aria-valuenow', '85');
  await page.keyboard.press('Home');
  await expect(line).toHaveAttribute('aria-valuenow', '41');
  const scrolls = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  expect(scrolls).toBe(false);
  await page.keyboard.press('Enter');
  await expect(line).toHaveAttribute('aria-valuenow', '67');
});

test('the line below makes the panes taller', async ({ page }) => {
  const before = await height(page);
  await divider(page, 'Height of the graph').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => height(page)).toBeCloseTo(before + 64, 0);
});

test('a press that began elsewhere moves no line that it crosses', async ({ page }) => {
  const line = divider(page, 'Width of the operations');
  const { x, y, width, height } = await line.boundingBox();
  await page.mouse.move(x - 60, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width + 60, y + height / 2, { steps: 60 });
  await page.mouse.up();
  await expect(line).toHaveAttribute('aria-valuenow', '26');
});
