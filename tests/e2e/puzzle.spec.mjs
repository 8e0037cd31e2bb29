// Puzzles: fused by hand against par, with hints, the way to the optimum, a link and what the
// browser remembers.

import { expect, findingsInBothColours, test } from './fixture.mjs';
import { button, copiedLink, figure, graph, hints, kernelPanel, kernels, learn, mergeWithNext, op, openPuzzle, pane, rank, row, words } from './puzzles.mjs';
import { choosePolicy, covered, editor as textEditor, notice, picker, stored } from './visitor.mjs';

test('a puzzle is solved by keys, and a reload remembers it', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Two ops');
  await expect(words(page)).toHaveText('134 MB above par, 66.7 %');
  await expect(figure(page, 'Now')).toHaveText('336 MB');
  await expect(figure(page, 'Moves')).toHaveText('0');
  await expect(rank(page, 'Legal')).toContainText('not reached');
  await mergeWithNext(page, 1);
  await expect(words(page)).toHaveText('Solved in 1 move: 201 MB instead of 336 MB, 1.67× less. No legal kernels cost less.');
  await expect(figure(page, 'Moves')).toHaveText('1 (best 1 move)');
  await expect(rank(page, 'Proven optimum')).toContainText(', reached');
  await expect(page.locator('.has-just-won')).toHaveCount(1);
  await expect.poll(async () => (await stored(page, 'puzzles'))['fuseline.puzzles']).toContain('"two_ops":0');
  await page.reload();
  await expect(pane(page).getByRole('heading', { name: 'Two ops' })).toBeVisible();
  await expect(words(page)).toContainText('Solved in 1 move');
  // Joy is for the move, and not for coming back.
  await expect(page.locator('.has-just-won')).toHaveCount(0);
  await button(page, 'All puzzles').click();
  await expect(row(page, 'Two ops')).toContainText('solved in 1 move');
  await expect(row(page, 'A chain')).toContainText('unsolved');
  await expect(pane(page)).toContainText('1 of 12 solved');
});

test('undo takes a move back, a cut is one more, and a reload keeps the count', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'A chain');
  await mergeWithNext(page, 1);
  await mergeWithNext(page, 1);
  await expect(figure(page, 'Moves')).toHaveText('2');
  await page.getByRole('button', { name: 'Undo', exact: true }).first().click();
  await expect(figure(page, 'Moves')).toHaveText('1');
  await page.getByRole('button', { name: 'Redo', exact: true }).click();
  await expect(figure(page, 'Moves')).toHaveText('2');
  await op(page, 'gelu').focus();
  await page.keyboard.press('x');
  await page.keyboard.press('x');
  await expect(figure(page, 'Moves')).toHaveText('3');
  await page.reload();
  await expect(figure(page, 'Moves')).toHaveText('3');
  await button(page, 'Start again').click();
  await expect(figure(page, 'Moves')).toHaveText('0');
});

