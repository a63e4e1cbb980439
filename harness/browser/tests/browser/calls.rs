use edgeproof_browser::{CallOutcome, CollectorCall, ErrorPath, PageError, PageOptions};
use serde_json::{Value, json};

use super::support::{LIMIT, SHORT, Site, collector, create, open, open_with, run, start};

fn returned(value: Value) -> CallOutcome {
    CallOutcome::Returned(value)
}

fn failed(how: ErrorPath, is_error: bool, name: &str, message: &str) -> CallOutcome {
    CallOutcome::Failed { error: PageError { name: name.into(), message: message.into(), is_error }, how }
}

#[test]
fn calls_pass_their_arguments_and_return_values() {
    run(async {
        let module = "export const create = options => ({
            start(...args) { return { options, args, isOwn: typeof this.ready === 'function' }; },
            async ready() { await new Promise(done => setTimeout(done)); return 'ready'; },
            verify: () => ({ then: done => done([1, null, 'ü\u{2028}']) }),
        })";
        let (_site, page) = collector(module, LIMIT).await;
        let options = json!({"apiUrl": "https://edge.test", "deep": {"list": [1, "two"]}});
        page.call(CollectorCall::Create { options: options.clone(), signal: false }).await;
        let started = page.call(start()).await;
        assert_eq!(started, returned(json!({"options": options, "args": ["ref"], "isOwn": true})));
        let started = page.call(CollectorCall::Start { session_ref: None }).await;
        assert_eq!(started, returned(json!({"options": options, "args": [], "isOwn": true})));
        assert_eq!(page.call(CollectorCall::Ready).await, returned(json!("ready")));
        assert_eq!(page.call(CollectorCall::Verify).await, returned(json!([1, null, "ü\u{2028}"])));
        assert_eq!(page.call(CollectorCall::Abort).await, CallOutcome::Missing);
        assert!(page.record().uncaught.is_empty(), "{:?}", page.record().uncaught);
    });
}

#[test]
fn the_second_of_two_calls_is_made_before_the_first_one_goes_on() {
    run(async {
        let module = "let made = 0;
            export const create = () => ({
                async verify() { const own = ++made; await null; return [own, made]; },
            })";
        let (_site, page) = collector(module, LIMIT).await;
        assert_eq!(page.call(CollectorCall::VerifyTwice).await, returned(json!([1, 2])));
        assert_eq!(page.call(CollectorCall::SecondVerify).await, returned(json!([2, 2])));
    });
}

#[test]
fn values_without_json_are_null_and_huge_values_are_cut() {
    run(async {
        let module = "const cyclic = {}; cyclic.self = cyclic;
            const values = [undefined, () => 1, Symbol('s'), 1n, cyclic, { toJSON() { throw 1; } },
                { get a() { throw 1; } }, 'x'.repeat(2_000_000)];
            export const create = () => ({ start: () => values.shift() })";
        let (_site, page) = collector(module, LIMIT).await;
        for position in 0..7 {
            assert_eq!(page.call(start()).await, returned(Value::Null), "value {position}");
        }
        assert_eq!(page.call(start()).await, returned(json!("(2000002 characters of JSON)")));
    });
}

