// How the page is used on a phone, and what a message does at every size.

import { expect, test } from './fixture.mjs';
import { brokenNames, strayHeadings } from './reach.mjs';
import { chooseExample, choosePolicy, chooseView, fragmentOf, kernelButton, notice, numberBox, openTab, panel, picker, result, senderNote, slider, write } from './visitor.mjs';

const PHONE = { width: 390, height: 844 };
const LAPTOP = { width: 1366, height: 768 };
const DESK = { width: 1920, height: 1080 };
const TEXT = 'param N = 512 in 128..1024 step 128\ninput x : f32[N, N]\nact: y = gelu(x)\nnorm: z = layer_norm(y)\n';

for (const [name, size] of Object.entries({ phone: PHONE, laptop: LAPTOP })) {
  test(`a message is in sight wherever the page is scrolled, and moves nothing: ${name}`, async ({ page, open }) => {
    await page.setViewportSize(size);
    await open();
    await openTab(page, 'What to do');
    const row = panel(page, 'What to do').locator('tbody tr').filter({ hasText: 'scaled_dot_product_attention' });
    await row.scrollIntoViewIfNeeded();
    const tabs = page.getByRole('tab', { name: 'What to do', exact: true });
    const before = await tabs.evaluate((tab) => tab.getBoundingClientRect().y + scrollY);
    await row.getByRole('button', { name: 'Try it' }).click();
    await expect(notice(page).getByRole('button', { name: 'Undo' })).toBeInViewport({ ratio: 1 });
    await expect(notice(page)).toHaveAttribute('aria-live', 'polite');
    if (name === 'phone') {
      const { y, height } = await notice(page).boundingBox();
      expect(y + height).toBeGreaterThan(size.height - 40);
    }
    expect(Math.abs(await tabs.evaluate((tab) => tab.getBoundingClientRect().y + scrollY) - before)).toBeLessThanOrEqual(1);
  });
}

test('a message with a long button has lines of words', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await choosePolicy(page, 'manual');
  await expect(notice(page).getByRole('button', { name: /^Start from/ })).toBeVisible();
  expect((await notice(page).boundingBox()).height).toBeLessThan(160);
});

test('the note of a link stands directly below the sentence, and nothing is suggested beside it', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open(fragmentOf(`note=Can we have this?\npolicy=rules\n\n${TEXT}`));
  const [claim, note, figures] = await Promise.all([result(page).locator('.claim'), senderNote(page), page.locator('.figures-row')].map((part) => part.boundingBox()));
  expect(note.y - claim.y - claim.height).toBeGreaterThanOrEqual(0);
  expect(note.y - claim.y - claim.height).toBeLessThan(32);
  expect(figures.y).toBeGreaterThan(note.y + note.height - 1);
  // Only where there is room for both.
  await expect(page.locator('.best-change')).toHaveCount(1);
  await expect(page.locator('.best-change')).toBeHidden();
  await chooseView(page, 'Unfused');
  const fuse = page.getByRole('button', { name: 'Fuse', exact: true });
  await expect(fuse).toBeVisible();
  expect((await fuse.boundingBox()).y).toBeGreaterThan((await senderNote(page).boundingBox()).y);
  await chooseView(page, 'Fused');
  await senderNote(page).getByRole('button', { name: 'Hide the note' }).click();
  await expect(page.locator('.best-change')).toBeVisible();
});

const TABS = ['Kernels', 'What to do', 'Compare', 'Sweep', 'Why not', 'Limits', 'Steps', 'Tiling', 'Attention', 'Precision', 'Measured', 'Your GPU'];

for (const size of [PHONE, LAPTOP, DESK]) {
  test(`each heading of a table stands over its column, and none touches the next: ${size.width} px`, async ({ page, open }) => {
    await page.setViewportSize(size);
    await open();
    let tables = 0;
    for (const tab of TABS) {
      await openTab(page, tab);
      if (['Kernels', 'What to do', 'Compare', 'Why not', 'Limits'].includes(tab)) await expect(panel(page, tab).locator('tbody tr').first()).toBeVisible();
      if (tab === 'Compare') await expect(panel(page, tab).locator('tbody tr')).toHaveCount(4);
      expect(await strayHeadings(panel(page, tab)), tab).toEqual([]);
      tables += await panel(page, tab).locator('thead').count();
    }
    expect(tables).toBeGreaterThan(6);
    await openTab(page, 'Kernels');
    await kernelButton(page, 1).click();
    expect(await strayHeadings(page.locator('.kernels-details'))).toEqual([]);
  });
}

