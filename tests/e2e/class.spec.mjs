// Results without a server: a student hands in a code, a file or a link; the teacher's page checks
// each answer anew.

import { readFileSync } from 'node:fs';
import { accessibilityFindings, expect, findingsInBothColours, test } from './fixture.mjs';
import { followLink } from './visitor.mjs';

const pane = (page) => page.getByRole('region', { name: 'Learn' });
const button = (page, name) => pane(page).getByRole('button', { name, exact: true });
const learn = (page) => page.getByRole('button', { name: 'Learn', exact: true }).click();
const answer = async (page, text) => {
  await pane(page).getByRole('textbox', { name: /memory traffic of y1/ }).fill(text);
  await button(page, 'Predict').click();
};
const students = (page) => page.locator('.class-lesson').first().locator('tbody:not(.class-counts) tr');
const openFiles = (page, files) => pane(page).locator('.class-in input[type=file]').setInputFiles(files);
const file = (name, text) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) });

async function download(page, name) {
  const [saved] = await Promise.all([page.waitForEvent('download'), button(page, name).click()]);
  return [saved.suggestedFilename(), readFileSync(await saved.path(), 'utf8')];
}

/** Answers the first question of the exercise, wrong and then right, skips the second one, and hands in. */
async function handIn(page, open) {
  await open('#lesson=exercise.1');
  await answer(page, '8.39 MB');
  await expect(pane(page).locator('.task-again')).not.toBeEmpty();
  await answer(page, '16.8 MB');
  await expect(pane(page).locator('.task-verdict')).toContainText('Right');
  await button(page, 'All lessons').click();
  await button(page, 'Hand in your results').click();
  await expect(pane(page).getByRole('heading', { name: 'Hand in your results' })).toBeFocused();
  await pane(page).getByLabel('Name').fill('Ann');
  await expect(pane(page).getByText('You tried 1 question of 1 lesson.')).toBeVisible();
}

test('a student hands in a code, a file and a QR code, and the class shows what they did', async ({ page, open }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await handIn(page, open);
  const code = pane(page).getByRole('textbox', { name: 'Code' });
  await expect(code).toHaveValue(/^r1\.[\w-]+$/);
  await expect(pane(page).getByRole('img', { name: 'QR code of the link' })).toBeVisible();
  expect(await findingsInBothColours(page)).toEqual([]);
  const [name, text] = await download(page, 'Save as a file');
  expect(name).toBe('results-ann.json');
  expect(JSON.parse(text)).toMatchObject({ name: 'Ann', lessons: { exercise: { steps: { 0: [{ act: { answer: { text: '8.39 MB' } } }, { act: { answer: { text: '16.8 MB' } } }] } } } });
  await button(page, 'Copy the code').click();
  await expect(page.locator('.notice')).toContainText('Code copied');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await expect(code).toHaveValue(copied);

  // The results stay where they are when the page is opened anew.
  await page.reload();
  await learn(page);
  await button(page, 'Results of your class').click();
  // A mail program has broken the code into lines.
  const mailed = copied.replace(/.{60}/g, '$&\n> ');
  await pane(page).getByRole('textbox', { name: 'Codes or links' }).fill(`Here it is:\n> ${mailed}\n> Ann\nand a broken one: r1.AAAA`);
  await button(page, 'Add').click();
  await expect(pane(page).locator('.class-standing')).toContainText('1 student.');
  await expect(pane(page).locator('.class-problems')).toContainText('Code 2 is not complete');
  await expect(students(page)).toHaveCount(1);
  await expect(students(page).first().getByRole('rowheader')).toHaveText('Ann');
  await expect(students(page).first().locator('td').first()).toContainText('right on a later try, tries: 2, after');
  await pane(page).getByText('First guesses of each question').click();
  await expect(pane(page).locator('.guesses li').first()).toContainText('8.39 MB');
  await expect(pane(page).locator('.class-question').first()).toContainText('Answer: 16.8 MB');
  expect(await findingsInBothColours(page)).toEqual([]);

  // The same again as a link and as a file is the same student.
  await followLink(page, `#${copied}`);
  await expect(pane(page).locator('.class-standing')).toContainText('1 already there');
  await openFiles(page, [file(name, text)]);
  await expect(pane(page).locator('.class-standing')).toContainText('1 already there');
  await expect(students(page)).toHaveCount(1);

  // A column leads to its step, and the class is there again afterwards.
  await pane(page).getByRole('button', { name: /^Step 1: / }).click();
  await expect(pane(page).getByRole('heading', { name: 'Every op asks memory' })).toBeVisible();
  await button(page, 'All lessons').click();
  await button(page, 'Results of your class').click();
  await expect(students(page)).toHaveCount(1);
});

