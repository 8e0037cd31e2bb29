// The selected kernel as code: loads and stores with their bytes, and struck through what fusion
// removed.

import { accessibilityFindings, expect, findingsInBothColours, test } from './fixture.mjs';
import { choosePolicy, kernelButton, notice, write } from './visitor.mjs';

const PROGRAM = 'input x : f16[1024, 64]\na = exp(x)\nb = relu(a)\nc = add(a, b)\ns = topk(c, count=2)\n';

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('the code comes out from under the card of the kernel, and its whole frame fits above it', async ({ page, open }) => {
    await open();
    await kernelButton(page, 1).click();
    await expect(page.locator('.inspector')).toBeVisible();
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    const code = page.getByRole('region', { name: 'Triton of this kernel' });
    await expect(code).toContainText('@triton.jit');
    await code.evaluate((element) => element.scrollIntoView({ block: 'start', behavior: 'instant' }));
    const [frame, card] = [await code.boundingBox(), await page.locator('.inspector').boundingBox()];
    expect(frame.y).toBeGreaterThanOrEqual(-0.5);
    expect(frame.y + frame.height).toBeLessThanOrEqual(card.y);
    await page.getByRole('radio', { name: 'CUDA', exact: true }).check();
    await expect(page.getByRole('region', { name: 'CUDA of this kernel' })).toContainText('__global__');
  });
});

test.describe('kernel code', () => {
  test('what a kernel loads and stores, and what fusion removed; copied without that', async ({ page, open, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open();
    await write(page, PROGRAM);
    await choosePolicy(page, 'inductor');
    await kernelButton(page, 1).click();
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    const code = page.getByRole('region', { name: 'Triton of this kernel' });
    await expect(code).toContainText('@triton.jit');
    const moved = (words) => code.locator('.code-line', { hasText: words });
    await expect(moved(' load of x ')).toContainText('131 kB');
    await expect(moved(' store of c ')).toContainText('131 kB');
    await expect(page.getByText('Inputs and weights are grey')).toBeVisible();
    const removed = code.locator('del');
    await expect(removed).toHaveCount(5);
    await expect(moved('store of a, removed by fusion').locator('del')).toHaveText('tl.store(a_ptr + element, a)');
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await expect(notice(page)).toContainText('copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('tl.store(c_ptr + element, c)');
    expect(copied).not.toContain('a_ptr');
    await page.getByRole('radio', { name: 'WGSL', exact: true }).check();
    await expect(page.getByRole('region', { name: 'WGSL of this kernel' })).toContainText('@compute');
    await kernelButton(page, 2).click();
    await expect(page.getByText('This kernel has no code: no kernel is generated for `topk`.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Copy the code' })).toHaveCount(0);
  });

  test('on a phone the keyboard opens it and scrolls it, and the page is not widened', async ({ page, open }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open();
    await kernelButton(page, 2).click();
    const button = page.getByRole('button', { name: 'Code', exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect(button).toHaveAttribute('aria-expanded', 'true');
    const code = page.getByRole('region', { name: /of this kernel$/ });
    await code.focus();
    for (let press = 0; press < 5; press += 1) await page.keyboard.press('ArrowRight');
    await expect.poll(() => code.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await findingsInBothColours(page)).toEqual([]);
  });
});
