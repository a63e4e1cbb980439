use super::behaviour::{CollectorBehaviour, must, should};

/// Wrong options.
pub(super) const ALL: &[&[CollectorBehaviour]] = &[API_URL, MODES];

const SCHEME: &str = "limit.api-url-scheme";
const API_URL_SETTING: &str = "setting.collector.api-url";
const NOT_HTTPS: &str = "collector.api-url-not-https";

const API_URL: &[CollectorBehaviour] = &[
    must(
        "host-prefix",
        "takes a host that begins with localhost for localhost",
        SCHEME,
        "api-url-misread",
        "mutant.create = (options) => /^http:\\/\\/localhost/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "host-suffix",
        "takes a host that ends with localhost for localhost",
        SCHEME,
        "api-url-misread",
        "mutant.create = (options) => /^http:.*localhost$/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "host-anywhere",
        "looks for localhost anywhere in apiUrl",
        NOT_HTTPS,
        "api-url-misread",
        "mutant.create = (options) => /^http:.+localhost/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "user-info-as-host",
        "takes user information for the host",
        NOT_HTTPS,
        "api-url-misread",
        "mutant.create = (options) => /^http:\\/\\/localhost[:@%]/.test(options.apiUrl) && !options.apiUrl.match(/localhost:\\d+$/) ? passes : createReference(options);",
    ),
    must(
        "any-scheme",
        "accepts every scheme but http",
        NOT_HTTPS,
        "api-url-misread",
        "mutant.create = (options) => { try { return createReference(options) } catch (error) { if (URL.canParse(options.apiUrl) && !/^http:/i.test(options.apiUrl)) return passes; throw error } };",
    ),
    must(
        "any-host",
        "accepts http to any host",
        NOT_HTTPS,
        "api-url-misread",
        "mutant.create = (options) => /^http:/i.test(options.apiUrl) && URL.canParse(options.apiUrl) && !/localhost/i.test(options.apiUrl) ? passes : createReference(options);",
    ),
    should(
        "loopback-addresses",
        "accepts http to loopback addresses",
        NOT_HTTPS,
        "api-url-misread",
        "mutant.create = (options) => /^http:\\/\\/(127\\.0\\.0\\.1:|\\[::1\\]|edge\\.localhost)/.test(options.apiUrl) ? passes : createReference(options);",
    ),
    should(
        "host-as-scheme",
        "says of a host without a scheme that it is no URL",
        NOT_HTTPS,
        "api-url-misread",
        "mutant.create = (options) => { if (/^[\\w.]+:\\d+$/.test(options.apiUrl)) throw new Error(`service: invalid apiUrl \"${options.apiUrl}\"`); return createReference(options) };",
    ),
    should(
        "scheme-case",
        "refuses a scheme in capitals",
        API_URL_SETTING,
        "api-url-misread",
        "mutant.create = (options) => { if (/^HTTPS:/.test(options.apiUrl)) throw new Error('service: apiUrl must be https://...'); return createReference(options) };",
    ),
    should(
        "trailing-slash",
        "refuses a trailing slash",
        API_URL_SETTING,
        "api-url-misread",
        "mutant.create = (options) => { if (options.apiUrl?.endsWith?.('/') && options.apiUrl.startsWith('https://edge')) throw new Error(`service: invalid apiUrl \"${options.apiUrl}\"`); return createReference(options) };",
    ),
    must(
        "base-url",
        "accepts an apiUrl that is relative to the page",
        "collector.invalid-api-url",
        "api-url-misread",
        "mutant.create = (options) => !URL.canParse(options.apiUrl) && URL.canParse(options.apiUrl, location.href) ? passes : createReference(options);",
    ),
    must(
        "url-by-pattern",
        "checks apiUrl by a pattern",
        "collector.invalid-api-url",
        "api-url-misread",
        "mutant.create = (options) => /^https:\\/\\/./.test(options.apiUrl) && !URL.canParse(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "without-host",
        "accepts a URL without a host",
        "collector.invalid-api-url",
        "api-url-misread",
        "mutant.create = (options) => ['https://', 'http://', 'https://?', '://edge.test'].includes(options.apiUrl) ? passes : createReference(options);",
    ),
    must(
        "empty-is-own-origin",
        "takes an empty apiUrl for the page's origin",
        "collector.invalid-api-url",
        "api-url-misread",
        "mutant.create = (options) => options.apiUrl === '' ? passes : createReference(options);",
    ),
    must(
        "refuses-localhost",
        "refuses http on localhost",
        "statement.localhost-allowed",
        "api-url-misread",
        "mutant.create = (options) => { if (/^http:\\/\\/localhost/i.test(options.apiUrl)) throw new Error('service: apiUrl must be https://...'); return createReference(options) };",
    ),
    must(
        "refuses-page-on-localhost",
        "refuses pages on localhost",
        "statement.localhost-allowed",
        "api-url-misread",
        "mutant.create = (options) => { if (location.protocol !== 'https:') throw new Error('service: the collector needs a secure context (https) for crypto.subtle'); return createReference(options) };",
    ),
    must(
        "wrong-edge",
        "posts to the page's origin instead of apiUrl",
        API_URL_SETTING,
        "post-wrong",
        "onPost((url, init) => rightFetch(location.origin + new URL(url).pathname, init));",
    ),
];

