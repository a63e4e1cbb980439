// The module of a page with a policy: the module under test, called by the page itself. Calls of the debugging connection may
// evaluate texts, whatever the policy says, until they return.
const { create: make } = await import(new URL(import.meta.url).searchParams.get("module"));

const later = (call) =>
  new Promise((resolve, reject) => {
    setTimeout(() => {
      try {
        resolve(call());
      } catch (error) {
        reject(error);
      }
    });
  });

export async function create(options) {
  const collector = await later(() => make(options));
  const call =
    (name) =>
    (...args) =>
      later(() => collector[name]?.(...args));
  return { start: call("start"), ready: call("ready"), verify: call("verify"), abort: call("abort") };
}
