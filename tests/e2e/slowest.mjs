// The last lines of a run: its ten slowest tests, how many passed, and what the run left out.

const SHOWN = 10;

export default class Slowest {
  tests = [];

  constructor({ lastLine }) {
    this.lastLine = lastLine;
  }

  onTestEnd(test, { duration }) {
    this.tests.push({ test, duration });
  }

  onEnd() {
    const slowest = this.tests.toSorted((a, b) => b.duration - a.duration).slice(0, SHOWN);
    console.log('\nSlowest tests:');
    for (const { test, duration } of slowest) {
      const [, project, file, ...titles] = test.titlePath();
      console.log(`${(duration / 1000).toFixed(1).padStart(7)} s  [${project}] ${file} › ${titles.join(' › ')}`);
    }
    const count = (...outcomes) => this.tests.filter(({ test }) => outcomes.includes(test.outcome())).length;
    const skipped = count('skipped');
    console.log(`\n${count('expected')} passed, ${count('unexpected', 'flaky')} failed${skipped ? `, ${skipped} skipped` : ''}`);
    if (this.lastLine) console.log(this.lastLine);
  }

  printsToStdio() {
    return false; // the reporter `list` prints the tests
  }
}
