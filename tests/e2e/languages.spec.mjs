// Lessons and puzzles in German: all fixed strings around them are German, and what the engine says
// is marked as English.

import { readFileSync } from 'node:fs';
import { accessibilityFindings, expect, test } from './fixture.mjs';

const root = new URL('../../', import.meta.url);
const TABLE = readFileSync(new URL('src/learn/language/table.rs', root), 'utf8').split('\ntable! {')[1];
/** The English strings that differ from the German ones. */
const ENGLISH = [...TABLE.matchAll(/"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)";/g)]
  .filter(([, english, german]) => english !== german).map(([, english]) => english);

const file = (name, mimeType) => ({ name, mimeType, buffer: readFileSync(new URL(`tests/model/languages/${name}`, root)) });
const panel = (page) => page.getByRole('region', { name: 'Learn' });
const button = (page, name) => panel(page).getByRole('button', { name, exact: true });
const heading = (page, name) => panel(page).getByRole('heading', { name, exact: true });
const verdict = (page) => panel(page).locator('.task-verdict');
const learn = (page) => page.getByRole('button', { name: 'Learn', exact: true }).click();

/** What a part of the page says in another language than English, text and names. */
const said = (part) => part.evaluate((element) => {
  const isForeign = (inner) => inner.closest('[lang]').lang !== 'en';
  const words = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (isForeign(texts.currentNode.parentElement)) words.push(texts.currentNode.data.trim());
  }
  for (const inner of [element, ...element.querySelectorAll('*')].filter(isForeign)) {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) words.push((inner.getAttribute(name) ?? '').trim());
  }
  return words.filter((word) => word !== '');
});

/** The English fixed strings in it: short ones as a whole, long ones anywhere, and those with holes by their longest piece. */
async function englishIn(part) {
  const words = await said(part);
  expect(words.length).toBeGreaterThan(3);
  return ENGLISH.filter((english) => {
    const pieces = english.split(/\{\w+\}/).map((piece) => piece.trim());
    const longest = pieces.reduce((a, b) => (b.length > a.length ? b : a));
    const isAnywhere = longest.length >= (pieces.length > 1 ? 5 : 12);
    return pieces.length > 1 && !isAnywhere ? false : words.some((word) => (isAnywhere ? word.includes(longest) : word === longest));
  });
}

test('a lesson in German is German from its first step to its worksheet', async ({ page, open }) => {
  expect(ENGLISH.length).toBeGreaterThan(140);
  await open();
  await learn(page);
  await panel(page).getByLabel('Open a file…').setInputFiles(file('lesson.de.md', 'text/markdown'));
  await expect(heading(page, 'Ein Kernel für jede Op')).toBeFocused();
  const lesson = panel(page).locator('.lesson');
  await expect(lesson).toHaveAttribute('lang', 'de');
  await expect(lesson.locator('.lesson-prose')).toHaveAttribute('lang', 'de');
  expect(await englishIn(lesson)).toEqual([]);

  // An answer that cannot be read, a wrong one with its nudge, and the right one, with a decimal
  // comma.
  const answer = panel(page).getByRole('textbox');
  await expect(answer).toHaveAttribute('placeholder', 'eine Zahl mit kB, MB oder GB');
  await answer.fill('viele');
  await button(page, 'Vorhersagen').click();
  await expect(panel(page).getByRole('alert')).toHaveText('schreibe eine Zahl, zum Beispiel 1.2 GB');
  await answer.fill('2,10 MB');
  await page.keyboard.press('Enter');
  await expect(panel(page).locator('.task-again')).toHaveText('Nicht ganz. Das ist y oder z allein. Was muss das ReLU außer dem Lesen noch tun?');
  expect(await englishIn(lesson)).toEqual([]);
  await answer.fill('4,19 MB');
  await page.keyboard.press('Enter');
  await expect(verdict(page)).toContainText('Richtig: 4.19 MB (Abweichungen bis 5.00 % zählen als richtig). It reads y');
  await expect(verdict(page).locator('[lang=en]')).toHaveText(/^It reads y/);
  expect(await englishIn(lesson)).toEqual([]);
  expect(await accessibilityFindings(page)).toEqual([]);

  await button(page, 'Weiter').click();
  await button(page, 'Antworten').click();
  await expect(panel(page).getByRole('alert')).toHaveText('wähle zuerst eine Antwort');
  await panel(page).getByRole('radio', { name: 'Das Zwischenergebnis y' }).check();
  await button(page, 'Antworten').click();
  await expect(verdict(page)).toContainText('Richtig: „Das Zwischenergebnis y“.');

  await button(page, 'Weiter').click();
  await expect(panel(page).getByText('Ziel:')).toHaveCount(1);
  await button(page, 'Zeig es mir').click();
  await expect(verdict(page).locator('[lang=en]')).toHaveText('Move the slider to N = 512.');
  await expect(button(page, 'Noch einmal versuchen')).toBeVisible();
  expect(await englishIn(lesson)).toEqual([]);

  await button(page, 'Zum Ende').click();
  await expect(heading(page, 'Das Ende von „Zwei Ops, ein Kernel“')).toBeFocused();
  expect(await englishIn(lesson)).toEqual([]);

  await button(page, 'Arbeitsblatt').click();
  const sheets = page.getByRole('dialog', { name: 'Arbeitsblatt' });
  await expect(sheets.getByRole('img', { name: 'QR-Code des Links' })).toBeVisible();
  await expect(sheets).toHaveAttribute('lang', 'de');
  expect(await englishIn(sheets)).toEqual([]);
  await sheets.getByRole('button', { name: 'Schließen' }).click();

  // What follows is English again.
  await button(page, 'Alle Lektionen').first().click();
  await panel(page).getByRole('button', { name: /From ops to kernels/ }).click();
  await expect(lesson).toHaveAttribute('lang', 'en');
  await expect(button(page, 'Skip')).toBeVisible();
});