test('on a phone the headings of tables have one line, and units stay with their numbers', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  for (const tab of ['Kernels', 'What to do', 'Compare', 'Why not']) {
    await openTab(page, tab);
    await expect(panel(page, tab).locator('tbody tr').first()).toBeVisible();
    const table = panel(page, tab).locator('table').first();
    const ends = await table.locator('thead th').evaluateAll((heads) => heads.map((head) => head.getBoundingClientRect()).filter(({ width }) => width > 1).map(({ bottom }) => Math.round(bottom)));
    expect(ends.length, tab).toBeGreaterThan(1);
    expect(Math.max(...ends) - Math.min(...ends), tab).toBeLessThanOrEqual(20);
    const broken = await table.locator('.explains').evaluateAll((numbers) => numbers.filter((number) => number.getClientRects().length > 1).map((number) => number.textContent));
    expect(broken, tab).toEqual([]);
  }
});

test('on a phone no name in a table is broken within a word', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await chooseExample(page, 'Transformer block');
  for (const tab of TABS) {
    await openTab(page, tab);
    await expect(panel(page, tab).locator('.work-line')).toHaveCount(0);
    expect(await brokenNames(panel(page, tab)), tab).toEqual([]);
  }
});

test('on a phone the kernels of *Limits* stay while its figures scroll', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await openTab(page, 'Limits');
  const scroller = page.getByRole('group', { name: 'Limits of the kernels' });
  await expect(scroller.locator('tbody tr').first()).toBeVisible();
  const left = () => scroller.locator('tbody td').first().evaluate((cell) => Math.round(cell.getBoundingClientRect().left));
  const before = await left();
  await scroller.evaluate((box) => { box.scrollLeft = 200; });
  expect(await scroller.evaluate((box) => box.scrollLeft)).toBe(200);
  expect(await left()).toBe(before);
});

test('on a phone what a slider changes is pinned to the top while it moves, and its track is as wide as the page', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  const size = slider(page, 'S');
  await size.scrollIntoViewIfNeeded();
  expect((await size.boundingBox()).width).toBeGreaterThan(330);
  const pinned = page.locator('.held-figure');
  await expect(pinned).toHaveCount(0);
  await numberBox(page, 'S').press('ArrowUp');
  await expect(pinned).toBeInViewport();
  await expect(pinned).toHaveText(/^−[\d.]+ % memory traffic · at best [\d.]+× faster$/);
  expect((await pinned.boundingBox()).y).toBe(0);
  await expect(pinned).toHaveCount(0);
});

test('on a phone the cards of the policies have their kernels, and *by hand* says what to do', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  const card = (id) => page.locator('.policy').filter({ has: page.locator(`input[value="${id}"]`) });
  await expect(card('none').locator('.policy-figure').first()).toBeVisible();
  await expect(card('none')).toContainText('14 kernels');
  await expect(card('manual')).toContainText('merge kernels yourself');
  await page.setViewportSize(LAPTOP);
  await expect(card('manual')).toContainText('merge kernels yourself');
});

test('on a phone each figure below the sentence has one line of numbers, and fusing moves nothing below it', async ({ page, visit }) => {
  await page.setViewportSize(PHONE);
  await visit();
  const place = () => page.locator('.policies').evaluate((part) => part.getBoundingClientRect().y + scrollY);
  const before = await place();
  await page.getByRole('button', { name: 'Fuse', exact: true }).click();
  await expect(page.locator('.ways-on')).toBeVisible();
  await expect.poll(async () => Math.abs(await place() - before)).toBeLessThanOrEqual(2);
  for (const figure of await page.locator('.headline-figure').all()) {
    const lines = await figure.locator('.explains').evaluateAll((numbers) => new Set(numbers.map((number) => Math.round(number.getBoundingClientRect().bottom))).size);
    expect(lines).toBe(1);
  }
});

