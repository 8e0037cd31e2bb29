// How the page is used on a phone, and what a message does at every size.

import { expect, findingsInBothColours, test } from './fixture.mjs';
import { brokenNames, brokenUnits, strayHeadings } from './reach.mjs';
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

test('on a phone what a slider changes stands at the top while it is held below the figures, and its track is as wide as the page', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  const size = slider(page, 'S');
  const scrollTo = (part, y) => part.evaluate((element, to) => { scrollBy(0, element.getBoundingClientRect().y - to); }, y);
  const top = () => page.locator('.sliders').evaluate((part) => part.getBoundingClientRect().y + scrollY);
  await scrollTo(size, 400);
  expect((await size.boundingBox()).width).toBeGreaterThan(330);
  await expect(page.locator('.figures-row')).not.toBeInViewport();
  const short = page.locator('.held-figure');
  await expect(short).toHaveCount(0);
  const before = await top();
  const { x, y, width, height } = await size.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await expect(short).toBeInViewport({ ratio: 1 });
  await expect(short).toHaveText(/^[\d.]+ [MG]B → [\d.]+ [MG]B, −[\d.]+ %, at best [\d.]+× faster$/);
  await expect(short).toHaveAttribute('aria-hidden', 'true');
  const first = await short.textContent();
  await page.mouse.move(x + width * 0.9, y + height / 2);
  await expect(short).not.toHaveText(first);
  const place = await short.boundingBox();
  expect(place.y).toBe(0);
  expect(place.height).toBeLessThan(48);
  expect(await top()).toBe(before);
  expect(await findingsInBothColours(page)).toEqual([]);
  await page.mouse.up();
  await expect(short).toHaveCount(0);
  // By keys for a moment, and not at all where the figures are in sight.
  await numberBox(page, 'S').press('ArrowUp');
  await expect(short).toHaveCount(1);
  await expect(short).toHaveCount(0);
  await page.setViewportSize({ width: PHONE.width, height: 3000 });
  await page.evaluate(() => scrollTo(0, 0));
  await expect(page.locator('.figures-row')).toBeInViewport({ ratio: 1 });
  const last = await page.locator('.figures-row').textContent();
  await numberBox(page, 'S').press('ArrowDown');
  await expect(page.locator('.figures-row')).not.toHaveText(last);
  await expect(short).toHaveCount(0, { timeout: 1 });
});

test('on a phone a number that its explanation leaves in sight stays where it was pressed', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await picker(page, 'GPU').selectOption('h200');
  const explanation = page.locator('.explanation');
  const press = async (number, y) => {
    await number.evaluate((button, to) => { scrollBy(0, button.getBoundingClientRect().y - to); }, y);
    const before = await page.evaluate(() => scrollY);
    await number.click();
    await expect(explanation).toBeInViewport({ ratio: 1 });
    const [place, sheet] = [await number.boundingBox(), await explanation.boundingBox()];
    expect(place.y + place.height).toBeLessThanOrEqual(sheet.y);
    const scrolled = await page.evaluate(() => scrollY) - before;
    await explanation.getByRole('button', { name: 'Close' }).click();
    await expect(number).toBeFocused();
    expect(await page.evaluate(() => scrollY)).toBe(before + scrolled);
    return { scrolled, sheet };
  };
  const error = result(page).getByRole('button', { name: /^±/ });
  // Room to scroll it anywhere.
  await page.locator('main').evaluate((main) => { main.style.paddingBlockStart = '50rem'; });
  const { sheet } = await press(error, 250);
  // Just above the sheet, and below its upper edge.
  expect((await press(error, sheet.y - 40)).scrolled).toBe(0);
  expect((await press(error, sheet.y + 40)).scrolled).toBeGreaterThan(40);
});

