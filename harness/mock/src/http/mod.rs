//! HTTP in and out: reads and records a request, finds its endpoint or script, and sends the answer.

mod answer;
mod exchange;

pub(crate) use exchange::handle;
