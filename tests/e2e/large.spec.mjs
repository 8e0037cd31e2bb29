// Programs that take long: the worker computes, and the page answers meanwhile.

import { readFileSync } from 'node:fs';
import { accessibilityFindings, commandLine, expect, test } from './fixture.mjs';
import { OPS_PER_BLOCK, gpt2Blocks } from './gpt2.mjs';
import {
  choosePolicy, editor, followLink, fragmentOf, grouped, headlineBytes, policyChoice, problemList, put, slider,
  storedTexts, withhold,
} from './visitor.mjs';

/** Enough for the worker. */
const BLOCKS = 40;
const OPS = BLOCKS * OPS_PER_BLOCK;
const LARGE = gpt2Blocks(BLOCKS);

const canvas = (page) => page.getByRole('region', { name: 'Graph' }).getByRole('group', { name: /^graph of/ });
const graphOf = (page, ops) => expect(canvas(page)).toHaveAccessibleName(new RegExp(`^graph of ${grouped(ops)} operations? `), { timeout: 30_000 });
/** What the line below the bar says about the worker. */
const work = (page) => page.locator('.strip .work');
const tab = (page, name) => page.getByRole('tab', { name, exact: true });
const details = (page) => page.getByRole('tabpanel', { name: /./ }).last();
const rows = (page) => page.locator('.results tbody tr');

/** No worker starts until the returned function is called. */
const withholdWorker = (page) => withhold(page, '**/worker.js');

test('a large program has the figures and the reasons of the command line, and its slider moves them', async ({ page, open }) => {
  await open();
  await choosePolicy(page, 'inductor');
  await put(page, LARGE);
  await graphOf(page, OPS);
  const report = commandLine(['analyze', '-', '--policy', 'inductor'], LARGE);
  const bytes = await headlineBytes(page);
  expect(bytes.unfused).toBe(report.unfused_traffic.total);
  expect(bytes.fused).toBe(report.fused_traffic.total);

  await tab(page, 'Why not').click();
  await expect(rows(page)).toHaveCount(100);
  const edge = await rows(page).first().locator('button.link').textContent();
  const [producer, consumer] = edge.split(' → ');
  const { reason } = report.edges.find((one) => one.producer === producer && one.consumer === consumer);
  await expect(rows(page).first().locator('.why-reason')).toContainText(reason.replaceAll('`', ''));

  await slider(page, 'S').press('ArrowRight');
  await expect.poll(() => headlineBytes(page)).not.toEqual(bytes);
});

test('while it computes the page says so, keeps the last picture, and answers', async ({ page, open }) => {
  await open();
  const start = await withholdWorker(page);
  const before = await canvas(page).getAttribute('aria-label');
  await put(page, LARGE);
  await expect(work(page)).toContainText('Computing');
  await expect(canvas(page)).toHaveAccessibleName(before);
  await tab(page, 'Limits').click();
  await editor(page).press('Control+End');
  await page.keyboard.type('# still here');
  await expect(editor(page)).toHaveValue(`${LARGE}# still here`);
  expect(await accessibilityFindings(page)).toEqual([]);
  start();
  await graphOf(page, OPS);
  await expect(work(page)).toHaveText('');
});

test('the handout of a large program opens at once, and has its pictures when the worker has drawn them', async ({ page, open }) => {
  await open();
  await put(page, LARGE);
  await graphOf(page, OPS);
  const listen = await silenceWorker(page);
  await page.locator('summary', { hasText: 'Export' }).click();
  await page.getByRole('button', { name: /^Handout/ }).click();
  const handout = page.getByRole('dialog', { name: 'Handout' });
  await expect(handout.locator('tbody tr')).toHaveCount(12);
  await expect(handout.locator('img[src]')).toHaveCount(0);
  await handout.getByRole('button', { name: 'Close' }).click();
  await listen();
  await page.locator('.strip .work').getByRole('button', { name: 'Stop' }).click();
  await page.locator('.strip .work').getByRole('button', { name: 'Compute it' }).click();
  await page.locator('summary', { hasText: 'Export' }).click();
  await page.getByRole('button', { name: /^Handout/ }).click();
  await expect.poll(() => handout.locator('img').evaluateAll((images) => images.map((image) => image.complete && image.naturalWidth > 0))).toEqual([true, true, true, true]);
});

/** The worker gets nothing to do until the returned function is called. */
async function silenceWorker(page) {
  await page.evaluate(() => {
    globalThis.post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = () => {};
  });
  return () => page.evaluate(() => { Worker.prototype.postMessage = globalThis.post; });
}