test('where nothing is to be gained, the place of the suggestion says so', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await write(page, 'input x : f16[64]\ny = relu(x)\n');
  await expect(page.locator('.best-change')).toHaveText(/^No merge or option makes this more than 2 % faster/);
});

test('on a phone an enlarged chart fills the screen', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await page.getByRole('button', { name: 'Enlarge: Roofline' }).click();
  const dialog = page.getByRole('dialog', { name: 'Roofline' });
  const { x, y, width, height } = await dialog.boundingBox();
  expect([x, y, width, height]).toEqual([0, 0, 390, 844]);
  const chart = await dialog.locator('svg.chart').boundingBox();
  expect(chart.width).toBeGreaterThan(350);
  expect(chart.height).toBeGreaterThan(500);
});

test('a GPU with unverified figures is named so in the list', async ({ page, open }) => {
  await open();
  const list = picker(page, 'GPU');
  expect(await list.locator('option').allTextContents()).not.toContainEqual(expect.stringContaining('?'));
  const unverified = list.locator('optgroup[label="with unverified figures"] option');
  expect(await unverified.count()).toBeGreaterThan(0);
});

test('a message that is closed by a key gives the graph a visible focus', async ({ page, open }) => {
  await open();
  await choosePolicy(page, 'manual');
  await notice(page).getByRole('button', { name: 'Dismiss' }).press('Enter');
  await expect(page.locator('svg.dag')).toBeFocused();
  await expect(page.locator('svg.dag')).toHaveCSS('outline-style', 'solid');
});

test.describe('by touch', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: PHONE });
  test.skip(({ browserName }) => browserName !== 'chromium', 'Firefox emulates no phone');

  test('a message that is closed by a finger leaves no frame around the graph', async ({ page, open }) => {
    await open();
    await choosePolicy(page, 'manual');
    await notice(page).getByRole('button', { name: 'Dismiss' }).tap();
    await expect(page.locator('svg.dag')).toBeFocused();
    await expect(page.locator('svg.dag')).toHaveCSS('outline-style', 'none');
  });

  test('words speak of fingers, and not of keys or dropped files', async ({ page, open }) => {
    await open();
    await openTab(page, 'Measured');
    await expect(panel(page, 'Measured').getByText('Open a file', { exact: false }).first()).toBeVisible();
    await openTab(page, 'Kernels');
    await expect(page.locator('.hint').last()).toContainText('by its number');
    const words = await page.locator('main').innerText();
    expect(words).not.toMatch(/press M\b|Drop a file|By keyboard/);
  });
});

test('by mouse the same words speak of keys and dropped files', async ({ page, open }) => {
  await open();
  await chooseExample(page, 'Diamond');
  await expect(page.locator('.hint').last()).toContainText('press M on it');
  expect(await page.locator('main').innerText()).not.toContain('by its number');
});

test('on a phone no small map covers the graph, and a row of tabs shows that it goes on', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await expect(page.locator('.graph .dag-minimap')).toBeHidden();
  const tabs = page.locator('.results > .tabs');
  expect(await tabs.evaluate((row) => row.scrollWidth > row.clientWidth)).toBe(true);
  // Covers scroll with the tabs, and shadows do not: at an end the one lies over the other.
  await expect(tabs).toHaveCSS('background-attachment', 'local, local, scroll, scroll');
});

test('the tensors of a kernel are shown from their heading on', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await page.locator('.dag-op').first().click();
  await page.locator('.inspector').getByRole('button', { name: /^Show kernel/ }).click();
  await page.locator('.inspector').getByRole('button', { name: 'Its tensors' }).click();
  const details = page.locator('.kernel-details');
  await expect(details).toBeFocused();
  await expect.poll(async () => {
    const { y } = await details.boundingBox();
    return y >= 0 && y < PHONE.height / 2;
  }).toBe(true);
});
