//! Services under load: the mock service with injected faults, and a server for the self-test that records when
//! each request arrived and when its answer ended.

mod behaviour;
mod load_mock;
mod prepared_sessions;
mod received_request;
mod recording_server;
mod server_record;

pub use behaviour::{AnswerManner, Delay, ServerBehaviour};
pub use load_mock::{Downtime, InjectedFaults, LoadMock, LoadMockOptions};
pub use prepared_sessions::PreparedSessions;
pub use recording_server::RecordingServer;
pub use server_record::{ServedRequest, ServerRecord, TrueTimes};