test('what takes too long can be stopped and begun again, and an edit after a stop is computed', async ({ page, open }) => {
  await open();
  const start = await withholdWorker(page);
  await put(page, LARGE);
  await work(page).getByRole('button', { name: 'Stop' }).click();
  await expect(work(page)).toContainText('Stopped');
  // A smaller program needs no worker.
  await put(page, 'y = relu(x) : f16[8]\n');
  await graphOf(page, 1);
  await expect(work(page)).toHaveText('');
  await put(page, LARGE);
  await work(page).getByRole('button', { name: 'Stop' }).click();
  start();
  await put(page, `${LARGE}last = relu(y_0)\n`);
  await graphOf(page, OPS + 1);

  const listen = await silenceWorker(page);
  await put(page, LARGE);
  await work(page).getByRole('button', { name: 'Stop' }).click();
  await listen();
  await work(page).getByRole('button', { name: 'Compute it' }).press('Enter');
  await graphOf(page, OPS);
  await expect(work(page)).toHaveText('');
  // The button had the focus.
  await expect.poll(() => page.evaluate(() => document.activeElement.localName)).not.toBe('body');
});

test('a tab that is computed after a stop does not begin what was stopped', async ({ page, open }) => {
  await open();
  await put(page, LARGE);
  await graphOf(page, OPS);
  const listen = await silenceWorker(page);
  await put(page, `${LARGE}last = relu(y_0)\n`);
  await work(page).getByRole('button', { name: 'Stop' }).click();
  await listen();
  await tab(page, 'Compare').click();
  await expect(rows(page)).toHaveCount(4);
  await expect(work(page)).toContainText('Stopped');
  await graphOf(page, OPS);
  await work(page).getByRole('button', { name: 'Compute it' }).click();
  await graphOf(page, OPS + 1);
});

test('a worker that cannot be loaded costs nothing but its answers', async ({ page, open, problems }) => {
  await open();
  await page.route('**/worker.js', (route) => route.fulfill({ status: 404, body: '' }));
  await put(page, LARGE);
  await expect(work(page)).toContainText('failed');
  await put(page, 'y = relu(x) : f16[8]\n');
  await graphOf(page, 1);
  await put(page, LARGE);
  await expect(work(page)).toContainText('failed');
  await page.unroute('**/worker.js');
  await work(page).getByRole('button', { name: 'Try again' }).click();
  await graphOf(page, OPS);
  const provoked = problems.splice(0);
  expect(provoked.every((problem) => problem.includes('404'))).toBe(true);
});

test('the tabs of a large program fill in, the selected edge has a row and an answer, and the export is that of the command line', async ({ page, open }) => {
  await open();
  await put(page, LARGE);
  await graphOf(page, OPS);
  await tab(page, 'Compare').click();
  await expect(rows(page)).toHaveCount(4);
  await tab(page, 'Why not').click();
  await expect(rows(page)).toHaveCount(100);
  await expect(details(page).getByRole('status')).not.toHaveText('');
  const field = page.getByRole('textbox', { name: 'one op', exact: true });
  const chosen = await field.inputValue();
  await field.fill('nobody');
  await field.press('Enter');
  await expect(field).toHaveValue(chosen);
  await field.fill('mean1_7');
  await field.press('Enter');
  await expect(field).toHaveValue('mean1_7');
  await expect(details(page).getByRole('status')).toContainText(/ more must run between them\.$/);

  await page.locator('.dag-size-label.is-dram').first().click();
  const selected = page.locator('.results tr.is-selected');
  await expect(selected).toHaveCount(1);
  await expect(page.locator('.inspector')).toContainText('Separate: ');
  await expect(details(page).getByRole('status')).toHaveText(/^Separate: /);
  await details(page).getByRole('button', { name: /more/ }).click();
  // The selected one may come after them.
  await expect.poll(() => rows(page).count()).toBeGreaterThanOrEqual(200);
  await expect(selected).toHaveCount(1);
  await page.keyboard.press('Escape');

  await tab(page, 'Steps').click();
  const count = page.locator('.steps-now');
  await expect(count).toContainText(/^Step [\d,]+ of [\d,]+/);
  const kernels = await canvas(page).getAttribute('aria-label');
  await page.getByRole('button', { name: 'First step' }).click();
  await expect(count).toContainText(/^Step 0 of/);
  await expect(canvas(page)).not.toHaveAccessibleName(kernels);
  await page.getByRole('button', { name: 'Last step' }).click();
  await expect(canvas(page)).toHaveAccessibleName(kernels);
  expect(await accessibilityFindings(page)).toEqual([]);

  const download = page.waitForEvent('download');
  await page.getByText('Export', { exact: true }).click();
  await page.getByRole('button', { name: /^Analysis/ }).click();
  const saved = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
  const report = commandLine(['analyze', '-'], LARGE);
  expect(saved.kernels).toEqual(report.kernels);
  expect(saved.edges).toEqual(report.edges);
});

