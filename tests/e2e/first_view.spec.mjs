// The first view of the graph: nothing covers it, what moved it moves it back, and its legend
// speaks of what it shows.

import { expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, chooseView, kernelButton, picker } from './visitor.mjs';

const SCREENS = { phone: { width: 390, height: 844 }, laptop: { width: 1366, height: 768 }, larger: { width: 1440, height: 900 }, projector: { width: 1920, height: 1080 }, studio: { width: 2560, height: 1440 } };
const graph = (page) => page.getByRole('region', { name: 'Graph' });
const op = (page, name) => graph(page).locator(`.dag-op-box[aria-label^="${name},"]`).first();

/** Nodes of the graph that its buttons or its minimap cover. */
const covered = (page) => graph(page).evaluate((panel) => {
  const box = (element) => element.getBoundingClientRect();
  const view = box(panel.querySelector('.dag'));
  const over = [...panel.querySelectorAll('.dag-tools, .dag-minimap')];
  const nodes = [...panel.querySelectorAll('.dag-panel, .dag-op-box, .dag-pill, .dag-size-label.is-dram')];
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const inView = ({ left, right, top, bottom }) => ({
    left: Math.max(left, view.left), right: Math.min(right, view.right), top: Math.max(top, view.top), bottom: Math.min(bottom, view.bottom),
  });
  return over.flatMap((part) => nodes.filter((node) => meet(box(part), inView(box(node)))).map((node) => `${part.classList[0]} covers ${node.textContent}`));
});

for (const [screen, viewport] of Object.entries(SCREENS)) {
  test(`no node is covered, and the tensors of a kernel are told without a cut where the table has room: ${screen}`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open();
    await test.step('neither buttons nor the minimap cover a node', async () => {
      for (const title of ['GPT-2 block', 'Diamond', 'Two-layer MLP', 'Transformer block']) {
        const options = await picker(page, 'Example').locator('option').allTextContents();
        if (!options.includes(title)) continue;
        await chooseExample(page, title);
        await expect(graph(page).locator('.dag-op-box').first()).toBeVisible();
        expect(await covered(page), title).toEqual([]);
      }
    });
    await test.step('the tensors of a kernel', async () => {
      await kernelButton(page, 3).click();
      const ledger = page.getByRole('group', { name: 'Tensors of this kernel' });
      await expect(ledger.getByRole('columnheader', { name: 'vanished' })).toBeAttached();
      const overhang = await ledger.evaluate((scroll) => scroll.scrollWidth - scroll.clientWidth);
      if (viewport.width >= 1000) expect(overhang).toBe(0);
      // The card beside the graph scrolls down only.
      expect(await page.locator('.inspector').evaluateAll((cards) => cards.map((card) => card.scrollWidth - card.clientWidth))).toEqual([0]);
    });
  });
}

test('after a card the picture is where it was, unless the visitor has moved it', async ({ page, open }) => {
  await page.setViewportSize(SCREENS.laptop);
  await open();
  const place = () => graph(page).locator('.dag-parts').getAttribute('transform');
  const first = await place();
  const shown = await graph(page).locator('.dag').boundingBox();
  // An op that the card would cover.
  const low = await graph(page).locator('.dag-op-box').evaluateAll((boxes, bottom) => {
    const ends = boxes.map((box) => box.getBoundingClientRect().bottom);
    const lowest = Math.max(...ends.filter((end) => end < bottom - 12));
    return boxes[ends.indexOf(lowest)].getAttribute('aria-label');
  }, shown.y + shown.height);
  const box = graph(page).locator(`.dag-op-box[aria-label="${low}"]`);
  await box.click();
  await expect.poll(place).not.toBe(first);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await expect.poll(place).toBe(first);

  await box.click();
  await expect.poll(place).not.toBe(first);
  await graph(page).locator('.dag').focus();
  await page.keyboard.press('ArrowDown');
  const moved = await place();
  await page.keyboard.press('Escape');
  await expect(page.locator('.inspector')).toHaveCount(0);
  await expect.poll(place).toBe(moved);
});

test('a card brings no minimap where all was in sight, and the visitor who moves the picture gets one', async ({ page, open }) => {
  await page.setViewportSize(SCREENS.larger);
  await open();
  await chooseExample(page, 'Diamond');
  const minimap = graph(page).locator('.dag-minimap');
  await op(page, 'gelu').click();
  await expect(page.locator('.inspector')).toBeVisible();
  await expect(minimap).toHaveCount(0);
  await page.keyboard.press('Escape');
  await graph(page).locator('.dag').focus();
  for (let step = 0; step < 4; step += 1) await page.keyboard.press('ArrowDown');
  await expect(minimap).toBeVisible();
  await graph(page).getByRole('button', { name: 'Fit', exact: true }).click();
  await expect(minimap).toHaveCount(0);
});

test('a graph that was fitted stays whole when other kernels are chosen', async ({ page, open }) => {
  await open();
  await graph(page).getByRole('button', { name: 'Fit', exact: true }).click();
  const seen = () => page.locator('.dag-parts').getAttribute('transform');
  await choosePolicy(page, 'none');
  await choosePolicy(page, 'optimal');
  await expect(page.locator('.policies')).toBeVisible();
  const kept = await seen();
  await graph(page).getByRole('button', { name: 'Fit', exact: true }).click();
  expect(await seen()).toBe(kept);
});

test('the legend and the lower bar speak of the view that is shown', async ({ page, open }) => {
  await open();
  await choosePolicy(page, 'optimal');
  const legend = page.locator('.dag-legend');
  await expect(legend).toContainText('through memory, ≤ 134 MB');
  await chooseView(page, 'Unfused');
  await expect(legend).toContainText('through memory, ≤ 268 MB');
  const bars = page.getByRole('region', { name: 'Memory traffic' });
  await expect(bars).toContainText('now 2.30 GB');
  await expect(bars.locator('text').filter({ hasText: '−' })).toHaveCount(0);
  await chooseView(page, 'Fused');
  await expect(bars).toContainText(/fused [\d.]+ GB.*−[\d.]+ %/);
});

test('a label names its tensor', async ({ page, open }) => {
  await open();
  await chooseExample(page, 'Diamond');
  await expect(op(page, 'matmul1')).toBeVisible();
  await expect(graph(page).locator('.dag-size-label.is-dram text')).toHaveText(['y1 2.10 MB']);
});

test('the sign for a harm is explained where a row has it', async ({ page, open }) => {
  await open();
  const signs = page.locator('table.kernels .limit-sign');
  const words = page.getByText('where fusion may cost time');
  await page.getByRole('tab', { name: 'Kernels', exact: true }).click();
  for (const title of ['Diamond', 'Transformer block', 'GPT-2 block']) {
    await chooseExample(page, title);
    await expect(graph(page).locator('.dag-op-box').first()).toBeVisible();
    const has = await signs.count() > 0;
    await expect(words).toHaveCount(has ? 1 : 0);
  }
});
