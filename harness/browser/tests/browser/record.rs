use edgeproof_browser::{Page, PageRequest, PageWebSocket};
use futures_util::{SinkExt as _, StreamExt as _};
use http::Response;
use http_body_util::Full;
use serde_json::json;
use tokio::net::TcpListener;

use super::support::{Answer, Arrival, Site, html, open, readable, run, script, status};

/// Requests of a page so far, without the page itself and its icon.
async fn requests(page: &Page) -> Vec<PageRequest> {
    page.settle().await;
    let all = page.record().requests.into_iter();
    all.skip(1).filter(|request| !request.url.ends_with("/favicon.ico")).collect()
}

fn answer(arrival: &Arrival) -> Option<Answer> {
    Some(match arrival.path.as_str() {
        "/" => html("<!doctype html><title>page</title>"),
        "/refuses" => status(403),
        "/open" => readable(status(200)),
        "/moved" => {
            Response::builder().status(307).header("location", "/open").body(Full::default()).unwrap()
        }
        "/hangs" => return None,
        "/worker.js" => script(
            "onmessage = async ({ data }) => { await fetch(data, { method: 'POST', body: 'worker' }); postMessage(1); }",
        ),
        "/shared.js" => script(
            "onconnect = async ({ ports: [port] }) => { await fetch('/shared-data'); port.postMessage(1); }",
        ),
        "/service.js" => script(
            "oninstall = event => event.waitUntil(fetch('/service-data').then(() => skipWaiting()));
             onactivate = event => event.waitUntil(clients.claim());",
        ),
        "/frame" => html(
            "<!doctype html><script>fetch('/frame-data').then(() => parent.postMessage('done', '*'))</script>",
        ),
        _ => script("1"),
    })
}

async fn page() -> (Site, Page) {
    let site = Site::start(answer).await;
    let page = open(site.url("/")).await;
    (site, page)
}

#[test]
fn requests_have_method_headers_body_and_status() {
    run(async {
        let (site, page) = page().await;
        let post = "fetch('/refuses', { method: 'PUT', headers: { 'x-own': 'ü' && 'yes' }, body: new Uint8Array([0, 255, 10]) })
            .then(r => r.status)";
        assert_eq!(page.evaluate(post).await.unwrap(), json!(403));
        let [request] = requests(&page).await.try_into().unwrap();
        assert_eq!((request.method.as_str(), request.url.as_str()), ("PUT", site.url("/refuses").as_str()));
        assert_eq!((request.kind.as_str(), request.sender.as_str()), ("Fetch", "page"));
        assert_eq!(request.body.as_deref(), Some(&[0, 255, 10][..]));
        assert_eq!((request.status, &request.failed), (Some(403), &None));
        assert_eq!(request.header("X-Own"), Some("yes"));
        // Headers that Chromium adds itself.
        assert_eq!(request.header("origin"), Some(site.url("").as_str()));
        let arrival = site.arrivals().pop().unwrap();
        assert_eq!((arrival.method.as_str(), &arrival.body[..]), ("PUT", &[0, 255, 10][..]));
        assert_eq!(arrival.headers["x-own"], "yes");
    });
}

#[test]
fn bodies_of_all_forms_and_sizes_are_recorded() {
    run(async {
        let (site, page) = page().await;
        let bodies = [
            ("'text ü'", 7),
            ("new Blob(['one', new Uint8Array([128, 255])])", 5),
            ("new URLSearchParams({ a: '1' })", 3),
            ("'x'.repeat(200_000)", 200_000),
            ("new Uint8Array(6_000_000).fill(200)", 6_000_000),
            ("new Blob([new Uint8Array(6_000_000).fill(200)])", 6_000_000),
        ];
        for (body, size) in bodies {
            page.evaluate(&format!("fetch('/open', {{ method: 'POST', body: {body} }}).then(() => 1)"))
                .await
                .unwrap();
            let request = requests(&page).await.pop().unwrap();
            let arrived = site.arrivals().pop().unwrap().body;
            assert_eq!(arrived.len(), size, "{body}");
            assert!(
                request.body.as_deref() == Some(&arrived[..]),
                "{body}: {:?}",
                request.body.map(|body| body.len())
            );
        }
    });
}

#[test]
fn form_data_and_request_without_body_are_recorded() {
    run(async {
        let (site, page) = page().await;
        let form = "(() => { const form = new FormData(); form.append('a', '1'); form.append('f', new File(['content'], 'n'));
            return fetch('/open', { method: 'POST', body: form }).then(() => 1) })()";
        page.evaluate(form).await.unwrap();
        page.evaluate("fetch('/open', { method: 'POST' }).then(() => 1)").await.unwrap();
        let [with, without] = requests(&page).await.try_into().unwrap();
        let arrived = &site.arrivals()[1].body;
        assert_eq!(with.body.as_deref().map(String::from_utf8_lossy), Some(String::from_utf8_lossy(arrived)));
        assert_eq!(without.body, None);
    });
}

