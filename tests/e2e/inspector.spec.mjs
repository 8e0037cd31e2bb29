// Clicking anything in the pictures opens a card beside it.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { choosePolicy, editor, kernels, picker, roofline, traffic } from './visitor.mjs';

const SCREENS = { phone: { width: 390, height: 844 }, laptop: { width: 1366, height: 768 }, projector: { width: 1920, height: 1080 } };
const graph = (page) => page.getByRole('region', { name: 'Graph' });
const card = (page, name) => page.getByRole('region', { name });

for (const [screen, viewport] of Object.entries(SCREENS)) {
  test(`an op, an edge, a kernel, a tensor and a point are told about in sight: ${screen}`, { tag: screen === 'laptop' ? '@firefox' : [] }, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open();
    const close = () => page.getByRole('button', { name: 'Close', exact: true }).click();

    await graph(page).getByRole('button', { name: /^matmul qkv_proj|^qkv_proj/ }).first().click();
    const op = card(page, 'qkv_proj: matmul');
    await expect(op).toBeInViewport();
    await expect(op).toContainText('FLOPs: 2 × 2,048 × 12,288 × 4,096 (K) = 206 GFLOP');
    expect(await accessibilityFindings(page)).toEqual([]);
    await close();
    await expect(op).toHaveCount(0);

    await graph(page).locator('.dag-size-label.is-dram').first().click();
    const edge = card(page, 'split_heads → attn_scores');
    await expect(edge).toBeInViewport();
    await expect(edge).toContainText(/Separate: .*One kernel instead would save 50.3 MB/);
    await page.keyboard.press('Escape');
    await expect(edge).toHaveCount(0);

    await graph(page).getByRole('button', { name: /^kernel 1 of/ }).focus();
    await page.keyboard.press('Enter');
    await expect(card(page, 'kernel 1: qkv_proj + split_heads')).toBeInViewport();
    await close();

    await graph(page).locator('.dag-pill.is-weight').first().click();
    await expect(card(page, 'w_qkv')).toContainText('declared');
    await close();

    const point = roofline(page).getByRole('button', { name: /^kernel 3: softmax/ }).first();
    await point.focus();
    await page.keyboard.press('Enter');
    await expect(card(page, 'kernel 3: softmax')).toBeInViewport();
    await expect(card(page, 'kernel 3: softmax')).toContainText('lower bound: the longest of these');
  });
}

test('a line is hit beside it, and the card merges what it tells about', { tag: '@firefox' }, async ({ page, open }) => {
  await open();
  const before = await kernels(page);
  await choosePolicy(page, 'manual');
  await expect.poll(async () => (await kernels(page)).length).toBeGreaterThan(before.length);
  // A place beside a line between two kernels, which nothing else covers.
  const beside = await graph(page).locator('.dag-edge.is-dram:not(.is-weight) .dag-edge-target').evaluateAll((paths) => {
    for (const path of paths) {
      // Not `getBoundingClientRect`, in which Firefox counts the stroke.
      const [{ x, y: up, width, height }, { a: scale, e: right, f: down }] = [path.getBBox(), path.getScreenCTM()];
      if (width > 1) continue;
      const [left, top, bottom] = [x * scale + right, up * scale + down, (up + height) * scale + down];
      for (let y = top; y < bottom; y += 1) {
        if (document.elementFromPoint(left + 5, y) === path) return { x: left + 5, y };
      }
    }
    return null;
  });
  await page.mouse.click(beside.x, beside.y);
  const merge = page.getByRole('button', { name: /^Merge kernels \d+ and \d+$/ });
  await expect(merge).toBeVisible();
  await page.keyboard.press('Escape');
  await choosePolicy(page, 'rules');
  await expect.poll(async () => (await kernels(page)).length).toBe(before.length);
  const op = graph(page).locator('.dag-op-box[aria-label*="split_heads"]').first();
  await op.click();
  await page.getByRole('button', { name: 'Show in the text' }).click();
  await expect(editor(page)).toBeFocused();
  await page.getByRole('button', { name: 'Cut its kernel before it' }).click();
  await expect.poll(async () => (await kernels(page)).length).toBe(before.length + 1);
});

