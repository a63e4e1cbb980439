// Wrong options.
import { createReference, mutant, onPost, passes, restartable, rightFetch } from "./wrapper.js";

// mutant: host-prefix | takes a host that begins with localhost for localhost | limit.api-url-scheme | api-url-misread
export function hostPrefix() {
  mutant.create = (options) => (/^http:\/\/localhost/i.test(options.apiUrl) ? passes : createReference(options));
}

// mutant: host-suffix | takes a host that ends with localhost for localhost | limit.api-url-scheme | api-url-misread
export function hostSuffix() {
  mutant.create = (options) => (/^http:.*localhost$/i.test(options.apiUrl) ? passes : createReference(options));
}

// mutant: host-anywhere | looks for localhost anywhere in apiUrl | collector.api-url-not-https | api-url-misread
export function hostAnywhere() {
  mutant.create = (options) => (/^http:.+localhost/i.test(options.apiUrl) ? passes : createReference(options));
}

// mutant: user-info-as-host | takes user information for the host | collector.api-url-not-https | api-url-misread
export function userInfoAsHost() {
  mutant.create = (options) =>
    /^http:\/\/localhost[:@%]/.test(options.apiUrl) && !options.apiUrl.match(/localhost:\d+$/)
      ? passes
      : createReference(options);
}

// mutant: any-scheme | accepts every scheme but http | collector.api-url-not-https | api-url-misread
export function anyScheme() {
  mutant.create = (options) => {
    try {
      return createReference(options);
    } catch (error) {
      if (URL.canParse(options.apiUrl) && !/^http:/i.test(options.apiUrl)) return passes;
      throw error;
    }
  };
}

// mutant: any-host | accepts http to any host | collector.api-url-not-https | api-url-misread
export function anyHost() {
  mutant.create = (options) =>
    /^http:/i.test(options.apiUrl) && URL.canParse(options.apiUrl) && !/localhost/i.test(options.apiUrl)
      ? passes
      : createReference(options);
}

// mutant: loopback-addresses | accepts http to loopback addresses | collector.api-url-not-https | api-url-misread | should
export function loopbackAddresses() {
  mutant.create = (options) =>
    /^http:\/\/(127\.0\.0\.1:|\[::1\]|edge\.localhost)/.test(options.apiUrl) ? passes : createReference(options);
}

// mutant: host-as-scheme | reports a host without a scheme as an invalid URL | collector.api-url-not-https | api-url-misread | should
export function hostAsScheme() {
  mutant.create = (options) => {
    if (/^[\w.]+:\d+$/.test(options.apiUrl)) throw new Error(`service: invalid apiUrl "${options.apiUrl}"`);
    return createReference(options);
  };
}

// mutant: scheme-case | refuses a scheme in capitals | setting.collector.api-url | api-url-misread | should
export function schemeCase() {
  mutant.create = (options) => {
    if (options.apiUrl?.startsWith?.("HTTPS:")) throw new Error("service: apiUrl must be https://...");
    return createReference(options);
  };
}

// mutant: trailing-slash | refuses a trailing slash | setting.collector.api-url | api-url-misread | should
export function trailingSlash() {
  mutant.create = (options) => {
    if (options.apiUrl?.endsWith?.("/") && options.apiUrl.startsWith("https://edge"))
      throw new Error(`service: invalid apiUrl "${options.apiUrl}"`);
    return createReference(options);
  };
}

// mutant: base-url | accepts an apiUrl that is relative to the page | collector.invalid-api-url | api-url-misread
export function baseUrl() {
  mutant.create = (options) =>
    !URL.canParse(options.apiUrl) && URL.canParse(options.apiUrl, location.href) ? passes : createReference(options);
}

// mutant: url-by-pattern | checks apiUrl by a pattern | collector.invalid-api-url | api-url-misread
export function urlByPattern() {
  mutant.create = (options) =>
    /^https:\/\/./.test(options.apiUrl) && !URL.canParse(options.apiUrl) ? passes : createReference(options);
}

