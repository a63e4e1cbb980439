//! Mock of a browser verification service, for tests of edges and backends.
//!
//! [`MockService`] accepts relayed collections from edges, returns verdicts to backends and publishes its key set.
//! It checks licenses, client certificates, collections and read tokens for real. A [`Script`] replaces its answers,
//! and its journal records every request.
//!
//! ```
//! use edgeproof_fixtures::credentials::ReadTokenForm;
//! use edgeproof_mock::{MockService, NewSession, ServiceEndpoint};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let service = MockService::start().await?;
//! service.add_session(NewSession::new("order-4711"));
//!
//! // The code under test: it requests `{base_url}/v1/verdict/order-4711` with the read token.
//! let base_url = service.plain_url().expect("`start` opens an address without TLS");
//! let read_token = service.credentials().read_token(ReadTokenForm::Valid);
//! let answer = fetch_verdict(&base_url, "order-4711", &read_token).await?;
//!
//! assert!(answer.contains(r#""decision":"allow""#));
//! assert_eq!(service.journal()[0].endpoint, ServiceEndpoint::Verdict);
//! # std::io::Result::Ok(()) }).unwrap();
//! #
//! # async fn fetch_verdict(base_url: &str, reference: &str, read_token: &str) -> std::io::Result<String> {
//! #     use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! #     let address = base_url.trim_start_matches("http://");
//! #     let mut stream = tokio::net::TcpStream::connect(address).await?;
//! #     let head = format!("GET /v1/verdict/{reference} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
//! #     stream.write_all(format!("{head}Authorization: Bearer {read_token}\r\n\r\n").as_bytes()).await?;
//! #     let mut answer = String::new();
//! #     stream.read_to_string(&mut answer).await?;
//! #     Ok(answer)
//! # }
//! ```
//!
//! Tests in other languages use the [admin port](admin) and [magic values](magic).
//!
//! # Code map
//!
//! Imports go one way: a line imports only from lines above it.
//!
//! | Module | Contents |
//! |---|---|
//! | `route`, `clock`, `listener` | endpoint of a request; time; sockets and TLS |
//! | `decision` | the pure decisions: tables, profile and facts of a request in, answer out |
//! | `journal`, `scripts`, `keys`, [`magic`] | recorded requests; scripted replies; verdict keys and seal keys; magic values |
//! | `fault_hooks`, `options`, `state` | hooks for mutants; settings; the state that requests share |
//! | `collections`, `verdicts` | handlers: `POST` of a relayed collection; `GET` of a verdict |
//! | `http` | reads and records a request, selects script or handler, sends the answer |
//! | `service`, [`admin`] | [`MockService`]; its admin port |

pub mod admin;
mod clock;
mod collections;
mod decision;
mod fault_hooks;
mod http;
mod journal;
mod keys;
mod listener;
pub mod magic;
mod options;
mod route;
mod scripts;
mod service;
mod state;
mod verdicts;

pub use clock::Clock;
pub use decision::{
    CollectionFacts, Outage, ReadOutage, Replay, ReplyShape, ReplyShapeError, ServiceDecision, SessionFact,
    VerdictFacts, decide, decide_verdict, presented_licenses,
};
pub use fault_hooks::{NoFaults, ServiceAction, ServiceFaultHooks, ServiceRequest};
pub use journal::{Arrival, ArrivalAnswer, Observer, RECORDED};
pub use listener::{Listen, ListenerMode};
pub use options::ServiceOptions;
pub use route::ServiceEndpoint;
pub use scripts::{Action, AnswerFraming, AnswerPackets, Match, Reply, Script, Scripted, ShapedAnswer, When};
pub use service::MockService;
pub use state::{NewSession, Ready};
