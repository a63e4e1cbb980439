// A wrong post: what it carries, how often it is sent, how it is sealed.
import {
  addToBody,
  createReference,
  edgeOf,
  mutant,
  onPost,
  restartable,
  rightFetch,
  rightStringify,
  sendOverWebSocket,
} from "./wrapper.js";

// mutant: put | sends the collection by PUT | statement.collection-posted | post-wrong
export function put() {
  onPost((url, init) => rightFetch(url, { ...init, method: "PUT" }));
}

// mutant: get | sends the collection in the query of a GET | statement.collection-posted | post-wrong
export function get() {
  onPost((url, init) =>
    rightFetch(`${url}?c=${encodeURIComponent(init.body)}`, { ...init, method: "GET", body: undefined, headers: {} }),
  );
}

// mutant: other-path | posts to another path | statement.collection-posted | post-wrong
export function otherPath() {
  onPost((url, init) => rightFetch(url.replace("/v1/", "/v2/"), init));
}

// mutant: path-with-slash | appends a slash to the path | statement.collection-posted | post-wrong
export function pathWithSlash() {
  onPost((url, init) => rightFetch(url + "/", init));
}

// mutant: path-with-query | appends a query to the path | endpoint.edge.signals | post-wrong
export function pathWithQuery() {
  onPost((url, init) => rightFetch(url + "?v=1", init));
}

// mutant: form-body | posts a form instead of JSON | statement.collection-posted | post-wrong
export function formBody() {
  onPost((url, init) => rightFetch(url, { ...init, body: new URLSearchParams({ c: init.body }).toString() }));
}

// mutant: sends-nothing | resolves without a POST | statement.collection-posted | post-wrong
export function sendsNothing() {
  onPost(async () => new Response('{"ok":true}'));
}

// mutant: answer-not-awaited | resolves before the answer, and sends a second collection to another path | statement.collection-posted | collection-repeated
export function answerNotAwaited() {
  onPost((url, init) => {
    rightFetch(url + "/copy", init).catch(() => {});
    return rightFetch(url, init);
  });
}

// mutant: posts-twice | posts the collection twice | statement.collection-posted-once | collection-repeated
export function postsTwice() {
  onPost((url, init) => {
    const first = rightFetch(url, init);
    rightFetch(url, init).catch(() => {});
    return first;
  });
}

// mutant: posts-two-collections | posts two collections of a session | statement.collection-posted-once | collection-repeated
export function postsTwoCollections() {
  mutant.create = (options) => {
    const right = createReference(options);
    const copy = createReference(options);
    return {
      start: (reference) => {
        right.start(reference);
        copy.start(reference);
      },
      ready: () => right.ready(),
      verify: async () => {
        await right.verify();
        await copy.verify();
      },
      abort: () => right.abort(),
    };
  };
}

// mutant: retries-refused | posts a refused collection again | statement.collection-posted-once | collection-repeated
export function retriesRefused() {
  onPost(async (url, init) => {
    const first = await rightFetch(url, init);
    return first.ok ? first : rightFetch(url, init);
  });
}

// mutant: retries-failed | posts a collection again that got no answer | statement.collection-posted-once | collection-repeated | should
export function retriesFailed() {
  onPost((url, init) => rightFetch(url, init).catch(() => rightFetch(url, init)));
}

// mutant: retries-unchecked | posts again if the service could not check the collection | statement.collection-posted-once | collection-repeated
export function retriesUnchecked() {
  onPost(async (url, init) => {
    const first = await rightFetch(url, init);
    return first.status === 401 ? rightFetch(url, init) : first;
  });
}

// mutant: retries-replayed | posts a collection again that was refused as a copy | statement.collection-posted-once | collection-repeated
export function retriesReplayed() {
  onPost(async (url, init) => {
    const first = await rightFetch(url, init);
    return first.status === 409 ? rightFetch(url, init) : first;
  });
}

// mutant: retries-slow | posts again if the answer is slow | statement.collection-posted-once | collection-repeated
export function retriesSlow() {
  onPost((url, init) => {
    const first = rightFetch(url, init);
    return Promise.race([first, new Promise((end) => setTimeout(end, 400)).then(() => rightFetch(url, init))]);
  });
}

