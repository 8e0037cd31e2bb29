// A measurement of the visitor's own, dropped on the page: beside the program, and nothing of the
// visitor's is lost.

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { accessibilityFindings, expect, test } from './fixture.mjs';
import { chooseExample, choosePolicy, drop, editor, notice, openTab, panel, picker, policyChoice, roofline, write } from './visitor.mjs';

const folder = new URL('../model/measured_files/', import.meta.url);
const file = (name) => readFileSync(new URL(name, folder), 'utf8');
const PROGRAM = file('mlp.fuse');

const own = (page) => panel(page, 'Measured').getByRole('region', { name: 'Your measurement' });
const rows = (page) => own(page).locator('.your-kernels tbody tr');

test.beforeEach(async ({ page, open }) => {
  await open();
  await write(page, PROGRAM);
  await choosePolicy(page, 'inductor');
  await picker(page, 'GPU').selectOption('h200');
});

test('what the script saved stands beside the program, kernel by kernel', async ({ page }) => {
  await drop(page, 'bench.json', file('bench.json'));
  await expect(notice(page)).toContainText('11 measured kernels in 2 runs from bench.json.');
  await expect(picker(page, 'Run')).toHaveValue('1');
  await expect(own(page)).toContainText('4 kernels ran, and 4 of them match a predicted kernel.');
  await expect(own(page)).toContainText('NVIDIA H200; PyTorch 2.11.0+cu130');
  await expect(rows(page)).toHaveCount(4);
  await expect(rows(page).nth(1)).toContainText('a + g');
  await expect(rows(page).nth(1)).toContainText('triton_poi_fused_add_gelu_0');
  await expect(rows(page).nth(1)).toContainText('26.4 µs');
  await expect(own(page).locator('.is-warning')).toHaveCount(0);
  await expect(roofline(page).locator('.mark-measured-point')).toHaveCount(4);
  expect(await accessibilityFindings(page)).toEqual([]);
  // A row selects its kernel everywhere.
  await rows(page).nth(3).locator('.badge').press('Enter');
  await expect(rows(page).nth(3)).toHaveClass(/is-selected/);
  await expect(roofline(page).locator('.mark-measured-point.is-selected, .is-selected .mark-measured-point').first()).toBeAttached();
});

test('bytes of a table join the kernels of the script', async ({ page }) => {
  await drop(page, 'bench.json', file('bench.json'));
  await expect(rows(page)).toHaveCount(4);
  await drop(page, 'traffic.csv', file('ncu_raw.csv'));
  await expect(notice(page)).toContainText('11 measured kernels in 2 runs from bench.json and traffic.csv.');
  await expect(rows(page).nth(1)).toContainText('33.6 MB');
  const error = rows(page).nth(0).locator('button.explains').nth(5);
  await error.click();
  await expect(page.getByRole('dialog')).toContainText('predicted / measured − 1');
  await expect(page.getByRole('dialog')).toContainText('16.8 MB');
});

test('a run of another policy or device offers to choose it', async ({ page }) => {
  await picker(page, 'GPU').selectOption('a100-80');
  await drop(page, 'trace.json', file('trace_eager.json'));
  await expect(own(page)).toContainText('Measured on NVIDIA H200, but predicted for A100 SXM 80GB.');
  await own(page).getByRole('button', { name: 'Choose H200' }).click();
  await expect(picker(page, 'GPU')).toHaveValue('h200');
  await drop(page, 'bench.json', file('bench.json'));
  await picker(page, 'Run').selectOption({ label: 'eager' });
  await own(page).getByRole('button', { name: 'Choose the policy no fusion' }).click();
  await expect(policyChoice(page, 'none')).toBeChecked();
  await expect(rows(page)).toHaveCount(7);
  await expect(own(page)).toContainText('Short kernels worth fusing');
  await expect(own(page).locator('.worth-fusing tbody tr')).toHaveCount(2);
  await write(page, PROGRAM.replace('gelu(a, approximate=none)', 'relu(a)'));
  await expect(own(page)).toContainText('The program has changed since this measurement');
  await write(page, `${PROGRAM}\nturned = transpose(x)\n`);
  await expect(own(page)).toContainText('Views alone account for 1 predicted kernel');
  await own(page).getByRole('button', { name: 'Count reshapes as views' }).click();
  await expect(own(page)).not.toContainText('Views alone');
  await own(page).getByRole('button', { name: 'Close' }).click();
  await expect(own(page)).toContainText('Drop a file on the page');
});