#[test]
fn thrown_and_rejected_values_are_described() {
    run(async {
        let values = [
            ("new TypeError('Failed to fetch')", true, "TypeError", "Failed to fetch"),
            ("new DOMException('gone', 'AbortError')", true, "AbortError", "gone"),
            ("new (class Own extends Error { name = 'Own' })('mine')", true, "Own", "mine"),
            (
                "document.body.appendChild(document.createElement('iframe')).contentWindow.eval('new RangeError(`far`)')",
                true,
                "RangeError",
                "far",
            ),
            (
                "Object.defineProperty(new Error(), 'message', { get() { throw 1 } })",
                true,
                "Error",
                "(no message)",
            ),
            ("'a string'", false, "string", "a string"),
            ("null", false, "null", "null"),
            ("undefined", false, "undefined", "undefined"),
            ("Symbol('s')", false, "symbol", "Symbol(s)"),
            ("{ message: 'no error' }", false, "object", "[object Object]"),
            ("{ toString() { throw 1 } }", false, "object", "(no text)"),
            ("new Proxy({}, { getPrototypeOf() { throw 1 } })", false, "object", "[object Object]"),
        ];
        let list: Vec<String> = values.iter().map(|(value, ..)| format!("() => ({value})")).collect();
        let module = format!(
            "const thrown = [{0}]; const rejected = [{0}];
            export const create = () => ({{
                start() {{ throw thrown.shift()(); }},
                verify() {{ return Promise.reject(rejected.shift()()); }},
            }})",
            list.join(", ")
        );
        let (_site, page) = collector(&module, LIMIT).await;
        for (value, is_error, name, message) in values {
            let thrown = page.call(start()).await;
            assert_eq!(thrown, failed(ErrorPath::Thrown, is_error, name, message), "{value}");
            let rejected = page.call(CollectorCall::Verify).await;
            assert_eq!(rejected, failed(ErrorPath::Rejected, is_error, name, message), "{value}");
        }
    });
}

#[test]
fn long_error_is_cut() {
    run(async {
        let module = "export const create = () => ({ start() { throw new Error('x'.repeat(10_000_000)); } })";
        let (_site, page) = collector(module, LIMIT).await;
        assert_eq!(page.call(start()).await, failed(ErrorPath::Thrown, true, "Error", &"x".repeat(4_000)));
    });
}

#[test]
fn module_that_does_not_load_fails_with_the_reason() {
    run(async {
        let site = Site::with_module("export const create = (;").await;
        let page = open(site.url("/")).await;
        let load = async |url: &str| page.call(CollectorCall::Load { module_url: url.into() }).await;
        let CallOutcome::Failed { error, how: ErrorPath::Rejected } = load("/absent.js").await else {
            panic!()
        };
        assert_eq!(error.name, "TypeError");
        assert!(error.message.ends_with(&site.url("/absent.js")), "{error:?}");
        let CallOutcome::Failed { error, .. } = load("/module.js").await else { panic!() };
        assert_eq!(error.name, "SyntaxError");
        let CallOutcome::Failed { error, .. } = load("http://[").await else { panic!() };
        assert_eq!(error.name, "TypeError");
        assert_eq!(page.call(create()).await, CallOutcome::Missing);
        assert_eq!(page.call(start()).await, CallOutcome::Missing);
    });
}

#[test]
fn module_without_create_is_missing_it() {
    run(async {
        for module in ["export default {}", "export const create = 1", "export const start = () => {}"] {
            let site = Site::with_module(module).await;
            let page = open(site.url("/")).await;
            let loaded = page.call(CollectorCall::Load { module_url: "/module.js".into() }).await;
            assert_eq!(loaded, CallOutcome::Missing, "{module}");
        }
    });
}

#[test]
fn create_that_throws_or_returns_nothing_leaves_no_collector() {
    run(async {
        let site =
            Site::with_module("export const create = ({ fails }) => { if (fails) throw new Error('no'); }")
                .await;
        let page = open(site.url("/")).await;
        page.call(CollectorCall::Load { module_url: site.url("/module.js") }).await;
        let create = |fails| CollectorCall::Create { options: json!({"fails": fails}), signal: false };
        assert_eq!(page.call(create(true)).await, failed(ErrorPath::Thrown, true, "Error", "no"));
        assert_eq!(page.call(create(false)).await, returned(Value::Null));
        assert_eq!(page.call(start()).await, CallOutcome::Missing);
    });
}

#[test]
fn call_that_never_settles_ends_at_its_time_limit() {
    run(async {
        let limit = SHORT;
        let module = "const never = new Promise(() => {}); globalThis.kept = never;
            export const create = () => ({ start: () => never, ready: () => 'ready' })";
        let (_site, page) = collector(module, limit).await;
        let CallOutcome::Unsettled { after } = page.call(start()).await else { panic!() };
        assert!(after >= limit && after < LIMIT, "{after:?}");
        assert_eq!(page.call(CollectorCall::Ready).await, returned(json!("ready")));
    });
}