test('a card says why its kernel ends there, and has no button that cannot work', async ({ page, open }) => {
  await open();
  const merge = page.getByRole('button', { name: /^Merge kernels/ });
  const attention = page.getByRole('button', { name: 'Call scaled_dot_product_attention' });
  await page.getByRole('tab', { name: 'Why not', exact: true }).click();
  await page.locator('.why-row', { hasText: 'attn_scores → softmax' }).click();
  await expect(card(page, 'attn_scores → softmax')).toContainText('Separate: the matmul attn_scores works in tiles');
  await expect(attention).toBeVisible();
  await expect(merge).toHaveCount(0);
  await page.locator('.why-row', { hasText: 'gelu → ffn_down' }).click();
  await expect(card(page, 'gelu → ffn_down')).toContainText('a kernel runs at most one matmul');
  await expect(attention).toHaveCount(0);
  await expect(merge).toHaveCount(0);
  await page.keyboard.press('Escape');
  await graph(page).locator('.dag-op-box[aria-label^="attn_scores"]').focus();
  await page.keyboard.press('Enter');
  const op = card(page, 'attn_scores: matmul');
  await expect(op).toContainText('attn_scores → softmax. Separate: the matmul');
  await attention.click();
  await page.getByRole('tab', { name: 'Kernels', exact: true }).click();
  await expect.poll(async () => (await kernels(page)).flat().length).toBe(14);
  await expect.poll(async () => (await kernels(page)).some((ops) => ['attn_scores', 'softmax'].every((name) => ops.includes(name)))).toBe(true);
});

test('on a laptop the buttons of a card are in sight, on a phone no tooltip stays', { tag: '@firefox' }, async ({ page, open }) => {
  await page.setViewportSize(SCREENS.laptop);
  await open();
  await picker(page, 'GPU').selectOption('h200');
  await traffic(page).getByRole('button', { name: /^kernel 7/ }).first().click();
  const opened = page.locator('.inspector');
  await expect(opened).toHaveAccessibleName(/^kernel 7/);
  for (const button of await opened.getByRole('button').all()) { await expect(button).toBeInViewport({ ratio: 1 }); }
  const isWhole = (part) => part.evaluate((inner) => {
    const outer = inner.closest('.inspector').getBoundingClientRect();
    const { top, bottom } = inner.getBoundingClientRect();
    return top >= outer.top && bottom <= outer.bottom;
  });
  expect(await isWhole(opened.locator('.inspector-actions'))).toBe(true);
  expect(await isWhole(opened.locator('.inspector-facts'))).toBe(true);
  await page.setViewportSize(SCREENS.phone);
  await page.keyboard.press('Escape');
  await roofline(page).getByRole('button', { name: /^kernel 3: softmax/ }).first().click();
  await expect(opened).toHaveAccessibleName(/^kernel 3/);
  await expect(page.locator('.chart-tip')).toHaveCount(0);
});

test('its tensors are told in sight', { tag: '@firefox' }, async ({ page, open }) => {
  for (const screen of ['laptop', 'phone']) {
    await page.setViewportSize(SCREENS[screen]);
    await open();
    await picker(page, 'Example').selectOption({ label: 'GPT-2 block' });
    const rows = page.locator('table.kernels tbody tr');
    await expect(rows.nth(10)).toBeVisible();
    const name = rows.nth(10).locator('.op-names');
    await name.click();
    const ledger = page.locator('.ledger');
    const last = ledger.getByRole('rowheader').last();
    // On a phone the card has what a row is pressed for, and the row stays where it is.
    await expect(screen === 'phone' ? name : last, `${screen}, a row`).toBeInViewport({ ratio: 0.9 });
    await page.keyboard.press('Escape');
    await expect(ledger).toHaveCount(0);
    await page.evaluate(() => scrollTo(0, 0));
    await roofline(page).getByRole('button', { name: /^kernel 9:/ }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Its tensors' }).click();
    await expect(page.locator('.kernel-details')).toBeFocused();
    await expect(last, `${screen}, the card`).toBeInViewport({ ratio: 0.9 });
  }
});
