// The kernels of every example compute on a GPU what the interpreter computes, at the sizes at
// which it does.

import { expect, test } from './fixture.mjs';
import { openTab, picker } from './visitor.mjs';
import { launchOptions, own, run } from './webgpu.mjs';

test.use({ launchOptions });
// Together they take as long as a tenth of all other tests: each worker takes its share.
test.describe.configure({ mode: 'parallel' });

const SHARES = 4;

for (let share = 0; share < SHARES; share += 1) {
  test(`every example gives the results of the interpreter, unfused and fused: ${share + 1} of ${SHARES}`, async ({ page, open }) => {
    test.setTimeout(900_000);
    await open();
    await openTab(page, 'Your GPU');
    const examples = picker(page, 'Example').locator('option');
    const ids = (await examples.evaluateAll((options) => options.map(({ value }) => value))).filter(Boolean);
    expect(ids.length).toBeGreaterThan(20);
    const status = own(page).getByRole('status');
    for (const id of ids.filter((_, at) => at % SHARES === share)) {
      await test.step(id, async () => {
        await picker(page, 'Example').selectOption(id);
        // On a busy machine a run may reach its time limit, which says nothing about the kernels:
        // then it is tried again.
        await expect(async () => {
          await run(page).click();
          await expect(status).toContainText(/results? agrees? with|wrong|refuse|Not |took|lost|could not/, { timeout: 120_000 });
          await expect(status).not.toContainText('took longer');
        }).toPass();
        await expect(status).toContainText('with the interpreter, unfused and fused.');
        const stop = own(page).getByRole('button', { name: 'Stop' });
        // Times come next. The run may end by itself before it is stopped.
        await Promise.race([stop.click().catch(() => {}), run(page).waitFor()]);
        await expect(run(page)).toBeVisible();
      });
    }
  });
}
