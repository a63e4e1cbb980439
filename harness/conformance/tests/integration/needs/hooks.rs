//! The state hooks of the documentation, as they are.

use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::Duration;

use edgeproof_http::{Body, Draft, ServerAddress, send};
use edgeproof_launch::{CommandLine, Filter};
use rstest::rstest;
use url::Url;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use crate::limited;

const GUIDE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/services.md"));

/// The first block of a language.
fn block(language: &str) -> String {
    let fence = format!("```{language}\n");
    let (_, rest) = GUIDE.split_once(&fence).unwrap_or_else(|| panic!("no block of {language}"));
    rest.split("```").next().unwrap().to_owned()
}

/// Killed at the end of the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
#[ignore = "needs Node: just test-browser"]
async fn hook_in_node_brings_the_service_into_states() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let service = "const sessions = new Map(), revoked = new Set()\nlet offset = 0\nconst now = () => Date.now() + offset\n";
    let code = block("js").replace("9000", &port.to_string());
    let (imports, rest) = code.split_once("\n\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hook.mjs");
    std::fs::write(&file, format!("{imports}\n{service}{rest}")).unwrap();
    let _program = Program(Command::new("node").arg(&file).spawn().unwrap());
    limited::until("the hook listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let url = Url::parse(&format!("http://127.0.0.1:{port}/state")).unwrap();
    let address = ServerAddress::resolve(&url, None).await.unwrap();
    for (request, status) in [
        (r#"{"state":"verdict","ref":"r","license":"own","decision":"allow","confidence":1.0,"age":0}"#, 200),
        (r#"{"state":"pending","ref":"r","license":"other"}"#, 200),
        (r#"{"state":"gone","ref":"r"}"#, 200),
        (r#"{"state":"revoke","token":"service_read_x"}"#, 200),
        (r#"{"state":"restore","token":"service_read_x"}"#, 200),
        (r#"{"state":"later","seconds":121}"#, 200),
        (r#"{"state":"rotate"}"#, 501),
    ] {
        let draft = Draft::new("POST", "").body(Body::Sized(request.into()));
        let answer = send(&address, &draft, Duration::from_secs(60)).await.reply.unwrap();
        assert_eq!(answer.status, status, "{request}");
    }
}

#[rstest]
#[case(r#"{"state":"pending","ref":"r","license":"own"}"#, 0, 1)]
#[case(r#"{"state":"rotate"}"#, 3, 0)]
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Python: just test-browser"]
async fn hook_in_python_tells_the_service(#[case] request: &str, #[case] code: i32, #[case] told: usize) {
    let service = MockServer::start().await;
    let answer = ResponseTemplate::new(200);
    Mock::given(matchers::path("/test/session")).respond_with(answer).mount(&service).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hook.py");
    std::fs::write(&file, block("python").replace("http://127.0.0.1:8080", &service.uri())).unwrap();
    let command = CommandLine::parse(&format!("python3 '{}'", file.display())).unwrap();
    let output = Filter::new(&command).run(request.as_bytes(), Duration::from_secs(60)).await.unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    let requests = service.received_requests().await.unwrap();
    assert_eq!(requests.len(), told);
}
