// A second thread with the same program: the first message says where it is, the others are jobs
// for it.

let program;

async function load({ bindings, module }) {
  const loaded = await import(bindings);
  await loaded.default({ module_or_path: module });
  return loaded;
}

addEventListener('message', async ({ data }) => {
  try {
    if (program) (await program).run_job(data);
    else await (program = load(data));
  } catch (error) {
    // Reaches the page as an event, which a rejected promise would not.
    reportError(error);
  }
});
