//! Requests for a verdict: answers them, and waits for the verdict where the request says so.

mod magic;
mod poll;
mod wait;

pub(crate) use poll::answer;
