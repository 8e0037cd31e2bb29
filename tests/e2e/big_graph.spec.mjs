// A graph too large for the page: what is in sight is drawn, and what is not can still be reached.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { OPS_PER_BLOCK, gpt2Blocks } from './gpt2.mjs';
import { chooseView, grouped, kernelButton, put, slider } from './visitor.mjs';

const BLOCKS = 12;
/** Elements of some hundred parts. All parts of these blocks are ten thousand. */
const FEW = 3000;

const graph = (page) => page.getByRole('region', { name: 'Graph' });
const canvas = (page) => graph(page).getByRole('group', { name: /^graph of/ });
const op = (page, name) => graph(page).getByRole('button', { name: new RegExp(`^${name},`) });
const kernelPanel = (page, number) => graph(page).getByRole('button', { name: new RegExp(`^kernel ${number} of`) });
const elements = (page) => canvas(page).locator('*').count();
const opsInSight = (page) => canvas(page).evaluate((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('.dag-op-box')].filter((box) => {
    const { top, bottom } = box.getBoundingClientRect();
    return bottom > frame.top && top < frame.bottom;
  }).length;
});
const tabStop = (page) => canvas(page).locator('[tabindex="0"]');
const overview = (page) => canvas(page).locator('.dag-overview');
const tool = (page, name) => graph(page).getByRole('button', { name, exact: true });

test.beforeEach(async ({ page, open }) => {
  await open();
  await put(page, gpt2Blocks(BLOCKS));
  await expect(canvas(page)).toHaveAccessibleName(new RegExp(`^graph of ${grouped(BLOCKS * OPS_PER_BLOCK)} operations`));
  await tool(page, 'Unfold').click();
  await expect(canvas(page)).toHaveAccessibleName(/kernels$/);
});

test('the page holds what is in sight, wherever that is', async ({ page }) => {
  await expect(op(page, 'mean1_0')).toBeInViewport();
  await expect(op(page, 'y_11')).toHaveCount(0);
  expect(await elements(page)).toBeLessThan(FEW);
  const { x, y, height } = await canvas(page).boundingBox();
  const [from, to] = [y + height - 20, y + 20];
  for (let drags = 0; drags < 4; drags += 1) {
    await page.mouse.move(x + 8, from);
    await page.mouse.down();
    await page.mouse.move(x + 8, to, { steps: 5 });
    await page.mouse.up();
    expect(await elements(page)).toBeLessThan(FEW);
  }
  await expect(op(page, 'mean1_0')).not.toBeInViewport();
  expect(await opsInSight(page)).toBeGreaterThan(3);
  for (let step = 0; step < 20; step += 1) {
    await tool(page, 'Zoom out').click();
    expect(await elements(page)).toBeLessThan(FEW);
  }
  await expect(overview(page)).toBeAttached();
  for (let step = 0; step < 24; step += 1) await tool(page, 'Zoom in').click();
  await expect(overview(page)).not.toBeAttached();
  expect(await elements(page)).toBeLessThan(FEW);
});

test('keys reach ops and kernels that were out of sight', async ({ page }) => {
  await expect(tabStop(page)).toHaveCount(1);
  await tabStop(page).focus();
  await page.keyboard.press('End');
  await expect(op(page, 'y_11')).toBeFocused();
  await expect(op(page, 'y_11')).toBeInViewport({ ratio: 1 });
  await page.keyboard.press('ArrowUp');
  await expect(op(page, 'fc2_drop_11')).toBeFocused();
  await page.keyboard.press('PageUp');
  await page.keyboard.press('PageUp');
  await expect(canvas(page).locator('.dag-kernel:focus')).toHaveCount(1);
  await page.keyboard.press('Home');
  await expect(op(page, 'mean1_0')).toBeFocused();
  await expect(op(page, 'mean1_0')).toBeInViewport({ ratio: 1 });
  await expect(tabStop(page)).toHaveCount(1);
});

test('the focus stays where it is while the picture is moved away, and keys go on from there', async ({ page }) => {
  await tabStop(page).focus();
  await page.keyboard.press('ArrowRight');
  await expect(op(page, 'center1_0')).toBeFocused();
  const { x, y, width, height } = await canvas(page).boundingBox();
  // Out at the upper border and in at the lower one, so that other parts come from above and from
  // below.
  await page.keyboard.down('Control');
  for (const [share, turn] of [[0.95, -200], [0.05, 100], [0.95, -200], [0.5, 60], [0.95, -200]]) {
    // Beside the buttons.
    await page.mouse.move(x + width / 4, y + height * share);
    await page.mouse.wheel(0, turn);
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  }
  await page.keyboard.up('Control');
  await expect(op(page, 'center1_0')).toBeFocused();
  await expect(op(page, 'center1_0')).not.toBeInViewport();
  await page.keyboard.press('ArrowRight');
  await expect(op(page, 'square1_0')).toBeFocused();
  await expect(op(page, 'square1_0')).toBeInViewport();
});

test('what is selected elsewhere comes into sight', async ({ page }) => {
  await expect(kernelPanel(page, 30)).toHaveCount(0);
  await kernelButton(page, 30).click();
  await page.evaluate(() => scrollTo(0, 0));
  await expect(kernelPanel(page, 30)).toBeInViewport();
  await expect(kernelPanel(page, 30)).toHaveAttribute('aria-pressed', 'true');
});

test('the overview shows all, chooses by a click, and keeps what is chosen as a button', async ({ page }) => {
  await tool(page, 'Fit').click();
  await expect(overview(page)).toBeAttached();
  expect(await elements(page)).toBeLessThan(200);
  await kernelButton(page, 30).click();
  await page.evaluate(() => scrollTo(0, 0));
  await expect(kernelPanel(page, 30)).toHaveAttribute('aria-pressed', 'true');
  await expect(kernelPanel(page, 30)).toBeInViewport();
  expect(await accessibilityFindings(page)).toEqual([]);
  await chooseView(page, 'Unfused');
  await tool(page, 'Fit').click();
  for (let step = 0; step < 4; step += 1) await tool(page, 'Zoom in').click();
  await expect(overview(page)).toBeAttached();
  const place = await overview(page).locator('.dag-ops').evaluate((path) => {
    const [, left, top, right, bottom] = path.getAttribute('d').match(/^M(\S+) (\S+)H(\S+)V([^H]+)/).map(Number);
    const { a, d, e, f } = path.getScreenCTM();
    // The page sees whole pixels, and a box is less than two of them tall.
    return { x: Math.round(a * (left + right) / 2 + e), y: Math.round(d * (top + bottom) / 2 + f) };
  });
  await page.evaluate(({ x, y }) => {
    document.querySelector('svg.dag').dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: x, clientY: y }));
  }, place);
  await expect(canvas(page).locator('.dag-op-box[aria-pressed="true"]')).toHaveCount(1);
});

test('a slider writes what is in sight', async ({ page }) => {
  const before = await op(page, 'mean1_0').getAttribute('aria-label');
  await slider(page, 'S').focus();
  await page.keyboard.press('PageUp');
  await expect(op(page, 'mean1_0')).not.toHaveAccessibleName(before);
  await expect(op(page, 'y_11')).toHaveCount(0);
});
