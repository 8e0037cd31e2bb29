// Share links: the whole state in the fragment, and links that are broken or meant to break the page.

import { expect, test } from './fixture.mjs';
import {
  chooseView, editor, followLink, fragmentOf, headlineBytes, kernelButton, kernels, picker, sharedLink, slider, untilStored, viewSwitch, write,
} from './visitor.mjs';

const TEXT = 'param N = 512 in 128..1024 step 128\ninput x : f32[N, N]\nact: y = gelu(x)\nnorm: z = layer_norm(y)\n';

test('a link carries text, choices and selection to another visitor', { tag: '@firefox' }, async ({ page, open, browser }) => {
  await open();
  await write(page, TEXT);
  await picker(page, 'GPU').selectOption('h200');
  await page.getByText('Model', { exact: true }).click();
  await page.getByRole('radio', { name: '0 bytes' }).check();
  await page.keyboard.press('Escape');
  await chooseView(page, 'Unfused');
  await kernelButton(page, 1).click();
  const bytes = await headlineBytes(page);
  const link = await sharedLink(page);
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/some\/folder\/(index\.html)?#v1\.[\w-]+$/);

  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await expect(editor(other)).toHaveValue(TEXT);
  await expect(picker(other, 'GPU')).toHaveValue('h200');
  await expect(viewSwitch(other, 'Unfused')).toBeChecked();
  await expect(kernelButton(other, 1)).toHaveAttribute('aria-pressed', 'true');
  expect(await headlineBytes(other)).toEqual(bytes);
  await other.context().close();
});

test('a link does not cost a visitor their own text', { tag: '@firefox' }, async ({ page, open, site }) => {
  await open();
  await write(page, 'mine = relu(x) : f16[8]\n');
  await untilStored(page, 'mine = relu(x)');
  await page.goto(site + fragmentOf(`\n${TEXT}`));
  await page.reload();
  await expect.poll(() => editor(page).inputValue()).toMatch(/mine|param N/);
  await page.goto(`${site}?again${fragmentOf(`\n${TEXT}`)}`);
  await expect(editor(page)).toHaveValue(TEXT);
});

const whole = fragmentOf(`\n${TEXT}`);
const DAMAGED = /link is damaged/;
const HOSTILE = {
  'garbage': ['#%00%ff<script>alert(1)</script>', /is not a Fuseline link/],
  'an unknown version': ['#v9.abcdef', /another version of Fuseline/],
  'no zlib': ['#v1.AAAAAAAAAAAAAAAA', DAMAGED],
  'cut off': [whole.slice(0, -12), DAMAGED],
  'one character changed': [whole.replace(/.(.{20})$/, (all, rest) => (all[0] === 'A' ? 'B' : 'A') + rest), DAMAGED],
  'something behind its end': [`${whole}AAAA`, DAMAGED],
  'no state in it': [fragmentOf('no empty line'), DAMAGED],
  'a zip bomb': [fragmentOf(Buffer.alloc(200 * 1024 * 1024, 'a')), /unpacks to more than/],
  'too long': [`#v1.${'A'.repeat(600 * 1024)}`, /unpacks to more than/],
};

test('a hostile link is refused with its reason, and the page works', { tag: '@firefox' }, async ({ page, open }) => {
  for (const [at, [kind, [fragment, message]]] of Object.entries(HOSTILE).entries()) {
    await test.step(kind, async () => {
      // Another address each time, so that it is a link that opens the page.
      await open(`?${at}${fragment}`);
      await expect(page.getByRole('status').filter({ hasText: message })).toBeVisible();
      await expect.poll(() => kernels(page)).toHaveLength(9);
      const size = await slider(page, 'S').inputValue();
      await slider(page, 'S').press('ArrowRight');
      await expect(slider(page, 'S')).not.toHaveValue(size);
    });
  }
  await test.step('5 MB, set while the page is open', async () => {
    // The address bar takes 2 MB at most; a script may set more.
    await page.evaluate(() => { location.hash = `v1.${'A'.repeat(5 * 1024 * 1024)}`; }).catch(() => {});
    await write(page, TEXT);
    await expect.poll(() => kernels(page)).toEqual([['act', 'norm']]);
  });
});

test('a browser without zlib says so, and the page works', { tag: '@firefox' }, async ({ page, open }) => {
  await page.addInitScript(() => {
    delete globalThis.CompressionStream;
    delete globalThis.DecompressionStream;
  });
  await open(whole);
  await expect(page.getByRole('status').filter({ hasText: /too old to open links/ })).toBeVisible();
  await expect.poll(() => kernels(page)).toHaveLength(9);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await expect(page.getByRole('status').filter({ hasText: /too old to make links/ })).toBeVisible();
});

test('where there is no clipboard the link is shown', { tag: '@firefox' }, async ({ page, open, site }) => {
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined }));
  await open();
  await write(page, TEXT);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const field = page.getByLabel('Copy this link:');
  await expect(field).toHaveValue(/#v1\.[\w-]+$/);
  await expect(field).toBeFocused();
  expect((await field.inputValue()).startsWith(site)).toBe(true);
});

test('a link that is followed while the page is open', { tag: '@firefox' }, async ({ page, open }) => {
  await open();
  await followLink(page, whole);
  await expect(editor(page)).toHaveValue(TEXT);
  await expect.poll(() => new URL(page.url()).hash).toBe('');
});

test('a link that is opened shows no other program first', { tag: '@firefox' }, async ({ page, site }) => {
  await page.addInitScript(() => {
    globalThis.seen = new Set();
    new MutationObserver(() => {
      for (const field of document.querySelectorAll('textarea')) if (field.value) globalThis.seen.add(field.value);
    }).observe(document, { childList: true, subtree: true, attributes: true, characterData: true });
  });
  await page.goto(site + whole);
  await expect(editor(page)).toHaveValue(TEXT);
  expect(await page.evaluate(() => [...globalThis.seen])).toEqual([TEXT]);
});

test('a link whose text has mistakes opens with its diagnostics', async ({ page, open }) => {
  await open(fragmentOf('policy=nonsense\ndevice=\nshown=\n\nparam = = \ny = relu('));
  await expect(page.getByRole('list', { name: 'Problems in the text' }).getByRole('listitem').first()).toBeVisible();
  await write(page, TEXT);
  await expect.poll(() => kernels(page)).toEqual([['act', 'norm']]);
});
