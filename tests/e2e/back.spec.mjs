// The browser's *Back* closes what covers the page on a phone, and a dialog everywhere, before it
// leaves the page.

import { expect, test } from './fixture.mjs';
import { chooseView, openShare, result } from './visitor.mjs';

const PHONE = { width: 390, height: 844 };
const card = (page) => page.locator('.inspector');
const explanation = (page) => page.locator('.explanation');
const dialog = (page) => page.locator('dialog[open]');
const pressOp = (page) => page.locator('.dag-op').first().click();
const enlarge = (page) => page.getByRole('button', { name: 'Enlarge: Roofline' }).click();
/** The entries that covers have put on top of the page's own in the tab's history. */
const depth = (page) => page.evaluate(() => Number(history.state.split('/')[1]));

/** Each covers a part of the page. */
const COVERS = {
  'the card of an op': [pressOp, card],
  'a number': [(page) => result(page).locator('.explains').first().click(), explanation],
  'an enlarged chart': [enlarge, dialog],
  'the note of a link': [openShare, (page) => page.locator('.menu-panel')],
  'the figures of the GPU': [(page) => page.locator('summary').filter({ hasText: 'Model' }).click(), (page) => page.locator('.menu-panel')],
};

for (const [name, [open, cover]] of Object.entries(COVERS)) {
  test(`back closes ${name} on a phone`, { tag: '@firefox' }, async ({ page, open: visit }) => {
    await page.setViewportSize(PHONE);
    await visit();
    const address = page.url();
    await open(page);
    await expect(cover(page)).toBeVisible();
    await expect.poll(() => depth(page)).toBe(1);
    await page.goBack();
    await expect(cover(page)).toHaveCount(0);
    expect(page.url()).toBe(address);
    await expect(result(page)).toBeVisible();
  });
}

test('what is closed by its own button leaves nothing to go back over', { tag: '@firefox' }, async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await pressOp(page);
  await expect.poll(() => depth(page)).toBe(1);
  await page.evaluate(() => scrollBy(0, 200));
  const scrolled = await page.evaluate(() => scrollY);
  await card(page).getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => depth(page)).toBe(0);
  expect(await page.evaluate(() => scrollY), 'the page stays where it was scrolled to').toBe(scrolled);
  // A second one at once after the first.
  await enlarge(page);
  await dialog(page).getByRole('button', { name: 'Close' }).click();
  await enlarge(page);
  await expect.poll(() => depth(page)).toBe(1);
  await expect(dialog(page)).toBeVisible();
});

test('back closes the latest of several', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await enlarge(page);
  await dialog(page).getByRole('button', { name: /^kernel 1:/ }).first().press('Enter');
  await expect(card(page)).toBeVisible();
  await expect.poll(() => depth(page)).toBe(2);
  await page.goBack();
  await expect(card(page)).toHaveCount(0);
  await expect(dialog(page)).toBeVisible();
  await page.goBack();
  await expect(dialog(page)).toHaveCount(0);
  await expect(result(page)).toBeVisible();
});

for (const [name, leave] of Object.entries({
  back: (page) => page.goBack(),
  'its button': (page) => page.getByRole('button', { name: 'Leave full screen' }).click(),
  // As the key of the browser does.
  'the browser': (page) => page.evaluate(() => document.exitFullscreen()),
})) {
  test(`the page is where it was scrolled to after full screen, left by ${name}`, async ({ page, open }) => {
    await page.setViewportSize(PHONE);
    await open();
    const button = page.getByRole('button', { name: 'Full screen', exact: true });
    await button.scrollIntoViewIfNeeded();
    const scrollY = () => page.evaluate(() => globalThis.scrollY);
    const before = await scrollY();
    expect(before).toBeGreaterThan(0);
    await button.click();
    await expect.poll(() => depth(page)).toBe(1);
    const { x, y } = await page.locator('svg.dag').boundingBox();
    await page.mouse.click(x + 3, y + 3);
    await page.evaluate(() => scrollTo(0, 0)); // As browsers on phones do.
    await leave(page);
    await expect(button).toBeVisible();
    await expect.poll(() => depth(page)).toBe(0);
    await expect.poll(scrollY).toBe(before);
  });
}

test('a document that was opened from a menu stays when the menu has closed', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await page.evaluate(() => {
    const mine = { changed_ms: 2, example: null, is_own: true, choices: '', text: 'input x : f16[8]\nmine = relu(x)\n' };
    localStorage.setItem('fuseline.document.mine', JSON.stringify(mine));
  });
  await page.locator('summary').filter({ hasText: 'Open' }).click();
  await page.locator('.menu-panel li button').first().click();
  await expect(page.locator('.dag-op')).toHaveCount(1);
  await expect.poll(() => page.evaluate(() => history.state)).toBe('mine/0');
  await expect(page.locator('.dag-op')).toHaveCount(1);
});

test('beside the graph of a wide window a card is no step of its own', async ({ page, open }) => {
  await open();
  await pressOp(page);
  await expect(card(page)).toBeVisible();
  await enlarge(page);
  await expect.poll(() => depth(page)).toBe(1);
  await page.goBack();
  await expect(dialog(page)).toHaveCount(0);
  await expect(card(page)).toBeVisible();
  await chooseView(page, 'Unfused');
  expect(await depth(page)).toBe(0);
});