test('a puzzle opens where it was left, starts again at its start, and undo ends there', async ({ page, open }) => {
  await open();
  await picker(page, 'Example').selectOption('softmax');
  const text = await textEditor(page).inputValue();
  const undo = page.getByRole('button', { name: 'Undo', exact: true }).first();
  await openPuzzle(page, 'A chain');
  await expect(undo).toBeHidden();
  await mergeWithNext(page, 1);
  await mergeWithNext(page, 1);
  await learn(page);
  await row(page, 'Two ops').click();
  await expect(figure(page, 'Moves')).toHaveText('0');
  await learn(page);
  await page.reload();
  await openPuzzle(page, 'A chain');
  await expect(figure(page, 'Moves')).toHaveText('2');
  await expect.poll(() => kernels(page)).toHaveLength(3);
  await button(page, 'Start again').click();
  await expect(figure(page, 'Moves')).toHaveText('0');
  // A press too many of *Start again* loses nothing, and undo does not leave the puzzle.
  await page.keyboard.press('Control+z');
  await expect(figure(page, 'Moves')).toHaveText('2');
  await page.keyboard.press('Control+z');
  await expect(figure(page, 'Moves')).toHaveText('2');
  await button(page, 'Start again').click();
  await learn(page);
  await row(page, 'A chain').click();
  await expect(figure(page, 'Moves')).toHaveText('0');
  // Behind the lists nothing is undone.
  await learn(page);
  await page.keyboard.press('Control+z');
  await row(page, 'A chain').click();
  await expect(figure(page, 'Moves')).toHaveText('0');
  // The example that is opened over the puzzle is a step, and so undo brings the puzzle back.
  await button(page, 'Whole page').click();
  await picker(page, 'Example').selectOption('diamond');
  await page.keyboard.press('Control+z');
  await expect(pane(page).getByRole('heading', { name: 'A chain' })).toBeVisible();
  // *Back* leads to the program, and *Forward* to the puzzle as it was.
  await covered(page, 1);
  await page.goBack();
  await expect(pane(page)).toHaveCount(0);
  await expect(textEditor(page)).toHaveValue(text);
  await covered(page, 0);
  await page.goForward();
  await expect(pane(page).getByRole('heading', { name: 'A chain' })).toBeVisible();
  // After a reload, too, the program from before is as it was.
  await mergeWithNext(page, 1);
  await page.reload();
  await button(page, 'All puzzles').click();
  await page.keyboard.press('Control+z');
  await button(page, 'Back to your program').click();
  await expect(textEditor(page)).toHaveValue(text);
  await expect(undo).toBeHidden();
});

test('what a move comes to is said over the graph, covers no figure, and goes by itself', async ({ page, open }) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await page.clock.install();
  await open();
  await openPuzzle(page, 'A Llama block');
  await mergeWithNext(page, 1);
  const message = await notice(page).boundingBox();
  const bar = await pane(page).boundingBox();
  expect(bar.width).toBeGreaterThan(1300);
  expect(message.y).toBeGreaterThan(bar.y + bar.height);
  const buttons = await graph(page).getByRole('button', { name: 'Fit', exact: true }).boundingBox();
  expect(message.y + message.height).toBeLessThanOrEqual(buttons.y);
  await page.clock.runFor(9000);
  await expect(notice(page)).toBeEmpty();
});

test('the first hint asks, the second names the edge with its price, and they go when the kernels change', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Two layers');
  await button(page, 'Hint').click();
  await expect(hints(page)).toHaveText([/^up goes to memory and comes back: 33\.6 MB written, 33\.6 MB read\. Which kernel could keep it on chip\?$/]);
  await button(page, 'Name the move').click();
  await expect(hints(page)).toHaveCount(2);
  await expect(hints(page).nth(1)).toHaveText(/^Look at the edge from up to up_b\. Merging kernels 2 and 3 saves 67\.1 MB/);
  // One move at a time.
  await expect(button(page, 'Name the move')).toHaveAttribute('aria-disabled', 'true');
  await mergeWithNext(page, 2);
  await expect(hints(page)).toHaveCount(0);
  await button(page, 'All puzzles').click();
  await expect(row(page, 'Two layers')).toContainText(/best: [\d.]+ % above par/);
});

test('a wrong merge stays above par, and the hint says what to cut', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Which matmul takes the product');
  // Kernels in execution order: gate, up, silu, product, down. Twice the partner is the second to
  // the right.
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
  await button(page, 'Name the move').click();
  await expect(hints(page)).toHaveText([/is in the way/, /gate and silu share a kernel that is in the way\. Cutting before silu costs/]);
});

