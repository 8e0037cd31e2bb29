// A step has the page: its question, its pictures, the answer and the verdict are in sight, on a
// laptop, a projector and a phone.

import { readdirSync } from 'node:fs';
import { expect, test } from './fixture.mjs';
import { outOfSight } from './stage.mjs';
import { present } from './visitor.mjs';

const LESSONS = readdirSync(new URL('../../public/lessons/', import.meta.url))
  .map((name) => name.replace('.md', '')).filter((id) => id !== 'new');
const ROOMS = [
  { name: 'on a laptop', width: 1366, height: 768 },
  { name: 'on a projector', width: 1920, height: 1080, isPresented: true },
  { name: 'on a mirrored laptop', width: 1366, height: 768, isPresented: true },
  { name: 'on a phone', width: 390, height: 844, doesScroll: true },
];

for (const { name, width, height, isPresented = false, doesScroll = false } of ROOMS) {
  for (const lesson of LESSONS) {
    test(`${name} nothing of ${lesson} is cut off`, async ({ page, open }) => {
      await page.setViewportSize({ width, height });
      await open(`#lesson=${lesson}.1`);
      const steps = page.locator('.lesson-steps button');
      await expect(steps.first()).toHaveAttribute('aria-current', 'step');
      const count = await steps.count();
      if (isPresented) await present(page);
      const fits = (at, when) => expect.poll(() => outOfSight(page, { doesScroll }), { message: `step ${at}, ${when}` }).toEqual([]);
      for (let at = 1; at <= count; at += 1) {
        await expect(steps.nth(at - 1)).toHaveAttribute('aria-current', 'step');
        await fits(at, 'asked');
        if (isPresented) await page.keyboard.press('PageDown');
        else await page.getByRole('button', { name: 'Show me' }).click();
        await expect(page.locator('.task-verdict')).not.toBeEmpty();
        await fits(at, 'answered');
        if (at === count) break;
        if (isPresented) await page.keyboard.press('PageDown');
        else await page.getByRole('button', { name: 'Next', exact: true }).click();
      }
    });
  }
}
