//! Pages that do what they must not. Their calls end, other pages go on, and the browser closes.

use edgeproof_browser::{CallOutcome, CollectorCall, Page, PageOptions};
use serde_json::json;

use super::support::{LIMIT, SHORT, Site, collector, html, launch, open, run, start};

/// Module whose `start()` runs these statements.
fn starting(statements: &str) -> String {
    format!("export const create = () => ({{ async start() {{ {statements} }}, ready: () => 'ready' }})")
}

async fn why_gone(page: &Page, call: CollectorCall) -> String {
    match page.call(call).await {
        CallOutcome::PageGone { why } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn busy_page_ends_at_its_time_limit_and_blocks_neither_other_pages_nor_the_end() {
    run(async {
        let browser = launch().await;
        let site = Site::with_module(&starting("for (;;) {}")).await;
        let options = PageOptions { time_limit: LIMIT, ..PageOptions::new(site.url("/")) };
        let busy = browser.open(options.clone()).await.unwrap();
        busy.call(CollectorCall::Load { module_url: "/module.js".into() }).await;
        busy.call(super::support::create()).await;
        let busy = busy.with_time_limit(SHORT);
        let started = busy.begin(start());
        let other = browser.open(options.clone()).await.unwrap();
        assert_eq!(other.evaluate("1 + 1").await.unwrap(), json!(2));
        assert!(matches!(started.await, CallOutcome::Unsettled { after } if after >= SHORT));
        assert!(matches!(busy.call(CollectorCall::Ready).await, CallOutcome::Unsettled { .. }));
        drop(busy);
        assert_eq!(other.evaluate("1 + 1").await.unwrap(), json!(2));
        let busy = browser.open(options).await.unwrap().with_time_limit(SHORT);
        assert!(busy.evaluate("for (;;) {}").await.is_err());
        let folder = browser.folder().to_owned();
        browser.close().await;
        assert!(!folder.exists());
    });
}

#[test]
fn busy_page_does_not_open() {
    run(async {
        let site = Site::start(|_| Some(html("<!doctype html><script>for (;;) {}</script>"))).await;
        let options = PageOptions { time_limit: SHORT, ..PageOptions::new(site.url("/")) };
        let error = super::support::browser().await.open(options).await.unwrap_err().to_string();
        assert!(error.ends_with("it did not load within 1s"), "{error}");
    });
}

#[test]
fn page_that_navigates_away_is_gone() {
    run(async {
        let (site, page) =
            collector(&starting("location.href = '/other'; await new Promise(() => {})"), LIMIT).await;
        let expected = format!("the page navigated to {}", site.url("/other"));
        assert_eq!(why_gone(&page, start()).await, expected);
        assert_eq!(why_gone(&page, CollectorCall::Ready).await, expected);
        let record = page.record();
        assert_eq!(record.navigations, [site.url("/other")]);
        assert_eq!(record.gone, Some(expected));
    });
}

#[test]
fn page_that_reloads_is_gone() {
    run(async {
        let (site, page) =
            collector(&starting("location.reload(); await new Promise(() => {})"), LIMIT).await;
        assert_eq!(why_gone(&page, start()).await, format!("the page navigated to {}", site.url("/")));
    });
}

#[test]
fn page_that_changes_its_url_stays() {
    run(async {
        let (site, page) =
            collector(&starting("history.pushState({}, '', '/pushed'); location.hash = 'h'"), LIMIT).await;
        assert_eq!(page.call(start()).await, CallOutcome::Returned(json!(null)));
        assert_eq!(page.call(CollectorCall::Ready).await, CallOutcome::Returned(json!("ready")));
        page.settle().await;
        assert_eq!(page.record().navigations, [site.url("/pushed"), site.url("/pushed#h")]);
    });
}

#[test]
fn dialogs_are_dismissed_and_recorded() {
    run(async {
        let statements = "alert('one'); return [confirm('two'), prompt('three', 'default')]";
        let (_site, page) = collector(&starting(statements), LIMIT).await;
        assert_eq!(page.call(start()).await, CallOutcome::Returned(json!([false, null])));
        let record = page.record();
        assert_eq!(record.dialogs, ["alert: one", "confirm: two", "prompt: three"]);
        assert_eq!(record.dialog_count, 3);
    });
}

#[test]
fn endless_dialogs_are_counted_and_end_at_the_time_limit() {
    run(async {
        let (_site, page) = collector(&starting("for (;;) alert('again')"), SHORT).await;
        assert!(matches!(page.call(start()).await, CallOutcome::Unsettled { .. }));
        let record = page.record();
        assert!(record.dialog_count >= record.dialogs.len() && record.dialogs.len() <= 1_000);
        assert!(record.dialog_count > 1);
    });
}

#[test]
fn dialogs_while_the_page_loads_and_leaves_block_nothing() {
    run(async {
        let page = "<!doctype html><script>alert('loading');
            addEventListener('beforeunload', event => { event.preventDefault(); event.returnValue = 'stay'; });
            addEventListener('unload', () => { for (;;) {} });</script>";
        let site = Site::start(move |_| Some(html(page))).await;
        let browser = launch().await;
        let page = browser.open(PageOptions::new(site.url("/"))).await.unwrap();
        assert_eq!(page.record().dialogs, ["alert: loading"]);
        drop(page);
        let folder = browser.folder().to_owned();
        browser.close().await;
        assert!(!folder.exists());
    });
}

#[test]
fn page_that_closes_itself_is_gone() {
    run(async {
        let (_site, page) = collector(&starting("window.close(); await new Promise(() => {})"), LIMIT).await;
        assert_eq!(why_gone(&page, start()).await, "the page closed");
        assert_eq!(why_gone(&page, CollectorCall::Ready).await, "the page closed");
        assert!(page.evaluate("1").await.unwrap_err().to_string().ends_with("the page closed"));
    });
}

#[test]
fn page_that_crashes_is_gone() {
    run(async {
        let site = Site::with_module("").await;
        let page = open(site.url("/")).await;
        let hanging = page.begin(CollectorCall::Load {
            module_url: "data:text/javascript,await new Promise(()=>{})".into(),
        });
        page.crash().await;
        let CallOutcome::PageGone { why } = hanging.await else { panic!() };
        assert_eq!(why, "the page crashed");
        assert_eq!(why_gone(&page, CollectorCall::Ready).await, "the page crashed");
    });
}

#[test]
fn page_that_crashes_while_it_loads_does_not_open_and_others_do() {
    run(async {
        let options = PageOptions { time_limit: LIMIT, ..PageOptions::new("chrome://crash") };
        let browser = super::support::browser().await;
        assert!(browser.open(options).await.is_err());
        let site = Site::with_module("").await;
        assert_eq!(open(site.url("/")).await.evaluate("1").await.unwrap(), json!(1));
    });
}

#[test]
fn console_flood_is_counted_and_cut() {
    run(async {
        let flood =
            "for (let i = 0; i < 50_000; i++) console.error('flood', i, 'x'.repeat(100)); return 'done'";
        let (_site, page) = collector(&starting(flood), LIMIT).await;
        assert_eq!(page.call(start()).await, CallOutcome::Returned(json!("done")));
        page.settle().await;
        let record = page.record();
        assert_eq!(record.console_errors.len(), 1_000);
        assert!(record.console_errors[0].starts_with("flood 0 xxx"));
        assert!(record.console_count >= 10_000, "{}", record.console_count);
        assert_eq!(page.call(CollectorCall::Ready).await, CallOutcome::Returned(json!("ready")));
    });
}

#[test]
fn endless_console_flood_ends_at_the_time_limit() {
    run(async {
        let (_site, page) = collector(&starting("for (;;) console.log('flood')"), SHORT).await;
        assert!(matches!(page.call(start()).await, CallOutcome::Unsettled { .. }));
        assert!(page.record().console_count > 0);
    });
}

#[test]
fn request_flood_is_counted_and_cut() {
    run(async {
        let flood = "for (let i = 0; i < 2_000; i++) fetch('/flood').catch(() => {}); return 'done'";
        let (_site, page) = collector(&starting(flood), LIMIT).await;
        assert_eq!(page.call(start()).await, CallOutcome::Returned(json!("done")));
        page.settle().await;
        let record = page.record();
        assert_eq!(record.requests.len(), 1_000);
        assert!(record.request_count > 2_000, "{}", record.request_count);
    });
}
