// The *Your GPU* tab, and how tests start Chromium with WebGPU on the processor.

import { args, executablePath } from './chromium.mjs';
import { panel } from './visitor.mjs';

export const launchOptions = {
  executablePath,
  args: [...args.filter((arg) => arg !== '--disable-gpu'), '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'],
};

export const PROGRAM = 'param N = 4096 in 64..1048576 step 64\ninput x : f16[N]\ninput y : f16[N]\na = add(x, y)\nb = mul(a, y)\nz = relu(b)\n';
export const own = (page) => panel(page, 'Your GPU');
export const run = (page) => own(page).getByRole('button', { name: 'Run on this GPU' });
