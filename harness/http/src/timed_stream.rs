use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

use super::receive_time;

/// TCP stream of a client. On request it notes when the kernel received the bytes of each read.
#[derive(Debug)]
pub struct TimedStream {
    tcp: TcpStream,
    /// `None` unless the kernel reports receive times.
    times: Option<ReadTimes>,
}

/// When bytes arrived, and when they were read.
#[derive(Debug)]
struct ReadTimes {
    opened: Instant,
    last: Option<LastRead>,
    /// Total time in which received bytes were unread.
    unread: Duration,
}

#[derive(Debug)]
struct LastRead {
    at: ClockReading,
    /// When the kernel received the last of the bytes; `None` without a plausible time.
    received: Option<Instant>,
}

/// The steady clock and the wall clock at the same moment. The kernel's receive times are of the wall clock,
/// which can be set.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    steady: Instant,
    /// Since the Unix epoch.
    wall: Duration,
}

/// Smallest difference between the clocks that counts as a step of the wall clock.
const STEP: Duration = Duration::from_millis(1);
/// A clock that is being adjusted is off by at most one part in this many.
const ADJUSTMENT: u32 = 10;

impl TimedStream {
    /// A stream without receive times.
    pub(super) fn new(tcp: TcpStream) -> Self {
        Self { tcp, times: None }
    }

    /// A stream that notes receive times, where the system has them.
    pub(super) fn noting(tcp: TcpStream) -> Self {
        let times = receive_time::enable(&tcp).then(|| ReadTimes::since(Instant::now()));
        Self { tcp, times }
    }

    /// The TCP stream.
    pub fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// When the kernel received the last bytes read; `None` if it is unknown.
    pub fn received(&self) -> Option<Instant> {
        self.times.as_ref()?.last.as_ref()?.received
    }

    /// When the last bytes were read; `None` if it is unknown.
    pub fn read_at(&self) -> Option<Instant> {
        Some(self.times.as_ref()?.last.as_ref()?.at.steady)
    }

    /// Total time in which received bytes were unread.
    pub fn unread(&self) -> Duration {
        self.times.as_ref().map_or(Duration::ZERO, |times| times.unread)
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { tcp, times } = &mut *self;
        let Some(times) = times else { return Pin::new(tcp).poll_read(cx, buffer) };
        let room = buffer.initialize_unfilled();
        loop {
            ready!(tcp.poll_read_ready(cx))?;
            let mut read = None;
            let tried = tcp.try_io(Interest::READABLE, || {
                let (count, received) = receive_time::read(tcp, room)?;
                read = Some((count, received));
                // A partial read empties the socket. `WouldBlock` makes tokio wait for the next event, which
                // saves a read that finds nothing. tokio's own streams do the same.
                if 0 < count && count < room.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
            });
            let Some((count, received)) = read else {
                match tried {
                    Err(why) if why.kind() == io::ErrorKind::WouldBlock => continue,
                    Err(why) => return Poll::Ready(Err(why)),
                    Ok(()) => return Poll::Ready(Ok(())),
                }
            };
            times.note(ClockReading::now(), received);
            buffer.advance(count);
            return Poll::Ready(Ok(()));
        }
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

impl ReadTimes {
    /// Times of a connection that was opened at this time.
    fn since(opened: Instant) -> Self {
        Self { opened, last: None, unread: Duration::ZERO }
    }

    /// Notes a read that ended at `at`, of bytes that the kernel received at `received` (wall clock).
    fn note(&mut self, at: ClockReading, received: Option<Duration>) {
        let before = self.last.as_ref().map(|last| last.at);
        let late = received.and_then(|received| at.since(received, before));
        // Nothing was received before the connection: then the wall clock is not the kernel's.
        let received = late.and_then(|late| at.steady.checked_sub(late)).filter(|at| *at >= self.opened);
        if let Some(received) = received {
            // Bytes of one burst may take several reads: each moment counts once.
            let from = before.map_or(received, |before| received.max(before.steady));
            self.unread += at.steady.saturating_duration_since(from);
        }
        self.last = Some(LastRead { at, received });
    }
}

impl ClockReading {
    fn now() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { steady: Instant::now(), wall }
    }

    /// Time since `then` (wall clock). `None` if the wall clock was set since `before`, or if `then` is in the
    /// future: such a time would corrupt a figure.
    fn since(&self, then: Duration, before: Option<Self>) -> Option<Duration> {
        if let Some(before) = before {
            let steady = self.steady.saturating_duration_since(before.steady);
            let off = (before.wall + steady).abs_diff(self.wall);
            if off > STEP + steady / ADJUSTMENT {
                return None;
            }
        }
        self.wall.checked_sub(then)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    const DAY: Duration = Duration::from_secs(86_400);
    const HOUR: u64 = 3_600_000_000;

    /// Read 1 s after the read before, on the steady clock. All times are of the wall clock, since the read before
    /// (µs).
    #[rstest]
    #[case::at_once(1_000_000, 1_000_000, Some(0))]
    #[case::late(1_000_000, 993_000, Some(7_000))]
    #[case::clock_adjusted(1_020_000, 1_013_000, Some(7_000))]
    #[case::clock_set_forward(HOUR, 993_000, None)]
    #[case::clock_set_back(100_000, 993_000, None)]
    #[case::received_in_the_future(1_000_000, 1_000_001, None)]
    fn receive_time_survives_a_step_of_the_clock(
        #[case] read: u64,
        #[case] received: u64,
        #[case] late: Option<u64>,
    ) {
        let before = ClockReading { steady: Instant::now(), wall: DAY };
        let now = ClockReading { steady: before.steady + us(1_000_000), wall: DAY + us(read) };
        assert_eq!(now.since(DAY + us(received), Some(before)), late.map(us));
    }

    #[test]
    fn unread_time_of_a_burst_counts_once() {
        let start = ClockReading { steady: Instant::now() + DAY, wall: DAY };
        let at = |time: u64| ClockReading { steady: start.steady + us(time), wall: DAY + us(time) };
        let mut times = ReadTimes::since(start.steady);
        // Two reads of bytes that arrived at 100 µs; one in time; one without a time.
        for (read, received) in
            [(500, Some(100)), (510, Some(100)), (900, Some(900)), (950, None), (1_000, Some(960))]
        {
            times.note(at(read), received.map(|received| DAY + us(received)));
        }
        assert_eq!(times.unread, us(410 + 40));
        assert_eq!(times.last.unwrap().received, Some(at(960).steady));
    }

    #[test]
    fn receive_time_before_the_connection_is_not_used() {
        let opened = ClockReading { steady: Instant::now() + DAY, wall: DAY };
        let mut times = ReadTimes::since(opened.steady);
        let at = ClockReading { steady: opened.steady + us(500), wall: DAY + us(500) };
        times.note(at, Some(DAY.saturating_sub(us(1))));
        assert_eq!((times.unread, times.last.unwrap().received), (Duration::ZERO, None));
    }
}
