// Exported programs of PyTorch: dropped, and what an archive of something else says.

import { readFile } from 'node:fs/promises';
import { expect, test } from './fixture.mjs';
import { drop, dropMade, editor, kernels, notice, slider, write } from './visitor.mjs';

const OWN = '# my own\nmine: y = relu(x) : f16[8, 64]\n';
const model = (name) => readFile(new URL(`../model/files/${name}.pt2`, import.meta.url));

test('a dropped .pt2 becomes a program with sliders, and one that is cut off leaves the text', async ({ page, open }) => {
  await open();
  await write(page, OWN);
  const whole = await model('attention');
  await drop(page, 'model.pt2', whole.subarray(0, 1000));
  await expect(notice(page)).toContainText('This .pt2 file was not opened: at byte 1000, the file ends without the entry list of a zip archive');
  await expect(editor(page)).toHaveValue(OWN);
  // Its content says what it is, not its name.
  await drop(page, 'model.txt', whole);
  await expect(notice(page)).toContainText('Imported 15 ops from PyTorch. Params stand for the sizes that the file leaves open: B = 4, x_size1 = 8.');
  await expect(editor(page)).toHaveValue(/input\s+x\s+: f32\[B, x_size1, 64\]/);
  await expect.poll(async () => (await kernels(page)).flat().length).toBe(15);
  await slider(page, 'B').press('ArrowRight');
  await expect(editor(page)).toHaveValue(/param B\s+= 5 /);
});

test('of a .pt2 behind 1 GB of weights little more than the graph is read', async ({ page, open }) => {
  await open();
  const readBytes = await dropMade(page, (bytes) => {
    // The archive of a small model, whose list of entries says that its parts stand behind 1 GB.
    const archive = new Uint8Array(bytes);
    const view = new DataView(archive.buffer);
    const start = new Uint8Array(2 ** 26);
    start.set([0x50, 0x4b, 3, 4]);
    const weights = new Blob([start]);
    const shift = 16 * weights.size;
    const end = archive.length - 22;
    const list = view.getUint32(end + 16, true);
    for (let at = list; at < end;) {
      view.setUint32(at + 42, view.getUint32(at + 42, true) + shift, true);
      at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    }
    view.setUint32(end + 16, list + shift, true);
    return new File([...Array(16).fill(weights), archive], 'large.pt2');
  }, [...await model('mlp')]);
  await expect(notice(page)).toContainText('Imported 5 ops from PyTorch.');
  expect(await readBytes()).toBeLessThan(1e6);
});