test('a cut by hand selects the kernel that the op is in afterwards', async ({ page, open }) => {
  await open();
  await put(page, LARGE);
  await graphOf(page, OPS);
  await page.getByRole('button', { name: /^kernel \d+: .*scaled1_0/ }).first().click();
  await canvas(page).getByRole('button', { name: /scaled1_0/ }).last().focus();
  await page.keyboard.press('x');
  await page.keyboard.press('x');
  await expect(policyChoice(page, 'manual')).toBeChecked();
  await expect(work(page)).toHaveText('');
  const selected = canvas(page).locator('[aria-pressed="true"]');
  await expect(selected).toHaveCount(1);
  await expect(selected).toHaveAccessibleName(/^kernel \d+ of/);
  const name = await selected.getAttribute('aria-label');
  expect(name).toContain('scaled1_0');
});

test('a merge in a large program says what it would save, and is made as soon as that is known', async ({ page, open }) => {
  await open();
  await choosePolicy(page, 'manual');
  await put(page, LARGE);
  await graphOf(page, OPS);
  const kernel = (number) => canvas(page).getByRole('button', { name: new RegExp(`^kernel ${number} of`) });
  const status = page.locator('.dag-status');
  await kernel(2).focus();
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowRight');
  await expect(kernel(3)).toBeFocused();
  await expect(status).toContainText(/^Merging kernels 2 and 3 saves/);
  await page.keyboard.press('Escape');
  await kernel(1).focus();
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowRight');
  // Before the worker has told what this one would save.
  await page.keyboard.press('Enter');
  await expect(page.locator('.notice')).toContainText('Merged kernels 1 and 2: saves');
  await expect(policyChoice(page, 'manual')).toBeChecked();
  await expect(canvas(page)).toHaveAccessibleName(new RegExp(`^graph of ${grouped(OPS)} operations in ${grouped(OPS - 1)} kernels`));
});

test('an error in a large program leaves its picture, choices still count, and a link to an op selects it', async ({ page, open }) => {
  await open();
  await put(page, LARGE);
  await graphOf(page, OPS);
  await put(page, `${LARGE}broken = = relu(y_0)\n`);
  await expect(problemList(page)).toContainText('expected the name of a function');
  const bytes = await headlineBytes(page);
  await choosePolicy(page, 'manual');
  await expect.poll(async () => (await headlineBytes(page)).fused).toBe(bytes.unfused);

  await followLink(page, fragmentOf(`policy=rules\nselected=mean1_3\n\n${LARGE}`));
  await graphOf(page, OPS);
  await expect(page.locator('.details-title')).toContainText('mean1_3');
  // One round is drawn, with its equal.
  await expect(canvas(page).getByRole('button', { name: /^mean1_\d+,/, pressed: true })).toHaveCount(1);
});

test('a text beyond the limit stays, is stored, and says what to do', async ({ page, open }) => {
  await open();
  const text = `y = relu(x) : f16[8]\n${`#${'-'.repeat(98)}\n`.repeat(10_001)}`;
  await put(page, text);
  await expect(problemList(page)).toContainText('the limit of the page is 1,000,000');
  await expect(editor(page)).toHaveValue(text);
  await expect.poll(async () => (await storedTexts(page)).includes(text)).toBe(true);
});

test('an op with thousands of readers has a picture of few elements', async ({ page, open }) => {
  await open();
  const readers = Array.from({ length: 3000 }, (_, at) => `b${at}`);
  await put(page, [
    'input x : f16[64, 64]',
    'a = relu(x)',
    ...readers.map((name) => `${name} = gelu(a)`),
    `c = elementwise(${readers.join(', ')}) : f16[64, 64]`,
  ].join('\n'));
  await graphOf(page, 3002);
  expect(await canvas(page).locator('*').count()).toBeLessThan(5000);
  const tools = page.getByRole('region', { name: 'Graph' });
  for (let step = 0; step < 12; step += 1) {
    await tools.getByRole('button', { name: 'Zoom out', exact: true }).click();
    expect(await canvas(page).locator('*').count()).toBeLessThan(5000);
  }
});
