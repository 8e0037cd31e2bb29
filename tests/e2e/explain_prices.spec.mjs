// The numbers of "Why not", "What to do", "Sweep" and "Measured" explain themselves.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { chooseExample, numberBox, picker, result } from './visitor.mjs';

const openTab = (page, name) => page.getByRole('tab', { name, exact: true }).click();
const card = (page, name) => page.getByRole('dialog', { name });
const line = (shown) => shown.locator('.explanation-line');
const numbers = (part) => part.locator('.explains');

/** The table is one tab stop, arrow keys lead from number to number, and Escape returns from what is told. */
async function expectKeys(page, table, title) {
  await expect(table.locator('.explains[tabindex="0"]')).toHaveCount(1);
  await table.locator('.explains[tabindex="0"]').focus();
  await page.keyboard.press('Home');
  const first = page.locator('.explains:focus');
  const before = await first.evaluate((number) => number.closest('tr').rowIndex);
  await page.keyboard.press('ArrowDown');
  expect(await first.evaluate((number) => number.closest('tr').rowIndex)).toBe(before + 1);
  await page.keyboard.press('Enter');
  await expect(card(page, title)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(first).toBeFocused();
  expect(await first.evaluate((number) => number.closest('tr').rowIndex)).toBe(before + 1);
}

test.beforeEach(async ({ open }) => { await open(); });

test('what an edge would save is told by its two kernels, without selecting it', async ({ page }) => {
  await openTab(page, 'Why not');
  const table = page.getByRole('group', { name: 'Table of edges between kernels' });
  const row = table.getByRole('row', { name: /attn_scores → softmax/ });
  await numbers(row).first().click();
  const told = card(page, 'bytes to save');
  await expect(told).toBeInViewport({ ratio: 1 });
  await expect(told).toContainText('kernels 2 and 3 as one');
  await expect(told).toContainText('bytes of both kernels − bytes of the two as one kernel');
  await expect(line(told)).toHaveText(/^= [\d.]+ [MG]B of both kernels − [\d.]+ [MG]B as one kernel$/);
  await expect(told).toContainText('kernel 2: attn_scores');
  await expect(told).toContainText('kernel 3: softmax');
  await expect(told.locator('.explanation-value strong')).toHaveText(await numbers(row).first().innerText());
  await expect(row.getByRole('button', { name: /→/ })).toHaveAttribute('aria-pressed', 'false');
  expect(await accessibilityFindings(page)).toEqual([]);
  await numbers(row).nth(1).click();
  await expect(card(page, 'lower bound falls by')).toContainText('A launch takes 2.00 µs');
  await expectKeys(page, table, 'bytes to save');
});

test('the numbers in a verdict and in the card of an edge are told as in its row', async ({ page }) => {
  await openTab(page, 'Why not');
  const table = page.getByRole('group', { name: 'Table of edges between kernels' });
  const row = table.getByRole('row', { name: /attn_scores → softmax/ });
  const shown = await numbers(row).allInnerTexts();
  await row.getByRole('button', { name: /→/ }).click();
  const inspector = page.getByRole('region', { name: 'attn_scores → softmax' });
  for (const words of [inspector.locator('p', { hasText: 'As one kernel' }), page.getByRole('status').filter({ hasText: 'As one kernel' })]) {
    await expect(numbers(words)).toHaveText(shown);
    await numbers(words).first().click();
    await expect(line(card(page, 'bytes to save'))).toHaveText(/of both kernels − .* as one kernel$/);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(inspector).toBeVisible();
  }
});

test('equal edges of several rounds are told together', async ({ page }) => {
  await chooseExample(page, 'GPT-2, all layers');
  await openTab(page, 'Why not');
  const row = page.getByRole('row', { name: /so in each of 12 rounds/ }).first();
  await numbers(row).first().click();
  const told = card(page, 'bytes to save');
  await expect(told).toContainText('in each of 12 rounds');
  await expect(told.getByRole('listitem').filter({ hasText: 'in 11 other rounds' })).not.toHaveCount(0);
});

test('what an advice would save is told by what runs now and then', async ({ page }) => {
  await picker(page, 'GPU').selectOption('h200');
  await openTab(page, 'What to do');
  const table = page.getByRole('group', { name: 'What would save time' });
  const row = table.getByRole('row', { name: /scaled_dot_product_attention/ });
  await numbers(row).nth(2).click();
  const told = card(page, 'bytes to save');
  await expect(line(told)).toHaveText('= 1.96 GB now − 839 MB with the change');
  await expect(told).toContainText('What changes: attention as one kernel');
  expect(await accessibilityFindings(page)).toEqual([]);
  await numbers(row).nth(1).click();
  const share = card(page, "time to save, as a share of the program's");
  const time = await numbers(row).first().innerText();
  await expect(line(share).first()).toHaveText(new RegExp(`^= ${time} saved / [\\d.]+ ms of the program$`));
  await expect(share).toContainText('Rates measured on an H200');
  await expectKeys(page, table, 'expected time to save');
});

test('each value of a sweep is told, and its row sets the param', async ({ page }) => {
  await openTab(page, 'Sweep');
  const panel = page.getByRole('tabpanel', { name: 'Sweep' });
  await panel.getByText(/^All values/).click();
  const table = panel.getByRole('group', { name: 'Table of values' });
  const row = table.getByRole('row').nth(3);
  const value = await row.getByRole('rowheader').innerText();
  await numbers(row).nth(1).click();
  const told = card(page, 'bytes moved');
  await expect(told).toContainText(`S = ${value}, under rules`);
  await expect(told).toContainText('Σ over kernels (bytes read + bytes written)');
  await expect(told).toContainText('of what none has');
  await expect(told).toContainText('Fusion: rules');
  expect(await accessibilityFindings(page)).toEqual([]);
  const bytes = await numbers(row).nth(1).innerText();
  await page.keyboard.press('Escape');
  await row.getByRole('rowheader').getByRole('button').click();
  await expect(numberBox(page, 'S')).toHaveValue(value.replaceAll(',', ''));
  await expect(result(page).getByRole('button', { name: bytes, exact: true })).toBeVisible();
  await picker(page, 'Show').selectOption('intensity');
  await numbers(row).nth(1).click();
  await expect(line(card(page, 'FLOPs for each byte moved'))).toHaveText(/^= [\d.]+ [GTP]FLOP \/ [\d.]+ [MGT]B$/);
  await page.keyboard.press('Escape');
  await expectKeys(page, table, 'FLOPs for each byte moved');
});

test('on a phone a measured number stays in sight above what is told', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await openTab(page, 'Measured');
  const number = numbers(page.getByRole('group', { name: 'Measured rows' }).getByRole('row').nth(4)).first();
  await number.click();
  const { y } = await card(page, 'error of the expected time').boundingBox();
  const at = await number.boundingBox();
  expect(at.y + at.height).toBeLessThanOrEqual(y);
  expect(at.y).toBeGreaterThanOrEqual(0);
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('what was measured is told with its method, and what was expected with its kernels', async ({ page }) => {
  await openTab(page, 'Measured');
  const panel = page.getByRole('tabpanel', { name: 'Measured' });
  const table = panel.getByRole('group', { name: 'Measured rows' });
  const row = table.getByRole('row', { name: /linear_bias_relu .*eager/ }).first();
  await expect(numbers(row)).toHaveCount(5);
  const [error, expected, measured, launches, ran] = await numbers(row).allInnerTexts();
  await numbers(row).first().click();
  const told = card(page, 'error of the expected time');
  await expect(told.locator('.explanation-value strong')).toHaveText(error);
  await expect(line(told)).toHaveText(`= ${expected} expected / ${measured} measured − 1`);
  await expect(told).toContainText('NVIDIA H200, PyTorch 2.11');
  expect(await accessibilityFindings(page)).toEqual([]);
  await numbers(row).nth(2).click();
  await expect(card(page, 'measured time')).toContainText('the median of CUDA-graph replays');
  await numbers(row).nth(4).click();
  await expect(card(page, 'measured kernels')).toContainText('nvjet_sm90');
  expect([launches, ran]).toEqual(['3', '3']);
  await page.keyboard.press('Escape');
  await panel.getByRole('radio', { name: 'speedup over eager' }).check({ force: true });
  await numbers(table.getByRole('row', { name: /linear_bias_relu/ }).first()).nth(1).click();
  await expect(line(card(page, 'expected speedup over eager'))).toHaveText(/ eager \/ .* in this run$/);
  await page.keyboard.press('Escape');
  await expectKeys(page, table, 'error of the expected speedup over eager');
});
