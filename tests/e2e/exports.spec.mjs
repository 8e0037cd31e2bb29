// The four functions as a console, a notebook or a slide deck calls them.

import { expect, test } from './fixture.mjs';

const FOUR_OPS = [
  { name: 'matmul1', op_type: 'matmul', inputs: ['x', 'w1'], output: 'y1', shape: [1024, 4096], bytes_per_element: 2 },
  { name: 'add', op_type: 'elementwise', inputs: ['y1', 'b1'], output: 'y2', shape: [1024, 4096], bytes_per_element: 2 },
  { name: 'relu', op_type: 'elementwise', inputs: ['y2'], output: 'y3', shape: [1024, 4096], bytes_per_element: 2 },
  { name: 'matmul2', op_type: 'matmul', inputs: ['y3', 'w2'], output: 'y4', shape: [1024, 1024], bytes_per_element: 2 },
];

test.beforeEach(async ({ open }) => { await open(); });

test('a transformer block', async ({ page }) => {
  const block = await page.evaluate(() => wasmBindings.analyze_transformer_block(2048, 4096, 32, 2));
  expect(block.ops).toHaveLength(14);
  expect(block.ops[0]).toMatchObject({
    name: 'qkv_proj', op_type: 'matmul', inputs: ['input', 'w_qkv'], output: 'qkv', shape: [2048, 12288], bytes_per_element: 2,
  });
  expect(block.fusion_groups).toHaveLength(9);
  expect(block.unfused_traffic.total).toBe(2_298_478_592);
  expect(block.fused_traffic.total).toBe(1_962_934_272);
  expect(block.fused_traffic.saved_by_fusion).toBe(20 * 2048 * 4096 * 2);
  expect(block.savings_pct).toBeCloseTo(14.599, 3);
});

test('a graph, its kernels and its traffic', async ({ page }) => {
  const { graph, groups, unfused, fused } = await page.evaluate((ops) => ({
    graph: wasmBindings.build_graph(ops),
    groups: wasmBindings.find_fusion_groups(ops),
    unfused: wasmBindings.estimate_memory_traffic(ops, false),
    fused: wasmBindings.estimate_memory_traffic(ops, true, { externals: 'known-only' }),
  }), FOUR_OPS);
  expect(graph.producers).toEqual({ y1: 'matmul1', y2: 'add', y3: 'relu', y4: 'matmul2' });
  expect(graph.consumers.y3).toEqual(['matmul2']);
  expect(groups.map((group) => group.map((op) => op.name ?? op))).toEqual([['matmul1', 'add', 'relu'], ['matmul2']]);
  expect(unfused.total).toBe(unfused.bytes_read + unfused.bytes_written);
  expect(unfused.saved_by_fusion).toBe(0);
  const y3 = 1024 * 4096 * 2;
  expect(fused).toMatchObject({ bytes_read: y3, bytes_written: y3 + 1024 * 1024 * 2 });
});

test('counts past 2^53 are BigInt and exact', async ({ page }) => {
  const { written, small } = await page.evaluate(() => {
    const ops = [{ name: 'a', op_type: 'elementwise', inputs: ['x'], output: 'y', shape: [9007199254740993n], bytes_per_element: 1 }];
    const traffic = wasmBindings.estimate_memory_traffic(ops, false);
    const block = wasmBindings.analyze_transformer_block(2048n, 4096n, 32n);
    return { written: `${typeof traffic.bytes_written} ${traffic.bytes_written}`, small: typeof block.fused_traffic.total };
  });
  expect(written).toBe('bigint 9007199254740993');
  expect(small).toBe('number');
});

test('a mistake throws an Error that says what to mend', async ({ page }) => {
  const messages = await page.evaluate((ops) => {
    const message = (call) => {
      try {
        call();
        return 'no error';
      } catch (error) {
        return error instanceof Error ? error.message : `not an Error: ${error}`;
      }
    };
    return {
      heads: message(() => wasmBindings.analyze_transformer_block(8, 10, 3, 2)),
      fraction: message(() => wasmBindings.analyze_transformer_block(8.5, 12, 3, 2)),
      negative: message(() => wasmBindings.analyze_transformer_block(-8, 12, 3, 2)),
      huge: message(() => wasmBindings.analyze_transformer_block(2 ** 40, 2 ** 40, 1, 2)),
      noList: message(() => wasmBindings.build_graph('relu')),
      type: message(() => wasmBindings.build_graph([{ ...ops[0], op_type: 'convolution' }])),
      cycle: message(() => wasmBindings.find_fusion_groups([{ ...ops[1], inputs: ['y2'] }])),
      twice: message(() => wasmBindings.estimate_memory_traffic([ops[0], ops[0]], false)),
      option: message(() => wasmBindings.estimate_memory_traffic(ops, false, { external: 'declared' })),
    };
  }, FOUR_OPS);
  expect(messages.heads).toMatch(/10.*3 heads/);
  expect(messages.fraction).toMatch(/seq_len/);
  expect(messages.negative).toMatch(/seq_len/);
  expect(messages.huge).toMatch(/2\^63/);
  expect(messages.noList).toMatch(/^ops: /);
  expect(messages.type).toMatch(/convolution/);
  expect(messages.cycle).toMatch(/cycle.*add/);
  expect(messages.twice).toMatch(/matmul1/);
  expect(messages.option).toMatch(/external/);
});
