// The page with type of twice the size, by the setting of the browser that enlarges text alone.

import { args, executablePath } from './chromium.mjs';
import { expect, test } from './fixture.mjs';
import { expectAllReachable } from './reach.mjs';

test.use({
  launchOptions: { executablePath, args: [...args, '--blink-settings=defaultFontSize=32'] },
  viewport: { width: 1280, height: 800 },
});

test('everything can be reached and nothing sticks out', async ({ page, open }) => {
  await open();
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px');
  await expectAllReachable(page);
});
