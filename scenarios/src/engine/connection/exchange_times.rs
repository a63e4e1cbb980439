use std::time::{Duration, Instant};

use crate::measure::{ConnectionSetUp, ConnectionTraffic};

/// When a request was sent and its answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeTimes {
    /// Start: just before the request was written, or before its connection was opened.
    pub sent: Instant,
    /// When the kernel received the last bytes of the answer. `ended` without an answer, and where the system
    /// does not report it.
    pub received: Instant,
    /// When the answer was read, or the request failed.
    pub ended: Instant,
    /// Set-up of the connection; `None` for a request on an open connection.
    pub set_up: Option<SetUpTimes>,
    /// Bytes written, without TLS.
    pub bytes_sent: usize,
    /// Bytes read, without TLS.
    pub bytes_received: usize,
}

/// How long it took to set up a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetUpTimes {
    /// Time to connect.
    pub connect: Duration,
    /// Time of the TLS handshake; `None` without TLS.
    pub handshake: Option<Duration>,
    /// The part of `handshake` in which received bytes were unread.
    pub delay: Duration,
}

impl ExchangeTimes {
    /// Times of an exchange that starts.
    pub(super) fn at(sent: Instant) -> Self {
        Self { sent, received: sent, ended: sent, set_up: None, bytes_sent: 0, bytes_received: 0 }
    }

    /// Notes the end.
    pub(super) fn end(&mut self, received: Option<Instant>, ended: Instant) {
        self.ended = ended;
        self.received = received.unwrap_or(ended).clamp(self.sent, ended);
    }

    /// The time since `sent` that the generator itself added: it read the answer, or a part of the TLS
    /// handshake, later than the kernel received it.
    pub fn delay(&self) -> Duration {
        let late_read = self.ended.saturating_duration_since(self.received);
        late_read + self.set_up.map_or(Duration::ZERO, |set_up| set_up.delay)
    }
}

impl From<&ExchangeTimes> for ConnectionTraffic {
    fn from(times: &ExchangeTimes) -> Self {
        let set_up = |set_up: SetUpTimes| ConnectionSetUp { connect: set_up.connect, tls: set_up.handshake };
        Self {
            set_up: times.set_up.map(set_up),
            bytes_sent: times.bytes_sent as u64,
            bytes_received: times.bytes_received as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Times in ms. Sent at 10 ms, ended at 20 ms.
    #[rstest]
    #[case::late_read(Some(13), 0, 7)]
    #[case::unknown(None, 0, 0)]
    #[case::before_it_was_sent(Some(5), 0, 10)]
    #[case::after_the_end(Some(21), 0, 0)]
    #[case::late_handshake(Some(19), 2, 3)]
    fn delay_is_late_reads(#[case] received: Option<u64>, #[case] handshake: u64, #[case] delay: u64) {
        let ms = Duration::from_millis;
        let start = Instant::now();
        let mut times = ExchangeTimes::at(start + ms(10));
        let set_up = SetUpTimes { connect: ms(1), handshake: Some(ms(5)), delay: ms(handshake) };
        times.set_up = (handshake > 0).then_some(set_up);
        times.end(received.map(|received| start + ms(received)), start + ms(20));
        assert_eq!(times.delay(), ms(delay));
    }
}
