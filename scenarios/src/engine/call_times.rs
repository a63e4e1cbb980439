use std::time::{Duration, Instant};

use super::connection::ExchangeTimes;

/// Times of a call, from its intended start.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallTimes {
    /// Intended start.
    pub(super) due: Instant,
    /// Time from the intended start that the operation waited for a user.
    pub(super) waited: Duration,
    /// When the request was sent.
    pub(super) sent: Instant,
    /// When the answer arrived, or the call failed.
    pub(super) received: Instant,
    /// When the answer was read, or the call failed.
    pub(super) ended: Instant,
    /// The part from `sent` to `ended` that the generator itself added.
    late_reads: Duration,
}

impl CallTimes {
    /// Times of a call with an answer.
    pub(super) fn of_exchange(due: Instant, waited: Duration, exchange: &ExchangeTimes) -> Self {
        let ExchangeTimes { sent, received, ended, .. } = *exchange;
        Self { due, waited, sent, received, ended, late_reads: exchange.delay() }
    }

    /// Times of a call that ends now without an answer.
    pub(super) fn unanswered(due: Instant, waited: Duration, sent: Instant) -> Self {
        let now = Instant::now();
        Self { due, waited, sent, received: now, ended: now, late_reads: Duration::ZERO }
    }

    /// Times of a call that would have been due at `due` and ends now.
    pub(super) fn never_sent(due: Instant) -> Self {
        let now = Instant::now();
        Self { due, waited: Duration::ZERO, sent: now, received: now, ended: now, late_reads: Duration::ZERO }
    }

    /// Time from the intended start to the end.
    pub(super) fn observed(&self) -> Duration {
        self.ended.saturating_duration_since(self.due)
    }

    /// Time from the intended start to sending, less the time that the operation waited for a user.
    pub(super) fn lateness(&self) -> Duration {
        self.sent.saturating_duration_since(self.due).saturating_sub(self.waited)
    }

    /// The delay that the generator added before the answer arrived.
    pub(super) fn late_start(&self) -> Duration {
        let late_read = self.ended.saturating_duration_since(self.received);
        self.sent.saturating_duration_since(self.due) + self.late_reads.saturating_sub(late_read)
    }

    /// The delay that the generator added: a late start, and late reads.
    pub(super) fn delay(&self) -> Duration {
        self.sent.saturating_duration_since(self.due) + self.late_reads
    }

    /// Time from the intended start to the end, less the delay that the generator added.
    pub(super) fn response(&self) -> Duration {
        self.observed().saturating_sub(self.delay())
    }

    /// Time from sending to the arrival of the answer.
    pub(super) fn service(&self) -> Duration {
        self.ended.saturating_duration_since(self.sent).saturating_sub(self.late_reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_what_the_generator_added() {
        let ms = Duration::from_millis;
        let due = Instant::now();
        let times = CallTimes {
            due,
            waited: ms(100),
            sent: due + ms(103),
            received: due + ms(150),
            ended: due + ms(157),
            late_reads: ms(9),
        };
        assert_eq!((times.observed(), times.lateness(), times.delay()), (ms(157), ms(3), ms(112)));
        // A part of the TLS handshake was read 2 ms late, which delayed the answer.
        assert_eq!((times.late_start(), times.response(), times.service()), (ms(105), ms(45), ms(45)));
    }
}