test('first guesses are shown to the class large: what was answered, then what is right', async ({ page, open }) => {
  await handIn(page, open);
  const [name, text] = await download(page, 'Save as a file');
  await button(page, 'Lessons and puzzles').click();
  await button(page, 'Results of your class').click();
  const other = JSON.parse(text);
  other.id = 'other';
  other.lessons.exercise.steps[1] = [{ act: { answer: { text: '1 GB' } }, after_s: 9 }];
  await openFiles(page, [file(name, text), file('other.json', JSON.stringify(other))]);
  await pane(page).getByText('First guesses of each question').click();
  await button(page, 'Show to the class: Step 1: Every op asks memory').click();
  const dialog = page.getByRole('dialog', { name: /^First guesses/ });
  await expect(dialog.getByText('Question 1 of 2')).toBeVisible();
  await expect(dialog.locator('.guesses li')).toHaveText(['8.39 MB 2 of 2 students']);
  await expect(dialog).not.toContainText('right');
  await expect(dialog).not.toContainText('Answer');
  expect(await accessibilityFindings(page)).toEqual([]);
  // A remote control tells the answer, then goes on.
  await page.keyboard.press('PageDown');
  await expect(dialog).toContainText('Answer: 16.8 MB');
  await expect(dialog).toContainText('Right later: 2.');
  await expect(dialog.locator('.guesses small')).toHaveText('That is one crossing. The matmul writes it, and the add reads it.');
  expect(await findingsInBothColours(page)).toEqual([]);
  await page.keyboard.press('PageDown');
  await expect(dialog.getByText('Question 2 of 2')).toBeVisible();
  await expect(dialog).not.toContainText('Answer');
  const [step] = await Promise.all([page.waitForEvent('popup'), dialog.getByRole('link', { name: 'Open the step' }).click()]);
  await expect(step.getByRole('heading', { name: 'Which ops may share a kernel?' })).toBeVisible();
  await step.close();
  await page.bringToFront();
  // A press too many stays at the last answer.
  await dialog.getByRole('button', { name: 'Tell the answer' }).focus();
  for (let press = 0; press < 3; press += 1) await page.keyboard.press('PageDown');
  await expect(dialog).toContainText('Answer');
  await expect(dialog.getByRole('button', { name: 'That was the last question' })).toHaveAttribute('aria-disabled', 'true');
  // It goes back as it came.
  await page.keyboard.press('PageUp');
  await expect(dialog).not.toContainText('Answer');
  await page.keyboard.press('PageUp');
  await expect(dialog.getByText('Question 1 of 2')).toBeVisible();
  await expect(dialog).toContainText('Answer: 16.8 MB');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await expect(button(page, 'Show to the class: Step 1: Every op asks memory')).toBeFocused();
});

test('forty files, broken and forged ones among them, make a class, a table and a file', async ({ page, open }) => {
  await handIn(page, open);
  const [, text] = await download(page, 'Save as a file');
  const template = JSON.parse(text);
  const made = (at) => {
    const copy = structuredClone(template);
    copy.id = `student${at}`;
    copy.name = `S${at}`;
    const first = ['16.8 MB', '8.39 MB', '1 GB', 'forged'][at % 4];
    copy.lessons.exercise.steps = { 0: [{ act: { answer: { text: first } }, after_s: 10 + at }] };
    return file(`${at}.json`, JSON.stringify(copy));
  };
  const files = Array.from({ length: 40 }, (_, at) => made(at));
  files.push(file('half.json', text.slice(0, 60)), file('other.json', '{"a": 1}'));
  await button(page, 'Lessons and puzzles').click();
  await button(page, 'Results of your class').click();
  await openFiles(page, files);
  await expect(pane(page).locator('.class-standing')).toHaveText('40 students. 40 added.');
  const problems = pane(page).locator('.class-problems li');
  await expect(problems).toHaveCount(2);
  await expect(problems.first()).toContainText('half.json: The results cannot be read: they end in the middle');
  await expect(students(page)).toHaveCount(40);
  const row = (name) => students(page).filter({ has: page.getByRole('rowheader', { name, exact: true }) });
  await expect(row('S0').locator('td').first()).toContainText('right at once');
  await expect(row('S1').locator('td').first()).toContainText('one wrong answer so far');
  await expect(row('S3').locator('td').first()).toContainText('not counted');
  await expect(page.locator('.class-counts tr').filter({ hasText: 'Right at once' }).locator('td').first()).toHaveText('10');
  await pane(page).getByText('First guesses of each question').click();
  await expect(pane(page).locator('.guesses').first().locator('li')).toHaveCount(3);
  await expect(pane(page).locator('.guesses').first()).toContainText('10 of 30 students');
  expect(await accessibilityFindings(page)).toEqual([]);

  const [csvName, csv] = await download(page, 'Save as CSV');
  expect(csvName).toBe('class.csv');
  expect(csv.trimEnd().split('\r\n')).toHaveLength(41);
  expect(csv).toContain('S1,');
  const [, whole] = await download(page, 'Save the class');

  // One student goes, all go, and each time they come back.
  await button(page, 'Remove S7').click();
  await expect(students(page)).toHaveCount(39);
  await button(page, 'Bring back').click();
  await expect(students(page)).toHaveCount(40);
  await button(page, 'Remove all students').click();
  await expect(pane(page).locator('.class-standing')).toHaveText('0 students.');
  await expect(pane(page).locator('.class-lesson')).toHaveCount(0);
  // The file of the class goes to another machine, dropped anywhere.
  await openFiles(page, [file('class.json', whole)]);
  await expect(students(page)).toHaveCount(40);
  await page.reload();
  await learn(page);
  await button(page, 'Results of your class').click();
  await expect(students(page)).toHaveCount(40);
});

test('with keys alone and on a phone a student finds the way to hand in', async ({ page, open }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open();
  await learn(page);
  await button(page, 'Hand in your results').focus();
  await page.keyboard.press('Enter');
  await expect(pane(page).getByRole('heading', { name: 'Hand in your results' })).toBeFocused();
  await expect(pane(page).getByText('There is nothing to hand in yet.')).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(button(page, 'Hand in your results')).toBeVisible();
});
