// Sessions and collections that are not apart: shared state, keys and key streams.
import { createReference, mutant, onPost, replace, rightFetch, rightStringify } from "./wrapper.js";

// mutant: last-reference | sends the reference of the last start() in each collection | statement.collectors-apart | collectors-mixed
export function lastReference() {
  let last = "";
  mutant.create = (options) => {
    let right = createReference(options);
    return {
      start: (given) => {
        last = given;
        right.start(given);
      },
      ready: () => right.ready(),
      verify: () => {
        right = createReference(options);
        right.start(last);
        return right.verify();
      },
      abort: () => right.abort(),
    };
  };
}

// mutant: last-edge | sends each collection to the last apiUrl | statement.collectors-apart | collectors-mixed
export function lastEdge() {
  let last = "";
  mutant.options = (options) => {
    last = options.apiUrl;
    return options;
  };
  onPost((url, init) => rightFetch(new URL(new URL(url).pathname, last), init));
}

// mutant: first-reference | keeps the reference of the first session | statement.collectors-apart | collectors-mixed
export function firstReference() {
  let first;
  mutant.start = (right, given) => right.start((first ??= given));
}

// mutant: verify-not-shared | posts a copy if verify() is called twice at once | statement.collection-posted-once | collection-repeated | should
export function verifyNotShared() {
  let waiting = 0;
  onPost((url, init) => {
    if (waiting > 1) rightFetch(url, init).catch(() => {});
    return rightFetch(url, init);
  });
  mutant.verify = async (right) => {
    waiting += 1;
    try {
      await right.verify();
    } finally {
      waiting -= 1;
    }
  };
}

// mutant: one-ephemeral-key | seals all collections of a page with one ephemeral key | statement.collection-sealed-afresh | key-reused
export function oneEphemeralKey() {
  const right = crypto.subtle.generateKey.bind(crypto.subtle);
  let first;
  replace(crypto.subtle, "generateKey", (algorithm, ...rest) =>
    algorithm.name === "X25519" ? (first ??= right(algorithm, ...rest)) : right(algorithm, ...rest),
  );
}

// mutant: one-key-stream | combines each collection with one key stream of the page | statement.collection-sealed-afresh | key-reused
export function oneKeyStream() {
  const stream = crypto.getRandomValues(new Uint8Array(65536));
  let contents = "";
  const { encode } = TextEncoder.prototype;
  // The text before it is sealed.
  replace(TextEncoder.prototype, "encode", function (text) {
    if (text.length > contents.length) contents = text;
    return encode.call(this, text);
  });
  onPost((url, init) => {
    const bytes = new TextEncoder().encode(contents).map((byte, at) => byte ^ stream[at]);
    contents = "";
    const sealed = { ...JSON.parse(init.body), copy: btoa(String.fromCharCode(...bytes)) };
    return rightFetch(url, { ...init, body: rightStringify(sealed) });
  });
}
