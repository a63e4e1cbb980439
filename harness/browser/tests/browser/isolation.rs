use edgeproof_browser::PageOptions;
use serde_json::{Value, json};

use super::support::{LIMIT, Site, browser, open, run};

#[test]
fn pages_share_neither_cookies_nor_storage_nor_databases() {
    run(async {
        let site = Site::with_module("").await;
        let write = "document.cookie = 'a=1'; localStorage.a = sessionStorage.a = '1';
            new Promise(done => { indexedDB.open('a').onsuccess = done; })
                .then(() => caches.open('a')).then(() => undefined)";
        let read = "(async () => [document.cookie, localStorage.a ?? null, sessionStorage.a ?? null,
            (await indexedDB.databases()).length, (await caches.keys()).length])()";
        let first = open(site.url("/")).await;
        first.evaluate(write).await.unwrap();
        assert_eq!(first.evaluate(read).await.unwrap(), json!(["a=1", "1", "1", 1, 1]));
        let empty = json!(["", null, null, 0, 0]);
        let second = open(site.url("/")).await;
        assert_eq!(second.evaluate(read).await.unwrap(), empty);
        drop(first);
        let third = open(site.url("/")).await;
        assert_eq!(third.evaluate(read).await.unwrap(), empty);
    });
}

#[test]
fn record_of_a_page_has_nothing_of_other_pages() {
    run(async {
        let site = Site::with_module("").await;
        let (one, two) = tokio::join!(open(site.url("/")), open(site.url("/other")));
        one.evaluate("fetch('/only-one').then(() => console.error('one'))").await.unwrap();
        two.evaluate("fetch('/only-two').then(() => console.error('two'))").await.unwrap();
        one.settle().await;
        two.settle().await;
        let paths = |page: &edgeproof_browser::Page| -> Vec<String> {
            let requests = page.record().requests.into_iter();
            requests.map(|request| request.url).filter(|url| !url.ends_with("/favicon.ico")).collect()
        };
        assert_eq!(paths(&one), [site.url("/"), site.url("/only-one")]);
        assert_eq!(paths(&two), [site.url("/other"), site.url("/only-two")]);
        assert_eq!(one.record().console_errors, ["one"]);
    });
}

#[test]
fn pages_are_visible_and_have_focus() {
    run(async {
        let site = Site::with_module("").await;
        let (one, two) = tokio::join!(open(site.url("/")), open(site.url("/other")));
        for page in [&one, &two] {
            let state = page.evaluate("[document.visibilityState, document.hasFocus()]").await.unwrap();
            assert_eq!(state, json!(["visible", true]));
            // Frames are drawn.
            page.evaluate("new Promise(done => requestAnimationFrame(() => done()))").await.unwrap();
        }
    });
}

#[test]
fn names_below_test_are_this_machine_and_other_names_do_not_exist() {
    run(async {
        let site =
            Site::start(|_| Some(super::support::readable(super::support::html("<!doctype html>")))).await;
        let port = site.port();
        let page = open(site.url("/")).await;
        let reach = async |host: &str| {
            let fetch = format!("fetch('http://{host}:{port}/').then(r => r.status, e => e.name)");
            page.evaluate(&fetch).await.unwrap()
        };
        for host in ["localhost", "127.0.0.1", "shop.test", "a.b.test"] {
            assert_eq!(reach(host).await, json!(200), "{host}");
        }
        for host in ["example.com", "localhost.example", "[::1]", "127.0.0.2", "test.example"] {
            assert_eq!(reach(host).await, json!("TypeError"), "{host}");
        }
        page.settle().await;
        let failures = page.record().requests.into_iter().filter_map(|request| request.failed);
        assert_eq!(failures.collect::<Vec<_>>(), vec!["net::ERR_NAME_NOT_RESOLVED"; 5]);
    });
}

#[test]
fn contexts_are_secure_as_in_the_field() {
    run(async {
        let answer = |_: &super::support::Arrival| Some(super::support::html("<!doctype html>"));
        let (plain, tls) = tokio::join!(Site::start(answer), Site::with_tls("shop.test", None, answer));
        let urls = [
            (format!("http://localhost:{}/", plain.port()), true),
            (format!("http://127.0.0.1:{}/", plain.port()), true),
            (format!("http://shop.test:{}/", plain.port()), false),
            (format!("https://shop.test:{}/", tls.port()), true),
        ];
        for (url, expected) in urls {
            let page = open(url.clone()).await;
            let secure = page.evaluate("[isSecureContext, crypto.subtle !== undefined]").await.unwrap();
            assert_eq!(secure, json!([expected, expected]), "{url}");
            assert_eq!(page.evaluate("location.href").await.unwrap(), json!(url));
        }
    });
}

#[test]
fn certificate_of_an_untrusted_key_is_refused() {
    run(async {
        let key = rcgen::KeyPair::generate().unwrap();
        let site = Site::with_tls("shop.test", Some(&key), |_| Some(super::support::status(200))).await;
        let url = format!("https://shop.test:{}/", site.port());
        let options = PageOptions { time_limit: LIMIT, ..PageOptions::new(url) };
        let error = browser().await.open(options).await.unwrap_err().to_string();
        assert!(error.contains("net::ERR_CERT_AUTHORITY_INVALID"), "{error}");
    });
}

#[test]
fn collectors_get_x25519_canvas_and_webgl() {
    run(async {
        let site = Site::with_module("").await;
        let page = open(site.url("/")).await;
        let has = "(async () => [
            (await crypto.subtle.generateKey('X25519', false, ['deriveBits'])).publicKey.type,
            document.createElement('canvas').toDataURL().startsWith('data:image/png'),
            document.createElement('canvas').getContext('webgl') !== null,
        ])()";
        assert_eq!(page.evaluate(has).await.unwrap(), json!(["public", true, true]));
        assert_eq!(page.evaluate("undefined").await.unwrap(), Value::Null);
    });
}
