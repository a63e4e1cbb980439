//! HTTP in and out: reads and records a request, finds its endpoint or script, and sends the answer.

mod answer;
mod received_request;

pub(crate) use received_request::handle;
