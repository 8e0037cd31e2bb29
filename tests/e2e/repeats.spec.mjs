// Forty-eight equal blocks: one is drawn, names are found in all of them, and a minimap leads
// through them.

import { expect, findingsInBothColours, test } from './fixture.mjs';
import { OPS_PER_BLOCK, gpt2Blocks } from './gpt2.mjs';
import { chooseView, grouped, kernelButton, put, slider } from './visitor.mjs';

const BLOCKS = 48;
const LARGE = gpt2Blocks(BLOCKS);

const graph = (page) => page.getByRole('region', { name: 'Graph' });
const canvas = (page) => graph(page).getByRole('group', { name: /^graph of/ });
const op = (page, name) => graph(page).getByRole('button', { name: new RegExp(`^${name},`) });
const tag = (page) => graph(page).getByRole('button', { name: /^48 equal iterations/ });
const tool = (page, name) => graph(page).getByRole('button', { name, exact: true });
const boxes = (page) => canvas(page).locator('.dag-op-box');
const minimap = (page) => page.locator('.dag-minimap');
const field = (page) => graph(page).getByRole('searchbox');
const place = (page) => graph(page).getByRole('search').getByRole('status');

/** Opens the page with all blocks, folded. */
async function openBlocks(page, open) {
  await open();
  await put(page, LARGE);
  await expect(canvas(page)).toHaveAccessibleName(new RegExp(`^graph of ${grouped(BLOCKS * OPS_PER_BLOCK)} operations`), { timeout: 30_000 });
  await expect(tag(page)).toHaveCount(1);
}

async function unfold(page) {
  await tool(page, 'Unfold').click();
  await expect(canvas(page)).toHaveAccessibleName(/kernels$/, { timeout: 30_000 });
}

test('48 blocks are drawn as one, unfold, and fold again', async ({ page, open }) => {
  await openBlocks(page, open);
  await expect(tag(page)).toHaveAttribute('aria-expanded', 'false');
  await expect(canvas(page).locator('.dag-repeat-words')).toContainText('× 48');
  await expect(boxes(page)).toHaveCount(OPS_PER_BLOCK);
  await expect(op(page, 'mean1_0')).toBeInViewport();
  await tag(page).click();
  await expect(canvas(page)).toHaveAccessibleName(/kernels$/, { timeout: 30_000 });
  await expect(tag(page)).toHaveCount(0);
  await expect(tool(page, 'Fold')).toHaveAttribute('aria-expanded', 'true');
  await tool(page, 'Fold').click();
  await expect(boxes(page)).toHaveCount(OPS_PER_BLOCK);
  await expect(tool(page, 'Unfold')).toHaveAttribute('aria-expanded', 'false');
});

