// Documents: no link, tab or full storage costs a visitor their text.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import {
  chooseExample, editor, followLink, fragmentOf, kernels, notice, openText, paste, picker, policyChoice, put, slider,
  stored, storedTexts, untilStored, write,
} from './visitor.mjs';

const OWN = '# my own\nmine: y = relu(x) : f16[8, 64]\n';
const LINKED = 'input x : f32[128, 128]\nact: y = gelu(x)\nnorm: z = layer_norm(y)\n';
const SECOND = 'input a : f16[32]\nsecond: b = tanh(a)\n';

const openMenu = (page) => page.getByText('Open', { exact: true });
const textRow = (page, name) => page.getByRole('list').getByRole('button', { name, exact: false }).first();

/** Opens the page in another tab of the same browser and waits until it has started. */
async function otherTab(page, site, fragment = '') {
  const other = await page.context().newPage();
  await other.goto(site + fragment);
  await editor(other).waitFor();
  return other;
}

/** Ends the tab as an operating system would. */
async function kill(page) {
  const session = await page.context().newCDPSession(page);
  const crashed = page.waitForEvent('crash');
  session.send('Page.crash').catch(() => {});
  await crashed;
}

/** A tab whose page never draws, and so never finishes its start. */
async function undrawnTab(page, address) {
  const tab = await page.context().newPage();
  await tab.addInitScript(() => { globalThis.requestAnimationFrame = () => 0; });
  await tab.goto(address);
  return tab;
}

/** As if the marks of unfinished starts had been left a minute ago. */
const ageMarks = (page) => page.evaluate(() => {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith('fuseline.starting.')) localStorage.setItem(key, String(Date.now() - 60_000));
  }
});

test('a link that never finishes is not what the next visit opens, and is not opened again by itself', async ({ page, site, open }) => {
  await open();
  await write(page, OWN);
  await untilStored(page, 'mine: y');
  const victim = await undrawnTab(page, site + fragmentOf(`policy=inductor\ntab=why\n\n${LINKED}`));
  await expect(editor(victim)).toHaveValue(LINKED);
  await victim.getByRole('combobox', { name: 'GPU', exact: true }).selectOption('h200');
  await kill(victim);
  expect(await storedTexts(page)).not.toContain(LINKED);

  const plain = await otherTab(page, site);
  await expect(editor(plain)).toHaveValue(OWN);
  await ageMarks(plain);
  const again = await otherTab(page, site, fragmentOf(`policy=inductor\ntab=why\n\n${LINKED}`));
  await expect(notice(again)).toContainText('did not finish');
  await expect(editor(again)).toHaveValue(OWN);
  await again.getByRole('button', { name: 'Open it anyway' }).click();
  await expect(editor(again)).toHaveValue(LINKED);
  await expect.poll(() => stored(again, 'starting.')).toEqual({});
});

test('a text whose start did not finish is offered, and another one is shown', async ({ page, site, open }) => {
  await open();
  await write(page, OWN);
  await untilStored(page, 'mine: y');
  const victim = await undrawnTab(page, site);
  await expect(editor(victim)).toHaveValue(OWN);
  await kill(victim);
  await ageMarks(page);
  await page.close();

  const next = await victim.context().newPage();
  await next.goto(site);
  await expect(notice(next)).toContainText('did not finish');
  await expect(picker(next, 'Example')).toHaveValue('residual_layer');
  await next.getByRole('button', { name: 'Open it anyway' }).click();
  await expect(editor(next)).toHaveValue(OWN);
});

test('a second link leaves the own text that the first one replaced', async ({ page, open }) => {
  await open();
  await write(page, OWN);
  await followLink(page, fragmentOf(`\n${LINKED}`));
  await expect(editor(page)).toHaveValue(LINKED);
  await followLink(page, fragmentOf(`\n${SECOND}`));
  await expect(editor(page)).toHaveValue(SECOND);
  await openMenu(page).click();
  await textRow(page, 'my own').click();
  await expect(editor(page)).toHaveValue(OWN);
  await expect.poll(() => kernels(page)).toEqual([['mine']]);
  await expect.poll(() => stored(page, 'starting.')).toEqual({});
});

test('the last ten own texts are kept, and examples whose sliders were dragged are none', async ({ page, open }) => {
  await open();
  for (let number = 1; number <= 12; number += 1) {
    await write(page, `# own ${number}\nop${number}: y${number} = relu(x${number}) : f16[8]\n`);
    await untilStored(page, `# own ${number}\\n`);
    await chooseExample(page, number % 2 ? 'Transformer block' : 'Softmax, step by step');
    await slider(page, number % 2 ? 'S' : 'N').press('ArrowRight');
  }
  await openMenu(page).click();
  const rows = page.getByRole('list', { name: /^Your last/ }).getByRole('listitem');
  await expect(rows).toHaveCount(10);
  await expect(rows.first()).toContainText('own 12');
  await expect(rows.last()).toContainText('own 3');
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Remove own 3' }).click();
  await expect(rows).toHaveCount(9);
  expect((await storedTexts(page)).join()).not.toContain('# own 3\n');
});

test('an idle tab does not overwrite what another has stored', async ({ page, site, open }) => {
  await open();
  await write(page, OWN);
  await untilStored(page, 'mine: y');
  const idle = await otherTab(page, site);
  await expect(editor(idle)).toHaveValue(OWN);
  await write(page, `${OWN}more: z = tanh(y)\n`);
  await untilStored(page, 'more: z');
  await idle.locator('summary').filter({ hasText: 'More' }).click();
  await idle.getByRole('button', { name: /^Colours/ }).click();
  await idle.close();
  const next = await otherTab(page, site);
  await expect(editor(next)).toHaveValue(`${OWN}more: z = tanh(y)\n`);
});

