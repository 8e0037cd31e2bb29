// What a player of a puzzle finds on the page.

import { expect } from './fixture.mjs';
import { notice } from './visitor.mjs';

export const pane = (page) => page.getByRole('region', { name: 'Learn' });
export const graph = (page) => page.getByRole('region', { name: 'Graph' });
export const kernels = (page) => graph(page).getByRole('button', { name: /^kernel \d+ of/ }).all();
export const kernelPanel = (page, number) => graph(page).getByRole('button', { name: new RegExp(`^kernel ${number} of`) });
export const op = (page, name) => graph(page).getByRole('button', { name: new RegExp(`^${name},`) });
export const button = (page, name) => pane(page).getByRole('button', { name, exact: true });
// A solved one has a check mark in front of its title.
export const row = (page, title) => pane(page).getByRole('button', { name: new RegExp(`^(✓ ?)?${title}`) });
export const words = (page) => pane(page).locator('.puzzle-words');
export const figure = (page, name) => pane(page).locator('.puzzle-standing dl > div').filter({ hasText: name }).locator('dd');
export const rank = (page, name) => pane(page).getByRole('list', { name: 'Ranks' }).getByRole('listitem').filter({ hasText: name });
export const learn = (page) => page.getByRole('button', { name: 'Learn', exact: true }).click();
export const hints = (page) => pane(page).getByRole('list', { name: 'Hints' }).getByRole('listitem');

export async function openPuzzle(page, title) {
  await learn(page);
  await row(page, title).click();
  await expect(pane(page).getByRole('heading', { name: title })).toBeFocused();
}

/** Merges a kernel with the one that the right arrow finds next, by keys. */
export async function mergeWithNext(page, number) {
  const before = (await kernels(page)).length;
  await kernelPanel(page, number).focus();
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect.poll(() => kernels(page)).toHaveLength(before - 1);
}

/** What a press copies. */
export async function copiedLink(page, click) {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await click();
  await expect(notice(page)).toContainText('copied');
  return page.evaluate(() => navigator.clipboard.readText());
}
