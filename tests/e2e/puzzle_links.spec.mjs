// Links to puzzles, and the way back from them: the visitor's own program is never replaced by a
// puzzle's.

import { expect, test } from './fixture.mjs';
import { button, copiedLink, figure, kernels, learn, mergeWithNext, openPuzzle, pane, row, words } from './puzzles.mjs';
import { covered, editor as textEditor, followLink as follow, notice, picker } from './visitor.mjs';

const COMMENT = '# mine';
const heading = (page, name) => pane(page).getByRole('heading', { name });
const undo = (page) => page.getByRole('button', { name: 'Undo', exact: true }).first();

/** Opens an example with a line of the visitor's own. Returns the text. */
async function ownProgram(page, open) {
  await open();
  await picker(page, 'Example').selectOption('softmax');
  await textEditor(page).focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type(`${COMMENT}\n`);
  return textEditor(page).inputValue();
}

/** That the own program is open, under an address that opens it. */
async function expectOwn(page, text) {
  await expect(pane(page)).toHaveCount(0);
  await expect(textEditor(page)).toHaveValue(text);
  expect(new URL(page.url()).hash).toBe('');
}

test('a puzzle of the page has a short link', async ({ page, open }) => {
  await open('#puzzle=chain');
  await expect(heading(page, 'A chain')).toBeVisible();
  await expect(figure(page, 'Moves')).toHaveText('0');
  await mergeWithNext(page, 1);
  await page.reload();
  await expect(figure(page, 'Moves')).toHaveText('1');
  await button(page, 'All puzzles').click();
  await expect(row(page, 'A chain')).toBeVisible();
});

test('followed in the open page it leaves the own program as it is', async ({ page, open }) => {
  const text = await ownProgram(page, open);
  await follow(page, '#puzzle=chain');
  await expect(heading(page, 'A chain')).toBeVisible();
  await mergeWithNext(page, 1);
  await covered(page, 1);
  await page.goBack();
  await expectOwn(page, text);
  await covered(page, 0);
  await page.goForward();
  await expect(heading(page, 'A chain')).toBeVisible();
  await expect(figure(page, 'Moves')).toHaveText('1');
  await covered(page, 1);
  await page.reload();
  await expect(figure(page, 'Moves')).toHaveText('1');
  await learn(page);
  await button(page, 'Back to your program').click();
  await expectOwn(page, text);
});

test('the steps of the own program are there after the way back', async ({ page, open }) => {
  const text = await ownProgram(page, open);
  await follow(page, '#puzzle=chain');
  await expect(heading(page, 'A chain')).toBeVisible();
  await covered(page, 1);
  await page.goBack();
  await expectOwn(page, text);
  await page.keyboard.press('Control+z');
  await expect(textEditor(page)).not.toHaveValue(text);
  await expect(picker(page, 'Example')).toHaveValue('softmax');
});

test('a lesson, too, leaves the steps of the own program', async ({ page, open }) => {
  const text = await ownProgram(page, open);
  await follow(page, '#lesson=roofline.2');
  await expect(heading(page, 'The roofline')).toBeVisible();
  await covered(page, 1);
  await page.goBack();
  await expectOwn(page, text);
  await page.keyboard.press('Control+z');
  await expect(textEditor(page)).not.toHaveValue(text);
  await expect(picker(page, 'Example')).toHaveValue('softmax');
  await page.keyboard.press('Control+Shift+z');
  await expectOwn(page, text);
});

test('over a lesson it leads back to the own program, too', async ({ page, open }) => {
  const text = await ownProgram(page, open);
  await follow(page, '#lesson=roofline.2');
  await expect(heading(page, 'The roofline')).toBeVisible();
  await covered(page, 1);
  await follow(page, '#puzzle=chain');
  await expect(heading(page, 'A chain')).toBeVisible();
  await covered(page, 1);
  await page.goBack();
  await expectOwn(page, text);
});

test('undo after Forward takes a move back, or is not there', async ({ page, open }) => {
  await ownProgram(page, open);
  await openPuzzle(page, 'A chain');
  await mergeWithNext(page, 1);
  await covered(page, 1);
  await page.goBack();
  await expect(pane(page)).toHaveCount(0);
  await covered(page, 0);
  await page.goForward();
  await expect(figure(page, 'Moves')).toHaveText('1');
  await expect(undo(page)).toBeHidden();
  const count = (await kernels(page)).length;
  await page.keyboard.press('Control+z');
  await expect(heading(page, 'A chain')).toBeVisible();
  await mergeWithNext(page, 1);
  await page.keyboard.press('Control+z');
  await expect.poll(() => kernels(page)).toHaveLength(count);
  await expect(figure(page, 'Moves')).toHaveText('1');
});

test('a solution that somebody sent leaves the own program of who follows it', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Two ops');
  await mergeWithNext(page, 1);
  const link = await copiedLink(page, () => button(page, 'Share my solution').click());
  await learn(page);
  await button(page, 'Back to your program').click();
  const text = await ownProgram(page, () => expect(pane(page)).toHaveCount(0));
  await follow(page, new URL(link).hash);
  await expect(words(page)).toHaveText("Solved by the sender's kernels. Start again to solve it yourself.");
  await expect(notice(page)).toBeEmpty();
  await learn(page);
  await button(page, 'Back to your program').click();
  await expectOwn(page, text);
});
