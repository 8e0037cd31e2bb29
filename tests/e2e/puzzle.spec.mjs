// Puzzles: fused by hand against par, with hints, the way to the optimum, a link and what the browser remembers.

import { expect, findingsInBothColours, test } from './fixture.mjs';
import { choosePolicy, headlineBytes, policyChoice, result, stored } from './visitor.mjs';

const pane = (page) => page.getByRole('region', { name: 'Learn' });
const graph = (page) => page.getByRole('region', { name: 'Graph' });
const kernels = (page) => graph(page).getByRole('button', { name: /^kernel \d+ of/ }).all();
const kernelPanel = (page, number) => graph(page).getByRole('button', { name: new RegExp(`^kernel ${number} of`) });
const op = (page, name) => graph(page).getByRole('button', { name: new RegExp(`^${name},`) });
const button = (page, name) => pane(page).getByRole('button', { name, exact: true });
// A solved one has a check mark in front of its title.
const row = (page, title) => pane(page).getByRole('button', { name: new RegExp(`^(✓ ?)?${title}`) });
const words = (page) => pane(page).locator('.puzzle-words');
const hints = (page) => pane(page).getByRole('list', { name: 'Hints' }).getByRole('listitem');

async function openPuzzle(page, title) {
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await row(page, title).click();
  await expect(pane(page).getByRole('heading', { name: title })).toBeFocused();
}

/** Merges a kernel with the one that the right arrow finds next, by keys. */
async function mergeWithNext(page, number) {
  const before = (await kernels(page)).length;
  await kernelPanel(page, number).focus();
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect.poll(() => kernels(page)).toHaveLength(before - 1);
}

test('a puzzle is solved by keys, and a reload remembers it', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Two ops');
  await expect(words(page)).toHaveText('134 MB above par, 66.7 %');
  await expect(policyChoice(page, 'manual')).toBeChecked();
  // The optimum is not given away.
  await expect(result(page)).not.toContainText(/optim|proven/i);
  const { fused } = await headlineBytes(page);
  await mergeWithNext(page, 1);
  await expect(words(page)).toContainText('Solved');
  expect((await headlineBytes(page)).fused).toBeLessThan(fused);
  await expect.poll(async () => (await stored(page, 'puzzles'))['fuseline.puzzles']).toContain('"two_ops":0');
  await page.reload();
  await expect(pane(page).getByRole('heading', { name: 'Two ops' })).toBeVisible();
  await expect(words(page)).toContainText('Solved');
  await button(page, 'All puzzles').click();
  await expect(row(page, 'Two ops')).toContainText('solved');
  await expect(row(page, 'A chain')).toContainText('unsolved');
  await expect(pane(page)).toContainText('1 of 12 solved');
});

test('each hint names the next edge with its price, and they go when the kernels change', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Two layers');
  await button(page, 'Hint').click();
  await expect(hints(page)).toHaveText([/^Look at the edge from up to up_b\. Merging kernels 2 and 3 saves 67\.1 MB/]);
  await button(page, 'Hint').click();
  await expect(hints(page)).toHaveCount(2);
  await expect(hints(page).nth(1)).toContainText('from up_b to act');
  await mergeWithNext(page, 2);
  await expect(hints(page)).toHaveCount(0);
  await button(page, 'All puzzles').click();
  await expect(row(page, 'Two layers')).toContainText(/best: [\d.]+ % above par/);
});

test('a wrong merge stays above par, and the hint says what to cut', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Which matmul takes the product');
  // Kernels in execution order: gate, up, silu, product, down. Twice the partner is the second to the right.
  for (const left of [4, 3]) {
    await op(page, 'gate').focus();
    await page.keyboard.press('m');
    await expect(graph(page).getByRole('status')).toContainText('looks for a partner');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await expect.poll(() => kernels(page)).toHaveLength(left);
  }
  await expect(graph(page).getByRole('button', { name: /^kernel \d+ of 3: gate.*silu.*product/ })).toHaveCount(1);
  await expect(words(page)).toContainText('above par');
  await button(page, 'Hint').click();
  await expect(hints(page)).toHaveText([/gate and silu share a kernel that is in the way\. Cutting before silu costs/]);
});

test('the optimum is shown as steps, does not count, and gives the own kernels back', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'A chain');
  // The text is hidden behind the puzzle.
  const editor = page.getByRole('textbox', { name: 'Operations as text', includeHidden: true });
  const text = await editor.inputValue();
  await button(page, 'Show the optimum').click();
  await expect(pane(page)).toContainText('Step 0 of 4 to the optimum');
  for (let step = 1; step <= 4; step += 1) {
    await button(page, 'Next step').click();
    await expect(pane(page)).toContainText(`Step ${step} of 4 to the optimum`);
    await expect.poll(() => kernels(page)).toHaveLength(5 - step);
  }
  await expect(words(page)).toContainText('Solved');
  await button(page, 'Previous step').click();
  await expect.poll(() => kernels(page)).toHaveLength(2);
  await button(page, 'Back to my kernels').click();
  await expect(editor).toHaveValue(text);
  await expect(words(page)).toContainText('above par');
  await button(page, 'Next puzzle').click();
  await expect(pane(page).getByRole('heading', { name: 'Two layers' })).toBeVisible();
  await button(page, 'All puzzles').click();
  await expect(row(page, 'A chain')).toContainText('unsolved');
});

test('a link opens the puzzle with the solution, which is not the progress of who follows it', async ({ page, open, browser }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await open();
  await openPuzzle(page, 'Two ops');
  await mergeWithNext(page, 1);
  await button(page, 'Share my solution').click();
  await expect(page.getByText(/Link to your solution copied/)).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await expect(pane(other).getByRole('heading', { name: 'Two ops' })).toBeVisible();
  await expect(words(other)).toContainText('Solved');
  await button(other, 'All puzzles').click();
  await expect(row(other, 'Two ops')).toContainText('unsolved');
  await other.context().close();
});

test('another policy is not graded, and one button sets the choices again', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Two ops');
  await mergeWithNext(page, 1);
  await choosePolicy(page, 'rules');
  await expect(words(page)).toContainText('These are not your kernels');
  await button(page, "Restore the puzzle's choices").click();
  await expect(words(page)).toContainText('Solved');
  await button(page, 'Start again').click();
  await expect(words(page)).toContainText('above par');
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await page.getByRole('combobox', { name: 'Example' }).selectOption('diamond');
  // An example closes the puzzle.
  await expect(pane(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await expect(pane(page).getByRole('heading', { name: 'Puzzles' })).toBeVisible();
});

for (const [screen, viewport] of Object.entries({ phone: { width: 390, height: 844 }, laptop: { width: 1366, height: 768 } })) {
  test(`${screen}: nothing sticks out, and axe-core finds nothing in light and dark colours`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open();
    await page.getByRole('button', { name: 'Learn', exact: true }).click();
    expect(await findingsInBothColours(page)).toEqual([]);
    await row(page, 'A chain').click();
    await button(page, 'Hint').click();
    await button(page, 'Show the optimum').click();
    await button(page, 'Next step').click();
    expect(await findingsInBothColours(page)).toEqual([]);
    const overhang = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overhang).toBe(0);
  });
}
