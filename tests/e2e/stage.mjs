// What of a step is not on the screen.

/**
 * What of the present step is cut off or out of sight: the question, how to answer it, what is said about an answer, and the
 * pictures with what they draw. Where the page scrolls, as on a phone, only what is cut off at its sides.
 */
export const outOfSight = (page, { doesScroll = false } = {}) => page.evaluate((doesScroll) => {
  const found = [];
  const box = (element) => element.getBoundingClientRect();
  const isInside = (inner, outer) =>
    inner.top >= outer.top - 1 && inner.left >= outer.left - 1 && inner.bottom <= outer.bottom + 1 && inner.right <= outer.right + 1;
  const screen = doesScroll
    ? { top: -Infinity, left: 0, bottom: Infinity, right: innerWidth }
    : { top: 0, left: 0, bottom: innerHeight, right: innerWidth };
  const shown = (selector, root = document) => [...root.querySelectorAll(selector)].filter((element) => element.checkVisibility() && box(element).height > 0);
  // What scrolls or clips an element bounds what is seen of it.
  const seen = (element) => {
    const edges = { ...screen };
    for (let around = element.parentElement; around; around = around.parentElement) {
      const { display, overflow } = getComputedStyle(around);
      if (overflow === 'visible' || display === 'contents') continue;
      const { top, left, bottom, right } = box(around);
      edges.top = Math.max(edges.top, top);
      edges.left = Math.max(edges.left, left);
      edges.bottom = Math.min(edges.bottom, bottom);
      edges.right = Math.min(edges.right, right);
    }
    return isInside(box(element), edges);
  };
  const { scrollWidth } = document.documentElement;
  if (doesScroll && scrollWidth > innerWidth) found.push(`the page is ${scrollWidth} px wide`);
  const asked = ['.task-question', '.task form button', '.task-options label', '.task-wanted', '.task-verdict', '.lesson-after > *'];
  for (const selector of asked) {
    for (const part of shown(selector)) if (!seen(part)) found.push(`${selector}: ${part.textContent.trim().slice(0, 40)}`);
  }
  for (const part of shown('.is-staged')) {
    const name = part.querySelector('h2')?.textContent ?? part.className;
    if (!isInside(box(part), screen)) found.push(`${name} leaves the screen`);
    for (const table of shown('.table-scroll', part)) {
      if (table.scrollWidth > table.clientWidth + 1) found.push(`${name}: a table is ${table.scrollWidth - table.clientWidth} px too wide`);
    }
    for (const chart of shown('.chart-slot svg.chart, .chart-slot > svg', part)) if (!seen(chart)) found.push(`${name}: a chart is cut off`);
    for (const graph of shown('svg.dag', part)) {
      // A finger moves a graph that is longer than a phone.
      if (doesScroll) continue;
      const frame = box(graph);
      const cut = shown('.dag-op', graph).filter((op) => !isInside(box(op), frame));
      if (cut.length > 0) found.push(`${name}: ${cut.length} ops are cut off`);
    }
  }
  return found;
}, doesScroll);
