// A state is pinned, and everything is shown as the difference to it.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, kernelButton, numberBox, policyChoice, result, roofline, traffic } from './visitor.mjs';

const pinned = (page) => page.getByRole('group', { name: 'Pinned state' });

test.beforeEach(async ({ page, open }) => {
  await open();
  await choosePolicy(page, 'none');
  await result(page).getByRole('button', { name: 'Pin', exact: true }).click();
  await choosePolicy(page, 'rules');
});

test('headline, kernels, charts and graph show the difference', async ({ page }) => {
  await expect(pinned(page)).toContainText('S = 2,048');
  await expect(pinned(page)).toContainText('no fusion');
  await expect(pinned(page)).toContainText('2.30 GB −14.6 %');
  await expect(pinned(page)).toContainText('14 −5');
  const row = page.locator('table.fused-kernels tbody tr').filter({ has: page.getByRole('button', { name: /^kernel 1:/ }) });
  await expect(row.getByRole('cell').last()).toHaveText('new');
  await expect(page.getByText(/^Only in the pinned state: qkv_proj/)).toBeVisible();
  await expect(roofline(page).locator('.mark-pinned-point').first()).toBeVisible();
  await expect(traffic(page).locator('.mark-pinned-text')).toHaveText('pinned 2.30 GB');
  await expect(page.locator('.dag-kernel.is-new')).not.toHaveCount(0);
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('the sentence keeps its lines, whatever is said of further changes', async ({ page }) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await pinned(page).getByRole('button', { name: 'Unpin' }).click();
  await chooseExample(page, 'Transformer block');
  await expect(page.locator('.best-change')).toBeVisible();
  const claim = page.locator('.claim');
  const { height } = await claim.boundingBox();
  await result(page).getByRole('button', { name: 'Pin', exact: true }).click();
  await expect(pinned(page)).toBeVisible();
  await expect(page.locator('.best-change')).toHaveCount(1);
  expect((await claim.boundingBox()).height).toBe(height);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1366);
});

test('swap goes to the pinned state and pins this one, undo goes back, unpin ends it', async ({ page }) => {
  await numberBox(page, 'S').fill('4096');
  await numberBox(page, 'S').press('Enter');
  await pinned(page).getByRole('button', { name: 'Swap' }).click();
  await expect(numberBox(page, 'S')).toHaveValue('2048');
  await expect(policyChoice(page, 'none')).toBeChecked();
  await expect(pinned(page)).toContainText('S = 4,096');
  await expect(pinned(page)).toContainText('textbook rules');
  await pinned(page).getByRole('button', { name: 'Unpin' }).click();
  await expect(pinned(page)).toHaveCount(0);
  await expect(page.locator('.mark-pinned-point')).toHaveCount(0);
  await expect(page.getByRole('columnheader', { name: 'change from pinned' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).first().click();
  await expect(numberBox(page, 'S')).toHaveValue('4096');
});

test('a pinned program is named, and its figures are not compared with those of other ops', async ({ page }) => {
  const changes = pinned(page).locator('.saved');
  await expect(pinned(page)).toContainText('pinned: Transformer block, 14 ops, S = 2,048');
  await expect(pinned(page)).not.toContainText('differ');
  await expect(changes).toHaveCount(3);
  await chooseExample(page, 'Diamond');
  await expect(kernelButton(page, 1)).toBeVisible();
  await expect(pinned(page)).toContainText('pinned: Transformer block, 14 ops, S = 2,048');
  await expect(pinned(page)).toContainText('2.30 GB');
  await expect(pinned(page)).toContainText('Its ops differ, so no changes are shown.');
  await expect(pinned(page)).not.toContainText('%');
  await expect(changes).toHaveCount(0);
  await expect(page.locator('table.fused-kernels tfoot td').last()).toBeEmpty();
});

test('on a phone the pinned line and the table fit', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(pinned(page)).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});