#[test]
fn xhr_image_beacon_and_keepalive_are_recorded() {
    run(async {
        let (site, page) = page().await;
        let send = "(async () => {
            const xhr = new XMLHttpRequest(); xhr.open('POST', '/xhr'); xhr.send('xhr');
            await new Promise(done => { xhr.onloadend = done; });
            await new Promise(done => { const image = new Image(); image.onerror = done; image.src = '/image?secret'; });
            navigator.sendBeacon('/beacon', 'beacon');
            navigator.sendBeacon('/beacon-blob', new Blob(['blob']));
            await fetch('/keepalive', { method: 'POST', keepalive: true, body: 'kept' });
        })()";
        page.evaluate(send).await.unwrap();
        let seen: Vec<_> = requests(&page)
            .await
            .into_iter()
            .map(|request| {
                let path = request.url.replace(&site.url(""), "");
                let body = String::from_utf8(request.body.unwrap_or_default()).unwrap();
                (path, request.kind, body)
            })
            .collect();
        let expected = [
            ("/xhr", "XHR", "xhr"),
            ("/image?secret", "Image", ""),
            ("/beacon", "Ping", "beacon"),
            ("/beacon-blob", "Ping", "blob"),
            ("/keepalive", "Fetch", "kept"),
        ];
        let expected = expected.map(|(path, kind, body)| (path.to_owned(), kind.to_owned(), body.to_owned()));
        assert_eq!(seen, expected);
    });
}

#[test]
fn redirect_is_two_requests() {
    run(async {
        let (site, page) = page().await;
        page.evaluate("fetch('/moved', { method: 'POST', body: 'again' }).then(() => 1)").await.unwrap();
        let [first, second] = requests(&page).await.try_into().unwrap();
        assert_eq!((first.url, first.status), (site.url("/moved"), Some(307)));
        assert_eq!((second.url, second.status), (site.url("/open"), Some(200)));
        assert_eq!(second.body.as_deref(), Some(&b"again"[..]));
    });
}

#[test]
fn cors_preflight_and_refusal_are_told_apart() {
    run(async {
        let (_site, page) = page().await;
        let other = Site::start(answer).await;
        let post = |path| {
            let url = other.url(path).replace("localhost", "127.0.0.1");
            format!("fetch('{url}', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: '{{}}' }})
                .then(r => r.status, e => e.name)")
        };
        assert_eq!(page.evaluate(&post("/open")).await.unwrap(), json!(200));
        let (preflights, posts): (Vec<_>, Vec<_>) =
            requests(&page).await.into_iter().partition(PageRequest::is_preflight);
        let [preflight] = preflights.try_into().unwrap();
        let [post_request] = posts.try_into().unwrap();
        assert_eq!((preflight.method.as_str(), preflight.status), ("OPTIONS", Some(200)));
        assert_eq!((post_request.method.as_str(), post_request.status), ("POST", Some(200)));

        assert_eq!(page.evaluate(&post("/refuses")).await.unwrap(), json!("TypeError"));
        let refused = requests(&page).await.into_iter().rfind(|request| request.method == "POST").unwrap();
        let why = refused.failed.unwrap();
        assert!(why.starts_with("net::ERR_FAILED (Preflight"), "{why}");
        assert!(page.record().browser_errors.iter().any(|error| error.contains("CORS")));
        assert!(page.record().console_errors.is_empty());
    });
}

#[test]
fn failed_and_unanswered_requests_are_recorded() {
    run(async {
        let (site, page) = page().await;
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = closed.local_addr().unwrap().port();
        drop(closed);
        let fetches =
            format!("fetch('/hangs'); fetch('http://127.0.0.1:{port}/down').then(() => 0, e => e.name)");
        assert_eq!(page.evaluate(&fetches).await.unwrap(), json!("TypeError"));
        let [hanging, down] = requests(&page).await.try_into().unwrap();
        assert_eq!((hanging.url, hanging.status, hanging.failed), (site.url("/hangs"), None, None));
        assert_eq!(down.failed.as_deref(), Some("net::ERR_CONNECTION_REFUSED"));
    });
}

#[test]
fn requests_of_workers_and_frames_are_recorded() {
    run(async {
        let (site, page) = page().await;
        let work = "(async () => {
            const worker = new Worker('/worker.js');
            await new Promise(done => { worker.onmessage = done; worker.postMessage('/worker-data'); });
            const { port } = new SharedWorker('/shared.js');
            await new Promise(done => { port.onmessage = done; });
            await navigator.serviceWorker.register('/service.js');
            await navigator.serviceWorker.ready;
            const frame = document.createElement('iframe'); frame.src = '/frame';
            await new Promise(done => { onmessage = done; document.body.append(frame); });
        })()";
        page.evaluate(work).await.unwrap();
        let all = requests(&page).await;
        let of = |path: &str| {
            let mut found = all.iter().filter(|request| request.url == site.url(path));
            let request = found.next().unwrap_or_else(|| panic!("{path} is missing in {all:#?}"));
            assert!(found.next().is_none(), "{path} is there twice in {all:#?}");
            (request.sender.as_str(), request.body.as_deref())
        };
        assert_eq!(of("/worker-data"), ("worker", Some(&b"worker"[..])));
        assert_eq!(of("/shared-data").0, "shared_worker");
        assert_eq!(of("/service-data").0, "service_worker");
        for path in ["/frame-data", "/worker.js", "/shared.js", "/service.js"] {
            of(path);
        }
        let workers = page.record().workers;
        assert_eq!(workers, ["/worker.js", "/shared.js", "/service.js"].map(|path| site.url(path)));
        // The site saw nothing that the record lacks.
        for arrival in site.arrivals().iter().filter(|arrival| arrival.path != "/") {
            assert!(all.iter().any(|request| request.url == site.url(&arrival.path)), "{arrival:?}");
        }
    });
}

