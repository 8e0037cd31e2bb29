// Numbers of the tabs on tiles, attention and precision tell how they are computed.

import { accessibilityFindings, expect, findingsInBothColours, test } from './fixture.mjs';
import { openTab, panel, picker, write } from './visitor.mjs';

const explanation = (page, name) => page.getByRole('dialog', { name, exact: true });
const MATMUL = 'input x : f16[4096, 4096]\nweight w : f16[4096, 4096]\nup = matmul(x, w)\nact = gelu(up)\n';

/** The one tab stop of a table leads by arrow keys to its other numbers, and Escape returns to the one that was pressed. */
async function stepAndReturn(page, table, key) {
  const stops = table.locator('.explains[tabindex="0"]');
  await expect(stops).toHaveCount(1);
  await stops.focus();
  await page.keyboard.press(key);
  const focused = table.locator('.explains:focus');
  const text = await focused.innerText();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog')).toBeFocused();
  await expect(page.getByRole('dialog').locator('.explanation-value strong')).toHaveText(text);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(focused).toHaveText(text);
  await expect(stops).toHaveCount(1);
}

test.beforeEach(async ({ open }) => { await open(); });

test('a figure of the tiles is explained with the sizes of the matmul, and follows the sides of the tile', async ({ page }) => {
  await picker(page, 'GPU').selectOption('h200');
  await write(page, MATMUL);
  await openTab(page, 'Tiling');
  const table = page.getByRole('group', { name: 'Figures of the tiles' });
  const number = (row) => table.getByRole('row', { name: new RegExp(`^${row}`) }).getByRole('button');
  await number('waves').click();
  const waves = explanation(page, 'waves');
  await expect(waves).toBeInViewport({ ratio: 1 });
  await expect(waves).toContainText('up: M 4,096 · N 4,096 · K 4,096, in tiles of 256 × 128 × 64');
  await expect(waves).toContainText('= ⌈tiles / multiprocessors⌉');
  await expect(waves).toContainText('= ⌈512 tiles / 132 multiprocessors⌉');
  await expect(waves).toContainText('= ⌈4,096 (M) / 256 (BM)⌉');
  await expect(waves).toContainText('Multiprocessors of H200');
  expect(await accessibilityFindings(page)).toEqual([]);
  await number('first wave').click();
  await expect(waves).toHaveCount(0);
  await expect(explanation(page, 'first wave, strips shared')).toContainText('Order of the tiles: eight rows at a time');
  await stepAndReturn(page, table, 'ArrowDown');

  await number('tiles').click();
  const tiles = explanation(page, 'tiles');
  await expect(tiles.locator('.explanation-value strong')).toHaveText('512');
  await page.getByRole('slider', { name: 'BM, rows of the tile' }).focus();
  await page.keyboard.press('ArrowLeft');
  await expect(tiles.locator('.explanation-value strong')).toHaveText('1,024');
  await expect(tiles).toContainText('= ⌈4,096 (M) / 128 (BM)⌉');
  await page.getByRole('tab', { name: 'Attention' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('tiles and bytes of attention are explained with N, d and M, and follow a slider', async ({ page }) => {
  await openTab(page, 'Attention');
  const tab = panel(page, 'Attention');
  const [tiles, bytes] = [tab.getByRole('table', { name: 'Tiles' }), tab.getByRole('table', { name: 'Bytes of one forward pass' })];
  await page.getByRole('spinbutton', { name: 'M/KiB, on chip, exact value' }).fill('192');
  await page.getByRole('spinbutton', { name: 'd, size of a head, exact value' }).fill('64');
  await tiles.getByRole('button').first().click();
  const rows = explanation(page, 'rows in a tile of K and V');
  await expect(rows).toContainText('= ⌈M / 4d⌉');
  await expect(rows).toContainText('= ⌈98,304 elements (M) / 256 (4d)⌉');
  await expect(rows).toContainText('M is the on-chip memory chosen on this tab.');
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('slider', { name: 'd, size of a head' }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(rows).toContainText('= ⌈98,304 elements (M) / 320 (4d)⌉');
  await page.keyboard.press('Escape');
  await bytes.getByRole('row', { name: /each tile loaded again/ }).getByRole('button').first().click();
  const anew = explanation(page, 'memory traffic of one forward pass: one kernel, each tile loaded again');
  await expect(anew).toContainText('K and V, once per tile of Q');
  await expect(anew).toContainText('Outer loop over Q');
  await page.keyboard.press('Escape');
  await stepAndReturn(page, tiles, 'ArrowRight');
  await stepAndReturn(page, bytes, 'ArrowDown');
});

test('an error of rounding is explained with its lengths, an element with its digits and the spacing of its type', async ({ page }) => {
  await write(page, 'input x : f16[64, 32]\nweight w : f16[32, 32]\ny = matmul(x, w)\nout = relu(y)\n');
  await openTab(page, 'Precision');
  const tensors = page.getByRole('group', { name: 'Rounding of each tensor' });
  const elements = page.getByRole('group', { name: 'Numbers of the chosen tensor' });
  const chosen = await elements.locator('caption').innerText();
  await tensors.getByRole('row', { name: /^y/ }).locator('.explains').first().click();
  const error = explanation(page, 'error unfused');
  await expect(error).toContainText('y: 2,048 elements in f16');
  await expect(error.locator('.explanation-line')).toHaveText(/^= [\d.]+ \(difference\) \/ [\d.]+ \(exact\)$/);
  await expect(error).toContainText('Stored in f16.');
  // It is no press on its row.
  expect(await elements.locator('caption').innerText()).toBe(chosen);
  expect(await accessibilityFindings(page)).toEqual([]);
  await elements.locator('.explains').nth(1).click();
  const element = explanation(page, 'element 0, unfused');
  await expect(element).toContainText('exact value + change by rounding');
  await expect(element).toContainText(/neighbouring values in f16 are [\d.e−]+ apart/);
  await page.keyboard.press('Escape');
  await stepAndReturn(page, tensors, 'ArrowDown');
  await stepAndReturn(page, elements, 'ArrowRight');
});

test('on a phone an explanation of a figure is in sight beside its number', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const tab of ['Tiling', 'Attention', 'Precision']) {
    await test.step(tab, async () => {
      await openTab(page, tab);
      const number = panel(page, tab).locator('table .explains').last();
      await number.click();
      const card = page.getByRole('dialog');
      await expect(card).toBeInViewport({ ratio: 1 });
      const at = await number.boundingBox();
      const { y } = await card.boundingBox();
      expect(at.y + at.height).toBeLessThanOrEqual(y);
      expect(await findingsInBothColours(page)).toEqual([]);
      await card.getByRole('button', { name: 'Close' }).click();
      await expect(number).toBeFocused();
    });
  }
});
