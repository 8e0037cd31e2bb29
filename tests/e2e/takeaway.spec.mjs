// What a visitor takes away: pictures, tables, the graph for other programs, and a handout on two
// pages.

import { readFileSync } from 'node:fs';
import { accessibilityFindings, expect, test } from './fixture.mjs';
import { chooseExample, chooseView, exampleTitles, headlineBytes, put } from './visitor.mjs';

const exportMenu = (page) => page.locator('summary').filter({ hasText: 'Export' });

/** Presses a button of the menu *Export* and returns the name and the bytes of the file. */
async function exported(page, name) {
  await exportMenu(page).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.locator('.export-menu').getByRole('button', { name }).click(),
  ]);
  return [download.suggestedFilename(), readFileSync(await download.path())];
}

/** Width and height of a PNG, which begins with its signature and the chunk IHDR. */
function pngSize(bytes) {
  expect(bytes.subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
  expect(bytes.toString('latin1', 12, 16)).toBe('IHDR');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** Cells of a table without quoted line breaks. */
const rows = (csv) => csv.toString('utf8').trimEnd().split('\r\n').map((line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, '')));

test('each picture is saved as SVG and, at twice its size, as PNG', async ({ page, open }) => {
  await open();
  await exportMenu(page).click();
  expect(await accessibilityFindings(page)).toEqual([]);
  await exportMenu(page).click();
  for (const [label, stem] of [['Graph', 'graph'], ['Roofline', 'roofline'], ['Memory timeline', 'timeline'], ['Memory traffic', 'traffic'], ['Traffic by kernel', 'by-kernel']]) {
    const [name, svg] = await exported(page, `${label} as SVG`);
    expect(name).toBe(`fuseline-${stem}.svg`);
    const read = await page.evaluate((text) => {
      const document = new DOMParser().parseFromString(text, 'image/svg+xml');
      const root = document.documentElement;
      return {
        errors: document.querySelectorAll('parsererror').length,
        title: root.querySelector('title').textContent,
        words: root.textContent,
        size: [root.width.baseVal.value, root.height.baseVal.value],
      };
    }, svg.toString('utf8'));
    expect(read.errors).toBe(0);
    expect(read.title).toContain('Transformer block');
    for (const words of ['S = 2,048', 'A100', 'textbook rules', 'kernels become']) { expect(read.words).toContain(words); }
    const [pngName, png] = await exported(page, `${label} as PNG`);
    expect(pngName).toBe(`fuseline-${stem}.png`);
    expect(pngSize(png)).toEqual(read.size.map((side) => side * 2));
  }
});

test('the colours of a file are those that the browser gives the light page', async ({ page, open }) => {
  await open();
  await page.emulateMedia({ colorScheme: 'light' });
  const [, svg] = await exported(page, 'Graph as SVG');
  const inFile = [...svg.toString('utf8').matchAll(/<rect [^>]*rx="12"[^>]*fill="(#[0-9a-f]{6})"/g)].map(([, color]) => color);
  const onPage = await page.locator('.dag-kernel .dag-panel').evaluateAll((panels) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    return panels.map((panel) => {
      canvas.fillStyle = getComputedStyle(panel).fill;
      canvas.fillRect(0, 0, 1, 1);
      return `#${[...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join('')}`;
    });
  });
  expect(onPage.length).toBeGreaterThan(5);
  expect(inFile.sort()).toEqual(onPage.sort());
});

test('an enlarged chart is saved, and the file shows what the page shows', async ({ page, open }) => {
  await open();
  await chooseView(page, 'Unfused');
  await page.getByRole('button', { name: 'Enlarge: Roofline' }).click();
  const dialog = page.getByRole('dialog', { name: 'Roofline' });
  const [download] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'SVG' }).click()]);
  expect(download.suggestedFilename()).toBe('fuseline-roofline.svg');
  const svg = readFileSync(await download.path(), 'utf8');
  expect(svg).toContain('Points are kernels before fusion.');
  await expect(dialog).toBeVisible();
});