#[test]
fn opened_window_and_its_requests_are_recorded() {
    run(async {
        let (site, page) = page().await;
        let opened =
            "new Promise(done => { onmessage = done; open('/window'); setTimeout(done, 0) }).then(() => 1)";
        page.evaluate(opened).await.unwrap();
        page.settle().await;
        assert_eq!(page.record().windows.len(), 1);
        assert!(page.record().gone.is_none());
        drop(site);
    });
}

#[test]
fn console_errors_uncaught_errors_and_browser_errors_are_kept_apart() {
    run(async {
        let (_site, page) = page().await;
        let noise = "(async () => {
            console.log('log'); console.warn('warn'); console.error('text', 1, { a: 1 }, new Error('logged'));
            console.assert(false, 'asserted');
            Promise.reject(new TypeError('unhandled'));
            const late = Promise.reject(new Error('handled late'));
            setTimeout(() => { throw 'thrown'; });
            await new Promise(done => setTimeout(done));
            late.catch(() => {});
            await fetch('/refuses');
            await new Promise(done => setTimeout(done));
        })()";
        page.evaluate(noise).await.unwrap();
        page.settle().await;
        let record = page.record();
        let [text, asserted] = &record.console_errors[..] else { panic!("{:?}", record.console_errors) };
        assert!(text.starts_with("text 1 Object Error: logged"), "{text}");
        assert_eq!(asserted, "asserted");
        let [thrown, unhandled] = &record.uncaught[..] else { panic!("{:?}", record.uncaught) };
        assert!(unhandled.starts_with("Uncaught (in promise) TypeError: unhandled"), "{unhandled}");
        assert_eq!(thrown, "Uncaught thrown");
        let [refused] = &record.browser_errors[..] else { panic!("{:?}", record.browser_errors) };
        assert!(refused.starts_with("Failed to load resource") && refused.ends_with("/refuses"), "{refused}");
    });
}

/// WebSocket server: echoes, then closes when a client sends `close`.
async fn websocket_echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
                while let Some(Ok(message)) = socket.next().await {
                    if message.to_text().is_ok_and(|text| text == "close") {
                        let _ = socket.close(None).await;
                    } else if message.is_text() || message.is_binary() {
                        let _ = socket.send(message).await;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn websockets_have_handshake_frames_and_failure() {
    run(async {
        let (site, page) = page().await;
        let (echo, refusing) = (websocket_echo().await, site.port());
        let talk = format!(
            "(async () => {{
                const echo = new WebSocket('ws://localhost:{echo}/v1/measure');
                await new Promise(done => {{ echo.onopen = done; }});
                echo.send('text'); echo.send(new Uint8Array([0, 255]));
                for (let i = 0; i < 2; i++) await new Promise(done => {{ echo.onmessage = done; }});
                echo.send('close');
                await new Promise(done => {{ echo.onclose = done; }});
                const refused = new WebSocket('ws://localhost:{refusing}/refuses');
                await new Promise(done => {{ refused.onclose = done; }});
            }})()"
        );
        page.evaluate(&talk).await.unwrap();
        page.settle().await;
        let record = page.record();
        let [echoed, refused]: [PageWebSocket; 2] = record.websockets.try_into().unwrap();
        assert_eq!(echoed.url, format!("ws://localhost:{echo}/v1/measure"));
        assert_eq!((echoed.status, echoed.sender.as_str()), (Some(101), "page"));
        assert_eq!(echoed.sent, [b"text".to_vec(), vec![0, 255], b"close".to_vec()]);
        assert_eq!((echoed.received, echoed.failed, echoed.closed), (2, None, true));
        assert!(refused.failed.is_some(), "{refused:?}");
        assert!(record.console_errors.is_empty());
    });
}
