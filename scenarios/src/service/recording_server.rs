use std::collections::HashMap;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use edgeproof_fixtures::spec::{Endpoint, Spec, VerdictPath};
use edgeproof_http::receive_time;
use parking_lot::{Condvar, Mutex};
use socket2::{Domain, SockRef, Socket, Type};

use super::behaviour::{AnswerManner, ServerBehaviour};
use super::received_request::{ReceivedRequest, now};
use super::server_record::{ServedRequest, ServerRecord};
use crate::measure::Codes;
use crate::scenario::OpaqueCollections;

/// An HTTP server that behaves as it is told and records the arrival and the end of each request by its own
/// clock. Its record checks the generator's figures.
///
/// Each connection has a thread: a thread wakes up within microseconds, an asynchronous timer within a
/// millisecond. Probes are answered and not recorded.
pub struct RecordingServer {
    state: Arc<ServerState>,
}

struct ServerState {
    behaviour: ServerBehaviour,
    /// First line of a collection's request.
    collection: String,
    verdict: VerdictPath,
    codes: Codes,
    address: SocketAddr,
    served: Mutex<Served>,
    /// All that were accepted; those that have closed are gone.
    connections: Mutex<Vec<Weak<TcpStream>>>,
    closed: Mutex<bool>,
    closing: Condvar,
}

#[derive(Default)]
struct Served {
    record: Vec<ServedRequest>,
    /// Arrival of the first request.
    started: Option<Duration>,
    /// When a limited server finishes its last request, since the first one arrived.
    queue: Duration,
    /// First request for each verdict that is pending.
    pending: HashMap<String, Duration>,
    verdict_requests: u64,
}

/// The answer to a request.
struct Answer {
    status: u16,
    body: String,
    delay: Duration,
}

/// Connections that wait to be accepted. A full queue would delay a request before it arrives.
const BACKLOG: i32 = 4096;
/// Stack of a connection's thread (bytes).
const STACK: usize = 256 * 1024;
/// Numbers from here on belong to latency probes.
const PROBES: u64 = 1 << 39;

impl RecordingServer {
    /// Starts it on a free local port, without TLS.
    pub fn start(spec: &Spec, behaviour: ServerBehaviour) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        socket.listen(BACKLOG)?;
        let listener = TcpListener::from(socket);
        receive_time::enable(&listener);
        let address = listener.local_addr()?;
        let state = Arc::new(ServerState {
            behaviour,
            collection: format!("POST {}", spec.path(Endpoint::Signals)),
            verdict: spec.verdict_path().clone(),
            codes: Codes::new(spec),
            address,
            served: Mutex::default(),
            connections: Mutex::default(),
            closed: Mutex::new(false),
            closing: Condvar::new(),
        });
        let accepting = Arc::clone(&state);
        thread::Builder::new().name("acceptor".into()).spawn(move || accepting.accept(&listener))?;
        Ok(Self { state })
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.state.address)
    }

    /// The record so far, in order of arrival.
    pub fn record(&self) -> ServerRecord {
        let mut record = self.state.served.lock().record.clone();
        record.sort_unstable_by_key(|request| request.arrived);
        ServerRecord(record)
    }
}

impl Drop for RecordingServer {
    fn drop(&mut self) {
        self.state.close();
    }
}