test('the words follow the language that a teacher writes into the file', async ({ page, open }) => {
  await open();
  await learn(page);
  await button(page, 'Write one').click();
  const editor = page.getByRole('textbox', { name: 'The lesson\'s file' });
  const text = await editor.inputValue();
  await editor.fill(text.replace('---\n', '---\nlang: de\n'));
  await expect(button(page, 'Überspringen')).toBeVisible();
  await expect(button(page, 'Vorhersagen')).toBeVisible();
  // A language without fixed strings: the author's words have their tag, those of the page are
  // English.
  await editor.fill(text.replace('---\n', '---\nlang: fr\n'));
  await expect(button(page, 'Skip')).toBeVisible();
  await expect(panel(page).locator('.lesson')).toHaveAttribute('lang', 'en');
  await expect(panel(page).locator('.lesson-prose')).toHaveAttribute('lang', 'fr');
});

test('a puzzle in German is German, and its hints are marked as English', async ({ page, open }) => {
  await open();
  await learn(page);
  await panel(page).locator('input[type=file][accept*=fuse]').setInputFiles(file('puzzle.de.fuse', 'text/plain'));
  await expect(heading(page, 'Zwei Ops')).toBeFocused();
  const puzzle = panel(page).locator('.puzzle');
  await expect(puzzle).toHaveAttribute('lang', 'de');
  const words = puzzle.locator('.puzzle-words');
  await expect(words).toHaveText('134 MB über Par, 66.7 %');
  await button(page, 'Tipp').click();
  await button(page, 'Zug nennen').click();
  const hints = panel(page).getByRole('list', { name: 'Tipps' }).getByRole('listitem');
  await expect(hints).toHaveCount(2);
  await expect(hints.first()).toHaveAttribute('lang', 'en');
  expect(await englishIn(puzzle)).toEqual([]);

  await button(page, 'Optimum zeigen').click();
  await expect(puzzle.getByText('Schritt 0 von 1 zum Optimum')).toBeVisible();
  await button(page, 'Nächster Schritt').click();
  await expect(words).toHaveText('Auf Par: Das sind die Kernel, die die Suche gefunden hat.');
  expect(await englishIn(puzzle)).toEqual([]);
  await button(page, 'Zurück zu meinen Kerneln').click();

  const kernels = page.getByRole('region', { name: 'Graph' }).getByRole('button', { name: /^kernel \d+ of/ });
  await expect(kernels).toHaveCount(2);
  await kernels.first().focus();
  for (const key of ['m', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
  await expect(words).toHaveText('Gelöst in 1 Zug: 201 MB statt 336 MB, 1.67× weniger. Keine zulässigen Kernel kosten weniger.');
  expect(await englishIn(puzzle)).toEqual([]);
  expect(await accessibilityFindings(page)).toEqual([]);
});
