// The program on the visitor's own GPU: here one of software, whose results count and whose times
// do not.

import { accessibilityFindings, expect, test } from './fixture.mjs';
import { numberBox, openTab, picker, sharedLink, typeInto, write } from './visitor.mjs';
import { PROGRAM, launchOptions, own, run } from './webgpu.mjs';

test.use({ launchOptions });

const results = (page) => own(page).getByRole('group', { name: 'Results on your GPU' });
const times = (page) => own(page).getByRole('group', { name: 'Times on your GPU' });

/** Runs the program, and waits until its bars are there. */
async function runToEnd(page) {
  await run(page).click();
  await expect(times(page)).toBeVisible({ timeout: 60_000 });
}

test.beforeEach(async ({ page, open }) => {
  await open();
  await write(page, PROGRAM);
  await openTab(page, 'Your GPU');
});

test('results are compared, and times stand beside the prediction', async ({ page }) => {
  await runToEnd(page);
  await expect(own(page).getByRole('status')).toContainText('1 result agrees with the interpreter, unfused and fused.');
  await expect(own(page).getByRole('status')).toContainText(/Measured speedup by fusion: \d+(\.\d+)?×/);
  await expect(own(page)).toContainText(/google swiftshader.*: copies at .*, matmuls in a shader at .*FLOP\/s/);
  await expect(results(page).getByRole('row')).toHaveCount(2);
  await expect(results(page)).toContainText('right');
  await expect(times(page).getByRole('row')).toHaveCount(4);
  await expect(times(page).locator('tfoot .number')).toHaveCount(12);
  await expect(times(page)).not.toContainText('–');
  await expect(own(page).locator('.mark-measured-time')).toHaveCount(4);
  expect(await accessibilityFindings(page)).toEqual([]);
  // The rates are known now; what was run is shown until the next run ends.
  await write(page, PROGRAM.replace('relu', 'exp'));
  await expect(own(page)).toContainText('This run used an earlier program or choice.');
  await runToEnd(page);
  await expect(own(page)).not.toContainText('This run used an earlier program or choice.');
});

test('the measured GPU is kept as a device: in the picker, in later visits and in links, and measured again it replaces itself', async ({ page, browser }) => {
  const keep = own(page).getByRole('button', { name: 'Keep as a device' });
  const chosen = (of) => picker(of, 'GPU').locator('option:checked');
  const title = /^google swiftshader.* \(\d{4}-\d\d-\d\d, WebGPU\)$/;
  await expect(keep).toHaveCount(0);
  await runToEnd(page);
  await keep.click();
  await expect(chosen(page)).toHaveText(title);
  await expect(own(page)).toContainText('It is the chosen GPU.');
  // The run stays one of this text: another device changes none of its kernels.
  await expect(own(page)).not.toContainText('This run used an earlier program or choice.');
  await page.locator('summary').filter({ hasText: 'Model' }).click();
  await expect(page.locator('.figures')).toContainText('the table of devices lacks this GPU; measured on');
  await expect(page.locator('.figures')).toContainText('measured: exponentials');
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');

  const other = await (await browser.newContext()).newPage();
  await other.goto(await sharedLink(page));
  await expect(chosen(other)).toHaveText(title);
  await other.context().close();

  await own(page).getByRole('button', { name: 'Measure again' }).click();
  await expect(keep).toBeVisible({ timeout: 60_000 });
  // What the run has shown is still there.
  await expect(times(page)).toBeVisible();
  await keep.click();
  await expect(own(page)).toContainText('It is the chosen GPU.');
  await expect(picker(page, 'GPU').locator('option', { hasText: 'WebGPU' })).toHaveCount(1);
  await page.reload();
  await expect(chosen(page)).toHaveText(title);
});

test('the program runs at its own sizes where they fit, else at the largest that do', async ({ page }) => {
  await runToEnd(page);
  await expect(own(page)).toContainText("Timed at the program's own sizes.");
  // A GPU that binds 2 MiB holds half a million elements.
  await page.evaluate(() => {
    Object.defineProperty(GPUSupportedLimits.prototype, 'maxStorageBufferBindingSize', { get: () => 2 << 20 });
  });
  await typeInto(numberBox(page, 'N'), '1048576');
  await page.keyboard.press('Enter');
  await runToEnd(page);
  await expect(own(page)).toContainText('Timed at N = 524288 instead of 1048576, so that no tensor has more than 2.10 MB');
  await expect(own(page)).toContainText(/Checked at N = \d+, which the interpreter computes quickly\./);
});

test('sizes that are numbers are timed, though the interpreter does not follow', async ({ page }) => {
  await write(page, 'input x : f32[2048, 2048]\ny = relu(x)\nz = exp(y)\n');
  await runToEnd(page);
  await expect(own(page).getByRole('status')).toContainText('The results could not be checked, because the interpreter cannot run the program: a run would take');
  await expect(results(page)).toHaveCount(0);
  await expect(times(page)).not.toContainText('–');
});

