// GPT-2 blocks in a row as a text: the example's block again and again, each reading what the one before wrote.

import { readFileSync } from 'node:fs';

const EXAMPLE = new URL('../../public/examples/gpt2.fuse', import.meta.url);

/** Ops of one block. */
export const OPS_PER_BLOCK = 51;

/** The text of so many blocks. Its params are the example's, so its sliders move all blocks. */
export function gpt2Blocks(count) {
  const lines = readFileSync(EXAMPLE, 'utf8').split('\n').map((line) => line.replace(/#.*/, '').trim()).filter(Boolean);
  const params = lines.filter((line) => line.startsWith('param '));
  const input = lines.find((line) => line.startsWith('input '));
  const block = lines.filter((line) => !params.includes(line) && line !== input);
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
