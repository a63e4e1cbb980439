//! A user's connection: encoded requests, their exchange, its times and its timeout.

mod exchange_times;
mod outgoing_request;
mod request_timeout;
mod user_connection;

pub use exchange_times::{ExchangeTimes, SetUpTimes};
pub use outgoing_request::{HeaderFields, OutgoingRequest};
pub use request_timeout::RequestTimeout;
pub(super) use user_connection::MAX_BODY;
pub use user_connection::UserConnection;
