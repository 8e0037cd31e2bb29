import { chromium } from '@playwright/test';
import { serve } from './server.mjs';
import { args, executablePath } from './chromium.mjs';
const [dir, out, ...pick] = process.argv.slice(2);
const { server, url } = await serve(dir);
const browser = await chromium.launch({ executablePath, args });
const sizes = { phone: [390, 844], laptop: [1366, 768], projector: [1920, 1080] };
for (const scheme of ['light', 'dark']) for (const [name, [width, height]] of Object.entries(sizes)) {
  if (pick.length && !pick.includes(`${name}-${scheme}`)) continue;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, serviceWorkers: 'block', hasTouch: name === 'phone' });
  const page = await context.newPage();
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) console.log(name, scheme, m.text()); });
  await page.goto(url + (process.env.HASH ?? ''));
  await page.locator('main:not(#loading)').waitFor();
  await page.waitForTimeout(1200);
  if (process.env.ACT) { const act = (await import(process.env.ACT)).default; await act(page, name); await page.waitForTimeout(800); }
  await page.screenshot({ path: `${out}-${name}-${scheme}.png` });
  await context.close();
}
await browser.close(); server.close(); server.closeAllConnections();
