// Whether everything on the page can be reached, however large it is shown.

import { accessibilityFindings, expect } from './fixture.mjs';
import { kernelButton, roofline } from './visitor.mjs';

/** Pixels by which the page is wider than its window. */
const overhang = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Controls, but for the text, which scrolls in its frame, that something else covers, or that cannot be scrolled into the window. */
const unreachable = (part) => part.locator('button, select, summary, input, [role="tab"], [role="separator"]').evaluateAll((all) => {
  const name = (control) => `${control.tagName.toLowerCase()} ${control.getAttribute('aria-label') ?? control.textContent.trim().slice(0, 40)}`;
  const isHit = (control) => {
    control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const { left, top, width, height } = control.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20));
    // The words of a radio button or check box belong to it.
    return hit !== null && (control.contains(hit) || (hit.closest('label')?.contains(control) ?? false));
  };
  const isShown = (control) => control.checkVisibility({ visibilityProperty: true }) && control.getBoundingClientRect().width > 1;
  return all.filter(isShown).filter((control) => !isHit(control)).map(name);
});

/** Elements of `part` that the window cuts off at its left or right edge, by their tag, class and place. */
export const cutOff = (part) => part.evaluate((root) => {
  const width = document.documentElement.clientWidth;
  const places = [root, ...root.querySelectorAll('*')].filter((element) => element.checkVisibility()).map((element) => ({ element, ...element.getBoundingClientRect().toJSON() }));
  const isCutOff = ({ left, right }) => left < -0.5 || right > width + 0.5;
  return places.filter(isCutOff).map(({ element, left, right }) => `${element.tagName.toLowerCase()}.${element.className} ${Math.round(left)} to ${Math.round(right)}`);
});

/** Cells of tables in `part` whose text reaches beyond them, or that do not stand below the heading of their column. */
export const misplacedCells = (part) => part.locator('table').evaluateAll((tables) => tables.flatMap((table) => {
  const heads = [...table.tHead.rows[0].cells];
  const cells = [...table.rows].filter((row) => row.cells.length === heads.length).flatMap((row) => [...row.cells]);
  const isMisplaced = (cell) => {
    const [own, head] = [cell, heads[cell.cellIndex]].map((of) => of.getBoundingClientRect());
    if (own.width <= 1) return false;
    // A heading for screen readers alone stands nowhere: its cells say what they are.
    const isBelow = head.width <= 1 || (Math.abs(own.left - head.left) <= 0.5 && Math.abs(own.right - head.right) <= 0.5);
    return cell.scrollWidth > cell.clientWidth || !isBelow;
  };
  return cells.filter(isMisplaced).map((cell) => cell.textContent);
}));

/** Words of a cell in the first column of a table in `part` of which a line holds only a part, though they would fit in half the width of the window. */
export const brokenNames = (part) => part.locator('tbody th').evaluateAll((cells) => cells.flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (walker.nextNode()) {
    for (const { 0: word, index } of walker.currentNode.data.matchAll(/\w+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      const lines = [...range.getClientRects()];
      const width = lines.reduce((sum, line) => sum + line.width, 0);
      if (new Set(lines.map((line) => Math.round(line.top))).size > 1 && width < innerWidth / 2) broken.push(word);
    }
  }
  return broken;
}));

/** Numbers in an element whose unit stands on the next line. */
export const brokenUnits = (root) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (walker.nextNode()) {
    for (const { 0: figure, index } of walker.currentNode.data.matchAll(/\d[\d.,]*\s(?:[kMGT]?B|[mµn]?s|%)(?![\w/])/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + figure.length);
      if (new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1) broken.push(figure);
    }
  }
  return broken;
};

/** Headings of tables in `part` that none of the cells of their column stands below or above, and those that touch the next one. */
export const strayHeadings = (part) => part.locator('table').evaluateAll((tables) => tables.filter((table) => table.tHead && table.checkVisibility()).flatMap((table) => {
  const heads = [...table.tHead.rows[0].cells];
  const places = heads.map((head) => head.getBoundingClientRect());
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.cells.length === heads.length);
  const isStray = (head, column) => places[column].width > 1 && rows.some((row) => {
    const cell = row.cells[column].getBoundingClientRect();
    return cell.width > 0 && Math.min(cell.right, places[column].right) <= Math.max(cell.left, places[column].left);
  });
  const words = heads.map((head) => {
    const range = document.createRange();
    range.selectNodeContents(head);
    return range.getBoundingClientRect();
  });
  const isTouching = (head, column) => places[column].width > 1 && words.some((other, at) => at !== column && places[at].width > 1
    && other.left < words[column].right + 2 && words[column].left < other.right && other.top < words[column].bottom && words[column].top < other.bottom);
  return heads.filter((head, column) => isStray(head, column) || isTouching(head, column)).map((head) => `${table.className}: ${head.textContent.trim()}`);
}));

/** Nothing sticks out or is covered: what is shown now, each tab below the pictures, a kernel that is selected. */
export async function expectAllReachable(page) {
  await expect(roofline(page)).toBeVisible();
  expect(await overhang(page)).toBe(0);
  expect(await unreachable(page)).toEqual([]);
  for (const tab of await page.getByRole('tablist').last().getByRole('tab').all()) {
    await tab.click();
    expect(await overhang(page), await tab.textContent()).toBe(0);
    expect(await unreachable(page.getByRole('tabpanel').last()), await tab.textContent()).toEqual([]);
  }
  await page.getByRole('tab', { name: 'Kernels', exact: true }).click();
  await kernelButton(page, 1).click();
  expect(await overhang(page)).toBe(0);
  expect(await accessibilityFindings(page)).toEqual([]);
}
