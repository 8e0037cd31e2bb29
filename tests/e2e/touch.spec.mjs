// Fingers on the graph and on the charts. Playwright has taps; drags, pinches and long presses are
// those of Chromium's protocol.

import { expect, test } from './fixture.mjs';
import { choosePolicy, roofline } from './visitor.mjs';

test.skip(({ browserName }) => browserName !== 'chromium', 'fingers are moved by the protocol of Chromium');
test.use({ hasTouch: true, viewport: { width: 390, height: 844 } });

const graph = (page) => page.locator('svg.dag');
const places = (page) => page.locator('.dag-parts').getAttribute('transform');
const scaleOf = (transform) => Number(/scale\(([\d.]+)\)/.exec(transform)[1]);
const card = (page) => page.locator('.inspector');

let touch;
test.beforeEach(async ({ page, open }) => {
  await open();
  await graph(page).scrollIntoViewIfNeeded();
  const browser = await page.context().newCDPSession(page);
  /** Fingers at these points, the same order meaning the same finger. */
  touch = (type, ...points) => browser.send('Input.dispatchTouchEvent', { type, touchPoints: points.map((point, id) => ({ ...point, id })) });
});

async function middleOf(locator) {
  const { x, y, width, height } = await locator.boundingBox();
  return { x: x + width / 2, y: y + height / 2 };
}

/** Two fingers, one above the other, move apart or together. */
async function pinch(middle, distances) {
  const pair = (distance) => [{ x: middle.x, y: middle.y - distance / 2 }, { x: middle.x, y: middle.y + distance / 2 }];
  await touch('touchStart', ...pair(distances[0]));
  for (const distance of distances.slice(1)) await touch('touchMove', ...pair(distance));
  await touch('touchEnd');
}

test('two fingers zoom the graph and leave the page where it is', async ({ page }) => {
  await page.getByRole('button', { name: 'Fit' }).click();
  const middle = await middleOf(graph(page));
  const [before, scrolled] = [scaleOf(await places(page)), await page.evaluate(() => scrollY)];
  await pinch(middle, [60, 80, 100, 120, 150, 180]);
  await expect.poll(async () => scaleOf(await places(page))).toBeGreaterThan(before * 1.5);
  const near = scaleOf(await places(page));
  await pinch(middle, [180, 150, 120, 90]);
  await expect.poll(async () => scaleOf(await places(page))).toBeLessThan(near * 0.8);
  expect(await page.evaluate(() => scrollY)).toBe(scrolled);
  expect(await page.evaluate(() => visualViewport.scale)).toBe(1);
});

/** One finger from a point, in as many steps, each this far. */
async function swipe(from, [right, down], steps = 6) {
  await touch('touchStart', from);
  for (let step = 1; step <= steps; step += 1) await touch('touchMove', { x: from.x + right * step, y: from.y + down * step });
  await touch('touchEnd');
}

const offset = (transform) => transform.match(/-?[\d.]+/g).map(Number);

test('one finger moves the graph sideways, and up and down it scrolls the page', async ({ page }) => {
  await page.getByRole('button', { name: 'Zoom in' }).click();
  const scrolled = await page.evaluate(() => scrollY);
  const before = await places(page);
  await swipe(await middleOf(graph(page)), [-15, 0]);
  await expect.poll(async () => offset(before)[0] - offset(await places(page))[0]).toBeGreaterThan(40);
  expect(await page.evaluate(() => scrollY)).toBe(scrolled);

  const moved = await places(page);
  await swipe(await middleOf(graph(page)), [0, -20]);
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(scrolled + 50);
  expect(await places(page)).toBe(moved);
  await expect(card(page)).toHaveCount(0);
});

