//! One run on many machines: a server that starts the shards together and takes their reports, and its client in each shard.
//!
//! `messages` has what they say, and `roster` decides. `server` and `client` are the I/O around both.

mod client;
mod messages;
mod roster;
mod run_token;
mod server;

pub use client::{GatherClient, GatherError, Gathered};
pub use messages::{Refusal, ShardId};
pub use roster::{GatherStep, Roster};
pub use run_token::{RunToken, TokenError};
pub use server::{GatherEvent, GatherServer, MAX_REPORT};
