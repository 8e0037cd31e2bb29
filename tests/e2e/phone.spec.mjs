// What opens on a phone, or comes only after a run: nothing of it is cut off, and numbers stand
// below their headings.

import { readFileSync } from 'node:fs';
import { expect, test } from './fixture.mjs';
import { cutOff, misplacedCells } from './reach.mjs';
import { choosePolicy, drop, kernelButton, openTab, picker, result, write } from './visitor.mjs';
import { PROGRAM, launchOptions, own, run } from './webgpu.mjs';

test.use({ launchOptions });

const measured = (name) => readFileSync(new URL(`../model/measured_files/${name}`, import.meta.url), 'utf8');

const menu = (name) => async (page) => {
  await page.locator('summary').filter({ hasText: name }).click();
  return page.locator('.menu-panel');
};

async function chooseOptimum(page) {
  await choosePolicy(page, 'optimal');
  await expect(page.locator('.search-result')).toHaveText('fewest bytes: proven');
}

/** Each shows a part of the page and returns it. */
const PARTS = {
  'the headline of the optimum': async (page) => {
    await chooseOptimum(page);
    return result(page);
  },
  'the options of the optimum': async (page) => {
    await chooseOptimum(page);
    return menu('Options')(page);
  },
  'the figures of the GPU': menu('Model'),
  'how bytes are counted': menu('Model'),
  'what is exported': menu('Export'),
  'what is opened': menu('Open'),
  'a measurement': async (page) => {
    await write(page, measured('mlp.fuse'));
    await picker(page, 'GPU').selectOption('h200');
    await choosePolicy(page, 'none');
    await drop(page, 'bench.json', measured('bench.json'));
    await picker(page, 'Run').selectOption({ label: 'eager' });
    await expect(page.locator('.worth-fusing tbody tr')).toHaveCount(2);
    return page.getByRole('region', { name: 'Your measurement' });
  },
  'a table of a profiler': async (page) => {
    await write(page, measured('mlp.fuse'));
    await drop(page, 'ncu_base.csv', measured('ncu_base.csv'));
    const region = page.getByRole('region', { name: 'Your measurement' });
    await expect(region).toContainText('--metrics dram__bytes_read.sum');
    return region;
  },
  'the tensors of a kernel': async (page) => {
    await kernelButton(page, 1).click();
    return page.getByRole('group', { name: 'Tensors of this kernel' });
  },
  'a run on the GPU': async (page) => {
    await write(page, PROGRAM);
    await openTab(page, 'Your GPU');
    await run(page).click();
    await expect(own(page).getByRole('group', { name: 'Times on your GPU' })).toBeVisible({ timeout: 60_000 });
    return own(page);
  },
};

for (const [name, show] of Object.entries(PARTS)) {
  test(name, async ({ page, open }) => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open();
    const part = await show(page);
    for (const width of [390, 360]) {
      await test.step(`${width} px`, async () => {
        await page.setViewportSize({ width, height: 844 });
        // What is drawn for the width of the window is drawn with its frames.
        await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
        await expect.poll(() => cutOff(part)).toEqual([]);
        await expect.poll(() => misplacedCells(part)).toEqual([]);
      });
    }
  });
}

test('an open menu lies over the card of an op, and the tap that closes it does nothing else', async ({ page, open }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open();
  const card = page.locator('.inspector');
  const panel = page.locator('.menu-panel');
  const summary = (name) => page.locator('summary').filter({ hasText: name }).first();
  await page.locator('.dag-op').first().click();
  await expect(card).toBeVisible();
  for (const name of ['Export', 'Options', 'More']) {
    await test.step(name, async () => {
      // So low that its panel and the card overlap.
      await summary(name).evaluate((button) => { scrollBy(0, button.getBoundingClientRect().top - 0.4 * innerHeight); });
      await summary(name).evaluate((button) => button.click());
      await expect(panel).toBeVisible();
      const isOnTop = await panel.evaluate((element) => {
        const { left, top, width, bottom } = element.getBoundingClientRect();
        const hit = document.elementFromPoint(left + width / 2, Math.min(bottom, innerHeight) - 4);
        return element.contains(hit);
      });
      expect(isOnTop).toBe(true);
      await page.mouse.click(2, 2);
      await expect(panel).toHaveCount(0);
      await expect(card).toBeVisible();
    });
  }
  await card.getByRole('button', { name: 'Close' }).click();
  await expect(card).toHaveCount(0);
  await summary('More').evaluate((button) => button.click());
  await expect(panel).toBeVisible();
  const op = page.locator('.dag-op').first();
  await op.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const { x, y, width, height } = await op.boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  await expect(panel).toHaveCount(0);
  await expect(card).toHaveCount(0);
});
