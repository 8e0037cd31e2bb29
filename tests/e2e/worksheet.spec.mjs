// A lesson on paper: two pages of questions and a key, with other numbers on each sheet; and the
// page for teachers.

import { readFileSync, readdirSync } from 'node:fs';
import { accessibilityFindings, expect, test } from './fixture.mjs';

const LESSONS = readdirSync(new URL('../../public/lessons/', import.meta.url))
  .map((name) => name.replace('.md', '')).filter((id) => id !== 'new');

const dialog = (page) => page.getByRole('dialog', { name: 'Worksheet' });
const openSheet = async (page) => {
  await page.getByRole('button', { name: 'Worksheet', exact: true }).click();
  await expect(dialog(page).getByRole('img', { name: 'QR code of the link' })).toBeVisible();
};
const sheetNumber = (page) => dialog(page).getByRole('spinbutton', { name: 'Sheet' });
const choose = async (page, seed) => {
  await sheetNumber(page).fill(String(seed));
  await sheetNumber(page).press('Tab');
  await expect(dialog(page).getByRole('heading', { name: `Key, sheet ${seed}:` })).toBeVisible();
};

/** Number of pages on paper. */
const pageCount = async (page) => {
  const pdf = await page.pdf({ format: 'A4', printBackground: true, preferCSSPageSize: true });
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g).length;
};

test('a worksheet has the questions of the lesson, other numbers on another sheet, and a key', async ({ page, open }) => {
  await open('#lesson=exercise.1');
  await openSheet(page);
  const questions = dialog(page).locator('.paper-question');
  await expect(questions).toHaveCount(6);
  await expect(questions.first()).toContainText('What is the memory traffic of y1 in total?');
  const key = dialog(page).locator('.paper-key li').first();
  await expect(key).toContainText('16.8 MB');
  await expect(dialog(page).locator('.qr-link')).toHaveText(/#lesson=exercise\.1$/);
  await expect(dialog(page).getByRole('img', { name: 'Empty roofline' })).toBeVisible();
  expect(await accessibilityFindings(page)).toEqual([]);

  await dialog(page).getByRole('button', { name: 'Use other numbers' }).click();
  await expect(sheetNumber(page)).toHaveValue('1');
  await expect(key).not.toContainText('16.8 MB');
  await choose(page, 0);
  await expect(key).toContainText('16.8 MB');

  // Nothing else is on paper, and the sheets are gone when they are closed.
  await page.emulateMedia({ media: 'print' });
  await expect(page.locator('.lesson')).toBeHidden();
  await expect(dialog(page).locator('.handout-bar')).toBeHidden();
  await page.emulateMedia({ media: 'screen' });
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('heading', { name: 'Every op asks memory' })).toBeVisible();
});

for (const id of LESSONS) {
  test(`questions fit on two pages and the key on a third: ${id}`, async ({ page, open }) => {
    await open(`#lesson=${id}.1`);
    await openSheet(page);
    for (const seed of [0, 7]) {
      await choose(page, seed);
      const count = await pageCount(page);
      expect(count, `sheet ${seed}`).toBeLessThanOrEqual(3);
      // The key alone is one.
      expect(count, `sheet ${seed}`).toBeGreaterThanOrEqual(2);
    }
  });
}

test('one page tells teachers all that they can do, as the repository does', async ({ page, open }) => {
  await open();
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await page.getByText('For teachers: all that you can do').click();
  const shown = page.locator('.teachers');
  const text = readFileSync(new URL('../../docs/teaching.md', import.meta.url), 'utf8');
  const titles = [...text.matchAll(/^## (.*)$/gm)].map((match) => match[1]);
  await expect(shown.getByRole('heading')).toHaveText(titles);
  await expect(shown).toContainText('Make a puzzle of this program');
  expect(await accessibilityFindings(page)).toEqual([]);
});
