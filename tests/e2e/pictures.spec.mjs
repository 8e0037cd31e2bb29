// The graph, the roofline and the traffic bars, and the selection that they share.

import { expect, test } from './fixture.mjs';
import { chooseExample, kernelButton, kernels, roofline, slider, traffic, write } from './visitor.mjs';

test.beforeEach(async ({ open }) => { await open(); });

const marks = (region) => region.getByRole('button');
const pressed = (page) => page.getByRole('button', { name: /^kernel \d+:/, pressed: true });

test('the roofline has a named point for every kernel, before and after', async ({ page }) => {
  const names = await marks(roofline(page)).evaluateAll((points) => points.map((point) => point.getAttribute('aria-label')));
  const groups = await kernels(page);
  for (const [index, ops] of groups.entries()) {
    expect(names.filter((name) => new RegExp(`kernel ${index + 1}\\b`, 'i').test(name)).length, ops.join()).toBeGreaterThan(0);
  }
  expect(names.every((name) => name.trim() !== '')).toBe(true);
  await expect(roofline(page)).toContainText(/memory/i);
  await expect(roofline(page)).toContainText(/compute/i);
});

test('a point of the roofline has a tooltip with units', async ({ page }) => {
  const point = marks(roofline(page)).first();
  await point.hover({ force: true });
  const tip = roofline(page).locator('.chart-tip');
  await expect(tip).toBeVisible();
  await expect(tip).toContainText(/FLOP\/B/);
  await page.mouse.move(0, 0);
  await expect(tip).toBeHidden();
});

test('arrow keys go from point to point', async ({ page }) => {
  const stop = roofline(page).locator('[tabindex="0"]');
  await expect(stop).toHaveCount(1);
  await stop.focus();
  const first = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await page.keyboard.press('ArrowRight');
  const second = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  expect(second).not.toBe(first);
  await page.keyboard.press('Enter');
  await expect(pressed(page).first()).toBeVisible();
});

test('the traffic bars show unfused and fused, reads and writes apart', async ({ page }) => {
  const names = await marks(traffic(page)).evaluateAll((bars) => bars.map((bar) => bar.getAttribute('aria-label')));
  expect(names.some((name) => /unfused/i.test(name))).toBe(true);
  expect(names.some((name) => /read/i.test(name))).toBe(true);
  expect(names.some((name) => /writ/i.test(name))).toBe(true);
  const saved = traffic(page).getByText(/335\.5|336 MB|0\.34 GB/).first();
  await expect(saved).toBeVisible();
  await page.getByText('By kernel', { exact: true }).click();
  expect(await marks(traffic(page)).count()).toBeGreaterThan(names.length);
});

test('the bars follow the slider while it moves', async ({ page }) => {
  const bars = () => traffic(page).locator('svg').first().innerHTML();
  const before = await bars();
  await slider(page, 'S').focus();
  await page.keyboard.press('PageUp');
  expect(await bars()).not.toBe(before);
});

test('what is selected in one view is selected in all', async ({ page }) => {
  await kernelButton(page, 5).click();
  await expect(page.getByRole('heading', { name: /out_proj \+ residual_add1/ })).toBeVisible();
  await expect(roofline(page).locator('[aria-pressed="true"]').first()).toBeVisible();
  await expect(traffic(page).locator('[aria-pressed="true"]').first()).toBeVisible();
  expect(await page.locator('.code-band').count()).toBe(2);
  await page.getByRole('tab', { name: 'Table' }).click();
  await expect(page.locator('.op-row.is-selected')).toHaveCount(2);
  await page.keyboard.press('Escape');
});

test('an empty program draws empty charts', async ({ page }) => {
  await write(page, '');
  await expect.poll(() => kernels(page)).toHaveLength(0);
  await expect(roofline(page)).toBeVisible();
  await write(page, '# only a comment\n');
  await expect(roofline(page)).toBeVisible();
});

test('every example draws its charts', async ({ page }) => {
  for (const title of ['Diamond', 'ResNet block', 'Attention']) {
    await chooseExample(page, title);
    await expect(marks(roofline(page)).first()).toBeVisible();
    await expect(marks(traffic(page)).first()).toBeVisible();
  }
});
