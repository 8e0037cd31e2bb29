// The page in the frame of another one, and the page that documents it.

import { createServer } from 'node:http';
import { accessibilityFindings, expect, test } from './fixture.mjs';
import { fragmentOf, policyChoice } from './visitor.mjs';

/** Sends the frame of a page a message and returns the answer with its id. */
const ask = (page, message) => page.evaluate((asked) => new Promise((resolve) => {
  const frame = document.querySelector('iframe').contentWindow;
  const id = `test-${Math.random()}`;
  const listen = ({ source, data }) => {
    if (source !== frame || data.id !== id) return;
    removeEventListener('message', listen);
    resolve(data);
  };
  addEventListener('message', listen);
  frame.postMessage({ id, ...asked }, '*');
}), message);

test('an address shows the named views, and nothing else', async ({ page, site }) => {
  await page.goto(`${site}?embed=roofline,graph`);
  await expect(page.getByRole('region', { name: 'Graph' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Roofline' })).toBeVisible();
  for (const other of ['Result', 'Sizes', 'Memory traffic', 'Kernels']) {
    await expect(page.getByRole('region', { name: other, exact: true })).toHaveCount(0);
  }
  await expect(page.getByRole('banner')).toHaveCount(0);
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await page.evaluate(() => localStorage.length)).toBe(0);
  await page.goto(`${site}?embed=headline,sliders,traffic,kernels`);
  for (const view of ['Result', 'Sizes', 'Memory traffic', 'Kernels']) {
    await expect(page.getByRole('region', { name: view, exact: true })).toBeVisible();
  }
  await page.goto(`${site}?embed=pie`);
  await expect(page.getByText('There is no view `pie`.')).toBeVisible();
});

test('a link is embedded, and leads to the whole page with what is shown', async ({ page, site }) => {
  await page.goto(`${site}?embed=headline${fragmentOf('policy=none\n\ninput x : f16[1024]\ny = relu(x)\nz = gelu(y)\n')}`);
  await expect(page.getByText('z = gelu')).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Result' })).toContainText('2 kernels');
  const whole = page.getByRole('link', { name: 'Open in Fuseline' });
  await expect(whole).toHaveAttribute('href', /#v1\./);
  await page.goto(await whole.getAttribute('href'));
  await expect(page.getByRole('textbox', { name: 'Operations as text' })).toHaveValue(/z = gelu\(y\)/);
  await expect(policyChoice(page, 'none')).toBeChecked();
});

test('its documentation talks with a live example, both ways', async ({ page, site }) => {
  await page.goto(`${site}embed.html`);
  const figures = page.locator('#figures');
  await expect(figures).toContainText('2.30 GB in 14 kernels become 1.96 GB in 9.');
  const example = page.frameLocator('#frame');
  await page.getByLabel('Sequence length S').fill('4096');
  await expect(example.getByRole('region', { name: 'Result' })).not.toContainText('2.30 GB');
  await expect(figures).not.toContainText('2.30 GB');
  await page.getByLabel('Fusion').selectOption('none');
  await expect(figures).toContainText('in 14 kernels become');
  await expect(figures).toContainText('in 14.');
  // The visitor changes something in the frame.
  await example.getByRole('combobox', { name: 'Fusion' }).selectOption('rules');
  await expect(page.getByLabel('Fusion')).toHaveValue('rules');
  await page.getByRole('button', { name: 'Get the analysis' }).click();
  await expect(figures).toContainText('The analysis lists 9 kernels');
  // The frame is as high as its content.
  const height = () => page.locator('#frame').evaluate((frame) => frame.contentDocument.documentElement.scrollHeight - frame.clientHeight);
  await expect.poll(height).toBeLessThanOrEqual(0);
  expect(await accessibilityFindings(page)).toEqual([]);
});

test('a page of another origin gets figures and errors, and cannot do more', async ({ page, site, problems }) => {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(request.url === '/' ? `<!doctype html><title>A course</title><iframe title="Fuseline" width="800" height="600" src="${site}?embed=graph"></iframe>` : '');
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const other = `http://127.0.0.1:${server.address().port}/`;
  const ready = page.waitForFunction(() => globalThis.isReady);
  await page.addInitScript(() => {
    if (self !== top) return;
    addEventListener('message', ({ data }) => { globalThis.isReady ||= data.type === 'ready'; });
  });
  await page.goto(other);
  await ready;
  const set = await ask(page, { fuseline: 1, type: 'set', params: { S: 1024 }, device: 'h200', policy: 'optimal' });
  expect(set).toMatchObject({ fuseline: 1, type: 'change', params: { S: 1024 }, device: 'h200', policy: 'optimal', errors: [] });
  const { analysis } = await ask(page, { fuseline: 1, type: 'get' });
  expect(analysis.fused_traffic.total).toBe(set.fused_bytes);
  const bad = await ask(page, { fuseline: 1, type: 'set', params: { S: 64, T: 1 } });
  expect(bad).toMatchObject({ type: 'error', message: expect.stringContaining('`T`') });
  expect((await ask(page, { fuseline: 1, type: 'get' })).analysis.fused_traffic.total).toBe(set.fused_bytes);
  expect(await ask(page, { type: 'get' })).toMatchObject({ type: 'error', message: expect.stringContaining('fuseline: 1') });
  const broken = await ask(page, { fuseline: 1, type: 'set', program: 'y = relu(' });
  expect(broken.type).toBe('change');
  expect(broken.errors.length).toBeGreaterThan(0);
  server.close();
  server.closeAllConnections();
  // The page under test is another origin than the fixture expects.
  const foreign = problems.splice(0);
  expect(foreign.every((problem) => problem.startsWith(`request to ${other}`))).toBe(true);
});
