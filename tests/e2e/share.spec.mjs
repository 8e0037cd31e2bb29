// Share links: the whole state in the fragment, and links that are broken or meant to break the
// page.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import {
  chooseExample, choosePolicy, chooseView, copyButton, copyLink, editor, followLink, fragmentOf, headlineBytes, kernelButton, kernels, openShare, picker,
  result, senderNote, sharedLink, slider, untilStored, viewSwitch, write,
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
  // The program's text is folded on a first visit.
  await other.getByRole('button', { name: 'Program', exact: true }).click();
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
  await expect(page.getByRole('status').filter({ hasText: /too old to unpack links/ })).toBeVisible();
  await expect.poll(() => kernels(page)).toHaveLength(9);
  await copyLink(page);
  await expect(page.getByRole('status').filter({ hasText: /too old to make links/ })).toBeVisible();
});

test('where there is no clipboard the link is shown', { tag: '@firefox' }, async ({ page, open, site }) => {
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined }));
  await open();
  await write(page, TEXT);
  await copyLink(page);
  const field = page.getByLabel('Copy this:');
  await expect(field).toHaveValue(/#v1\.[\w-]+$/);
  await expect(field).toBeFocused();
  expect((await field.inputValue()).startsWith(site)).toBe(true);
});

test('a link that is followed while the page is open', { tag: '@firefox' }, async ({ page, open }) => {
  await open();
  await followLink(page, whole);
  await expect(editor(page)).toHaveValue(TEXT);
  expect(new URL(page.url()).hash).toBe(whole);
});