test('the optimum is shown as steps, does not count, and gives the own kernels back', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'A chain');
  // The text is hidden behind the puzzle.
  const editor = page.getByRole('textbox', { name: 'Operations as text', includeHidden: true });
  await mergeWithNext(page, 1);
  const text = await editor.inputValue();
  await button(page, 'Show the optimum').click();
  await expect(pane(page)).toContainText('Step 0 of 3 to the optimum');
  for (let step = 1; step <= 3; step += 1) {
    await button(page, 'Next step').click();
    await expect(pane(page)).toContainText(`Step ${step} of 3 to the optimum`);
    await expect.poll(() => kernels(page)).toHaveLength(4 - step);
  }
  await expect(words(page)).toHaveText('At par: these are the kernels that the search found.');
  await expect(rank(page, 'Legal')).toContainText('not reached');
  await button(page, 'Previous step').click();
  await expect.poll(() => kernels(page)).toHaveLength(2);
  // The last step is the visitor's, the others are not.
  await mergeWithNext(page, 1);
  await expect(words(page)).toContainText('not by your own moves');
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  await expect(words(page)).toContainText('not by your own moves');
  while (await editor.inputValue() !== text) await page.keyboard.press('Control+z');
  await expect(words(page)).toContainText('above par');
  await expect(figure(page, 'Moves')).toHaveText('1');
  await button(page, 'Next puzzle').click();
  await expect(pane(page).getByRole('heading', { name: 'Two layers' })).toBeVisible();
  await button(page, 'All puzzles').click();
  await expect(row(page, 'A chain')).toContainText(/best: [\d.]+ % above par/);
});

test('a link opens the puzzle with the solution, which is not the progress of who follows it', async ({ page, open, browser }) => {
  await open();
  await openPuzzle(page, 'Two ops');
  await mergeWithNext(page, 1);
  const link = await copiedLink(page, () => button(page, 'Share my solution').click());
  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await expect(pane(other).getByRole('heading', { name: 'Two ops' })).toBeVisible();
  await expect(words(other)).toHaveText("Solved by the sender's kernels. Start again to solve it yourself.");
  await button(other, 'All puzzles').click();
  await expect(row(other, 'Two ops')).toContainText('unsolved');
  await other.context().close();
});

test('kernels of another policy are not graded, and marked in the text they are not the visitor\'s moves', async ({ page, open }) => {
  await open();
  await openPuzzle(page, 'Two ops');
  await button(page, 'Whole page').click();
  await choosePolicy(page, 'optimal');
  await learn(page);
  await expect(words(page)).toContainText('These are not your kernels');
  await button(page, "Restore the puzzle's choices").click();
  await expect(words(page)).toContainText('above par');
  await button(page, 'Whole page').click();
  await choosePolicy(page, 'optimal');
  await choosePolicy(page, 'manual');
  await notice(page).getByRole('button', { name: /fewest bytes/ }).click();
  await learn(page);
  await expect(words(page)).toContainText('At par, but not by your own moves');
  await button(page, 'Start again').click();
  await expect(words(page)).toContainText('above par');
  await button(page, 'All puzzles').click();
  await expect(row(page, 'Two ops')).toContainText('unsolved');
});

test('an example closes the puzzle, and closing it brings back the program from before, and Learn leads to the lists', async ({ page, open }) => {
  await open();
  await picker(page, 'Example').selectOption('softmax');
  const text = await textEditor(page).inputValue();
  await openPuzzle(page, 'Two ops');
  await button(page, 'Next puzzle').click();
  await learn(page);
  await expect(pane(page).getByRole('heading', { name: 'Puzzles' })).toBeVisible();
  await pane(page).getByRole('button', { name: 'Back to your program' }).click();
  await expect(textEditor(page)).toHaveValue(text);
  await openPuzzle(page, 'Two ops');
  await button(page, 'Whole page').click();
  await picker(page, 'Example').selectOption('diamond');
  await expect(pane(page)).toHaveCount(0);
  await learn(page);
  await expect(pane(page).getByRole('heading', { name: 'Puzzles' })).toBeVisible();
});

