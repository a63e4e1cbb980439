// Wrong reactions to a page that blocks something, and what a page may notice.
import { edgeOf, mutant, onContents, replace, rightFetch } from "./wrapper.js";

// mutant: websocket-required | fails if the WebSocket fails | statement.websocket-failure | websocket-fatal
export function websocketRequired() {
  mutant.ready = async (right, options) => {
    await right.ready();
    await new Promise((end, fail) => {
      const socket = new WebSocket(edgeOf(options).replace("http", "ws") + "/v1/measure");
      socket.onopen = () => socket.send("1");
      socket.onmessage = () => {
        end(null);
        socket.close();
      };
      socket.onerror = () => fail(new Error("websocket failed"));
      socket.onclose = () => fail(new Error("websocket closed"));
    });
  };
}

// mutant: websocket-awaited | waits for the echo without a limit | statement.websocket-failure | websocket-fatal
export function websocketAwaited() {
  mutant.ready = async (right, options) => {
    await right.ready();
    await new Promise((end) => {
      /** @type {WebSocket | undefined} */
      let socket;
      try {
        socket = new WebSocket(edgeOf(options).replace("http", "ws") + "/v1/measure");
      } catch {
        return end(null);
      }
      if (!(socket instanceof EventTarget)) return end(null);
      socket.onopen = () => socket.send("1");
      socket.onmessage = socket.onerror = socket.onclose = () => end(null);
    });
  };
}

// mutant: websocket-message-trusted | throws on a message that it does not know | statement.websocket-failure | websocket-fatal
export function websocketMessageTrusted() {
  const right = WebSocket;
  const trusting = class extends right {
    constructor(url) {
      super(url);
      this.addEventListener("message", (event) => {
        if (event.data === "unasked") throw new Error("unknown message");
      });
    }
  };
  replace(globalThis, "WebSocket", trusting);
}

// mutant: websocket-unguarded | opens the WebSocket without a guard | statement.websocket-failure | websocket-fatal
export function websocketUnguarded() {
  mutant.start = (right, reference, options) => {
    new WebSocket(edgeOf(options).replace("http", "ws") + "/v1/measure");
    right.start(reference);
  };
}

// mutant: websocket-close-fails | rejects if the WebSocket closes early | statement.websocket-failure | websocket-fatal
export function websocketCloseFails() {
  mutant.ready = async (right, options) => {
    await right.ready();
    await new Promise((end, fail) => {
      /** @type {WebSocket | undefined} */
      let socket;
      try {
        socket = new WebSocket(edgeOf(options).replace("http", "ws") + "/v1/measure");
      } catch {
        return end(null);
      }
      socket.onopen = () =>
        setTimeout(() => {
          end(null);
          socket.close?.();
        }, 150);
      socket.onerror = () => end(null);
      socket.onclose = (event) => (event.code === 1000 ? end(null) : fail(new Error("websocket closed")));
      setTimeout(end, 300);
    });
  };
}

// mutant: canvas-required | fails without a canvas | statement.measurement-failure | measurement-fatal
export function canvasRequired() {
  mutant.ready = async (right) => {
    document.createElement("canvas").getContext("2d").fillRect(0, 0, 1, 1);
    await right.ready();
  };
}

// mutant: webgl-required | fails without WebGL | statement.measurement-failure | measurement-fatal
export function webglRequired() {
  mutant.ready = async (right) => {
    document.createElement("canvas").getContext("webgl").getParameter(7936).toString();
    await right.ready();
  };
}

// mutant: storage-required | fails without storage | statement.measurement-failure | measurement-fatal
export function storageRequired() {
  mutant.ready = async (right) => {
    localStorage.getItem("c");
    await right.ready();
  };
}

// mutant: quota-awaited | waits for the storage quota without a limit | statement.measurement-failure | measurement-fatal
export function quotaAwaited() {
  mutant.ready = async (right) => {
    try {
      await navigator.storage.estimate();
    } catch {}
    await right.ready();
  };
}

// mutant: permissions-required | fails without permissions | statement.measurement-failure | measurement-fatal
export function permissionsRequired() {
  mutant.ready = async (right) => {
    (await navigator.permissions.query({ name: "geolocation" })).state.toString();
    await right.ready();
  };
}

// mutant: websocket-missing | fails without WebSocket | statement.measurement-failure | measurement-fatal
export function websocketMissing() {
  mutant.ready = async (right) => {
    if (typeof WebSocket !== "function") throw new ReferenceError("WebSocket is not defined");
    await right.ready();
  };
}

// mutant: audio-required | fails without audio | statement.measurement-failure | measurement-fatal
export function audioRequired() {
  mutant.ready = async (right) => {
    new OfflineAudioContext(1, 100, 44100).createOscillator();
    await right.ready();
  };
}

