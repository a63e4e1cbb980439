//! Requests for a verdict: answers them at once, or after a long poll.

mod magic;
mod poll;
mod wait;

pub(crate) use poll::answer;
