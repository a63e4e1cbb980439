// The module of a page around a frame: its collectors are in the page in the frame, which loads the module under test.
const { searchParams } = new URL(import.meta.url);
const [page, module] = [searchParams.get("page"), searchParams.get("module")];
const frame = document.createElement("iframe");
const loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
frame.src = page;
document.body.append(frame);
await loaded;

export function create(options) {
  const { port1: port, port2: other } = new MessageChannel();
  frame.contentWindow.postMessage({ module, options }, new URL(page).origin, [other]);
  const ends = [];
  port.onmessage = ({ data: [id, failed] }) => {
    const [resolve, reject] = ends[id];
    if (failed) reject(Object.assign(new Error(failed.message), { name: failed.name }));
    else resolve();
  };
  const call =
    (name) =>
    (...args) =>
      new Promise((resolve, reject) => port.postMessage([ends.push([resolve, reject]) - 1, name, args]));
  return { start: call("start"), ready: call("ready"), verify: call("verify"), abort: call("abort") };
}