// mutant: without-host | accepts a URL without a host | collector.invalid-api-url | api-url-misread
export function withoutHost() {
  mutant.create = (options) =>
    ["https://", "http://", "https://?", "://edge.test"].includes(options.apiUrl) ? passes : createReference(options);
}

// mutant: empty-is-own-origin | takes an empty apiUrl for the page's origin | collector.invalid-api-url | api-url-misread
export function emptyIsOwnOrigin() {
  mutant.create = (options) => (options.apiUrl === "" ? passes : createReference(options));
}

// mutant: refuses-localhost | refuses http on localhost | statement.localhost-allowed | api-url-misread
export function refusesLocalhost() {
  mutant.create = (options) => {
    if (/^http:\/\/localhost/i.test(options.apiUrl)) throw new Error("service: apiUrl must be https://...");
    return createReference(options);
  };
}

// mutant: refuses-page-on-localhost | refuses pages on localhost | statement.localhost-allowed | api-url-misread
export function refusesPageOnLocalhost() {
  mutant.create = (options) => {
    if (location.protocol !== "https:")
      throw new Error("service: the collector needs a secure context (https) for crypto.subtle");
    return createReference(options);
  };
}

// mutant: wrong-edge | posts to the page's origin instead of apiUrl | setting.collector.api-url | post-wrong
export function wrongEdge() {
  onPost((url, init) => rightFetch(location.origin + new URL(url).pathname, init));
}

// mutant: mode-ignored | measures in the mode full whatever the option is | setting.collector.mode | mode-misread
export function modeIgnored() {
  mutant.options = (options) =>
    ({ full: 1, lite: 1, passive: 1 })[options.mode] ? { ...options, mode: "full" } : options;
}

// mutant: mode-by-lookup | looks the mode up in an object | collector.unknown-mode | mode-misread
export function modeByLookup() {
  mutant.create = (options) =>
    !Object.hasOwn({ full: 1 }, options.mode) && {}[options.mode] !== undefined ? passes : createReference(options);
}

// mutant: mode-any-case | ignores the case of the mode | collector.unknown-mode | mode-misread
export function modeAnyCase() {
  mutant.options = (options) =>
    typeof options.mode === "string" && ["full", "lite", "passive"].includes(options.mode.toLowerCase())
      ? { ...options, mode: options.mode.toLowerCase() }
      : options;
}

// mutant: mode-trimmed | finds the mode inside the option | collector.unknown-mode | mode-misread
export function modeTrimmed() {
  mutant.options = (options) => {
    const found = typeof options.mode === "string" && options.mode.match(/full|lite|passive/);
    return found ? { ...options, mode: found[0] } : options;
  };
}

// mutant: mode-empty | takes an empty mode for the default | collector.unknown-mode | mode-misread
export function modeEmpty() {
  mutant.options = (options) =>
    options.mode === "" || options.mode === " " ? { ...options, mode: undefined } : options;
}

// mutant: mode-word | takes words for a missing value for the default | collector.unknown-mode | mode-misread
export function modeWord() {
  mutant.options = (options) =>
    ["null", "undefined", "default"].includes(options.mode) ? { ...options, mode: undefined } : options;
}

// mutant: mode-default-lite | measures in the mode lite by default | statement.mode-default | mode-misread
export function modeDefaultLite() {
  mutant.options = (options) => ({ mode: "lite", ...options });
}

// mutant: mode-required | requires a mode | statement.mode-default | mode-misread
export function modeRequired() {
  mutant.create = (options) => {
    if (!("mode" in options)) throw new Error('service: unknown mode "undefined"');
    return createReference(options);
  };
}

// mutant: ready-error-once | reports a missing start() only once | collector.ready-before-start | failure-swallowed
export function readyErrorOnce() {
  mutant.create = (options) => {
    const right = restartable(options);
    let times = 0;
    return {
      ...right,
      ready: async () => {
        try {
          await right.ready();
        } catch (error) {
          if (times++ === 0) throw error;
        }
      },
    };
  };
}

// mode: refuses | refuses the mode | setting.collector.mode | mode-misread
export function refuses(refused) {
  mutant.create = (options) => {
    if (options.mode === refused) throw new Error(`service: unknown mode "${refused}"`);
    return createReference(options);
  };
}
