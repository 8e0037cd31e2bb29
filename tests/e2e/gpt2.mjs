// GPT-2 blocks in a row as a text: the example's block again and again, each reading what the one
// before wrote; written out, or repeated by the notation.

import { readFileSync } from 'node:fs';

const EXAMPLE = new URL('../../public/examples/gpt2.fuse', import.meta.url);

/** Ops of one block. */
export const OPS_PER_BLOCK = 51;

/** The example's params, its input, and the other lines, which are the block. */
function exampleLines() {
  const lines = readFileSync(EXAMPLE, 'utf8').split('\n').map((line) => line.replace(/#.*/, '').trim()).filter(Boolean);
  const params = lines.filter((line) => line.startsWith('param '));
  const input = lines.find((line) => line.startsWith('input '));
  return { params, input, block: lines.filter((line) => !params.includes(line) && line !== input) };
}

/** So many blocks by `repeat`; how many is a param, `L`, whose slider is the first. */
export function gpt2Repeated(count) {
  const { params, input, block } = exampleLines();
  return [`param L = ${count} in 1..200`, ...params, input, 'repeat L with x = y {', ...block, '}', ''].join('\n');
}

/** The text of so many blocks. Its params are the example's, so its sliders move all blocks. */
export function gpt2Blocks(count) {
  const { params, input, block } = exampleLines();
  const name = (line) => line.match(/^(?:weight )?(\w+)\s*[:=]/)[1];
  const own = new Set(block.map(name));
  const text = [...params, input];
  for (let at = 0; at < count; at += 1) {
    const renamed = (word) => {
      if (own.has(word)) return `${word}_${at}`;
      return word === 'x' && at > 0 ? `y_${at - 1}` : word;
    };
    for (const line of block) {
      const [head, ...rest] = line.split('=');
      // The function stands before the first parenthesis, and some tensors are named like one.
      const [call, ...operands] = rest.join('=').split('(');
      const words = (part) => part.replace(/\b[a-z]\w*/g, renamed);
      text.push(rest.length ? `${words(head)}=${call}(${operands.map(words).join('(')}` : words(line));
    }
  }
  return `${text.join('\n')}\n`;
}