test('a GPU that gives no device says so, and one whose clock stands still', async ({ page }) => {
  await page.evaluate(() => {
    const { requestDevice } = GPUAdapter.prototype;
    GPUAdapter.prototype.requestDevice = async function refuse() {
      GPUAdapter.prototype.requestDevice = requestDevice;
      throw new DOMException('all are taken', 'OperationError');
    };
  });
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText('The GPU could not be opened:');
  await expect(own(page).getByRole('button', { name: 'Save the PyTorch script' })).toBeVisible();
  // Both timestamps are 0. A slow GPU is given up before so many repetitions are made that the
  // clock is seen to stand still.
  await page.evaluate(() => {
    const { getMappedRange } = GPUBuffer.prototype;
    GPUBuffer.prototype.getMappedRange = function zeros(...range) {
      const bytes = getMappedRange.apply(this, range);
      if (bytes.byteLength === 16) new Uint8Array(bytes).fill(0);
      return bytes;
    };
  });
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText(/the clock shows no time for the measurement of the bandwidth|took longer than 2 s/, { timeout: 60_000 });
  // What was found before it failed stands.
  await expect(own(page).getByRole('status')).toContainText('agrees with the interpreter');
});

test('times of a GPU that has not yet raised its clock do not count', async ({ page }) => {
  // For 300 ms from the first work that is timed, every submission takes 48 ms, and 8 ms from then
  // on. Copies of 8 MiB are short.
  await page.evaluate(() => {
    Object.defineProperty(GPUSupportedLimits.prototype, 'maxStorageBufferBindingSize', { get: () => 8 << 20 });
    let began;
    const { beginComputePass } = GPUCommandEncoder.prototype;
    GPUCommandEncoder.prototype.beginComputePass = function begin(options) {
      if (options?.timestampWrites) began ??= performance.now();
      return beginComputePass.call(this, options);
    };
    const { getMappedRange } = GPUBuffer.prototype;
    GPUBuffer.prototype.getMappedRange = function stamps(...range) {
      const bytes = getMappedRange.apply(this, range);
      if (bytes.byteLength === 16) new BigUint64Array(bytes).set([0n, performance.now() - began < 300 ? 48_000_000n : 8_000_000n]);
      return bytes;
    };
  });
  await runToEnd(page);
  await expect(own(page)).toContainText('copies at 2.10 GB/s');
});

test('a run can be stopped, and started again', async ({ page }) => {
  await run(page).click();
  await own(page).getByRole('button', { name: 'Stop' }).click();
  await expect(own(page).getByRole('status')).toContainText('Stopped.');
  await runToEnd(page);
});

test('a device that is lost ends the run with a sentence, and the next one opens it anew', async ({ page }) => {
  await page.evaluate(() => {
    const { requestDevice } = GPUAdapter.prototype;
    GPUAdapter.prototype.requestDevice = async function request(...options) {
      const device = await requestDevice.apply(this, options);
      setTimeout(() => device.destroy(), 30);
      GPUAdapter.prototype.requestDevice = requestDevice;
      return device;
    };
  });
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText('The connection to the GPU was lost');
  await expect(own(page).getByRole('button', { name: 'Save the PyTorch script' })).toBeVisible();
  await runToEnd(page);
});

test('what a device does not admit is said before it runs', async ({ page }) => {
  await page.evaluate(() => {
    Object.defineProperty(GPUSupportedLimits.prototype, 'maxStorageBufferBindingSize', { get: () => 8192 });
  });
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText(/has \d+ bytes, and this GPU allows 8192 bytes in a buffer/);
});

test('a kernel that does not answer for two seconds is given up', async ({ page }) => {
  await page.evaluate(() => {
    GPUQueue.prototype.onSubmittedWorkDone = () => new Promise(() => {});
  });
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText('The program took longer than 2 s and was stopped.');
  await expect(run(page)).toBeVisible();
});

test('a kernel that the browser refuses is named', async ({ page }) => {
  await page.evaluate(() => {
    const { createShaderModule } = GPUDevice.prototype;
    GPUDevice.prototype.createShaderModule = function create(options) {
      return createShaderModule.call(this, { ...options, code: options.code.replace('fn main', 'fn mian') });
    };
  });
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText(/The browser refuses kernel 1 \(a\): .*main/);
});

test('a GPU that is full says so', async ({ page }) => {
  await page.evaluate(() => {
    const { popErrorScope } = GPUDevice.prototype;
    GPUDevice.prototype.popErrorScope = async function pop() {
      await popErrorScope.call(this);
      return new GPUOutOfMemoryError('no room');
    };
  });
  await run(page).click();
  await expect(own(page).getByRole('status')).toContainText("The tensors do not fit in the GPU's memory.");
});

test('without a clock of the GPU the page takes the times and says so', async ({ page }) => {
  await page.evaluate(() => {
    const { has } = GPUSupportedFeatures.prototype;
    GPUSupportedFeatures.prototype.has = function without(name) { return name !== 'timestamp-query' && has.call(this, name); };
  });
  await runToEnd(page);
  await expect(own(page)).toContainText('This GPU gives pages no clock');
  await expect(times(page)).not.toContainText('–');
});
