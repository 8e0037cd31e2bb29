// Help while writing: corrections by click and key, completions at the caret.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { editor, problemList, write } from './visitor.mjs';

const WRONG = `input x : f16[1024, 1024]
act: y = reluu(x)
s = softmax(y, axs=0)
`;
const options = (page) => page.getByRole('listbox', { name: 'Completions' }).getByRole('option');

test.beforeEach(async ({ open }) => { await open(); });

test('a key corrects the line of the caret, and undo takes it back', async ({ page }) => {
  await write(page, WRONG);
  await editor(page).press('ControlOrMeta+Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Control+.');
  await expect(editor(page)).toHaveValue(WRONG.replace('reluu', 'relu'));
  await expect(editor(page)).toBeFocused();
  await page.keyboard.press('ControlOrMeta+z');
  await expect(editor(page)).toHaveValue(WRONG);
});

test('each problem has its corrections, in the list and at its line', async ({ page }) => {
  await write(page, WRONG.replace('reluu', 'relu'));
  const problem = problemList(page).getByRole('listitem').first();
  await expect(problem.getByRole('group', { name: 'Corrections' }).getByRole('button')).toHaveText(['Write axis', 'Remove axs']);
  // At the end of the text there is nothing to correct, on the line above there is.
  await editor(page).press('ControlOrMeta+End');
  await page.keyboard.press('ArrowUp');
  const atLine = page.locator('.line-fixes').getByRole('button');
  await expect(atLine).toHaveText(['Write axis', 'Remove axs']);
  expect(await accessibilityFindings(page)).toEqual([]);
  await problem.getByRole('button', { name: 'Remove axs' }).click();
  await expect(editor(page)).toHaveValue(WRONG.replace('reluu', 'relu').replace(', axs=0', ''));
  await expect(problemList(page).getByRole('listitem')).toHaveCount(0);
});

test('a correction by key leads back into the text', async ({ page }) => {
  await write(page, WRONG);
  const fix = problemList(page).getByRole('button', { name: 'Write relu' });
  await fix.focus();
  await page.keyboard.press('Enter');
  await expect(editor(page)).toHaveValue(WRONG.replace('reluu', 'relu'));
  await expect(editor(page)).toBeFocused();
});

test('a word is completed by the keyboard alone', { tag: '@firefox' }, async ({ page }) => {
  await write(page, 'input hidden : f16[1024, 1024]\n');
  await editor(page).press('ControlOrMeta+End');
  await page.keyboard.type('y = soft');
  await expect(options(page).first()).toContainText('softmax');
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await expect(options(page).first()).toHaveAttribute('aria-selected', 'true');
  await expect(editor(page)).toHaveAttribute('aria-activedescendant', 'completion-0');
  await page.keyboard.press('Enter');
  await expect(options(page)).toHaveCount(0);
  await page.keyboard.press('Control+Space');
  await expect(options(page).first()).toContainText('hidden');
  await expect(options(page).first()).toContainText('f16[1024, 1024]');
  await page.keyboard.press('Tab');
  await page.keyboard.type(', ax');
  await expect(options(page)).toHaveCount(1);
  await page.keyboard.press('Tab');
  await page.keyboard.type('0)');
  await expect(editor(page)).toHaveValue('input hidden : f16[1024, 1024]\ny = softmax(hidden, axis=0)');
  await expect(problemList(page).getByRole('listitem')).toHaveCount(0);
  // Tab leaves the editor when no list is open.
  await page.keyboard.press('Tab');
  await expect(editor(page)).not.toBeFocused();
});

test('Enter starts a new line while the list only offers, Escape closes it', async ({ page }) => {
  await write(page, '');
  await editor(page).focus();
  await page.keyboard.type('y = relu');
  await expect(options(page)).not.toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(editor(page)).toHaveValue('y = relu\n');
  await page.keyboard.type('z = ge');
  await page.keyboard.press('Escape');
  await expect(options(page)).toHaveCount(0);
  await expect(editor(page)).toBeFocused();
});

test('a tap takes a completion on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await write(page, '');
  await editor(page).focus();
  await page.keyboard.type('y = gelu_e');
  const option = options(page).first();
  const box = await option.boundingBox();
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(390);
  await option.click();
  await expect(editor(page)).toHaveValue('y = gelu_erf(');
  await expect(editor(page)).toBeFocused();
});
