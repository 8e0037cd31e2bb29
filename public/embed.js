// The example of embed.html: the page around the frame.

const frame = document.querySelector('#frame');
const size = document.querySelector('#size');
const sizeValue = document.querySelector('#size-value');
const policy = document.querySelector('#policy');
const figures = document.querySelector('#figures');
const log = document.querySelector('#log');

/** Most characters of a message and lines of the list. */
const SHOWN_CHARS = 300;
const SHOWN_LINES = 12;

document.querySelector('.address').textContent = new URL('./', location.href).href;

function note(direction, message) {
  const text = JSON.stringify(message, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  const line = `${direction} ${text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text}`;
  log.textContent = [line, ...log.textContent.split('\n')].slice(0, SHOWN_LINES).join('\n');
}

function send(message) {
  note('sent', message);
  frame.contentWindow.postMessage({ fuseline: 1, ...message }, location.origin);
}

const gigabytes = (bytes) => `${(Number(bytes) / 1e9).toFixed(2)} GB`;

addEventListener('message', (event) => {
  if (event.source !== frame.contentWindow || event.data?.fuseline !== 1) return;
  const message = event.data;
  note('received', message);
  switch (message.type) {
    case 'resize':
      frame.style.height = `${message.height_px}px`;
      break;
    case 'change':
      policy.value = message.policy;
      size.value = message.params.S ?? size.value;
      sizeValue.textContent = size.value;
      figures.textContent = `${gigabytes(message.unfused_bytes)} in ${message.unfused_kernels} kernels become ${gigabytes(message.fused_bytes)} in ${message.fused_kernels}.`;
      break;
    case 'analysis':
      figures.textContent = `The analysis lists ${message.analysis.kernels.length} kernels and ${message.analysis.edges.length} edges.`;
      break;
    case 'error':
      figures.textContent = message.message;
      break;
  }
});

size.addEventListener('input', () => send({ type: 'set', params: { S: Number(size.value) } }));
policy.addEventListener('change', () => send({ type: 'set', policy: policy.value }));
document.querySelector('#get').addEventListener('click', () => send({ type: 'get', id: 'example' }));
