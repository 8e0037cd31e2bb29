// The manifest, by which a browser offers to install the page.

import { expect, test } from './fixture.mjs';

/** Width and height of a PNG file: two numbers of its first chunk. */
const sizeOf = (png) => {
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
};

test('the manifest names what browsers ask for before they install a page', async ({ page, visit, site, request }) => {
  await visit();
  const address = await page.locator('link[rel="manifest"]').evaluate((link) => link.href);
  const response = await request.get(address);
  expect(response.headers()['content-type']).toBe('application/manifest+json');
  const manifest = await response.json();
  expect(manifest.short_name).toBe('Fuseline');
  expect(manifest.name).toContain('Fuseline');
  expect(manifest.display).toBe('standalone');
  // Relative: the page works in any folder.
  for (const member of ['id', 'start_url', 'scope']) expect(new URL(manifest[member], address).href, member).toBe(site);
  const colour = await page.locator('meta[name="theme-color"]').first().getAttribute('content');
  expect(manifest.background_color).toBe(colour);

  const found = [];
  for (const { src, sizes, type, purpose } of manifest.icons) {
    const icon = await request.get(new URL(src, address).href);
    expect(icon.status(), src).toBe(200);
    expect(icon.headers()['content-type'], src).toBe(type);
    if (type === 'image/png') expect(sizeOf(await icon.body()), src).toBe(sizes);
    found.push(`${purpose} ${sizes}`);
  }
  expect(found).toEqual(expect.arrayContaining(['any any', 'any 192x192', 'any 512x512', 'maskable 512x512']));
  const touchIcon = await page.locator('link[rel="apple-touch-icon"]').evaluate((link) => link.href);
  expect(sizeOf(await (await request.get(touchIcon)).body())).toBe('180x180');
});

test('Chromium finds nothing that keeps it from installing the page', async ({ page, visit }) => {
  await visit();
  const browser = await page.context().newCDPSession(page);
  const { errors } = await browser.send('Page.getAppManifest');
  expect(errors).toEqual([]);
  const { installabilityErrors } = await browser.send('Page.getInstallabilityErrors');
  // A browser context of a test is private, and a private window installs nothing.
  expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito')).toEqual([]);
});