#[test]
fn begun_call_can_be_aborted_meanwhile() {
    run(async {
        let module = "export const create = ({ signal }) => {
            let stop;
            return {
                start: () => new Promise((_, reject) => {
                    stop = () => reject(new DOMException('stopped', 'AbortError'));
                    signal?.addEventListener('abort', stop);
                }),
                abort: () => stop(),
            };
        }";
        let (_site, page) = collector(module, LIMIT).await;
        let aborted = failed(ErrorPath::Rejected, true, "AbortError", "stopped");
        let started = page.begin(start());
        assert_eq!(page.call(CollectorCall::Abort).await, returned(Value::Null));
        assert_eq!(started.await, aborted);

        page.call(CollectorCall::Create { options: json!({}), signal: true }).await;
        let started = page.begin(start());
        assert_eq!(page.call(CollectorCall::AbortSignal).await, returned(Value::Null));
        assert_eq!(started.await, aborted);
    });
}

#[test]
fn calls_work_in_a_page_that_breaks_its_globals() {
    run(async {
        let breaking = "for (const [owner, name] of [[JSON, 'stringify'], [globalThis, 'Promise'], [globalThis, 'URL'],
            [Promise.prototype, 'then'], [String.prototype, 'slice'], [Reflect, 'apply'], [globalThis, 'Error']]) {
            Object.defineProperty(owner, name, { get() { throw new RangeError('broken'); } });
        }
        Object.prototype.toJSON = () => 'changed';";
        let site = Site::with_module("export const create = () => ({ start: async () => ({ a: 1 }) })").await;
        let page = open_with(PageOptions {
            before_load: vec![breaking.into()],
            time_limit: LIMIT,
            ..PageOptions::new(site.url("/"))
        })
        .await;
        let loaded = page.call(CollectorCall::Load { module_url: "/module.js".into() }).await;
        assert_eq!(loaded, returned(Value::Null));
        assert_eq!(page.call(create()).await, returned(Value::Null));
        assert_eq!(page.call(start()).await, returned(json!("changed")));
        let error = page.evaluate("new URL('https://a.test')").await.unwrap_err().to_string();
        assert!(error.contains("RangeError: broken"), "{error}");
    });
}

#[test]
fn scripts_before_load_run_in_order_before_the_page_and_see_no_driver() {
    run(async {
        let page = "<!doctype html><script>seen.push('page', Object.getOwnPropertyNames(globalThis)
            .filter(name => name.startsWith('driver')).length)</script>";
        let site = Site::start(move |_| Some(super::support::html(page))).await;
        let page = open_with(PageOptions {
            before_load: vec!["globalThis.seen = ['first'];".into(), "seen.push('second');".into()],
            time_limit: LIMIT,
            ..PageOptions::new(site.url("/"))
        })
        .await;
        assert_eq!(page.evaluate("seen.slice(0, 3)").await.unwrap(), json!(["first", "second", "page"]));
        let left =
            page.evaluate("Reflect.ownKeys(globalThis).filter(k => String(k).startsWith('driver'))").await;
        assert_eq!(left.unwrap(), json!([]));
    });
}

#[test]
fn evaluation_awaits_promises_and_reports_errors() {
    run(async {
        let site = Site::with_module("").await;
        let page = open(site.url("/")).await;
        assert_eq!(page.evaluate("Promise.resolve({ a: [1] })").await.unwrap(), json!({"a": [1]}));
        assert_eq!(page.evaluate("undefined").await.unwrap(), Value::Null);
        let error = page.evaluate("missing.value").await.unwrap_err().to_string();
        assert!(error.contains("ReferenceError: missing is not defined"), "{error}");
    });
}
