// The numbers of "Why not", "What to do", "Sweep" and "Measured" explain themselves.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { choose, numberBox, picker, result } from './visitor.mjs';

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

test('what an edge would save is explained by its two kernels, in its row, in the verdict and in its card', async ({ page }) => {
  await openTab(page, 'Why not');
  const table = page.getByRole('group', { name: 'Table of edges between kernels' });
  const row = table.getByRole('row', { name: /attn_scores → softmax/ });
  const shown = await numbers(row).allInnerTexts();
  const told = card(page, 'memory traffic saved');
  await test.step('a row, which is not selected by it', async () => {
    await numbers(row).first().click();
    await expect(told).toBeInViewport({ ratio: 1 });
    const parts = ['kernels 2 and 3 fused into one kernel', 'bytes of both kernels − bytes of the fused kernel', 'kernel 2: attn_scores', 'kernel 3: softmax'];
    for (const words of parts) await expect(told).toContainText(words);
    await expect(line(told)).toHaveText(/^= [\d.]+ [MG]B of both kernels − [\d.]+ [MG]B fused into one kernel$/);
    await expect(told.locator('.explanation-value strong')).toHaveText(shown[0]);
    await expect(row.getByRole('button', { name: /→/ })).toHaveAttribute('aria-pressed', 'false');
    await numbers(row).nth(1).click();
    await expect(card(page, 'lower bound saved')).toContainText('A launch takes 2.00 µs');
    await expectKeys(page, table, 'memory traffic saved');
  });
  await row.getByRole('button', { name: /→/ }).click();
  const inspector = page.getByRole('region', { name: 'attn_scores → softmax' });
  const words = { card: inspector.locator('p', { hasText: 'One kernel instead' }), verdict: page.getByRole('status').filter({ hasText: 'One kernel instead' }) };
  for (const [name, sentence] of Object.entries(words)) {
    await test.step(name, async () => {
      await expect(numbers(sentence)).toHaveText(shown);
      await numbers(sentence).first().click();
      await expect(line(told)).toHaveText(/of both kernels − .* fused into one kernel$/);
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
      await expect(inspector).toBeVisible();
    });
  }
});

test('the numbers of advice, of a sweep and of measurements are explained, and keys lead through their tables', async ({ page }) => {
  await test.step('what an advice would save', async () => {
    await picker(page, 'GPU').selectOption('h200');
    await openTab(page, 'What to do');
    const table = page.getByRole('group', { name: 'What would save time' });
    const row = table.getByRole('row', { name: /scaled_dot_product_attention/ });
    await numbers(row).nth(2).click();
    const told = card(page, 'memory traffic saved');
    await expect(line(told)).toHaveText('= 1.96 GB now − 839 MB with the change');
    await expect(told).toContainText('The change: fused attention');
    await numbers(row).nth(1).click();
    const time = await numbers(row).first().innerText();
    await expect(line(card(page, "time saved, as a share of the program's")).first()).toHaveText(new RegExp(`^= ${time} saved / [\\d.]+ ms of the program$`));
    await expectKeys(page, table, 'predicted time saved');
  });

  await test.step('a value of a sweep, whose row sets the param', async () => {
    await openTab(page, 'Sweep');
    const panel = page.getByRole('tabpanel', { name: 'Sweep' });
    await panel.getByText(/^All values/).click();
    const table = panel.getByRole('group', { name: 'Table of values' });
    const row = table.getByRole('row').nth(3);
    const value = await row.getByRole('rowheader').innerText();
    await numbers(row).nth(1).click();
    await expect(card(page, 'memory traffic')).toContainText(`S = ${value} (textbook rules)`);
    await expect(card(page, 'memory traffic')).toContainText('Σ over kernels (bytes read + bytes written)');
    expect(await accessibilityFindings(page)).toEqual([]);
    const bytes = await numbers(row).nth(1).innerText();
    await page.keyboard.press('Escape');
    await row.getByRole('rowheader').getByRole('button').click();
    await expect(numberBox(page, 'S')).toHaveValue(value.replaceAll(',', ''));
    await expect(result(page).getByRole('button', { name: bytes, exact: true })).toBeVisible();
    await picker(page, 'Show').selectOption('intensity');
    await numbers(row).nth(1).click();
    await expect(line(card(page, 'arithmetic intensity'))).toHaveText(/^= [\d.]+ [GTP]FLOP \/ [\d.]+ [MGT]B$/);
    await page.keyboard.press('Escape');
    await expectKeys(page, table, 'arithmetic intensity');
  });

  await test.step('a measurement', async () => {
    await openTab(page, 'Measured');
    const panel = page.getByRole('tabpanel', { name: 'Measured' });
    const table = panel.getByRole('group', { name: 'Measured rows' });
    const row = table.getByRole('row', { name: /linear_bias_relu .*eager/ }).first();
    await expect(numbers(row)).toHaveCount(5);
    const [error, expected, measured, launches, ran] = await numbers(row).allInnerTexts();
    expect([launches, ran]).toEqual(['3', '3']);
    await numbers(row).first().click();
    const told = card(page, 'error of the predicted time');
    await expect(told.locator('.explanation-value strong')).toHaveText(error);
    await expect(line(told)).toHaveText(`= ${expected} predicted / ${measured} measured − 1`);
    expect(await accessibilityFindings(page)).toEqual([]);
    // A card may cover the next number.
    const close = async () => {
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
    };
    await close();
    await numbers(row).nth(2).click();
    await expect(card(page, 'measured time')).toContainText('the median of CUDA-graph replays');
    await close();
    await numbers(row).nth(4).click();
    await expect(card(page, 'measured kernels')).toContainText('nvjet_sm90');
    await page.keyboard.press('Escape');
    await choose(panel.getByRole('radio', { name: 'speedup over eager' }));
    await numbers(table.getByRole('row', { name: /linear_bias_relu/ }).first()).nth(1).click();
    await expect(line(card(page, 'predicted speedup over eager'))).toHaveText(/ eager \/ .* in this run$/);
    await page.keyboard.press('Escape');
    await expectKeys(page, table, 'error of the predicted speedup over eager');
  });

  await test.step('on a phone a measured number stays in sight above its explanation', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const number = numbers(page.getByRole('group', { name: 'Measured rows' }).getByRole('row').nth(4)).first();
    await number.click();
    const { y } = await card(page, 'error of the predicted speedup over eager').boundingBox();
    const at = await number.boundingBox();
    expect(at.y + at.height).toBeLessThanOrEqual(y);
    expect(at.y).toBeGreaterThanOrEqual(0);
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