test('in full screen one finger moves the graph, up and down, too', async ({ page }) => {
  await page.getByRole('button', { name: 'Full screen', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Leave full screen', exact: true })).toBeVisible();
  for (let click = 0; click < 3; click += 1) await page.getByRole('button', { name: 'Zoom in' }).click();
  const before = offset(await places(page));
  await swipe(await middleOf(graph(page)), [0, -20]);
  await expect.poll(async () => before[1] - offset(await places(page))[1]).toBeGreaterThan(40);
});

test('a finger drags a kernel onto another one by its number', async ({ page }) => {
  await choosePolicy(page, 'none');
  await expect(page.locator('.dag-kernel')).toHaveCount(14);
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0);
  await graph(page).scrollIntoViewIfNeeded();
  const panel = (number) => page.getByRole('region', { name: 'Graph' }).getByRole('button', { name: new RegExp(`^kernel ${number} of`) });
  const from = await middleOf(panel(1).locator('.dag-badge'));
  const to = await middleOf(panel(2));
  const scrolled = await page.evaluate(() => scrollY);
  await swipe(from, [(to.x - from.x) / 6, (to.y - from.y) / 6]);
  await expect(page.locator('.dag-kernel')).toHaveCount(13);
  expect(await page.evaluate(() => scrollY)).toBe(scrolled);
});

test('a finger that stays on an op shows its card, and lifting it changes nothing', async ({ page }) => {
  const op = page.locator('.dag-op').first();
  await touch('touchStart', await middleOf(op));
  await expect(card(page)).toBeVisible();
  await touch('touchEnd');
  await expect(card(page)).toBeVisible();
  await expect(page.locator('.dag.has-selection')).toHaveCount(1);
  expect(await page.evaluate(() => String(getSelection()))).toBe('');
});

test('a finger that stays on a point shows its figures until it presses elsewhere', async ({ page }) => {
  const mark = roofline(page).getByRole('button', { name: /kernel/ }).first();
  await mark.scrollIntoViewIfNeeded();
  const tip = roofline(page).locator('.chart-tip');
  const at = await middleOf(mark);
  await touch('touchStart', at);
  await expect(tip).toBeVisible();
  // A long press is one by the clock of the page.
  const pressed = await page.evaluate(() => performance.now());
  await page.waitForFunction((since) => performance.now() - since > 600, pressed);
  await touch('touchEnd');
  const lifted = await page.evaluate(() => performance.now());
  await page.waitForFunction((since) => performance.now() - since > 600, lifted);
  await expect(tip).toBeVisible();
  await expect(card(page)).toHaveCount(0);
  await roofline(page).getByRole('heading').first().tap();
  await expect(tip).toHaveCount(0);
});

test('a tap selects, in the graph as on the roofline', async ({ page }) => {
  const op = await middleOf(page.locator('.dag-op').first());
  await page.touchscreen.tap(op.x, op.y);
  await expect(card(page)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(card(page)).toHaveCount(0);
  const mark = roofline(page).getByRole('button', { name: /kernel/ }).first();
  await mark.scrollIntoViewIfNeeded();
  const point = await middleOf(mark);
  await page.touchscreen.tap(point.x, point.y);
  await expect(card(page)).toBeVisible();
});

test('a tap in an enlarged chart shows the card in front of it', async ({ page }) => {
  await page.getByRole('button', { name: 'Enlarge: Memory timeline' }).tap();
  const dialog = page.getByRole('dialog', { name: 'Memory timeline' });
  const { x, y } = await middleOf(dialog.getByRole('button', { name: /^kernel 2/ }).first());
  await page.touchscreen.tap(x, y);
  await expect(card(page)).toHaveCount(1);
  await expect(card(page)).toHaveAccessibleName(/^kernel 2/);
  await expect(card(page)).toBeInViewport({ ratio: 1 });
  // Nothing covers its button.
  await card(page).getByRole('button', { name: 'Close' }).tap();
  await expect(card(page)).toHaveCount(0);
  await expect(dialog).toBeVisible();
  await page.touchscreen.tap(x, y);
  await card(page).getByRole('button', { name: 'Its tensors' }).tap();
  await expect(dialog).toHaveCount(0);
  await expect(page.locator('.kernel-details')).toBeFocused();
});

test('a tapped op stands above its card, wherever the page is scrolled', async ({ page }) => {
  for (const canvasTop of [60, 250, 440, 600]) {
    await page.evaluate((top) => scrollBy(0, document.querySelector('svg.dag').getBoundingClientRect().top - top), canvasTop);
    const canvas = await graph(page).boundingBox();
    const boxes = await page.locator('.dag-op-box').evaluateAll((ops) => ops.map((op) => op.getBoundingClientRect().toJSON()));
    const isInSight = ({ top, bottom }) => top > canvas.y && bottom < Math.min(canvas.y + canvas.height, 844);
    const lowest = boxes.filter(isInSight).at(-1);
    await page.touchscreen.tap(lowest.x + lowest.width / 2, lowest.y + lowest.height / 2);
    await expect(card(page)).toBeVisible();
    const op = page.locator('.dag-op-box.is-selected');
    await expect.poll(async () => {
      const { y, height } = await op.boundingBox();
      return y >= 0 && y + height <= (await card(page).boundingBox()).y;
    }, `graph at ${canvasTop}`).toBe(true);
    await card(page).getByRole('button', { name: 'Close' }).tap();
  }
});

test('a card cuts no line at its right, and fades at the bottom where more follows', async ({ page }) => {
  await page.getByRole('button', { name: 'Fit', exact: true }).tap();
  for (const part of ['.dag-op-box', '.dag-kernel']) {
    for (let place = 0; place < await page.locator(part).count(); place += 1) {
      await page.locator(part).nth(place).focus();
      await page.keyboard.press('Enter');
      await expect(card(page)).toBeVisible();
      const wide = await card(page).evaluate((sheet) => [...sheet.querySelectorAll('*')].filter((inner) => inner.getBoundingClientRect().right > sheet.getBoundingClientRect().right || inner.scrollWidth > inner.clientWidth + 1 && getComputedStyle(inner).overflowX !== 'visible').map((inner) => inner.outerHTML));
      expect(wide).toEqual([]);
      // At the end the fade lies on no line.
      const clear = await card(page).evaluate((sheet) => {
        sheet.scrollTop = sheet.scrollHeight;
        const lines = document.createRange();
        lines.selectNodeContents(sheet.querySelector('.inspector-derivation'));
        const fade = getComputedStyle(sheet.querySelector('.inspector-actions'), '::before');
        const top = sheet.querySelector('.inspector-actions').getBoundingClientRect().top - parseFloat(fade.height);
        return [fade.backgroundImage.includes('linear-gradient'), lines.getBoundingClientRect().bottom <= top + 1];
      });
      expect(clear).toEqual([true, true]);
      await page.keyboard.press('Escape');
    }
  }
});

test('*Fit* brings the whole graph into sight', async ({ page }) => {
  await page.getByRole('button', { name: 'Fit', exact: true }).tap();
  const frame = await graph(page).boundingBox();
  const isOutside = async (part) => {
    const { x, y, width, height } = await part.boundingBox();
    return x < frame.x || y < frame.y || x + width > frame.x + frame.width || y + height > frame.y + frame.height;
  };
  for (const part of await page.locator('.dag-kernel, .dag-op-box, .dag-pill').all()) expect(await isOutside(part)).toBe(false);
  await page.getByRole('button', { name: 'Large', exact: true }).tap();
  await expect.poll(() => isOutside(page.locator('.dag-op-box').last())).toBe(true);
});

test('a finger that begins on a slider and scrolls the page sets no size', async ({ page }) => {
  await page.evaluate(() => scrollTo(0, 200));
  const size = page.getByRole('slider', { name: 'S', exact: true });
  const { x, y, width, height } = await size.boundingBox();
  const from = { x: x + width * 0.8, y: y + height / 2 };
  const before = await size.inputValue();
  await touch('touchStart', from);
  for (const step of [1, 2, 3, 4, 5, 6]) await touch('touchMove', { x: from.x, y: from.y - 20 * step });
  await touch('touchEnd');
  await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(250);
  await expect(size).toHaveValue(before);
});

// Not after the one above: a page that was thrown goes on once the finger has left it, and the
// slider with it.
test('a finger that moves along a slider sets its size', async ({ page }) => {
  const size = page.getByRole('slider', { name: 'S', exact: true });
  await size.tap({ trial: true });
  const { x, y, width, height } = await size.boundingBox();
  const from = { x: x + width * 0.3, y: y + height / 2 };
  const before = await size.inputValue();
  await touch('touchStart', from);
  for (const step of [1, 2, 3, 4]) await touch('touchMove', { x: from.x + 25 * step, y: from.y });
  await touch('touchEnd');
  await expect(size).not.toHaveValue(before);
});
