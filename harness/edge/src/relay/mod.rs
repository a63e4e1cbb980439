//! Client side of the edge: relays collections to the service.

mod client;
mod connection;
mod inbound_body;
mod outbound_body;
mod pool;
mod raw_head;
mod service_url;
mod socket;
mod tls;
mod upstream;

pub(crate) use client::RelayClient;
pub(crate) use inbound_body::{InboundBody, discard, read};
pub(crate) use tls::{certificates, private_key, unpaired_file_warning};
pub use upstream::{CertificateCheck, PageFields, RawHead, UpstreamOptions};