test('tables are saved with exact numbers, and the graph for other programs', async ({ page, open }) => {
  await open();
  const bytes = await headlineBytes(page);
  const [name, csv] = await exported(page, 'Kernels as CSV');
  expect(name).toBe('fuseline-kernels.csv');
  const [head, ...kernels] = rows(csv);
  const sum = (column) => kernels.reduce((total, row) => total + Number(row[head.indexOf(column)]), 0);
  expect(kernels).toHaveLength(9);
  expect(sum('bytes read') + sum('bytes written')).toBe(bytes.fused);
  expect(sum('bytes unfused')).toBe(bytes.unfused);
  for (const [label, stem, first] of [
    ['What to do', 'advice', 'what to do'], ['Compare', 'compare', 'policy'], ['Why not', 'edges', 'from'], ['Steps', 'steps', 'step'], ['Limits', 'limits', 'kernel'],
  ]) {
    const [file, table] = await exported(page, `${label} as CSV`);
    expect(file).toBe(`fuseline-${stem}.csv`);
    const [names, ...lines] = rows(table);
    expect(names[0]).toBe(first);
    expect(lines.length).toBeGreaterThan(0);
  }
  await page.getByRole('button', { name: 'Pin', exact: true }).click();
  const [pinnedName, pinned] = await exported(page, 'Pinned and present kernels as CSV');
  expect(pinnedName).toBe('fuseline-pinned.csv');
  const sums = rows(pinned).at(-1);
  expect(sums.slice(0, 3)).toEqual(['all', String(bytes.fused), String(bytes.fused)]);
  const [dotName, dot] = await exported(page, /^Graph for Graphviz/);
  expect(dotName).toBe('fuseline-graph.dot');
  expect(dot.toString('utf8')).toMatch(/^digraph "Transformer block, 14 ops" \{\n/);
  expect(dot.toString('utf8').match(/subgraph cluster_kernel_/g)).toHaveLength(9);
  const [, graph] = await exported(page, /^Graph for Model Explorer/);
  expect(Object.keys(JSON.parse(graph).graphs[0].groupNodeAttributes)).toHaveLength(9);
});

test('a program is saved as a script of PyTorch, or what PyTorch cannot run is told', async ({ page, open }) => {
  await open();
  const [name, script] = await exported(page, /^PyTorch script/);
  expect(name).toBe('bench.py');
  expect(script.toString('utf8')).toContain('def program(input, w_qkv, w_out, w_ffn_up, w_ffn_down):\n    qkv = input @ w_qkv  # qkv_proj\n');
  expect(script.toString('utf8')).toMatch(/^"""Transformer block, 14 ops: runs eager and compiled/);
  await put(page, 'input x : f16[8]\nbare: y = elementwise(x) : f16[8]\n');
  await expect(page.locator('.results')).toContainText('bare');
  await exportMenu(page).click();
  await page.getByRole('button', { name: /^PyTorch script/ }).click();
  await expect(page.getByText('This program has no PyTorch script. bare:')).toBeVisible();
});

const handout = (page) => page.getByRole('dialog', { name: 'Handout' });

const openHandout = async (page) => {
  await exportMenu(page).click();
  await page.getByRole('button', { name: /^Handout/ }).click();
  await expect(handout(page)).toBeVisible();
  await expect.poll(() => handout(page).locator('img').evaluateAll((images) => images.every((image) => image.complete && image.naturalWidth > 0))).toBe(true);
};

/** How many pages a PDF has. */
const pages = (pdf) => pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length;

test('a handout has two pages of A4 and of Letter, and nothing is cut off of any example', async ({ page, open }) => {
  await open();
  const titles = await exampleTitles(page);
  for (const title of titles) {
    await test.step(title, async () => {
      await chooseExample(page, title);
      await openHandout(page);
      const cut = await handout(page).locator('.sheet').evaluateAll((sheets) => sheets.filter((sheet) => sheet.scrollHeight > sheet.clientHeight + 1).length);
      expect(cut).toBe(0);
      // All sheets have the same height, whatever is on them, and Chromium takes seconds to print
      // one.
      if (title === titles.at(-1)) for (const format of ['A4', 'Letter']) expect(pages(await page.pdf({ format })), format).toBe(2);
      await handout(page).getByRole('button', { name: 'Close' }).click();
      await expect(handout(page)).toHaveCount(0);
    });
  }
});

test('a handout says what its figures rest on, can be closed by key, and is accessible', async ({ page, open }) => {
  await open();
  await page.getByRole('tab', { name: 'Compare', exact: true }).click();
  await openHandout(page);
  for (const words of ['Transformer block', 'kernels become', 'S = 2,048', 'A100', 'layer_norm1', 'What to do']) {
    await expect(handout(page)).toContainText(words);
  }
  await expect(handout(page).locator('tbody tr')).toHaveCount(9);
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(handout(page)).toHaveCount(0);
  await expect(exportMenu(page)).toBeVisible();
});

test('the result is copied as sentences with a link to it', async ({ page, open }) => {
  await open();
  await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
  await page.getByText('Share', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Note to the reader' }).fill('Shall we?');
  await page.getByRole('button', { name: 'Copy result and link' }).click();
  await expect(page.locator('.notice')).toContainText('Result and link copied');
  const copied = await page.evaluate(() => globalThis.copied);
  expect(copied).toMatch(/^Transformer block, 14 ops, textbook rules: Memory traffic 2\.30 GB unfused, 1\.96 GB fused/);
  const [, note, link] = copied.split('\n');
  expect(note).toBe('Shall we?');
  await page.goto('about:blank');
  await page.goto(link);
  await expect(page.locator('.headline-figure').first()).toContainText('1.96 GB');
});