test('what is no measurement gets a sentence, and nothing is lost', async ({ page }) => {
  await drop(page, 'bench.json', file('bench.json'));
  await expect(rows(page)).toHaveCount(4);
  const trace = file('trace_eager.json');
  for (const [name, text, sentence] of [
    ['half.json', trace.slice(0, trace.length / 2), 'This trace is cut off after 40 events'],
    ['nan.json', trace.replace('"dur": 48.0', '"dur": NaN'), 'NaN is not a JSON number'],
    ['food.csv', 'name,calories\napple,52\n', 'This table starts with name, calories.'],
    ['h100.json', readFileSync(new URL('../../public/measured/h100.json', import.meta.url)), 'it holds measured patterns. `fuseline calibrate FILE --json` makes records of them'],
    ['report.ncu-rep', 'NVR\0', 'ncu --import FILE --csv --page raw'],
    ['bench.json', '{"torch": "2.11", "rows": [{"variant": "eager", "time_us": NaN}]}', 'rows[0].time_us: NaN is not a JSON number at line 1'],
  ]) {
    await drop(page, name, text);
    await expect(notice(page)).toContainText(sentence);
    await expect(editor(page)).toHaveValue(PROGRAM);
    await expect(rows(page)).toHaveCount(4);
  }
});

test('a trace of many megabytes leaves the page awake', async ({ page }) => {
  const event = '{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1.0, "dur": 1.0, "args": {"Input Dims": [[4096, 4096]]}},\n';
  const trace = file('trace_compiled.json').replace('"traceEvents": [', `"traceEvents": [${event.repeat(200_000)}`);
  await drop(page, 'long.json', trace);
  await chooseExample(page, 'Attention');
  await expect(notice(page)).toContainText('4 measured kernels in 1 run from long.json.', { timeout: 100_000 });
});

test('a trace that PyTorch has packed is read, and one that unpacks to much can be left', async ({ page }) => {
  const packed = gzipSync(file('trace_compiled.json'));
  await drop(page, 'trace.json.gz', packed);
  await expect(notice(page)).toContainText('4 measured kernels in 1 run from trace.json.gz.');
  await expect(rows(page)).toHaveCount(4);
  await drop(page, 'half.json.gz', packed.subarray(0, packed.length / 2));
  await expect(notice(page)).toContainText('This gzip file is cut off after byte');
  await drop(page, 'mlp.fuse.gz', gzipSync(PROGRAM));
  await expect(notice(page)).toContainText('works for measurements only: unpack it first');
  await expect(rows(page)).toHaveCount(4);
  await expect(editor(page)).toHaveValue(PROGRAM);
  // Members of gzip in a row: 600 MB in 600 kB.
  const start = gzipSync('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "ts": 1}');
  const more = gzipSync(',{"ph": "X"}'.repeat(5_000_000));
  await drop(page, 'bomb.json.gz', Buffer.concat([start, ...Array(10).fill(more)]));
  await expect(notice(page)).toContainText('bomb.json.gz: ', { timeout: 100_000 });
  await chooseExample(page, 'Attention');
  await drop(page, 'bench.json', file('bench.json'));
  await expect(notice(page)).toContainText('from trace.json.gz and bench.json.', { timeout: 100_000 });
});

test('on a phone the row of tabs shows the one that a measurement opens', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await drop(page, 'bench.json', file('bench.json'));
  await expect(rows(page)).toHaveCount(4);
  const tab = page.getByRole('tab', { name: 'Measured' });
  const [left, right] = await tab.evaluate((element) => {
    const [place, row] = [element, element.parentElement].map((one) => one.getBoundingClientRect());
    return [place.left - row.left, row.right - place.right];
  });
  expect(left).toBeGreaterThan(-1);
  expect(right).toBeGreaterThan(-1);
});

test('the table fits a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await openTab(page, 'Measured');
  await page.getByLabel('Open a measurement…').setInputFiles({ name: 'bench.json', mimeType: 'application/json', buffer: Buffer.from(file('bench.json')) });
  await expect(rows(page)).toHaveCount(4);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
});
