// The largest puzzle of the page: what is merged takes the room of one op, names are found, and nothing covers the next move.

import { expect, test } from './fixture.mjs';
import { button, figure, graph, kernelPanel, mergeWithNext, op, openPuzzle } from './puzzles.mjs';
import { notice } from './visitor.mjs';

const LAPTOP = { width: 1366, height: 768 };
const boxes = (page) => graph(page).locator('.dag-op-box');
const tool = (page, name) => graph(page).getByRole('button', { name, exact: true });
const field = (page) => graph(page).getByRole('searchbox');

async function openLlama(page, open) {
  await page.setViewportSize(LAPTOP);
  await open();
  await openPuzzle(page, 'A Llama block');
  await expect(boxes(page)).toHaveCount(46);
}

test('merged ops are one box, and Unfold shows them', async ({ page, open }) => {
  await openLlama(page, open);
  await expect(tool(page, 'Unfold')).toBeHidden();
  await mergeWithNext(page, 1);
  await mergeWithNext(page, 1);
  await expect(boxes(page)).toHaveCount(44);
  await expect(kernelPanel(page, 1)).toHaveAccessibleName(/: square1, mean1, eps1,/);
  await expect(op(page, 'eps1')).toHaveAccessibleName(/; with square1, mean1$/);
  await expect(graph(page).locator('.dag-op', { hasText: 'eps1' })).toContainText('with 2 more ops');
  await tool(page, 'Unfold').click();
  await expect(boxes(page)).toHaveCount(46);
  // A merge leaves it unfolded.
  await mergeWithNext(page, 1);
  await expect(boxes(page)).toHaveCount(46);
  await tool(page, 'Fold').click();
  await expect(boxes(page)).toHaveCount(43);
});

test('the whole of the solution is in few boxes on a laptop', async ({ page, open }) => {
  await openLlama(page, open);
  await button(page, 'Show the optimum').click();
  const steps = button(page, 'Next step');
  while (await steps.isEnabled()) await steps.click();
  await expect(boxes(page)).toHaveCount(13);
  const canvas = await graph(page).locator('svg.dag').boundingBox();
  let seen = 0;
  for (const box of await boxes(page).all()) {
    const { x, y, width, height } = await box.boundingBox();
    if (x >= canvas.x && y >= canvas.y && x + width <= canvas.x + canvas.width && y + height <= canvas.y + canvas.height) seen += 1;
  }
  expect(seen).toBeGreaterThanOrEqual(8);
});

test('Escape leads from the field to what was found, which the minimap does not cover', async ({ page, open }) => {
  await openLlama(page, open);
  const canvas = await graph(page).locator('svg.dag').boundingBox();
  await page.mouse.move(canvas.x + 300, canvas.y + 450);
  await page.mouse.down();
  await page.mouse.move(canvas.x + 250, canvas.y + 420, { steps: 5 });
  await page.mouse.up();
  await expect(graph(page).locator('.dag-minimap')).toBeVisible();
  for (const name of ['silu', 'y', 'square1', 'probs']) {
    await field(page).fill(name);
    await field(page).press('Escape');
    await expect(op(page, name)).toBeFocused();
    const [box, map] = [await op(page, name).boundingBox(), await graph(page).locator('.dag-minimap').boundingBox()];
    const isApart = box.x + box.width <= map.x || map.x + map.width <= box.x || box.y + box.height <= map.y || map.y + map.height <= box.y;
    expect(isApart, name).toBe(true);
  }
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect(figure(page, 'Moves')).toHaveText('1');
});

test('the message of a move goes with the next press, and the card of an op has what a player needs', async ({ page, open }) => {
  await openLlama(page, open);
  await mergeWithNext(page, 1);
  await expect(notice(page)).toContainText('Merged kernels 1 and 2');
  await button(page, 'Hint').click();
  await expect(notice(page)).toBeEmpty();
  await op(page, 'scores').click();
  const card = graph(page).locator('.inspector');
  await expect(card.getByRole('button', { name: /^Merge with kernel/ }).first()).toBeInViewport();
  await expect(card).not.toContainText('Options');
  await expect(card).not.toContainText('@kernel');
  await expect(card.getByRole('button', { name: 'Show in the text' })).toHaveCount(0);
  const [card_px, canvas] = [await card.boundingBox(), await graph(page).locator('svg.dag').boundingBox()];
  expect(card_px.height).toBeLessThan(canvas.height / 2);
});
