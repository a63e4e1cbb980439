use std::time::{Duration, UNIX_EPOCH};

use super::window::{ClockSample, ClockWindow};
use crate::measure::Series;

/// The `Date`s of the target's answers: limits of its clock in each part of the run. A `Date` changes once a second, so an
/// answer with the same one as before costs a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerDates {
    last: Option<DatedAnswers>,
    windows: Series<ClockWindow, 1000, MAX_WINDOWS>,
}

/// The value of a `Date` field in its usual form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpDate([u8; LENGTH]);

/// Answers in a row with the same `Date`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DatedAnswers {
    date: HttpDate,
    /// When the last of their requests was sent, since the start of the run.
    last_sent: Duration,
}

/// Characters of a date, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
const LENGTH: usize = 29;
/// Largest number of parts of the run. The estimate compares each with each.
const MAX_WINDOWS: usize = 64;
/// How late a `Date` may be. A second is its resolution; servers renew the text by a timer, or once for several answers.
const RESOLUTION: Duration = Duration::from_millis(1050);

impl HttpDate {
    /// A field value. `None` if it is not in the usual form.
    pub fn of(value: &[u8]) -> Option<Self> {
        value.try_into().ok().map(Self)
    }

    /// Microseconds since the Unix epoch. `None` if it is no date.
    fn micros(self) -> Option<i64> {
        let text = std::str::from_utf8(&self.0).ok()?;
        let time = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(time.as_micros()).ok()
    }
}

impl AnswerDates {
    /// Notes an answer: its `Date`, when its request was sent, and when it arrived, since the start of the run.
    pub fn record(&mut self, date: HttpDate, sent: Duration, received: Duration) {
        match &mut self.last {
            Some(last) if last.date == date => last.last_sent = last.last_sent.max(sent),
            last => {
                // Both edges of a change are the closest limits: the last answer of a second, and the first of the next one.
                let ended = last.replace(DatedAnswers { date, last_sent: sent });
                self.end(ended);
                if let Some(sample) = sample(date, sent, received) {
                    self.windows.at(received).add_not_before(sample.not_before());
                }
            }
        }
    }

    /// Adds the answers that another recorder noted.
    pub fn add(&mut self, other: &Self) {
        self.windows.add(&other.windows);
        self.end(other.last);
    }

    /// What they say about the clock, in order of time.
    pub fn windows(&self) -> Vec<ClockWindow> {
        let mut ended = self.clone();
        ended.end(self.last);
        ended.windows.buckets.into_iter().filter(|window| !window.is_empty()).collect()
    }

    fn end(&mut self, answers: Option<DatedAnswers>) {
        let Some(DatedAnswers { date, last_sent }) = answers else { return };
        if let Some(sample) = sample(date, last_sent, last_sent) {
            self.windows.at(last_sent).add_not_after(sample.not_after());
        }
    }
}

fn sample(date: HttpDate, sent: Duration, received: Duration) -> Option<ClockSample> {
    Some(ClockSample { sent, received, theirs_us: date.micros()?, resolution: RESOLUTION })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::measure::clock::estimate;

    const EPOCH_S: u64 = 1_700_000_000;

    /// The `Date` of a clock that showed `EPOCH_S` s at our start, when our time is `at`.
    fn date(at: Duration) -> HttpDate {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(EPOCH_S) + at;
        HttpDate::of(httpdate::fmt_http_date(time).as_bytes()).unwrap()
    }

    #[test]
    fn two_recorders_know_as_much_as_one() {
        let ms = Duration::from_millis;
        let mut one = AnswerDates::default();
        let mut parts = [AnswerDates::default(), AnswerDates::default()];
        for number in 0..2_000 {
            let sent = ms(number * 5);
            let answer = (date(sent + ms(1)), sent, sent + ms(2));
            one.record(answer.0, answer.1, answer.2);
            parts[(number % 2) as usize].record(answer.0, answer.1, answer.2);
        }
        let mut sum = AnswerDates::default();
        for part in &parts {
            sum.add(part);
        }
        let width = |dates: &AnswerDates| {
            let start = estimate(&dates.windows(), true).unwrap().start;
            assert!(
                (start.from_us..=start.to_us).contains(&(EPOCH_S.cast_signed() * 1_000_000)),
                "{start:?}"
            );
            start.to_us - start.from_us
        };
        // A date is known to be late by up to 50 ms, and a request comes every 5 ms.
        assert!(width(&one) <= 60_000, "{}", width(&one));
        assert!(width(&sum) <= 70_000, "{}", width(&sum));
    }

    #[test]
    fn invalid_dates_say_nothing() {
        assert_eq!(HttpDate::of(b"yesterday"), None);
        let mut dates = AnswerDates::default();
        dates.record(HttpDate([b'x'; LENGTH]), Duration::ZERO, Duration::from_secs(1));
        assert!(dates.windows().is_empty());
    }
}