// mutant: same-body | posts the first collection again in every session | statement.collection-posted-once | collection-repeated
export function sameBody() {
  let first;
  onPost((url, init) => rightFetch(url, { ...init, body: (first ??= init.body) }));
}

// mutant: verifies-twice | posts the same collection for each verify() | statement.collection-posted-once | collection-repeated
export function verifiesTwice() {
  let last;
  onPost((url, init) => {
    last = () => rightFetch(url, init);
    return last();
  });
  mutant.create = (options) => {
    const right = restartable(options);
    let done;
    return {
      ...right,
      verify: async () => {
        if (done) await last();
        done = true;
        await right.verify();
      },
    };
  };
}

// mutant: verify-starts-again | posts another collection for each verify() | statement.collection-posted-once | collection-repeated | should
export function verifyStartsAgain() {
  mutant.create = (options) => {
    const right = restartable(options);
    let done;
    return {
      ...right,
      verify: async () => {
        if (done) right.again();
        done = true;
        await right.verify();
      },
    };
  };
}

// mutant: title-in-body | adds the page's title to the body | statement.page-data-private | page-data-sent
export function titleInBody() {
  addToBody("title", () => document.title);
}

// mutant: address-in-body | adds the page's address to the body | statement.page-data-private | page-data-sent
export function addressInBody() {
  addToBody("page", () => location.href);
}

// mutant: cookie-in-body | adds the page's cookies to the body, in base64 | statement.page-data-private | page-data-sent
export function cookieInBody() {
  addToBody("c", () => btoa(document.cookie));
}

// mutant: storage-in-body | adds the page's storage to the body, in hexadecimal digits | statement.page-data-private | page-data-sent
export function storageInBody() {
  addToBody("s", () =>
    [...new TextEncoder().encode(rightStringify({ ...localStorage, ...sessionStorage }))]
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join(""),
  );
}

// mutant: form-in-body | adds the page's form fields to the body, as JSON in base64 | statement.page-data-private | page-data-sent
export function formInBody() {
  addToBody("f", () => btoa(rightStringify(Object.fromEntries(new FormData(document.forms[0])))));
}

// mutant: text-in-websocket | sends the page's text over the WebSocket | statement.page-data-private | page-data-sent
export function textInWebsocket() {
  mutant.ready = async (right, options) => {
    await sendOverWebSocket(options, document.body.innerText);
    await right.ready();
  };
}

// mutant: address-as-referrer | sends the page's address as the referrer | statement.page-data-private | page-data-sent
export function addressAsReferrer() {
  onPost((url, init) => rightFetch(url, { ...init, referrerPolicy: "unsafe-url" }));
}

// mutant: address-in-query | sends the page's address in a query | statement.page-data-private | page-data-sent
export function addressInQuery() {
  onPost(async (url, init) => {
    await rightFetch(`${new URL(url).origin}/health?page=${encodeURIComponent(location.href)}`, {
      mode: "no-cors",
    }).catch(() => {});
    return rightFetch(url, init);
  });
}

// mutant: unsealed | posts the collection unsealed | statement.collection-sealed | collection-readable
export function unsealed() {
  mutant.options = (options) => ({ ...options, compatibility: "pre-seal" });
}

// mutant: base64-for-seal | encodes the collection instead of sealing it | statement.collection-sealed | collection-readable
export function base64ForSeal() {
  mutant.options = (options) => ({ ...options, compatibility: "pre-seal" });
  onPost((url, init) =>
    rightFetch(url, { ...init, body: rightStringify({ sealed: btoa(unescape(encodeURIComponent(init.body))) }) }),
  );
}

// mutant: reference-beside-seal | adds the reference to the sealed body | statement.collection-sealed | collection-readable
export function referenceBesideSeal() {
  let reference;
  mutant.start = (right, given) => {
    reference = given;
    right.start(given);
  };
  addToBody("ref", () => reference);
}

// mutant: reference-in-websocket | sends the reference over the WebSocket | statement.collection-sealed | collection-readable
export function referenceInWebsocket() {
  mutant.ready = async (right, options) => {
    await sendOverWebSocket(options, right.reference);
    await right.ready();
  };
  mutant.start = (right, given) => {
    right.reference = given;
    right.start(given);
  };
}