test('two tabs that edit the same text keep both', async ({ page, site, open }) => {
  await open();
  await write(page, OWN);
  await untilStored(page, 'mine: y');
  const other = await otherTab(page, site);
  await write(page, `${OWN}first: z = tanh(y)\n`);
  await untilStored(page, 'first: z');
  await write(other, `${OWN}second: z = exp(y)\n`);
  await untilStored(page, 'second: z');
  expect((await storedTexts(page)).filter((text) => text.startsWith('# my own'))).toHaveLength(2);
  await page.reload();
  await expect(editor(page)).toHaveValue(`${OWN}first: z = tanh(y)\n`);
  await other.reload();
  await expect(editor(other)).toHaveValue(`${OWN}second: z = exp(y)\n`);
});

test('Back returns to the text before a link, Forward to the link', async ({ page, open }) => {
  await open();
  await write(page, OWN);
  await followLink(page, fragmentOf(`policy=none\n\n${LINKED}`));
  await expect(editor(page)).toHaveValue(LINKED);
  await untilStored(page, 'norm: z');
  await page.goBack();
  await expect(editor(page)).toHaveValue(OWN);
  await expect(policyChoice(page, 'rules')).toBeChecked();
  await page.goForward();
  await expect(editor(page)).toHaveValue(LINKED);
  await expect(policyChoice(page, 'none')).toBeChecked();
});

test('a full storage is told, and the text can be saved as a file', async ({ page, open }) => {
  await open();
  await page.evaluate(() => {
    for (let size = 4 * 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; ; at += 1) {
        try { localStorage.setItem(`full.${size}.${at}`, 'x'.repeat(size)); } catch { break; }
      }
    }
  });
  await write(page, OWN);
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('does not keep this text');
  const download = page.waitForEvent('download');
  await alert.getByRole('button', { name: 'Save as a file' }).click();
  expect((await download).suggestedFilename()).toBe('fuseline.fuse');
  await page.evaluate(() => { for (const key of Object.keys(localStorage)) if (key.startsWith('full.')) localStorage.removeItem(key); });
  await write(page, `${OWN}more: z = tanh(y)\n`);
  await expect(alert).toBeHidden();
  await untilStored(page, 'more: z');
});

test('a storage that is forbidden is told, and the page works', async ({ page, visit }) => {
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('forbidden', 'SecurityError'); } });
  });
  await visit();
  await expect.poll(() => kernels(page)).toEqual([['linear', 'bias', 'act', 'output']]);
  await expect(page.getByRole('alert')).toHaveCount(0);
  await openText(page);
  await write(page, OWN);
  await expect(page.getByRole('alert')).toContainText('does not keep this text');
  await expect.poll(() => kernels(page)).toEqual([['mine']]);
});

test('typing without a pause is stored all the same', async ({ page, open }) => {
  await open();
  await put(page, OWN);
  const wasStored = await editor(page).evaluate((area) => new Promise((done) => {
    let typed = 0;
    const key = () => {
      area.value += `# ${typed}\n`;
      area.dispatchEvent(new Event('input', { bubbles: true }));
      typed += 1;
      const isStored = Object.keys(localStorage).some((name) => localStorage.getItem(name).includes('# 3\\n'));
      if (isStored || typed === 1000) {
        clearInterval(timer);
        done(isStored);
      }
    };
    const timer = setInterval(key, 25);
  }));
  expect(wasStored).toBe(true);
});

test('a paste of more than 8 MB is refused, and the text stays', async ({ page, open, problems }) => {
  await open();
  await write(page, OWN);
  for (const piece of ['y = relu(x) : f16[8]\n', '[0,0,0,0,']) {
    await editor(page).focus();
    await paste(page, piece.repeat(Math.ceil(9e6 / piece.length)));
    await expect(notice(page)).toContainText('the limit is 8 MB');
    await page.getByRole('button', { name: 'Dismiss' }).click();
  }
  // What comes in another way, by dragging a text or by a script.
  await put(page, '# line\n'.repeat(1_300_000));
  await expect(notice(page)).toContainText('the limit is 8 MB');
  await expect(editor(page)).toHaveValue(OWN);
  expect(problems).toEqual([]);
});

test('a file that is dropped anywhere on the page opens', async ({ page, open }) => {
  await open();
  for (const [place, text] of [['header', OWN], ['main', SECOND]]) {
    await page.locator(place).first().evaluate((element, content) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content], 'mine.fuse', { type: 'text/plain' }));
      for (const kind of ['dragover', 'drop']) {
        const event = new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
        if (element.dispatchEvent(event)) throw new Error(`the browser would take the ${kind}`);
      }
    }, text);
    await expect(editor(page)).toHaveValue(text);
  }
});

test('of ten thousand params fifty are listed, and more on request', async ({ page, open }) => {
  await open();
  await put(page, Array.from({ length: 10_000 }, (_, at) => `param p${at} = 1 in 1..9\n`).join(''));
  const sizes = page.getByRole('region', { name: 'Sizes' });
  await expect(sizes.getByRole('slider')).toHaveCount(50);
  await sizes.getByRole('button', { name: 'Show more (50 of 10,000)' }).click();
  await expect(sizes.getByRole('slider')).toHaveCount(100);
});
