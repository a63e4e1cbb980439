//! Reference edge: relays collections from a page to a browser verification service.
//!
//! [`decide`] and [`conclude`] contain its behaviour as pure functions over [`EdgeRules`]. Everything else is I/O.
//! [`EdgeFaultHooks`] changes the behaviour for mutation runs and tests.
//!
//! An edge in front of the mock service:
//!
//! ```
//! use std::sync::Arc;
//!
//! use edgeproof_edge::{Edge, EdgeOptions, LogSink};
//! use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions};
//! use edgeproof_fixtures::spec::{Spec, Version};
//! use edgeproof_mock::{MockService, ServiceOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = Arc::new(Spec::builtin(Version::Current));
//! let credentials = Arc::new(Credentials::mint(&MintOptions::default())?);
//! let files = CredentialFiles::write(&credentials)?;
//! let service = MockService::start_with(ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials))).await?;
//!
//! let settings = files.settings(&credentials, &service.url(), "https://shop.example");
//! let edge = Edge::start(EdgeOptions::new(spec, settings, LogSink::new(drop))).await?;
//! assert!(edge.url().starts_with("http://127.0.0.1:"));
//! edge.stop().await;
//! # Ok(())
//! # }
//! ```

mod decision;
mod error;
mod fault_hooks;
mod handler;
mod program;
mod relay;
mod server;
mod websocket;

pub use decision::{EdgeAnswer, EdgeDecision, EdgeRules, RelayResult, RequestFacts, conclude, decide};
pub use error::EdgeError;
pub use fault_hooks::{EdgeAction, EdgeFaultHooks, EdgeRequest, NoEdgeFaults};
pub use handler::{EdgeIo, RequestBody, handle_request};
pub use program::{ProgramOptions, run_program};
pub use relay::{CertificateCheck, UpstreamOptions};
pub use server::{Edge, EdgeOptions, EdgeTls, LogSink};
