// In a page in a frame: makes collectors for the page around it. Each has a port, which gets its calls.
addEventListener("message", ({ data, ports: [port] }) => {
  if (!port) return;
  const made = import(data.module).then(({ create }) => create(data.options));
  port.onmessage = async ({ data: [id, name, args] }) => {
    try {
      const collector = await made;
      await collector[name]?.(...args);
      port.postMessage([id]);
    } catch (error) {
      port.postMessage([id, { name: String(error?.name), message: String(error?.message ?? error) }]);
    }
  };
});
