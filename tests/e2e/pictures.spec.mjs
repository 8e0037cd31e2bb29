// The graph, the roofline and the traffic bars, and the selection that they share.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { chooseExample, chooseView, kernelButton, kernels, roofline, slider, traffic, write } from './visitor.mjs';

const marks = (region) => region.getByRole('button', { name: /^(?!Enlarge)/ });

test.beforeEach(async ({ page, open }) => {
  await open();
  await expect(marks(roofline(page)).first()).toBeVisible();
});

const pressed = (page) => page.getByRole('button', { name: /^kernel \d+:/, pressed: true });

test('the roofline: a named point for every kernel, a tooltip with units, and arrow keys from point to point', async ({ page }) => {
  await test.step('names', async () => {
    const names = await marks(roofline(page)).evaluateAll((points) => points.map((point) => point.getAttribute('aria-label')));
    const groups = await kernels(page);
    for (const [index, ops] of groups.entries()) {
      expect(names.filter((name) => new RegExp(`kernel ${index + 1}\\b`, 'i').test(name)).length, ops.join()).toBeGreaterThan(0);
    }
    expect(names.every((name) => name.trim() !== '')).toBe(true);
    await expect(roofline(page)).toContainText(/memory/i);
    await expect(roofline(page)).toContainText(/compute/i);
  });
  await test.step('tooltip', async () => {
    const point = marks(roofline(page)).first();
    await point.hover({ force: true });
    const tip = roofline(page).locator('.chart-tip');
    await expect(tip).toBeVisible();
    await expect(tip).toContainText(/FLOP\/B/);
    await page.mouse.move(0, 0);
    await expect(tip).toBeHidden();
  });
  await test.step('arrow keys', async () => {
    const stop = roofline(page).locator('[tabindex="0"]');
    await expect(stop).toHaveCount(1);
    await stop.focus();
    const first = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    await page.keyboard.press('ArrowRight');
    const second = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    expect(second).not.toBe(first);
    await page.keyboard.press('Enter');
    await expect(pressed(page).first()).toBeVisible();
  });
});

