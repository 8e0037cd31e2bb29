// ONNX models: dropped or chosen, read by slices, and what a broken one says.

import { readFile } from 'node:fs/promises';
import { expect, test } from './fixture.mjs';
import { drop, dropMade, editor, kernels, notice, slider, write } from './visitor.mjs';

const OWN = '# my own\nmine: y = relu(x) : f16[8, 64]\n';
const model = (name) => readFile(new URL(`../model/files/${name}.onnx`, import.meta.url));

test('a dropped ONNX model becomes a program with sliders, and undo brings the text back', async ({ page, open }) => {
  await open();
  await write(page, OWN);
  // Its content says what it is, not its name.
  await drop(page, 'model.txt', await model('attention'));
  await expect(notice(page)).toContainText('Imported 28 ops from ONNX. Params stand for the sizes that the file leaves open: batch = 8, length = 512.');
  await expect(editor(page)).toHaveValue(/input\s+x\s+: f32\[batch, length, 64\]/);
  await expect.poll(async () => (await kernels(page)).flat().length).toBe(28);
  await expect(slider(page, 'length')).toBeVisible();
  await slider(page, 'batch').press('ArrowRight');
  await expect(editor(page)).toHaveValue(/param batch\s+= 10 /);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(editor(page)).toHaveValue(OWN);
});

test('a model is opened by the button, and what is not understood is named', async ({ page, open }) => {
  await open();
  await page.getByText('Open', { exact: true }).click();
  await page.getByLabel('A file…').setInputFiles({ name: 'by_hand.onnx', mimeType: 'application/octet-stream', buffer: await model('by_hand') });
  await expect(notice(page)).toContainText('3 ops count as opaque: 1 NonZero, 2 my.ops.Frobnicate.');
  // The picture is the model's, not that of the program before it.
  await expect.poll(async () => (await kernels(page)).flat()).toContain('best');
  await expect(page.locator('.headline')).toContainText('≥');
  await expect(editor(page)).toHaveValue(/opaque\(inner\.x_2, name=NonZero, flops=0\)/);
});

test('a model that is cut off, and other files, say what was expected and leave the text', async ({ page, open }) => {
  await open();
  await write(page, OWN);
  const whole = await model('attention');
  await drop(page, 'model.onnx', whole.subarray(0, 2000));
  await expect(notice(page)).toContainText('This ONNX file was not opened: at byte');
  await expect(notice(page)).toContainText('the file is cut off.');
  await expect(editor(page)).toHaveValue(OWN);
  await drop(page, 'weights.onnx', Buffer.from('GGUF\u0003\u0000\u0000\u0000'));
  await expect(notice(page)).toContainText('it is a GGUF file, which holds weights but no graph');
  await expect(editor(page)).toHaveValue(OWN);
  for (const [name, bytes, said] of [
    ['empty.fuse', '\n', 'This file was not opened: it is empty.'],
    ['weights.pt', Buffer.from([0x80, 4, 0x95, 1, 2, 3]), 'it is a Python pickle'],
    ['model.py', '"""A model."""\nimport torch\n\nclass Net(torch.nn.Module):\n  pass\n', 'this is a Python program, which would have to run'],
  ]) {
    await drop(page, name, bytes);
    await expect(notice(page)).toContainText(said);
    await expect(editor(page)).toHaveValue(OWN);
  }
  // A list that is nearly right is shown where it can be mended, and undone at once.
  await drop(page, 'ops.json', '{"ops": [{"name": "y", "shape": [NaN]}]}');
  await expect(notice(page)).toContainText('This JSON is not a list of ops');
  await notice(page).getByRole('button', { name: 'Undo' }).click();
  await expect(editor(page)).toHaveValue(OWN);
});

test('of a file of 1 GB little more than the graph is read', async ({ page, open }) => {
  await open();
  const readBytes = await dropMade(page, () => {
    const varint = (value) => {
      const bytes = [];
      for (let rest = value; ; rest = Math.floor(rest / 128)) {
        if (rest < 128) return [...bytes, rest];
        bytes.push((rest % 128) + 128);
      }
    };
    const text = (value) => [...new TextEncoder().encode(value)];
    const field = (number, bytes) => [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
    const int = (number, value) => [...varint(number * 8), ...varint(value)];
    const rows = 16384;
    const weight = new Blob([new Uint8Array(rows * rows)]);
    const dim = (size) => field(1, int(1, size));
    const type = field(1, [...int(1, 3), ...field(2, [...dim(8), ...dim(rows)])]);
    const nodes = [0, 1, 2, 3].flatMap((at) => field(1, [
      ...field(1, text(`x${at}`)), ...field(1, text(`w${at}`)), ...field(2, text(`x${at + 1}`)), ...field(4, text('MatMul')),
    ]));
    const graph = [...nodes, ...field(11, [...field(1, text('x0')), ...field(2, type)]), ...field(12, field(1, text('x4')))];
    const parts = [0, 1, 2, 3].flatMap((at) => {
      const own = [...int(1, rows), ...int(1, rows), ...int(2, 3), ...field(8, text(`w${at}`)), ...varint(9 * 8 + 2), ...varint(weight.size)];
      return [new Uint8Array([...varint(5 * 8 + 2), ...varint(own.length + weight.size), ...own]), weight];
    });
    const bytes = graph.length + parts.reduce((sum, part) => sum + (part.size ?? part.length), 0);
    const file = new File([new Uint8Array([...int(1, 10), ...varint(7 * 8 + 2), ...varint(bytes), ...graph]), ...parts], 'large.onnx');
    if (file.size < 1e9) throw new Error(`${file.size} bytes`);
    return file;
  });
  await expect(notice(page)).toContainText('Imported 4 ops from ONNX.');
  await expect(editor(page)).toHaveValue(/x4 = matmul\(x3, w3\)/);
  expect(await readBytes()).toBeLessThan(2e6);
});
