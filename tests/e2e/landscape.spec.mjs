// A phone on its side: what opens over the page is whole in the window.

import { expect, test } from './fixture.mjs';
import { openShare, result, slider } from './visitor.mjs';

const LANDSCAPE = { width: 844, height: 390 };
const menu = (name) => async (page) => {
  await page.locator('summary').filter({ hasText: name }).click();
  return page.locator('.menu-panel');
};
const enlarge = async (page, name) => {
  await page.getByRole('button', { name: `Enlarge: ${name}` }).click();
  return page.locator('dialog[open]');
};
const card = (page) => page.locator('.inspector');

/** Sides of the window that cut a part off, and by how many pixels. */
const cutSides = async (part) => {
  const { x, y, width, height } = await part.boundingBox();
  const cut = { left: -x, top: -y, right: x + width - LANDSCAPE.width, bottom: y + height - LANDSCAPE.height };
  return Object.entries(cut).filter(([, by]) => by > 0.5);
};

/** Each shows something and returns it. */
const PARTS = {
  'the card of an op': async (page) => {
    await page.locator('.dag-op').first().click();
    return card(page);
  },
  'a number': async (page) => {
    await result(page).locator('.explains').first().click();
    return page.locator('.explanation');
  },
  'the enlarged roofline': (page) => enlarge(page, 'Roofline'),
  'the picture of the enlarged roofline': async (page) => (await enlarge(page, 'Roofline')).locator('svg.chart'),
  'the picture of the enlarged timeline': async (page) => (await enlarge(page, 'Memory timeline')).locator('svg.chart'),
  'the card in an enlarged chart': async (page) => {
    await (await enlarge(page, 'Roofline')).getByRole('button', { name: /^kernel 1:/ }).first().press('Enter');
    return card(page);
  },
  'the model': menu('Model'),
  'more': menu('More'),
  'the note of a link': async (page) => {
    await openShare(page);
    return page.locator('.menu-panel');
  },
};

for (const [name, show] of Object.entries(PARTS)) {
  test(`on a phone on its side nothing is cut: ${name}`, async ({ page, open }) => {
    await page.setViewportSize(LANDSCAPE);
    await open();
    const part = await show(page);
    await expect(part).toBeVisible();
    await expect.poll(() => cutSides(part)).toEqual([]);
  });
}

for (const name of ['Memory timeline', 'Roofline', 'Memory traffic']) {
  test(`a picture that is enlarged fits the window when the phone is turned: ${name}`, async ({ page, open }) => {
    const upright = { width: LANDSCAPE.height, height: LANDSCAPE.width };
    await page.setViewportSize(upright);
    await open();
    const picture = (await enlarge(page, name)).locator('svg.chart');
    const high = (await picture.boundingBox()).height;
    await page.setViewportSize(LANDSCAPE);
    await expect.poll(() => cutSides(picture)).toEqual([]);
    expect((await picture.boundingBox()).width).toBeGreaterThan(LANDSCAPE.width / 2);
    await page.setViewportSize(upright);
    await expect.poll(async () => Math.abs((await picture.boundingBox()).height - high)).toBeLessThan(9);
  });
}

test('what is read stays in sight when the phone is turned', async ({ page, open }) => {
  const upright = { width: LANDSCAPE.height, height: LANDSCAPE.width };
  const isRead = async () => {
    const { y } = await page.locator('.lesson h4').boundingBox();
    return y > 0 && y < (page.viewportSize().height);
  };
  await page.setViewportSize(upright);
  await open();
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await page.getByRole('button', { name: /From ops to kernels/ }).click();
  await page.locator('.lesson h4').scrollIntoViewIfNeeded();
  await expect.poll(isRead).toBe(true);
  // A visitor reads before turning the phone.
  await page.waitForTimeout(400);
  for (const size of [LANDSCAPE, upright]) {
    await page.setViewportSize(size);
    await expect.poll(isRead).toBe(true);
    await page.waitForTimeout(400);
  }
});

test('the page does not scroll when the phone is turned at its top', async ({ page, open }) => {
  await page.setViewportSize({ width: LANDSCAPE.height, height: LANDSCAPE.width });
  await open();
  for (const top of [400, 0]) {
    await page.evaluate((y) => scrollTo(0, y), top);
    await page.waitForTimeout(400);
  }
  await page.setViewportSize(LANDSCAPE);
  await page.waitForTimeout(400);
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

test('what a slider changes stands at the top while it is held below the figures', async ({ page, open }) => {
  await page.setViewportSize(LANDSCAPE);
  await open();
  const size = slider(page, 'S');
  await size.evaluate((field) => { scrollBy(0, field.getBoundingClientRect().y - 150); });
  await expect(page.locator('.figures-row')).not.toBeInViewport();
  const { x, y, width, height } = await size.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await expect(page.locator('.held-figure')).toBeInViewport({ ratio: 1 });
  await page.mouse.up();
  await expect(page.locator('.held-figure')).toHaveCount(0);
});

test('the lessons come to the top of the window', async ({ page, open }) => {
  await page.setViewportSize(LANDSCAPE);
  await open();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.getByRole('button', { name: 'Learn', exact: true }).click();
  await expect(page.getByRole('button', { name: /From ops to kernels/ })).toBeInViewport();
});

test('the card in an enlarged chart leaves the picture in sight', async ({ page, open }) => {
  await page.setViewportSize(LANDSCAPE);
  await open();
  await PARTS['the card in an enlarged chart'](page);
  const [of, picture] = await Promise.all([card(page), page.locator('dialog[open] svg.chart')].map((part) => part.boundingBox()));
  expect(picture.x + picture.width).toBeLessThanOrEqual(of.x + 1);
  expect(picture.width).toBeGreaterThan(LANDSCAPE.width / 2);
});

for (const name of ['Memory timeline', 'Roofline', 'Memory traffic']) {
  test(`a chart is larger in its dialog than on the page: ${name}`, async ({ page, open }) => {
    const size = async (chart) => {
      const { width, height } = await chart.boundingBox();
      return width * height;
    };
    const windows = [LANDSCAPE, { width: LANDSCAPE.height, height: LANDSCAPE.width }, { width: 1366, height: 768 }];
    for (const window of windows) {
      await page.setViewportSize(window);
      await open();
      const onPage = await size(page.locator(`.large-chart:has(button[aria-label="Enlarge: ${name}"]) > .chart-slot svg.chart`));
      const dialog = await enlarge(page, name);
      await expect.poll(() => size(dialog.locator('svg.chart'))).toBeGreaterThan(1.5 * onPage);
      await dialog.getByRole('button', { name: 'Close' }).click();
    }
  });
}