test('keys unfold, fold and find, and the focus is never lost', async ({ page, open }) => {
  await openBlocks(page, open);
  const focused = () => page.evaluate(() => document.activeElement.localName);
  await canvas(page).locator('.dag-op-box[tabindex="0"]').focus();
  await page.keyboard.press('End');
  await expect(op(page, 'y_0')).toBeFocused();
  await page.keyboard.press('Home');
  await expect(op(page, 'mean1_0')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(tag(page)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(canvas(page)).toHaveAccessibleName(/kernels$/, { timeout: 30_000 });
  await expect.poll(focused).not.toBe('body');
  await tool(page, 'Fold').focus();
  await page.keyboard.press(' ');
  await expect(tag(page)).toHaveCount(1);
  await canvas(page).focus();
  await page.keyboard.press('/');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type('softmax');
  await expect(place(page)).toHaveText(/^1 of \d+$/);
  await page.keyboard.press('Shift+Enter');
  await expect(place(page)).toHaveText(/^(\d+) of \1$/);
  await page.keyboard.press('Enter');
  await expect(place(page)).toHaveText(/^1 of \d+$/);
  await page.keyboard.press('Escape');
  await expect(field(page)).toHaveValue('');
  await expect(place(page)).toHaveText('');
});

test('what is selected in a hidden round is shown by its equal, and a slider moves the bytes of all rounds and no box', async ({ page, open }) => {
  await openBlocks(page, open);
  const places = () => boxes(page).locator('rect').evaluateAll((rects) => rects.map((rect) => rect.getAttribute('x') + rect.getAttribute('y')));
  const [before, name] = [await places(), await tag(page).getAttribute('aria-label')];
  await slider(page, 'S').press('PageUp');
  await expect(tag(page)).not.toHaveAccessibleName(name);
  expect(await places()).toEqual(before);

  await expect(tag(page)).toBeVisible();
  await field(page).fill('y_30');
  const selected = canvas(page).locator('.dag-op-box[aria-pressed="true"]');
  await expect(selected).toHaveAccessibleName(/^y_0,/);
  await expect(selected).toBeInViewport();
  await kernelButton(page, 30).click();
  await page.evaluate(() => scrollTo(0, 0));
  await expect(canvas(page).locator('.dag-kernel[aria-pressed="true"]')).toHaveCount(1);
  await expect(canvas(page).locator('.dag-kernel[aria-pressed="true"]')).toBeInViewport();
});

test('the minimap shows where the view is, a drag on it moves the view, and it shows kernels or, unfused, ops', async ({ page, open }) => {
  await openBlocks(page, open);
  await unfold(page);
  await expect(op(page, 'mean1_0')).toBeInViewport();
  await expect(minimap(page)).toBeVisible();
  await expect(minimap(page)).toHaveAttribute('aria-hidden', 'true');
  const { x, y, width, height } = await minimap(page).boundingBox();
  const top = () => minimap(page).locator('.dag-minimap-window').evaluate((window) => Number(window.getAttribute('y')));
  expect(await top()).toBeCloseTo(0);
  await page.mouse.move(x + width / 2, y + 4);
  await page.mouse.down();
  // Beyond the end: the minimap has caught the pointer, and one of its pixels is a whole kernel.
  await page.mouse.move(x + width / 2, y + height + 20, { steps: 8 });
  await page.mouse.up();
  await expect.poll(top).toBeGreaterThan(height / 2);
  await expect(op(page, 'y_47')).toBeInViewport();
  await page.mouse.move(x - 50, y + height + 50);
  const end = await top();
  await page.mouse.move(x - 50, y + height + 90);
  expect(await top()).toBe(end);
  await tool(page, 'Large').click();
  await expect(op(page, 'mean1_0')).toBeInViewport();

  const drawn = (name) => minimap(page).locator(`.dag-minimap-${name}`);
  await expect(minimap(page)).toBeVisible();
  await expect(drawn('panel')).not.toHaveCount(0);
  await expect(drawn('ops')).toHaveCount(0);
  await chooseView(page, 'Unfused');
  await expect(drawn('ops')).toHaveCount(1);
  await expect(drawn('panel')).toHaveCount(0);
  await chooseView(page, 'Fused');
  await expect(drawn('panel')).not.toHaveCount(0);
});

for (const [screen, viewport] of Object.entries({ phone: { width: 360, height: 740 }, laptop: { width: 1366, height: 768 }, projector: { width: 1920, height: 1080 } })) {
  test(`${screen}: 48 blocks can be read, nothing sticks out, and axe-core finds nothing in light and dark colours`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await openBlocks(page, open);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
    await test.step('folded', async () => {
      expect(await findingsInBothColours(page)).toEqual([]);
    });
    await test.step('searched', async () => {
      const { height } = await canvas(page).boundingBox();
      await field(page).fill('add');
      await expect(place(page)).toHaveText(/^1 of/);
      expect((await canvas(page).boundingBox()).height, 'the search leaves the graph its height').toBe(height);
      expect(await findingsInBothColours(page, '.graph')).toEqual([]);
      await field(page).press('Escape');
    });
    for (const name of ['Large', 'Unfold', 'Large']) {
      await test.step(`after ${name}`, async () => {
        await tool(page, name).click();
        const leastPx = () => canvas(page).evaluate((svg) => Math.min(...[...svg.querySelectorAll('text, tspan')]
          .filter((text) => text.textContent)
          .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)));
        await expect.poll(leastPx, { timeout: 30_000 }).toBeGreaterThanOrEqual(10.99);
      });
    }
  });
}
