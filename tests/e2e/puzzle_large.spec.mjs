// The largest puzzle of the page: what is merged takes the room of one op, names are found, and
// nothing covers the next move.

import { expect, test } from './fixture.mjs';
import { button, figure, graph, hints, kernelPanel, learn, mergeWithNext, op, openPuzzle, pane, row } from './puzzles.mjs';
import { notice, picker } from './visitor.mjs';

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
  await expect(graph(page).locator('.dag-op', { hasText: 'eps1' })).toContainText('with square, mean');
  await tool(page, 'Unfold').click();
  await expect(boxes(page)).toHaveCount(46);
  // A merge leaves it unfolded.
  await mergeWithNext(page, 1);
  await expect(boxes(page)).toHaveCount(46);
  await tool(page, 'Fold').click();
  await expect(boxes(page)).toHaveCount(43);
});

test('merges that mark most lines anew are moves, and the own program stays', async ({ page, open }) => {
  await page.setViewportSize(LAPTOP);
  await open();
  const example = await picker(page, 'Example').inputValue();
  await openPuzzle(page, 'A Llama block');
  for (const [name, partner, count] of [['y', /\(down\)/, 45], ['q_rope', /./, 44], ['k_rope', /./, 43]]) {
    await op(page, name).focus();
    await page.keyboard.press('Enter');
    await graph(page).locator('.inspector').getByRole('button', { name: /^Merge with kernel/ }).filter({ hasText: partner }).first().click();
    await expect(boxes(page)).toHaveCount(count);
  }
  await expect(figure(page, 'Moves')).toHaveText('3');
  await learn(page);
  await button(page, 'Back to your program').click();
  await expect(pane(page)).toHaveCount(0);
  await expect(picker(page, 'Example')).toHaveValue(example);
});

test('a hint moves no kernel, and both that it names are in sight', async ({ page, open }) => {
  await openLlama(page, open);
  const places = () => graph(page).locator('.dag-op-box > rect').evaluateAll((rects) => rects.map((rect) => [rect.getAttribute('x'), rect.getAttribute('y')].join()).sort());
  for (let move = 0; move < 6; move += 1) {
    const before = await places();
    await button(page, 'Hint').click();
    await button(page, 'Name the move').click();
    await expect(hints(page)).toHaveCount(2);
    expect(await places()).toEqual(before);
    const [, first, second] = /kernels (\d+) and (\d+)/.exec(await hints(page).nth(1).textContent());
    const canvas = await graph(page).locator('svg.dag').boundingBox();
    for (const number of [first, second]) {
      await expect.poll(async () => {
        const { x, y, width, height } = await kernelPanel(page, number).boundingBox();
        return x >= canvas.x && y >= canvas.y && x + width <= canvas.x + canvas.width && y + height <= canvas.y + canvas.height;
      }, `kernel ${number}`).toBe(true);
    }
    await kernelPanel(page, first).focus();
    await page.keyboard.press('m');
    // The partner is one of the next kernels.
    for (let at = Number(first); at < Number(second); at += 1) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await expect(figure(page, 'Moves')).toHaveText(String(move + 1));
  }
});

test('the whole of the solution is in few boxes on a laptop, and says where no merge is left', async ({ page, open }) => {
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
  await op(page, 'probs').focus();
  await page.keyboard.press('Enter');
  await expect(graph(page).locator('.inspector')).toContainText('No merge with a neighbour is legal.');
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

test('the card of an op that was found at the lower edge does not cover it', async ({ page, open }) => {
  await openLlama(page, open);
  await field(page).fill('square2');
  await field(page).press('Escape');
  await op(page, 'square2').click();
  const card = graph(page).locator('.inspector');
  await expect(card).toBeVisible();
  const isApart = async () => {
    const [box, above] = [await op(page, 'square2').boundingBox(), await card.boundingBox()];
    return box.y + box.height <= above.y;
  };
  await expect.poll(isApart).toBe(true);
  // Who has gone on there is not led back.
  await page.keyboard.press('Escape');
  await expect(card).toHaveCount(0);
  const canvas = await graph(page).locator('svg.dag').boundingBox();
  const { y, height } = await op(page, 'square2').boundingBox();
  expect(y).toBeGreaterThan(canvas.y);
  expect(y + height).toBeLessThan(canvas.y + canvas.height);
});

test('a small puzzle that is opened after it has one column', async ({ page, open }) => {
  await openLlama(page, open);
  await learn(page);
  await row(page, 'A chain').click();
  await expect(boxes(page)).toHaveCount(5);
  const columns = await boxes(page).locator('rect').evaluateAll((rects) => new Set(rects.map((rect) => rect.getAttribute('x'))).size);
  expect(columns).toBe(1);
});