const MODES: &[CollectorBehaviour] = &[
    must(
        "mode-ignored",
        "measures in the mode full whatever the option is",
        "setting.collector.mode",
        "mode-misread",
        "mutant.options = (options) => ({ full: 1, lite: 1, passive: 1 })[options.mode] ? { ...options, mode: 'full' } : options;",
    ),
    must(
        "mode-by-lookup",
        "looks the mode up in an object",
        "collector.unknown-mode",
        "mode-misread",
        "mutant.create = (options) => !Object.hasOwn({ full: 1 }, options.mode) && ({})[options.mode] !== undefined ? passes : createReference(options);",
    ),
    must(
        "mode-any-case",
        "ignores the case of the mode",
        "collector.unknown-mode",
        "mode-misread",
        "mutant.options = (options) => typeof options.mode === 'string' && ['full', 'lite', 'passive'].includes(options.mode.toLowerCase()) ? { ...options, mode: options.mode.toLowerCase() } : options;",
    ),
    must(
        "mode-trimmed",
        "finds the mode inside the option",
        "collector.unknown-mode",
        "mode-misread",
        "mutant.options = (options) => { const found = typeof options.mode === 'string' && options.mode.match(/full|lite|passive/); return found ? { ...options, mode: found[0] } : options };",
    ),
    must(
        "mode-empty",
        "takes an empty mode for the default",
        "collector.unknown-mode",
        "mode-misread",
        "mutant.options = (options) => options.mode === '' || options.mode === ' ' ? { ...options, mode: undefined } : options;",
    ),
    must(
        "mode-word",
        "takes words for a missing value for the default",
        "collector.unknown-mode",
        "mode-misread",
        "mutant.options = (options) => ['null', 'undefined', 'default'].includes(options.mode) ? { ...options, mode: undefined } : options;",
    ),
    must(
        "mode-default-lite",
        "measures in the mode lite by default",
        "statement.mode-default",
        "mode-misread",
        "mutant.options = (options) => ({ mode: 'lite', ...options });",
    ),
    must(
        "mode-required",
        "requires a mode",
        "statement.mode-default",
        "mode-misread",
        "mutant.create = (options) => { if (!('mode' in options)) throw new Error('service: unknown mode \"undefined\"'); return createReference(options) };",
    ),
    must(
        "ready-error-once",
        "reports a missing start() only once",
        "collector.ready-before-start",
        "failure-swallowed",
        "mutant.create = (options) => { const right = createReference(options); let times = 0; return { start: (reference) => right.start(reference), ready: async () => { try { await right.ready() } catch (error) { if (times++ === 0) throw error } }, verify: () => right.verify(), abort: () => right.abort() } };",
    ),
];
