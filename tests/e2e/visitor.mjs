// What a visitor does and sees, by role and name; shared by the tests.

import { deflateSync } from 'node:zlib';
import { expect } from './fixture.mjs';

export const editor = (page) => page.getByRole('textbox', { name: 'Operations as text' });
export const result = (page) => page.getByRole('region', { name: 'Result' });
export const problemList = (page) => page.getByRole('list', { name: 'Problems in the text' });
export const picker = (page, name) => page.getByRole('combobox', { name, exact: true });
export const viewSwitch = (page, name) => page.getByRole('radio', { name, exact: true });
/** What has just happened, in the line below the bar. */
export const notice = (page) => page.locator('.notice');
export const kernelButton = (page, number) => page.locator('table.kernels').getByRole('button', { name: new RegExp(`^kernel ${number}:`) });
export const slider = (page, name) => page.getByRole('slider', { name, exact: true });
export const numberBox = (page, name) => page.getByRole('spinbutton', { name: `${name}, exact value`, exact: true });
const kernelButtons = (page) => page.locator('table.kernels').getByRole('button', { name: /^kernel \d+:/ });
export const roofline = (page) => page.getByRole('region', { name: 'Roofline' });
/** Its title is the peak, or its name where there is none. */
export const timeline = (page) => page.getByRole('region', { name: /^(Peak|Memory timeline)/ });
export const traffic = (page) => page.getByRole('region', { name: 'Memory traffic' });

/** A tab below the pictures, and what it shows. */
export const panel = (page, name) => page.getByRole('tabpanel', { name, exact: true });
export async function openTab(page, name) {
  await page.getByRole('tab', { name, exact: true }).click();
  await expect(panel(page, name)).toBeVisible();
}

/** A choice of the fusion policy, by its id. */
export const policyChoice = (page, id) => page.locator(`.policies input[value="${id}"]`);
/** Clicks the label, which covers its radio button. */
export async function choose(radio) {
  await radio.locator('xpath=ancestor::label').click();
  await expect(radio).toBeChecked();
}
export const choosePolicy = (page, id) => choose(policyChoice(page, id));

/** Opens the pane of the text, which a first visit finds folded. */
export const openText = (page) => page.getByRole('button', { name: 'Program', exact: true }).click();

/** Presents what the page shows. */
export async function present(page) {
  await page.locator('summary').filter({ hasText: 'More' }).click();
  await page.getByRole('button', { name: 'Present', exact: true }).click();
}

/** Keeps back the files of the page that match, until the function that this returns is called. */
export async function withhold(page, files) {
  let send;
  const sent = new Promise((resolve) => { send = resolve; });
  await page.route(files, async (route) => {
    await sent;
    await route.continue().catch(() => {}); // The page may have given it up, such as a worker that it has ended.
  });
  return send;
}

/** A number as the page writes it: `1,200`. */
export const grouped = (count) => count.toLocaleString('en-US');

const integers = (text) => [...text.matchAll(/[\d,  ]*\d/g)].map((match) => Number(match[0].replace(/\D/g, '')));

/** Unfused, fused and saved bytes, exactly, as the headline's tooltip gives them. */
export async function headlineBytes(page) {
  const exact = await result(page).locator('[title*="read and written unfused"]').getAttribute('title');
  const [unfused, fused, saved] = integers(exact);
  return { unfused, fused, saved };
}

/** The op names of each kernel, as the table lists them. */
export async function kernels(page) {
  const names = await kernelButtons(page).evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')));
  return names.map((name) => name.replace(/^kernel \d+: /, '').split(' + '));
}

/** Unfused and fused bytes of each kernel, exactly, as the tooltips of the table give them. */
export async function kernelBytes(page) {
  const exact = await page.locator('table.kernels tbody [title*="B unfused"]').evaluateAll((cells) => cells.map((cell) => cell.title));
  return exact.map(integers);
}

/** Types in the place of what a field holds. After `fill` Firefox fires no `change` event, because nobody typed. */
export async function typeInto(field, text) {
  await field.selectText();
  await field.pressSequentially(text);
}

/** Replaces the text as a paste would, and waits for the page to have taken it in. */
export async function write(page, text) {
  await editor(page).fill(text);
  await expect(editor(page)).toHaveValue(text);
}

