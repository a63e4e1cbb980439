//! Runs of a collector: its module, the browser with its pages, and the edges and services that its pages use.

mod browser;
mod canaries;
mod edge;
mod edge_hooks;
mod edge_setup;
mod module;
mod opener;
mod page_form;
mod page_server;
mod raw_server;

pub use browser::SharedBrowser;
pub use canaries::Canaries;
pub use edge::{CollectorEdge, CollectorEdgeError, EdgeCredentials};
pub use edge_hooks::SeenRequest;
pub use edge_setup::{CorsReaction, EdgeScheme, EdgeSetup, PostReaction, WebSocketReaction};
pub use module::{CollectorModule, ModuleError};
pub use opener::{OpenedCollection, Opener};
pub use page_form::PageForm;
pub use page_server::{PageOrigin, PageServer};
pub use raw_server::{RawReaction, RawServer};
