// The page enlarged and in forced colours: nothing is cut off or covered, and no state is told by
// colour alone.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { expectAllReachable } from './reach.mjs';
import { editor, kernelButton } from './visitor.mjs';

// A window of 1280 pixels, enlarged: WCAG asks for no loss at 200 %, and for no scrolling in two
// directions at 400 %.
for (const [zoom, viewport] of [['200 %', { width: 640, height: 400 }], ['400 %', { width: 320, height: 256 }]]) {
  test(`enlarged to ${zoom}, everything can be reached and nothing sticks out`, async ({ page, open }) => {
    await page.setViewportSize(viewport);
    await open();
    await expectAllReachable(page);
  });
}

test.describe('in forced colours', () => {
  test.use({ forcedColors: 'active' });

  const outline = (locator) => locator.evaluate((element) => getComputedStyle(element).outlineStyle);

  test('what is selected has an outline, where a tint would be gone', async ({ page, open }) => {
    await open();
    expect(await page.evaluate(() => matchMedia('(forced-colors: active)').matches)).toBe(true);
    const row = page.locator('.kernel-row').nth(1);
    expect(await outline(row)).toBe('none');
    await kernelButton(page, 2).click();
    expect(await outline(row)).toBe('solid');
    expect(await outline(page.locator('.code-band').first())).toBe('solid');
    await page.getByRole('tab', { name: 'Why not', exact: true }).click();
    const why = page.locator('.why-row').first();
    await why.getByRole('button').first().click();
    await expect(page.locator('.why-row.is-selected').first()).toBeVisible();
    expect(await outline(page.locator('.why-row.is-selected').first())).toBe('solid');
    expect(await accessibilityFindings(page)).toEqual([]);
  });

  test('an error is told in words and by a line below its place', async ({ page, open }) => {
    await open();
    await editor(page).fill('input x : f16[64, 64]\ny = reluu(x)\n');
    await expect(page.getByRole('list', { name: 'Problems in the text' }).getByRole('button').first()).toContainText(/error/i);
    await expect(page.locator('.squiggle').first()).toHaveCSS('text-decoration-line', 'underline');
    await expect(page.getByText('Who fuses', { exact: true })).toBeVisible();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