impl ServerState {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if *self.closed.lock() {
                return;
            }
            let Ok((stream, _)) = accepted else {
                // The limit of open files is reached: wait until a connection closes.
                self.wait_until(now() + Duration::from_millis(1));
                continue;
            };
            let stream = Arc::new(stream);
            self.connections.lock().push(Arc::downgrade(&stream));
            let state = Arc::clone(self);
            // Without a thread the connection closes.
            let _ = thread::Builder::new().stack_size(STACK).spawn(move || state.serve(&stream));
        }
    }

    fn serve(self: &Arc<Self>, stream: &TcpStream) {
        // Fails only for a connection that is closed already.
        let _ = stream.set_nodelay(true);
        let mut buffer = Vec::new();
        while let Some(request) = ReceivedRequest::read(stream, &mut buffer) {
            let (number, answer) = self.answer(&request);
            let resets = self.behaviour.manner.resets(number);
            let in_time = self.wait_until(request.arrived + answer.delay);
            let ended = if in_time && !resets { self.write(stream, &answer) } else { None };
            if number < PROBES {
                let (arrived, answered) = (request.arrived, ended.is_some());
                let ended = ended.unwrap_or_else(|| (now(), now()));
                self.served.lock().record.push(ServedRequest { number, arrived, ended, answered });
            }
            if resets {
                let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
                return;
            }
            if ended.is_none() || self.behaviour.manner == AnswerManner::Closed {
                return;
            }
        }
    }

    /// The number of an operation and its answer. The number of a collection is in its reference; that of a verdict
    /// request is the order of arrival. Any other request is a probe; probes come before the first request.
    fn answer(self: &Arc<Self>, request: &ReceivedRequest) -> (u64, Answer) {
        let served = &mut *self.served.lock();
        let (arrived, verdict) = (request.arrived, self.reference(request));
        let number = if verdict.is_some() {
            served.verdict_requests += 1;
            served.verdict_requests - 1
        } else {
            let reference = OpaqueCollections::read(&request.body);
            reference.and_then(|reference| reference.rsplit_once('-')?.1.parse().ok()).unwrap_or(PROBES)
        };
        if served.started.is_none() && number < PROBES {
            served.started = Some(arrived);
            if let Some(dies_at) = self.behaviour.dies_at {
                let state = Arc::clone(self);
                thread::spawn(move || {
                    state.wait_until(arrived + dies_at);
                    state.close();
                });
            }
        }
        let at = arrived.saturating_sub(served.started.unwrap_or(arrived));
        let delay = self.behaviour.delay.of(number, at, &mut served.queue);
        let (status, body) = if let Some(status) = self.behaviour.manner.refusal(number) {
            (status, r#"{"error":"busy"}"#.into())
        } else if request.line == self.collection {
            (self.codes.accepted.status, self.codes.accepted.body(""))
        } else if let Some(reference) = verdict {
            let first = *served.pending.entry(reference.to_owned()).or_insert(arrived);
            if arrived.saturating_sub(first) < self.behaviour.pending {
                (self.codes.pending.status, self.codes.pending.body(reference))
            } else {
                served.pending.remove(reference);
                (self.codes.available.status, format!(r#"{{"ref":"{reference}"}}"#))
            }
        } else {
            (404, r#"{"error":"not_found"}"#.into())
        };
        (number, Answer { status, body, delay })
    }

    /// The session reference of a verdict request.
    fn reference<'r>(&self, request: &'r ReceivedRequest) -> Option<&'r str> {
        request.line.strip_prefix("GET ")?.split('?').next()?.strip_prefix(self.verdict.prefix())
    }

    /// Writes an answer. Returns the times just before and just after its last byte; `None` if the server closes
    /// before that.
    fn write(&self, mut stream: &TcpStream, answer: &Answer) -> Option<(Duration, Duration)> {
        let Answer { status, body, .. } = answer;
        let closed = self.behaviour.manner == AnswerManner::Closed;
        let connection = if closed { "Connection: close\r\n" } else { "" };
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n{connection}Content-Length: {length}\r\n\r\n{body}"
        );
        let (pieces, gap) = match self.behaviour.manner {
            AnswerManner::Dripped { pieces, gap } => (pieces.max(1) as usize, gap),
            _ => (1, Duration::ZERO),
        };
        let mut pieces = text.as_bytes().chunks(text.len().div_ceil(pieces)).peekable();
        loop {
            let piece = pieces.next()?;
            let before = now();
            // A client that has gone does not change when its answer ends.
            let _ = stream.write_all(piece);
            if pieces.peek().is_none() {
                return Some((before, now()));
            }
            if !self.wait_until(before + gap) {
                return None;
            }
        }
    }

    /// Waits until a time, since the Unix epoch. Returns `false` if the server closes before that.
    fn wait_until(&self, time: Duration) -> bool {
        let wait = time.saturating_sub(now());
        let mut closed = self.closed.lock();
        if wait.is_zero() {
            return !*closed;
        }
        let until = Instant::now() + wait;
        while !*closed {
            if self.closing.wait_until(&mut closed, until).timed_out() {
                break;
            }
        }
        !*closed
    }

    /// Closes all connections and the listener.
    fn close(&self) {
        *self.closed.lock() = true;
        self.closing.notify_all();
        for connection in self.connections.lock().iter().filter_map(Weak::upgrade) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // The acceptor ends with its next connection.
        let _ = TcpStream::connect(self.address);
    }
}