// mutant: reference-in-url | puts the reference into the URL of another request | statement.collection-sealed | collection-readable
export function referenceInUrl() {
  mutant.start = (right, given, options) => {
    rightFetch(`${edgeOf(options)}/health?ref=${encodeURIComponent(given)}`, { mode: "no-cors" }).catch(() => {});
    right.start(given);
  };
}

// mutant: user-agent-beside-seal | adds a measurement to the sealed body | statement.collection-sealed | collection-readable
export function userAgentBesideSeal() {
  addToBody("ua", () => navigator.userAgent);
}

// mutant: own-key | seals to a key of its own | statement.collection-sealed | seal-wrong
export function ownKey() {
  mutant.options = (options) => ({
    ...options,
    sealKey: { ...options.sealKey, x: "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo" },
  });
}

// mutant: damaged-seal | damages the sealed collection | statement.collection-sealed | seal-wrong
export function damagedSeal() {
  onPost((url, init) => {
    const body = JSON.parse(init.body);
    body.ciphertext = "AAAA" + body.ciphertext.slice(4);
    return rightFetch(url, { ...init, body: rightStringify(body) });
  });
}

// mutant: reference-reversed | adds the reversed reference to the sealed body | statement.collection-sealed | collection-readable
export function referenceReversed() {
  let reference;
  mutant.start = (right, given) => {
    reference = given;
    right.start(given);
  };
  addToBody("r", () => [...reference].reverse().join(""));
}

// mutant: user-agent-shifted | adds a measurement to the sealed body, each byte combined with one number | statement.collection-sealed | collection-readable
export function userAgentShifted() {
  addToBody("u", () => [...new TextEncoder().encode(navigator.userAgent)].map((byte) => byte ^ 0xa5));
}

// mutant: reference-trimmed | trims the reference | statement.session-ref-same | page-reference-changed
export function referenceTrimmed() {
  mutant.start = (right, given) => right.start(given.trim().replace(/ +/g, " "));
}

// mutant: reference-encoded | percent-encodes the reference | statement.session-ref-same | page-reference-changed
export function referenceEncoded() {
  mutant.start = (right, given) => right.start(encodeURIComponent(given));
}

// mutant: reference-decoded | percent-decodes the reference | statement.session-ref-same | page-reference-changed
export function referenceDecoded() {
  mutant.start = (right, given) => {
    try {
      given = decodeURIComponent(given);
    } catch {
      given = given.replaceAll("%", "");
    }
    right.start(given);
  };
}

// mutant: reference-cut | cuts the reference at 64 characters | statement.session-ref-same | page-reference-changed
export function referenceCut() {
  mutant.start = (right, given) => right.start(given.slice(0, 64));
}

// mutant: reference-ascii | drops other characters than ASCII | statement.session-ref-same | page-reference-changed
export function referenceAscii() {
  mutant.start = (right, given) => right.start(given.replace(/[^\x20-\x7e]/g, ""));
}

// mutant: reference-normalised | normalises the reference | statement.session-ref-same | page-reference-changed
export function referenceNormalised() {
  mutant.start = (right, given) => right.start(given.normalize("NFC").toLowerCase());
}

// mutant: reference-escaped | escapes quotes in the reference | statement.session-ref-same | page-reference-changed
export function referenceEscaped() {
  mutant.start = (right, given) => right.start(given.replace(/["'\\]/g, "\\$&"));
}

// mutant: reference-minimum | makes up a reference if the given one is short | statement.session-ref-same | page-reference-changed
export function referenceMinimum() {
  mutant.start = (right, given) => right.start(given.length < 4 ? "session-" + given : given);
}

// mutant: reference-word | takes the text undefined for a missing reference | statement.session-ref-same | page-reference-changed
export function referenceWord() {
  mutant.start = (right, given) => right.start(given === "undefined" ? "none" : given);
}

// mutant: reference-own | makes up references | setting.collector.session-ref | page-reference-changed
export function referenceOwn() {
  mutant.start = (right) => right.start("session-" + Math.random());
}

// mutant: reference-missing | loses the reference | setting.collector.session-ref | page-reference-changed
export function referenceMissing() {
  mutant.start = (right) => right.start();
}