test('the address is the link until something changes, and a reload shows the change', { tag: '@firefox' }, async ({ page, open }) => {
  const hash = () => new URL(page.url()).hash;
  await open(whole);
  await expect(editor(page)).toHaveValue(TEXT);
  expect(hash()).toBe(whole);
  // The fused view is the same program.
  await chooseView(page, 'Fused');
  expect(hash()).toBe(whole);
  await expect.poll(() => page.evaluate(() => Object.values(localStorage).some((stored) => stored.includes('scaled') || stored.includes('matmul')))).toBe(true);
  await page.reload();
  await expect(editor(page)).toHaveValue(TEXT);
  expect(hash()).toBe(whole);
  const edited = `${TEXT}scaled: w = scale(z)\n`;
  await write(page, edited);
  await expect.poll(hash).toBe('');
  await page.reload();
  await expect(editor(page)).toHaveValue(edited);
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

const NOTE = 'Fusing these two saves half of the traffic.\nWorth a day?';
const NOTE_SHOWN = 'Note from the sender: Fusing these two saves half of the traffic. Worth a day?';

test('a note travels with the link, and who passes it on sees it, sends it or takes it out', { tag: '@firefox' }, async ({ page, open, browser }) => {
  await open();
  await write(page, TEXT);
  const link = await sharedLink(page, NOTE);
  await expect(senderNote(page)).toHaveCount(0);
  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await expect(senderNote(other).locator('p')).toHaveText(NOTE_SHOWN);

  await other.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
  const passedOn = async () => {
    await other.evaluate(() => { globalThis.copied = ''; });
    await copyLink(other);
    await expect.poll(() => other.evaluate(() => globalThis.copied)).toContain('#v1.');
    return other.evaluate(() => new URL(globalThis.copied).hash);
  };
  const note = async () => {
    await other.getByText('Share', { exact: true }).click();
    return other.getByLabel('Note to the reader (optional)');
  };
  const [withNote, field] = [await passedOn(), await note()];
  await expect(field).toHaveValue(NOTE.replace('\n', ' '));
  await field.fill('');
  await other.keyboard.press('Escape');
  const without = await passedOn();
  for (const [link, notes] of [[withNote, 1], [without, 0]]) {
    await page.goto('about:blank');
    await open(link);
    await expect(editor(page)).toHaveValue(TEXT);
    await expect(senderNote(page)).toHaveCount(notes);
  }
  await other.context().close();
});

test('a note stays through edits, which it is said to precede, until it is hidden or another program opens', { tag: '@firefox' }, async ({ page, open }) => {
  const link = fragmentOf(`note=Look here\n\n${TEXT}`);
  await open(link);
  await expect(senderNote(page)).toContainText('Note from the sender: Look here');
  await choosePolicy(page, 'none');
  await expect(senderNote(page)).toContainText('Note before changes');
  await choosePolicy(page, 'rules');
  await expect(senderNote(page)).toContainText('Note from the sender: Look here');

  // A reload brings the note back with the program, and what is changed then still counts as
  // changed.
  await expect.poll(() => page.evaluate(() => Object.values(localStorage).some((stored) => stored.includes('Look here')))).toBe(true);
  await page.reload();
  await expect(senderNote(page)).toContainText('Note from the sender: Look here');
  await choosePolicy(page, 'none');
  await expect(senderNote(page)).toContainText('Note before changes');
  await choosePolicy(page, 'rules');
  await write(page, `${TEXT}scaled: w = scale(z)\n`);
  await chooseView(page, 'Unfused');
  await expect(senderNote(page)).toContainText('Note before changes: Look here');
  expect(await accessibilityFindings(page)).toEqual([]);
  await senderNote(page).getByRole('button', { name: 'Hide the note' }).click();
  await expect(senderNote(page)).toHaveCount(0);
  await page.getByText('Share', { exact: true }).click();
  await expect(page.getByLabel('Note to the reader (optional)')).toHaveValue('Look here');
  await page.keyboard.press('Escape');

  await followLink(page, link);
  await expect(senderNote(page)).toContainText('Look here');
  await chooseExample(page, 'Diamond');
  await expect(senderNote(page)).toHaveCount(0);
});

test('a note that came with a link is not sent with another program as if it were new', { tag: '@firefox' }, async ({ page, open, site }) => {
  await open(fragmentOf(`note=Look here\n\n${TEXT}`));
  const outdated = page.getByText('This note came with the link and was written before your changes.');
  const field = page.getByLabel('Note to the reader (optional)');
  await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
  const copied = async (name) => {
    await page.evaluate(() => { globalThis.copied = ''; });
    await page.getByRole('button', { name, exact: true }).click();
    await expect.poll(() => page.evaluate(() => globalThis.copied)).toContain('#v1.');
    return page.evaluate(() => globalThis.copied);
  };
  const noteOf = async (link) => {
    const other = await page.context().newPage();
    await other.goto(site + new URL(link.split('\n').at(-1)).hash);
    await expect(result(other)).toBeVisible();
    const notes = await senderNote(other).locator('bdi').allTextContents();
    await other.close();
    return notes;
  };
  await openShare(page);
  await expect(field).toHaveValue('Look here');
  await expect(outdated).toHaveCount(0);
  expect(await noteOf(await copied('Copy link'))).toEqual(['Look here']);

  await choosePolicy(page, 'none');
  await openShare(page);
  await expect(outdated).toBeVisible();
  expect(await accessibilityFindings(page, { within: '.share-menu' })).toEqual([]);
  expect(await noteOf(await copied('Copy link'))).toEqual([]);
  await openShare(page);
  const withResult = await copied('Copy result and link');
  expect(withResult).not.toContain('Look here');
  expect(await noteOf(withResult)).toEqual([]);

  // Edited it is the visitor's own.
  await openShare(page);
  await field.fill('Look here, too');
  await expect(outdated).toHaveCount(0);
  expect(await noteOf(await copied('Copy link'))).toEqual(['Look here, too']);
  await openShare(page);
  await field.fill('Look here');
  await page.getByRole('button', { name: 'Remove it', exact: true }).click();
  await expect(field).toHaveValue('');
  await expect(field).toBeFocused();
  await expect(outdated).toHaveCount(0);
});

test('a link with an example at other sizes opens as that example', { tag: '@firefox' }, async ({ page, open }) => {
  await open();
  await chooseExample(page, 'Transformer block');
  await slider(page, 'S').press('ArrowRight');
  const text = await editor(page).inputValue();
  await chooseExample(page, 'Diamond');
  await followLink(page, fragmentOf(`reshape=view\n\n${text}`));
  await expect(editor(page)).toHaveValue(text);
  await expect(picker(page, 'Example')).toHaveValue('transformer_block');
  await expect(page.locator('.strip')).toContainText('What to watch: In f16, torch.compile');
});

test('a hostile note is harmless text', { tag: '@firefox' }, async ({ page, open }) => {
  const NOTES = [
    ['markup', '<img src=x onerror=alert(1)><b>bold</b>&amp;', '<img src=x onerror=alert(1)><b>bold</b>&amp;'],
    ['control characters and overrides', 'exe.\u202egnp\u2066\0\u001b[31m', 'exe.gnp[31m'],
    ['10,000 characters', 'W'.repeat(10_000), 'W'.repeat(280)],
    ['accents on accents', `Z${'\u0300'.repeat(1000)}`, `Z${'\u0300'.repeat(279)}`],
  ];
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [at, [kind, note, shown]] of NOTES.entries()) {
    await test.step(kind, async () => {
      await open(`?${at}${fragmentOf(`note=${note}\n\n${TEXT}`)}`);
      expect(await senderNote(page).locator('bdi').textContent()).toBe(shown);
      await expect(senderNote(page).locator('bdi *')).toHaveCount(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
      const { height } = await senderNote(page).boundingBox();
      expect(height).toBeLessThan(240);
    });
  }
});

test('the field of the note counts as a visitor does, and copies nothing that would be cut', { tag: '@firefox' }, async ({ page, open }) => {
  await open();
  await openShare(page);
  const note = page.getByLabel('Note to the reader');
  const count = page.locator('#share-note-count');
  await expect(count).toHaveText('0 of 280 characters');
  // Each is one character of the visitor's and two of JavaScript's.
  await note.fill('😀'.repeat(280));
  await expect(count).toHaveText('280 of 280 characters');
  await expect(copyButton(page)).toBeEnabled();
  await note.press('End');
  await note.pressSequentially('ab');
  await expect(count).toHaveText('2 characters more than 280: shorten the note');
  await expect(copyButton(page)).toBeDisabled();
  expect(await accessibilityFindings(page, { within: '.share-menu' })).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(note).toHaveCount(0);
  await openShare(page);
  await expect(note).toHaveValue(`${'😀'.repeat(280)}ab`);
});

test('undo in the field of the note undoes what was typed there', { tag: '@firefox' }, async ({ page, open }) => {
  await open();
  await write(page, TEXT);
  await openShare(page);
  await page.getByLabel('Note to the reader').pressSequentially('mine');
  await page.keyboard.press('ControlOrMeta+z');
  await expect(editor(page)).toHaveValue(TEXT);
  await expect(page.getByLabel('Note to the reader')).not.toHaveValue('mine');
});

test('the title of the document is the sentence of the page', { tag: '@firefox' }, async ({ page, open }) => {
  await open(fragmentOf(`\n${TEXT}`));
  const sentence = async () => (await result(page).locator('.claim').textContent()).replace(/\.$/, '');
  await expect(page).toHaveTitle(/^Fusing by textbook rules turns 2 kernels into 1 .* · Fuseline$/);
  await expect(page).toHaveTitle(`${await sentence()} · Fuseline`);
  await chooseView(page, 'Unfused');
  await expect(page).toHaveTitle(/^Without fusion, 2 kernels /);
  await expect(page).toHaveTitle(`${await sentence()} · Fuseline`);
});

test('on a phone the first screen has the sentence, the note and the policies', async ({ page, open }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const note = 'This is the layer that we spoke of on Monday. One kernel in the place of two halves what it reads and writes. '.repeat(2);
  await open(fragmentOf(`note=${note}\n\n${TEXT}`));
  const parts = [result(page).locator('.claim'), senderNote(page), page.locator('.policies .policy').last()];
  let above = 0;
  for (const part of parts) {
    const { y, height } = await part.boundingBox();
    expect(y).toBeGreaterThanOrEqual(above);
    above = y + height;
  }
  expect(above).toBeLessThanOrEqual(844);
});
