// What opens or changes on a phone: nothing of it is cut off.

import { expect, test } from './fixture.mjs';
import { cutOff } from './reach.mjs';
import { picker, result } from './visitor.mjs';

const menu = (name) => async (page) => {
  await page.locator('summary').filter({ hasText: name }).click();
  return page.locator('.menu-panel');
};

async function chooseOptimum(page) {
  await picker(page, 'Fusion').selectOption('optimal');
  await expect(result(page)).toContainText('proven optimal');
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
  'the figures of the GPU': menu('GPU figures'),
  'how bytes are counted': menu('Byte counting'),
  'what is exported': menu('Export'),
  'what is opened': menu('Open'),
};

for (const width of [390, 360]) {
  for (const [name, show] of Object.entries(PARTS)) {
    test(`${name} at ${width} px`, async ({ page, open }) => {
      await page.setViewportSize({ width, height: 844 });
      await open();
      const part = await show(page);
      expect(await cutOff(part)).toEqual([]);
    });
  }
}
