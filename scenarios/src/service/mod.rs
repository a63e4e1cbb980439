//! Services under load: the mock service with injected faults, and a server for the self-test that records when
//! each request arrived and when its answer ended.

mod behaviour;
mod injected_faults;
mod load_mock;
mod received_request;
mod recording_server;
mod server_record;

pub use behaviour::{AnswerManner, Delay, ServerBehaviour};
pub use injected_faults::{Downtime, InjectedFaults};
pub use load_mock::{CollectionMode, LoadMock, LoadMockOptions};
pub use recording_server::RecordingServer;
pub use server_record::{ParseRecordError, ServedRequest, ServerRecord, TrueTimes};