/** The same without the browser's own insertion, which takes minutes for 20,000 lines. */
export async function put(page, text) {
  await editor(page).evaluate((area, value) => {
    area.value = value;
    area.dispatchEvent(new Event('input', { bubbles: true }));
  }, text);
}

/** The fragment of a link with this state, as the *Share* makes it. */
export const fragmentOf = (state) => `#v1.${deflateSync(Buffer.from(state)).toString('base64url')}`;

/** Follows a link while the page is open. */
export const followLink = (page, fragment) => page.evaluate((hash) => { location.hash = hash; }, fragment);

/** Waits until so many dialogs, sheets and the like cover the page: each gets its entry of the tab's history a moment later. */
export const covered = (page, count) => expect.poll(() => page.evaluate(() => history.state)).toMatch(new RegExp(`/${count}$`));

/** As the browser pastes into what has the focus. */
export const paste = (page, pasted) => page.evaluate((text) => {
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
  if (document.activeElement.dispatchEvent(event)) document.execCommand('insertText', false, text);
}, pasted);

/** What the browser stores under names that begin with this. */
export const stored = (page, prefix) => page.evaluate((name) => Object.fromEntries(
  Object.entries(localStorage).filter(([key]) => key.startsWith(`fuseline.${name}`)),
), prefix);

/** The texts of all stored documents. */
export const storedTexts = async (page) => Object.values(await stored(page, 'document.')).map((json) => JSON.parse(json).text);

/** Waits until storage holds what was entered: the page stores changes after a pause. */
export async function untilStored(page, part) {
  await expect.poll(async () => Object.values(await stored(page, 'document.')).join('\n')).toContain(part);
}

/** Stops the clock by which edits are grouped into undo steps, so that a slow machine makes no pause between two keys. */
export async function stopClock(page) {
  await page.evaluate(() => { performance.now = () => 1000; });
}

export async function chooseExample(page, title) {
  await picker(page, 'Example').selectOption({ label: title });
}

export const chooseView = (page, name) => choose(viewSwitch(page, name));

/** The titles of all examples in the picker. */
export async function exampleTitles(page) {
  const titles = await picker(page, 'Example').locator('option:not([disabled])').allTextContents();
  expect(titles.length).toBeGreaterThanOrEqual(8);
  return titles;
}

const dropFile = (page, file) => page.locator('main').first().evaluate((element, dropped) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(dropped);
  for (const kind of ['dragover', 'drop']) {
    element.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}, file);

/** Drops a file on the page: its name, and a text or bytes. */
export async function drop(page, name, content) {
  await dropFile(page, await page.evaluateHandle(
    ([called, held]) => new File([typeof held === 'string' ? held : new Uint8Array(held)], called),
    [name, typeof content === 'string' ? content : [...content]],
  ));
}

/** Drops a file that is too large to be sent to the page: `make` runs there. Returns what tells how many bytes were read since. */
export async function dropMade(page, make, argument) {
  const file = await page.evaluateHandle(make, argument);
  await page.evaluate(() => {
    globalThis.readBytes = 0;
    const read = Blob.prototype.arrayBuffer;
    Blob.prototype.arrayBuffer = function arrayBuffer() {
      globalThis.readBytes += this.size;
      return read.call(this);
    };
  });
  await dropFile(page, file);
  return () => page.evaluate(() => globalThis.readBytes);
}

/** The note that came with a link. */
export const senderNote = (page) => page.getByRole('note');

export const openShare = (page) => page.locator('summary').filter({ hasText: 'Share' }).click();
export const copyButton = (page) => page.getByRole('button', { name: 'Copy link', exact: true });

/** Copies a link to what the page shows, with a note to its reader. */
export async function copyLink(page, note = '') {
  await openShare(page);
  if (note) await page.getByLabel('Note to the reader').fill(note);
  await copyButton(page).click();
}

/** The link that *Share* puts on the clipboard. */
export async function sharedLink(page, note) {
  // Firefox has a preference in the place of these permissions (firefox.mjs).
  const isFirefox = page.context().browser().browserType().name() === 'firefox';
  if (!isFirefox) await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await copyLink(page, note);
  await expect(page.getByText(/Link copied/)).toBeVisible();
  return page.evaluate(() => navigator.clipboard.readText());
}