// mutant: audio-awaited | waits for audio without a limit | statement.measurement-failure | measurement-fatal
export function audioAwaited() {
  mutant.ready = async (right) => {
    try {
      await new OfflineAudioContext(1, 100, 44100).startRendering();
    } catch {}
    await right.ready();
  };
}

// mutant: fonts-required | fails without fonts | statement.measurement-failure | measurement-fatal
export function fontsRequired() {
  mutant.ready = async (right) => {
    document.fonts.check("12px serif");
    await right.ready();
  };
}

// mutant: screen-required | fails without a screen | statement.measurement-failure | measurement-fatal
export function screenRequired() {
  mutant.ready = async (right) => {
    screen.width.toFixed();
    await right.ready();
  };
}

// mutant: intl-required | fails without Intl | statement.measurement-failure | measurement-fatal
export function intlRequired() {
  mutant.ready = async (right) => {
    Intl.DateTimeFormat().resolvedOptions().timeZone.toString();
    await right.ready();
  };
}

// mutant: navigator-required | fails without the navigator's values | statement.measurement-failure | measurement-fatal
export function navigatorRequired() {
  mutant.ready = async (right) => {
    navigator.userAgent.slice(0, 9);
    navigator.languages.join();
    await right.ready();
  };
}

// mutant: clock-required | fails without a clock | statement.measurement-failure | measurement-fatal
export function clockRequired() {
  mutant.ready = async (right) => {
    performance.now().toFixed();
    await right.ready();
  };
}

// mutant: date-required | fails without dates | statement.measurement-failure | measurement-fatal
export function dateRequired() {
  mutant.ready = async (right) => {
    new Date().getTime();
    await right.ready();
  };
}

// mutant: failure-sends-nothing | sends nothing if a measurement fails | statement.measurement-failure | measurement-fatal
export function failureSendsNothing() {
  mutant.verify = async (right) => {
    try {
      document.createElement("canvas").getContext("2d").fillRect(0, 0, 1, 1);
    } catch {
      return;
    }
    await right.verify();
  };
}

// mutant: failure-uncaught | leaves the failure of a measurement uncaught | statement.measurement-failure | measurement-fatal
export function failureUncaught() {
  mutant.ready = async (right) => {
    setTimeout(() => document.createElement("canvas").getContext("2d").fillRect(0, 0, 1, 1));
    await right.ready();
  };
}

// mutant: failure-unhandled | leaves a rejected measurement unhandled | statement.measurement-failure | measurement-fatal
export function failureUnhandled() {
  mutant.ready = async (right) => {
    (async () => navigator.permissions.query({ name: "geolocation" }))();
    await right.ready();
  };
}

// mutant: invents-measurements | sends values for measurements that failed | statement.weaker-verdict | measurement-fatal
export function inventsMeasurements() {
  onContents((contents) => ({
    ...contents,
    measurements: Object.fromEntries(
      Object.entries(contents.measurements).map(([name, value]) => [name, value ?? "unknown"]),
    ),
  }));
}

// mutant: calls-home | calls another host | statement.collector-requests | requests-unexplained
export function callsHome() {
  mutant.start = (right, reference) => {
    rightFetch("https://telemetry.test/start", { mode: "no-cors" }).catch(() => {});
    right.start(reference);
  };
}

// mutant: loads-pixel | loads an image from the edge | statement.collector-requests | requests-unexplained
export function loadsPixel() {
  mutant.start = (right, reference, options) => {
    new Image().src = edgeOf(options) + "/pixel.gif";
    right.start(reference);
  };
}

// mutant: websocket-elsewhere | opens a WebSocket to another host | statement.collector-requests | requests-unexplained
export function websocketElsewhere() {
  mutant.start = (right, reference) => {
    new WebSocket("wss://telemetry.test/");
    right.start(reference);
  };
}

// mutant: beacon | sends a beacon to the page's host | statement.collector-requests | requests-unexplained
export function beacon() {
  mutant.verify = async (right) => {
    await right.verify();
    navigator.sendBeacon("/beacon", "done");
  };
}

// mutant: console-error | writes an error to the console | statement.collector-unobtrusive | page-disturbed
export function consoleError() {
  mutant.start = (right, reference) => {
    console.error("collector: debug");
    right.start(reference);
  };
}

// mutant: unhandled-rejection | leaves a rejected promise unhandled | statement.collector-unobtrusive | page-disturbed
export function unhandledRejection() {
  mutant.start = (right, reference) => {
    Promise.reject(new Error("late"));
    right.start(reference);
  };
}

// mutant: alert | opens a dialog | statement.collector-unobtrusive | page-disturbed
export function alert() {
  mutant.start = (right, reference) => {
    globalThis.alert("collecting");
    right.start(reference);
  };
}

// mutant: changes-address | changes the page's address | statement.collector-unobtrusive | page-disturbed
export function changesAddress() {
  mutant.start = (right, reference) => {
    history.replaceState(null, "", "#collected");
    right.start(reference);
  };
}
