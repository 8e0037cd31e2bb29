// Clicking anything in the pictures opens a card beside it.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { editor, kernels, roofline } from './visitor.mjs';

const SCREENS = { phone: { width: 390, height: 844 }, laptop: { width: 1366, height: 768 }, projector: { width: 1920, height: 1080 } };
const graph = (page) => page.getByRole('region', { name: 'Graph' });
const card = (page, name) => page.getByRole('region', { name });

for (const [screen, viewport] of Object.entries(SCREENS)) {
  test(`an op, an edge, a kernel, a tensor and a point are told about in sight: ${screen}`, async ({ page, open }) => {
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

    await graph(page).locator('.dag-size-label.is-shown').first().click();
    const edge = card(page, 'split_heads → attn_scores');
    await expect(edge).toBeInViewport();
    await expect(edge).toContainText(/Apart: .*Fusing them alone would save/);
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

test('a line is hit beside it, and the card merges what it tells about', async ({ page, open }) => {
  await open();
  const before = await kernels(page);
  // A place beside a line between two kernels, which nothing else covers.
  const beside = await graph(page).locator('.dag-edge.is-dram:not(.is-weight) .dag-edge-target').evaluateAll((paths) => {
    for (const path of paths) {
      const { left, right, top, bottom } = path.getBoundingClientRect();
      if (right - left > 1) continue;
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
  const op = graph(page).locator('.dag-op-box[aria-label*="split_heads"]').first();
  await op.click();
  await page.getByRole('button', { name: 'Show in the text' }).click();
  await expect(editor(page)).toBeFocused();
  await page.getByRole('button', { name: 'Cut its kernel before it' }).click();
  await expect.poll(async () => (await kernels(page)).length).toBe(before.length + 1);
});
