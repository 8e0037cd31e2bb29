// The picture of the page in the README: node tests/e2e/screenshot.mjs, after ./dev build.

import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { args, executablePath } from './chromium.mjs';
import { serve } from './server.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { server, url } = await serve(`${root}dist`);
const browser = await chromium.launch({ executablePath, args });
const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, colorScheme: 'light' });
await page.goto(url);
await page.waitForSelector('.chart-panel svg.chart');
await page.getByRole('combobox', { name: 'Example', exact: true }).selectOption('transformer_block');
await page.waitForTimeout(1000); // transitions
await page.screenshot({ path: `${root}public/screenshot.png` });
await browser.close();
server.close();
server.closeAllConnections();