/** Counts what changes in the document below a part of the page but its titles, as `changes()` says. */
async function watch(part) {
  await part.evaluate((element) => {
    globalThis.changes = 0;
    const isTitle = ({ target }) => (target.parentElement ?? target).closest('h2') !== null;
    const observer = new MutationObserver((records) => { globalThis.changes += records.filter((record) => !isTitle(record)).length; });
    observer.observe(element, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  return () => part.page().evaluate(() => globalThis.changes);
}

test('the traffic bars: unfused and fused, reads and writes apart, all and by kernel, and they follow the slider', async ({ page }) => {
  const names = await marks(traffic(page)).evaluateAll((bars) => bars.map((bar) => bar.getAttribute('aria-label')));
  await test.step('names', async () => {
    expect(names.some((name) => /unfused/i.test(name))).toBe(true);
    expect(names.some((name) => /read/i.test(name))).toBe(true);
    expect(names.some((name) => /writ/i.test(name))).toBe(true);
    const saved = traffic(page).getByText(/335\.5|336 MB|0\.34 GB/).first();
    await expect(saved).toBeVisible();
  });
  await test.step('the slider moves them', async () => {
    const bars = () => traffic(page).locator('svg').first().innerHTML();
    const before = await bars();
    await slider(page, 'S').focus();
    await page.keyboard.press('PageUp');
    expect(await bars()).not.toBe(before);
  });
  await test.step('by kernel, drawn while they are open', async () => {
    const details = page.locator('details').filter({ hasText: 'By kernel' });
    const drag = async () => {
      await slider(page, 'S').focus();
      for (const key of ['PageUp', 'ArrowRight', 'PageDown']) await page.keyboard.press(key);
    };
    await expect(details.locator('*')).toHaveCount(1); // the summary
    const changes = await watch(details);
    await drag();
    expect(await changes()).toBe(0);
    await details.locator('summary').click();
    await expect(marks(details).first()).toBeVisible();
    const drawn = await changes();
    await drag();
    expect(await changes()).toBeGreaterThan(drawn);
    await details.locator('summary').click();
    await expect(details.locator('*')).toHaveCount(1);
    const closed = await changes();
    await drag();
    expect(await changes()).toBe(closed);
  });
  await test.step('by kernel, in sight once they are opened', async () => {
    await page.getByText('By kernel', { exact: true }).click();
    await expect.poll(() => marks(traffic(page)).count()).toBeGreaterThan(names.length);
    const chart = page.locator('.by-kernel svg.chart');
    const isInPane = () => chart.evaluate((inner) => {
      const pane = inner.closest('.charts').getBoundingClientRect();
      const { top, height } = inner.getBoundingClientRect();
      return Math.min(pane.bottom, innerHeight) - top >= Math.min(height, pane.height / 2);
    });
    await expect.poll(isInPane).toBe(true);
  });
});

test('charts that have no place are not there, and are up to date when they have one again', async ({ page }) => {
  await test.step('a tab that is not open', async () => {
    const charts = page.locator('svg.chart');
    await expect(charts).toHaveCount(3);
    await page.getByRole('tab', { name: 'Attention' }).click();
    await expect(charts).toHaveCount(5);
    await page.getByRole('tab', { name: 'Kernels' }).click();
    await expect(charts).toHaveCount(3);
  });
  await test.step('a column that is hidden', async () => {
    const column = page.locator('.charts');
    const before = await marks(roofline(page)).first().getAttribute('aria-label');
    await column.evaluate((element) => { element.hidden = true; });
    await expect(column.locator('svg.chart')).toHaveCount(0);
    const changes = await watch(column);
    await slider(page, 'S').press('Home');
    expect(await changes()).toBe(0);
    await column.evaluate((element) => { element.hidden = false; });
    await expect(marks(roofline(page)).first()).toBeVisible();
    expect(await marks(roofline(page)).first().getAttribute('aria-label')).not.toBe(before);
  });
});

test('what is selected in one view is selected in all, and an empty program draws empty charts', async ({ page }) => {
  await kernelButton(page, 5).click();
  await expect(page.locator('.details-title', { hasText: 'out_proj + residual_add1' })).toBeVisible();
  await expect(roofline(page).locator('[aria-pressed="true"]').first()).toBeVisible();
  await expect(traffic(page).locator('[aria-pressed="true"]').first()).toBeVisible();
  await expect(page.locator('.code-band')).toHaveCount(2);
  await page.getByRole('tab', { name: 'Table' }).click();
  await expect(page.locator('.op-row.is-selected')).toHaveCount(2);
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Text', exact: true }).click();

  await write(page, '');
  await expect.poll(() => kernels(page)).toHaveLength(0);
  await expect(roofline(page)).toBeVisible();
  await write(page, '# only a comment\n');
  await expect(roofline(page)).toBeVisible();
});

test('while a slider is held the axis of the bars has room to grow, and fits again when it is let go', async ({ page }) => {
  const ticks = () => traffic(page).locator('.mark-axis-text').allTextContents();
  const before = await ticks();
  const { x, y, width, height } = await slider(page, 'S').boundingBox();
  const size = async () => Number(await slider(page, 'S').inputValue());
  const value = await size();
  const [min, max] = await slider(page, 'S').evaluate((input) => [Number(input.min), Number(input.max)]);
  const thumb = x + 8 + (width - 16) * (value - min) / (max - min);
  await page.mouse.move(thumb, y + height / 2);
  await page.mouse.down();
  await expect.poll(ticks).not.toEqual(before);
  const held = await ticks();
  const near = Math.min(thumb + 12, x + width - 9);
  await page.mouse.move(near, y + height / 2, { steps: 4 });
  // The browser hands the moves of a mouse to the page with its next frame.
  await expect.poll(size).toBeGreaterThan(value);
  // Longer than a slider that was moved by a key counts as held.
  await page.waitForTimeout(1200);
  expect(await ticks()).toEqual(held);
  // In one step: the room that a size on the way asks for may be just what the last one fills.
  await page.mouse.move(x + width - 9, y + height / 2);
  await expect.poll(size).toBeGreaterThan(value + 8);
  // The bars have outgrown it.
  await expect.poll(ticks).not.toEqual(held);
  const grown = await ticks();
  await page.mouse.up();
  await expect.poll(ticks).not.toEqual(grown);
});

test('a chart opens large in a dialog, and Escape gives the focus back', async ({ page }) => {
  for (const title of ['Roofline', 'Memory traffic']) {
    const button = page.getByRole('button', { name: `Enlarge: ${title}`, exact: true });
    const small = await page.getByRole('region', { name: title }).locator('svg.chart').boundingBox();
    await button.click();
    const dialog = page.getByRole('dialog', { name: title });
    await expect(marks(dialog).first()).toBeVisible();
    for (const mark of title === 'Roofline' ? ['unfused', 'fusion', 'fused', 'op alone'] : ['read', 'written']) {
      await expect(dialog.getByRole('listitem').filter({ hasText: new RegExp(`^${mark}$`) })).toBeVisible();
    }
    expect((await dialog.locator('svg.chart').boundingBox()).width).toBeGreaterThan(1.5 * small.width);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
    await expect(button).toBeFocused();
    await expect(page.locator('svg.chart')).toHaveCount(3);
  }
});

test.describe('the graph', () => {
  const graph = (page) => page.getByRole('region', { name: 'Graph' });
  const op = (page, name) => graph(page).getByRole('button', { name: new RegExp(`^${name},`) });
  const boxes = (page) => graph(page).locator('.dag-op-box rect').evaluateAll((rects) => rects.map((rect) => {
    const { x, y, width, height } = rect.getBoundingClientRect();
    return { x, y, width, height };
  }));

  test('has every op once and every kernel with its number, boxes do not overlap, and neither the view nor a slider moves them', async ({ page }) => {
    await test.step('names', async () => {
      const names = await marks(graph(page)).evaluateAll((stops) => stops.map((stop) => stop.getAttribute('aria-label') ?? ''));
      const groups = await kernels(page);
      for (const name of groups.flat()) expect(names.filter((n) => n.startsWith(`${name},`)), name).toHaveLength(1);
      for (const index of groups.keys()) expect(names.filter((n) => n.startsWith(`kernel ${index + 1} of ${groups.length}:`))).toHaveLength(1);
      await expect(op(page, 'softmax')).toHaveAccessibleName(/268 MB through memory/);
      await expect(op(page, 'ffn_up')).toHaveAccessibleName(/stays on chip/);
    });
    await test.step('boxes do not overlap', async () => {
      const all = await boxes(page);
      expect(all).toHaveLength(14);
      for (const [i, a] of all.entries()) {
        for (const b of all.slice(i + 1)) {
          expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true);
        }
      }
    });
    await test.step('unfused, every edge goes through memory and nothing moves', async () => {
      const onChip = () => graph(page).locator('.dag-edge:not(.is-dram)').count();
      const before = await boxes(page);
      expect(await onChip()).toBe(5);
      await chooseView(page, 'Unfused');
      await expect.poll(onChip).toBe(0);
      expect(await boxes(page)).toEqual(before);
      await chooseView(page, 'Fused');
      await expect.poll(onChip).toBe(5);
    });
    await test.step('nothing moves while a slider does', async () => {
      const before = await boxes(page);
      await slider(page, 'S').focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      expect(await boxes(page)).toEqual(before);
    });
  });

  test('zooms by buttons, keys and wheel, pans by dragging, and fits again', async ({ page }) => {
    const widthOfFirst = async () => (await boxes(page))[0].width;
    await graph(page).getByRole('button', { name: 'Fit' }).click();
    const fitted = await boxes(page);
    await graph(page).getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(widthOfFirst).toBeGreaterThan(fitted[0].width);
    await graph(page).getByRole('button', { name: 'Fit' }).click();
    await expect.poll(widthOfFirst).toBeCloseTo(fitted[0].width, 3);
    await graph(page).getByRole('button', { name: 'Zoom out' }).click();
    await expect.poll(widthOfFirst).toBeLessThan(fitted[0].width);
    const picture = graph(page).locator('svg.dag');
    await picture.focus();
    await page.keyboard.press('0');
    await expect.poll(widthOfFirst).toBeCloseTo(fitted[0].width, 3);
    await page.keyboard.press('+');
    await expect.poll(widthOfFirst).toBeGreaterThan(fitted[0].width);
    await page.keyboard.press('0');

    const { x, y, width, height } = await picture.boundingBox();
    await page.mouse.move(x + 8, y + height - 8);
    await page.mouse.down();
    await page.mouse.move(x + 68, y + height - 48, { steps: 4 });
    await page.mouse.up();
    const [moved] = await boxes(page);
    expect(moved.x - fitted[0].x).toBeCloseTo(60, 0);
    expect(moved.y - fitted[0].y).toBeCloseTo(-40, 0);
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -240);
    await page.keyboard.up('Control');
    await expect.poll(widthOfFirst).toBeGreaterThan(fitted[0].width);
  });

  test('arrow keys follow the edges, and what is chosen here is chosen everywhere', async ({ page }) => {
    await op(page, 'gelu').focus();
    await page.keyboard.press('ArrowDown');
    await expect(op(page, 'ffn_down')).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(op(page, 'ffn_down')).toHaveAttribute('aria-pressed', 'true');
    await expect(page.locator('table.kernels tr.is-selected')).toHaveCount(1);
    await expect(page.locator('.details-title', { hasText: 'ffn_down + residual_add2' })).toBeVisible();
    // Its card covers ops.
    await page.keyboard.press('Escape');
    await graph(page).getByRole('button', { name: 'Fit' }).click();
    await op(page, 'qkv_proj').click();
    await expect(page.locator('.details-title', { hasText: 'qkv_proj' })).toBeVisible();
  });

  test('the focus stays on the op of the same name when an edit is taken back', async ({ page }) => {
    await write(page, 'input x : f16[64]\nbefore = tanh(x)\ngelu = relu(before)\n');
    await chooseExample(page, 'Diamond');
    await op(page, 'gelu').focus();
    await page.keyboard.press('ControlOrMeta+z');
    await expect(op(page, 'before')).toHaveCount(1);
    await expect(op(page, 'gelu')).toBeFocused();
    await op(page, 'before').focus();
    await page.keyboard.press('ControlOrMeta+Shift+z');
    await expect(op(page, 'before')).toHaveCount(0);
    await expect(graph(page).getByRole('group', { name: /^graph of/ })).toBeFocused();
  });
});
