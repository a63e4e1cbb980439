// Wrong reactions to answers, to network failures and to an abort.
import { createReference, mutant, onPost, restartable, rightFetch } from "./wrapper.js";

// mutant: body-decides | decides by the body of the answer instead of its status | collector.report-failed | failure-swallowed
export function bodyDecides() {
  onPost(async (url, init) => {
    const answer = await rightFetch(url, init);
    const text = await answer.clone().text();
    return text.includes('"ok":true') ? new Response(text) : answer;
  });
}

// mutant: reads-error | requires JSON in an error | collector.report-failed | page-error-wrong
export function readsError() {
  onPost(async (url, init) => {
    const answer = await rightFetch(url, init);
    if (!answer.ok) await answer.clone().json();
    return answer;
  });
}

// mutant: server-errors-pass | takes server errors for acceptance | collector.report-failed | failure-swallowed
export function serverErrorsPass() {
  onPost(async (url, init) => {
    const answer = await rightFetch(url, init);
    return answer.status >= 500 ? new Response("{}") : answer;
  });
}

// mutant: status-of-body | reports the status in the body | collector.report-failed | page-error-wrong
export function statusOfBody() {
  onPost(async (url, init) => {
    const answer = await rightFetch(url, init);
    if (answer.ok) return answer;
    const body = await answer
      .clone()
      .json()
      .catch(() => ({}));
    return new Response("", { status: body.status ?? 400 });
  });
}

// mutant: stays-refused | refuses all sessions after a refused one | collector.report-failed | page-error-wrong
export function staysRefused() {
  let refused;
  onPost(async (url, init) => {
    if (refused) return new Response("", { status: refused });
    const answer = await rightFetch(url, init);
    if (!answer.ok) refused = answer.status;
    return answer;
  });
}

// mutant: unauthorized-only | reports 401 for every refusal | collector.report-failed | page-error-wrong
export function unauthorizedOnly() {
  onPost(async (url, init) => {
    const answer = await rightFetch(url, init);
    return answer.ok ? answer : new Response("", { status: 401 });
  });
}

// mutant: copy-passes | takes the refusal of a copy for acceptance | collector.report-failed | failure-swallowed
export function copyPasses() {
  onPost(async (url, init) => {
    const answer = await rightFetch(url, init);
    return answer.status === 409 ? new Response("{}") : answer;
  });
}

// mutant: opaque-answer | asks for no CORS | collector.type-error | failure-swallowed
export function opaqueAnswer() {
  onPost(async (url, init) => {
    await rightFetch(url, { ...init, mode: "no-cors", redirect: "follow", headers: {} });
    return new Response("{}");
  });
}

// mutant: network-as-status | reports a network error as a status | collector.type-error | page-error-wrong
export function networkAsStatus() {
  onPost((url, init) => rightFetch(url, init).catch(() => new Response("", { status: 503 })));
}

// mutant: network-as-abort | reports a network error as an abort | collector.type-error | page-error-wrong
export function networkAsAbort() {
  onPost((url, init) =>
    rightFetch(url, init).catch((error) => {
      throw error.name === "TypeError" ? new DOMException("timeout", "AbortError") : error;
    }),
  );
}

// mutant: abort-ignored | ignores an abort | collector.abort-error | abort-mishandled
export function abortIgnored() {
  mutant.abort = () => {};
}

// mutant: abort-only-while-measuring | ignores an abort after ready() | collector.abort-error | abort-mishandled
export function abortOnlyWhileMeasuring() {
  let isReady = new WeakSet();
  mutant.ready = async (right) => {
    await right.ready();
    isReady.add(right);
  };
  mutant.abort = (right) => {
    if (!isReady.has(right)) right.abort();
  };
}

// mutant: answer-given-up | waits three seconds for the answer | statement.collection-posted-once | answer-given-up
export function answerGivenUp() {
  onPost((url, init) => rightFetch(url, { ...init, signal: AbortSignal.any([init.signal, AbortSignal.timeout(3000)]) }));
}

// mutant: answer-timed | takes a slow answer for a network error | statement.collection-posted-once | answer-given-up
export function answerTimed() {
  onPost((url, init) => {
    const late = new Promise((_, reject) => {
      setTimeout(() => reject(new TypeError("timeout")), 2500);
    });
    return /** @type {Promise<Response>} */ (Promise.race([rightFetch(url, init), late]));
  });
}

// mutant: abort-keeps-request | rejects, and lets the request of the collection go on | collector.abort-error | abort-mishandled
export function abortKeepsRequest() {
  onPost((url, { signal, ...init }) => {
    const aborted = new Promise((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
    return /** @type {Promise<Response>} */ (Promise.race([rightFetch(url, init), aborted]));
  });
}

// mutant: abort-throws | throws in abort() | collector.abort-error | abort-mishandled
export function abortThrows() {
  mutant.abort = (right) => {
    right.abort();
    throw new DOMException("aborted", "AbortError");
  };
}

// mutant: abort-afterwards-throws | throws in abort() after the acceptance | collector.abort-error | abort-mishandled | should
export function abortAfterwardsThrows() {
  let done = new WeakSet();
  mutant.verify = async (right) => {
    await right.verify();
    done.add(right);
  };
  mutant.abort = (right) => {
    if (done.has(right)) throw new Error("nothing to abort");
    right.abort();
  };
}

// mutant: abort-sends | rejects, and sends the collection all the same | statement.abort-without-verdict | abort-mishandled
export function abortSends() {
  mutant.create = (options) => {
    const right = createReference(options);
    let abort;
    const aborted = new Promise((_, reject) => {
      abort = () => reject(new DOMException("aborted", "AbortError"));
    });
    aborted.catch(() => {});
    return {
      start: (reference) => right.start(reference),
      ready: () => Promise.race([aborted, right.ready()]),
      verify: () => Promise.race([aborted, right.verify()]),
      abort: () => {
        abort();
        right.verify().catch(() => {});
      },
    };
  };
}

// mutant: abort-sends-again | sends the collection again after an abort | statement.abort-without-verdict | abort-mishandled
export function abortSendsAgain() {
  onPost((url, init) =>
    rightFetch(url, init).catch((error) => {
      if (error.name === "AbortError") rightFetch(url, { ...init, signal: undefined }).catch(() => {});
      throw error;
    }),
  );
}

// mutant: abort-forgotten | sends the collection if verify() is called after an abort | statement.abort-without-verdict | abort-mishandled
export function abortForgotten() {
  mutant.create = (options) => {
    const right = restartable(options);
    let wasAborted;
    return {
      ...right,
      verify: async () => {
        if (wasAborted) right.again();
        await right.verify();
      },
      abort: () => {
        wasAborted = true;
        right.abort();
      },
    };
  };
}