test('a teacher makes a puzzle of a program, and its link opens anywhere', async ({ page, open, browser }) => {
  await open();
  await picker(page, 'Example').selectOption('softmax');
  await learn(page);
  await button(page, 'Make a puzzle of this program').click();
  const form = pane(page).getByRole('form', { name: 'Make a puzzle' });
  await form.getByRole('textbox', { name: 'Title' }).fill('Softmax for my class');
  await form.getByRole('textbox', { name: /^Goal/ }).fill('Which rows are read twice?');
  await form.getByRole('button', { name: 'Make the puzzle' }).click();
  await expect(form).toContainText(/Par is [\d.]+ [kMG]B, proven by the search/);
  const link = await copiedLink(page, () => form.getByRole('button', { name: 'Copy the link' }).click());
  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await expect(pane(other).getByRole('heading', { name: 'Softmax for my class' })).toBeVisible();
  await expect(pane(other)).toContainText('Which rows are read twice?');
  await expect(figure(other, 'Moves')).toHaveText('0');
  const count = (await kernels(other)).length;
  await mergeWithNext(other, 1);
  await expect(figure(other, 'Moves')).toHaveText('1');
  await expect(rank(other, 'Legal')).toContainText(', reached');
  await other.reload();
  await expect(figure(other, 'Moves')).toHaveText('1');
  await button(other, 'Start again').click();
  await expect.poll(() => kernels(other)).toHaveLength(count);
  await other.context().close();
});

test('a puzzle file opens, and another file says what is wrong', async ({ page, open }) => {
  await open();
  await learn(page);
  const file = (text) => ({ name: 'mine.fuse', mimeType: 'text/plain', buffer: Buffer.from(text) });
  const input = pane(page).locator('input[type=file][accept*=fuse]');
  await input.setInputFiles(file('y = relu(x)\n'));
  await expect(notice(page)).toContainText('not a puzzle');
  await input.setInputFiles(file('# title: Mine\n# objective: bytes\n# Think.\ninput x : f16[4096, 4096]\ny = relu(x)\nz = abs(y)\n'));
  await expect(pane(page).getByRole('heading', { name: 'Mine' })).toBeFocused();
  await mergeWithNext(page, 1);
  await expect(words(page)).toContainText('Solved in 1 move');
});

test('on a laptop the graph has the width of the page, and its type can be read', async ({ page, open }) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await open();
  for (const [title, isWhole] of [['Layer norm between', true], ['Prologues', true], ['A Llama block', false]]) {
    await learn(page);
    await row(page, title).click();
    await expect(words(page)).toContainText('above par');
    const canvas = await graph(page).locator('svg.dag').boundingBox();
    expect(canvas.width).toBeGreaterThan(1300);
    expect(canvas.height).toBeGreaterThan(480);
    const transform = await graph(page).locator('.dag-parts').getAttribute('transform');
    expect(11 * Number(/scale\(([\d.]+)/.exec(transform)[1]), title).toBeGreaterThanOrEqual(11);
    if (!isWhole) continue;
    for (const kernel of await kernels(page)) {
      const box = await kernel.boundingBox();
      expect(box.x).toBeGreaterThanOrEqual(canvas.x);
      expect(box.x + box.width).toBeLessThanOrEqual(canvas.x + canvas.width);
      expect(box.y + box.height).toBeLessThanOrEqual(canvas.y + canvas.height);
    }
  }
});

test('the wheel moves a graph that is larger than the page, and a merge stays in sight', async ({ page, open }) => {
  await page.setViewportSize({ width: 1366, height: 768 });
  await open();
  await openPuzzle(page, 'A Llama block');
  const canvas = await graph(page).locator('svg.dag').boundingBox();
  const isIn = (box) => box.y >= canvas.y && box.y + box.height <= canvas.y + canvas.height;
  await expect(op(page, 'probs')).toBeAttached();
  expect(isIn(await op(page, 'probs').boundingBox())).toBe(false);
  await page.mouse.move(canvas.x + 100, canvas.y + 100);
  for (let turn = 0; turn < 12 && !isIn(await op(page, 'probs').boundingBox()); turn += 1) await page.mouse.wheel(0, 200);
  expect(isIn(await op(page, 'probs').boundingBox())).toBe(true);
  await op(page, 'probs').focus();
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect(figure(page, 'Moves')).toHaveText('1');
  expect(isIn(await op(page, 'probs').boundingBox())).toBe(true);
});

for (const [screen, viewport] of Object.entries({ phone: { width: 390, height: 844 }, laptop: { width: 1366, height: 768 } })) {
  test(`${screen}: nothing sticks out, and axe-core finds nothing in light and dark colours`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open();
    await learn(page);
    await button(page, 'Make a puzzle of this program').click();
    await button(page, 'Make the puzzle').click();
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
