#![doc = include_str!("../README.md")]

mod answer_reader;
mod client;
mod connection;
mod draft;
mod given_certificates;
mod grammar;
mod limits;
mod listen_address;
mod listener;
mod listener_protocol;
mod message;
pub mod receive_time;
mod request_form;
mod server_address;
mod stream_control;
mod timed_stream;
mod tls;
mod tls_failure;

pub use answer_reader::{AnswerReader, ReadProgress};
pub use client::{ReusedConnection, send, send_http2, send_in_turn, send_pipelined, send_with_pause};
pub use connection::{Peer, TlsFacts};
pub use draft::{Body, Draft};
pub use grammar::{MessageRule, RequestViolation, Violation, field_violations};
pub use limits::Limits;
pub use listen_address::{ListenAddressError, listen_address};
pub use listener::Server;
pub use listener_protocol::ListenerProtocol;
pub use message::{Answer, ConnectionUse, NoAnswer, Request, Sent};
pub use receive_time::ReceiveTimes;
pub use request_form::{ChunkExtras, HeadPace, HostForm, RequestForm, TargetForm};
pub use server_address::{
    ClientIdentity, ClientStream, ServerAddress, ServerAddressError, TimedConnection, transport,
};
pub use stream_control::{Flushed, StreamControl};
pub use timed_stream::TimedStream;
pub use tls::{ClientAuth, server_config};
pub use tls_failure::TlsFailure;

/// Entry point for fuzz targets: the answer parser without a connection.
#[doc(hidden)]
pub mod fuzzing {
    use super::Answer;
    use super::answer_reader::{AnswerReader, ReadProgress};

    /// Reads pieces of an answer until it is complete or invalid, or until the pieces end. Yields `None` without a
    /// complete head. The error names the fault.
    pub fn read_answer<'b>(
        method: &str,
        pieces: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<Option<Answer>, String> {
        let mut reader = AnswerReader::new(method);
        for piece in pieces {
            match reader.push(piece) {
                ReadProgress::More => {}
                ReadProgress::Done(answer) => return Ok(Some(answer)),
                ReadProgress::Broken(why) => return Err(why),
            }
        }
        Ok(reader.end())
    }
}