test('on a phone no figure of a kernel is cut, and no line ends between a number and its unit', async ({ page, open }) => {
  await open();
  await chooseExample(page, 'Transformer block');
  await picker(page, 'GPU').selectOption('h200');
  for (const width of [PHONE.width, 360]) {
    await page.setViewportSize({ width, height: 844 });
    await openTab(page, 'Kernels');
    await expect(panel(page, 'Kernels').locator('.bound').first()).toBeVisible();
    const cut = await panel(page, 'Kernels').locator('td.number').evaluateAll((cells) => cells.filter((cell) => cell.clientWidth > 1 && cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
    expect(cut, `${width} px`).toEqual([]);
    expect(await panel(page, 'Kernels').evaluate(brokenUnits), `${width} px`).toEqual([]);
  }
  for (const size of [LAPTOP, DESK]) {
    await page.setViewportSize(size);
    await openTab(page, 'Compare');
    await expect(panel(page, 'Compare').locator('.bound').first()).toBeVisible();
    expect(await panel(page, 'Compare').evaluate(brokenUnits), `${size.width} px`).toEqual([]);
  }
});

test('on a phone a tab stays below the finger that opens it, however short it is', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  const row = page.locator('.results > .tabs');
  const y = () => row.evaluate((tabs) => tabs.getBoundingClientRect().y);
  for (const to of [0, 40]) {
    await openTab(page, 'Kernels');
    for (const tab of ['Sweep', 'Limits', 'Attention', 'What to do']) {
      await row.evaluate((tabs, place) => { scrollBy(0, tabs.getBoundingClientRect().y - place); }, to);
      const before = await y();
      expect(Math.abs(before - to), tab).toBeLessThan(1);
      await openTab(page, tab);
      await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
      expect(Math.abs(await y() - before), tab).toBeLessThanOrEqual(1);
    }
  }
});

test('on a laptop the titles of the tabs are in the first view, with the whole opening program at 11 px and all charts', async ({ page, visit }) => {
  await page.setViewportSize(LAPTOP);
  await visit();
  const readable = async () => {
    for (const tab of TABS) await expect(page.getByRole('tab', { name: tab, exact: true })).toBeInViewport({ ratio: 1 });
    const { leastPx, unseen } = await page.locator('svg.dag').evaluate((svg) => {
      const frame = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll('text, tspan')].filter((text) => text.textContent && text.checkVisibility());
      const places = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
      const isSeen = ({ left, right, top, bottom }) => left >= frame.left && right <= frame.right && top >= frame.top && bottom <= frame.bottom;
      return {
        leastPx: Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)),
        unseen: places.filter(([, place]) => !isSeen(place)).map(([text]) => text),
      };
    });
    expect(unseen).toEqual([]);
    expect(leastPx).toBeGreaterThanOrEqual(10.99);
    expect(await page.locator('.charts').evaluate((charts) => charts.scrollHeight - charts.clientHeight)).toBe(0);
  };
  await readable();
  await page.getByRole('button', { name: 'Fuse', exact: true }).click();
  await expect(page.locator('.ways-on')).toBeVisible();
  await readable();
  for (const size of [{ width: 1440, height: 900 }, DESK]) {
    await page.setViewportSize(size);
    for (const tab of TABS) await expect(page.getByRole('tab', { name: tab, exact: true })).toBeInViewport({ ratio: 1 });
  }
});

test('on a phone nothing is selected without its sheet: after a merge, undo and redo, and by a link', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await chooseExample(page, 'Diamond');
  await choosePolicy(page, 'none');
  const sheet = page.locator('.inspector');
  const selected = page.locator('.has-selection, .is-selected');
  const history = (name) => page.locator('.history-buttons').getByRole('button', { name, exact: true });
  const select = async () => {
    await page.locator('.dag-op').nth(1).click();
    await expect(sheet).toBeVisible();
    await expect(selected).not.toHaveCount(0);
  };
  await expect(page.locator('.dag-kernel')).toHaveCount(4);
  await select();
  await sheet.getByRole('button', { name: /^Merge with/ }).first().click();
  await expect(page.locator('.dag-kernel')).toHaveCount(3);
  await expect(sheet).toHaveCount(0);
  await expect(selected).toHaveCount(0);
  for (const [step, kernels] of [['Undo', 4], ['Redo', 3]]) {
    await select();
    await history(step).click();
    await expect(page.locator('.dag-kernel')).toHaveCount(kernels);
    await expect(sheet).toHaveCount(0);
    await expect(selected).toHaveCount(0);
  }
  for (const close of [() => sheet.getByRole('button', { name: 'Close' }).click(), () => page.goBack()]) {
    await select();
    await close();
    await expect(sheet).toHaveCount(0);
    await expect(selected).toHaveCount(0);
  }
});

test('a link selects its op on a laptop, and on a phone leaves the first view to the sentence', async ({ page, open }) => {
  const link = fragmentOf(`selected=norm\npolicy=rules\n\n${TEXT}`);
  await page.setViewportSize(PHONE);
  await open(link);
  await expect(page.locator('.dag-op')).toHaveCount(2);
  await expect(page.locator('.has-selection')).toHaveCount(0);
  await page.setViewportSize(LAPTOP);
  // Its address is that link, so that to open it again would do nothing.
  await open();
  await open(link);
  await expect(page.locator('.dag-op')).toHaveCount(2);
  await expect(page.locator('.has-selection')).not.toHaveCount(0);
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
    const lines = await figure.locator('.explains:not(.bottleneck *)').evaluateAll((numbers) => new Set(numbers.map((number) => Math.round(number.getBoundingClientRect().bottom))).size);
    expect(lines).toBe(1);
  }
});

test('where nothing is to be gained, the place of the suggestion says so', async ({ page, open }) => {
  await page.setViewportSize(PHONE);
  await open();
  await write(page, 'input x : f16[64]\ny = relu(x)\n');
  await expect(page.locator('.best-change')).toHaveText(/^Further .* under 5 % of the time/);
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
