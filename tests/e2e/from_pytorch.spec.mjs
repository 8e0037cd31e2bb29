// The file that saves a PyTorch model for the page: shown, copied, saved, with the keyboard and
// without a network.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { accessibilityFindings, expect, test } from './fixture.mjs';
import { drop, notice } from './visitor.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCRIPT = readFileSync(`${ROOT}public/python/fuseline.py`, 'utf8');

const menu = (page) => page.locator('summary').filter({ hasText: 'Open' });
const dialog = (page) => page.getByRole('dialog', { name: 'From PyTorch' });

async function openDialog(page) {
  await menu(page).click();
  await page.getByRole('button', { name: 'A PyTorch model…' }).click();
  await expect(dialog(page).locator('pre')).toContainText('def export(');
}

test('the file is shown, copied and saved as it is', async ({ page, open, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open();
  await openDialog(page);
  expect(await dialog(page).locator('pre').textContent()).toBe(SCRIPT);
  await expect(dialog(page)).toContainText('fuseline.export(model, x)');
  await expect(dialog(page)).toContainText('dynamic_shapes={"x": {1: torch.export.Dim("seq", min=2, max=4096)}}');
  expect(await accessibilityFindings(page)).toEqual([]);
  await dialog(page).getByRole('button', { name: 'Copy it' }).click();
  await expect(notice(page)).toContainText('copied');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(SCRIPT);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog(page).getByRole('link', { name: 'Save fuseline.py' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('fuseline.py');
  expect(readFileSync(await download.path(), 'utf8')).toBe(SCRIPT);
});

test('the keyboard opens it, reads it and leaves it', async ({ page, open }) => {
  await open();
  await menu(page).focus();
  await page.keyboard.press('Enter');
  for (let step = 0; step < 2; step += 1) await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'A PyTorch model…' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toBeVisible();
  await expect(page.locator('.open-menu')).toHaveCount(0);
  await expect(dialog(page).locator('pre')).toContainText('def export(');
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('Tab');
  await expect(dialog(page).locator('pre')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toBeHidden();
  await expect(menu(page)).toBeFocused();
});

test('on a phone nothing is wider than the screen', async ({ page, open }) => {
  await page.setViewportSize({ width: 360, height: 640 });
  await open();
  await openDialog(page);
  const [width, overflow] = await dialog(page).evaluate((element) => [element.getBoundingClientRect().right, element.scrollWidth - element.clientWidth]);
  expect(width).toBeLessThanOrEqual(360);
  expect(overflow).toBe(0);
});

test('a model that PyTorch has exported is a program of the page', async ({ page, open }) => {
  await open();
  await drop(page, 'vit.pt2', readFileSync(`${ROOT}tests/model/exported/vit.pt2`));
  // 12 layers of 31 ops, and 22 around them.
  await expect(page.locator('.headline')).toContainText('turns 394 kernels into');
});
