// The tab on which a param goes along an axis.

import { accessibilityFindings, commandLine, expect, test } from './fixture.mjs';
import { editor, numberBox, picker, slider } from './visitor.mjs';

const panel = (page) => page.getByRole('tabpanel', { name: 'Sweep' });
const crossings = (page) => panel(page).getByRole('list').filter({ has: page.locator('.crossing') }).getByRole('listitem');

test.beforeEach(async ({ page, open }) => {
  await open();
  await page.getByRole('tab', { name: 'Sweep', exact: true }).click();
  await expect(crossings(page).first()).toBeVisible();
});

test('values and crossings are those of the command line', async ({ page }) => {
  const text = await editor(page).inputValue();
  const report = commandLine(['sweep', '-', 'S'], text);
  const told = await crossings(page).allTextContents();
  expect(told.map((words) => words.replace(/^\d+/, ''))).toEqual(report.crossings.map(({ sentence }) => sentence.replaceAll('`', '')));
  await panel(page).getByText(/^All values/).click();
  const rows = panel(page).getByRole('table').getByRole('row');
  await expect(rows).toHaveCount(report.points.length + 1);
  await expect(rows.last().getByRole('rowheader')).toHaveText(report.points.at(-1).value.toLocaleString('en-US'));
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('a crossing and a point set the param, undo takes it back, and the line follows while the curves stay', async ({ page }) => {
  const before = await numberBox(page, 'S').inputValue();
  const crossing = crossings(page).filter({ hasText: 'larger than all weights' }).first().getByRole('button');
  await crossing.click();
  await expect(numberBox(page, 'S')).toHaveValue('2560');
  await page.getByRole('button', { name: 'Undo' }).first().click();
  await expect(numberBox(page, 'S')).toHaveValue(before);
  const point = panel(page).getByRole('button', { name: /^textbook rules, S = 16,384/ });
  await point.focus();
  await page.keyboard.press('Enter');
  await expect(numberBox(page, 'S')).toHaveValue('16384');
  await expect(point).toBeFocused();

  const curve = panel(page).locator('.mark-policy-curve-rules path').first();
  const line = panel(page).locator('.mark-ridge path').first();
  const [curveBefore, lineBefore] = [await curve.getAttribute('d'), await line.getAttribute('d')];
  await slider(page, 'S').focus();
  await page.keyboard.press('Home');
  await expect.poll(() => line.getAttribute('d')).not.toBe(lineBefore);
  expect(await curve.getAttribute('d')).toBe(curveBefore);
});

test('another param and another measure are chosen, and a program without a range says how to get one', async ({ page }) => {
  await picker(page, 'Along').selectOption('H');
  await expect(panel(page).getByRole('button', { name: /^no fusion, H = 256, / })).toBeVisible();
  await picker(page, 'Show').selectOption('kernels');
  await expect(panel(page).getByRole('button', { name: /^textbook rules, H = 256, 9$/ })).toBeVisible();
  await page.getByRole('checkbox', { name: 'relative to no fusion' }).check();
  await expect(panel(page).getByRole('button', { name: /^textbook rules, H = 256, 0\.64×, 9$/ })).toBeVisible();
  await editor(page).fill('input x : f16[64]\ny = relu(x)\n');
  await expect(panel(page)).toContainText('No param of this program has a range');
});
