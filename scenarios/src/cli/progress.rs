use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgeproof_reports::load::{Quantile, bounded, clock, count, micros, rate};
use parking_lot::Mutex;

use super::args::OutputOptions;
use super::prometheus::Metrics;
use crate::engine::{ProgressListener, RunProgress};
use crate::measure::{ResponseTimes, UserWaits};
use edgeproof_cli::args::is_dumb_terminal;

/// Shows the progress of a run: one redrawn line on a terminal, plain lines elsewhere, and metrics if they are served.
pub(super) struct ProgressDisplay {
    is_silent: bool,
    is_drawn: bool,
    scenario: &'static str,
    metrics: Option<Metrics>,
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    at: Duration,
    ended: u64,
    line: Option<Instant>,
}

/// Interval of plain lines.
const LINES: Duration = Duration::from_secs(5);

impl ProgressDisplay {
    pub(super) fn new(output: &OutputOptions, scenario: &'static str, metrics: Option<Metrics>) -> Arc<Self> {
        let is_drawn = !output.quiet && std::io::stderr().is_terminal() && !is_dumb_terminal();
        if let Some(metrics) = metrics.as_ref().filter(|_| !output.quiet) {
            let _ = writeln!(std::io::stderr(), "  Prometheus metrics: http://{}/metrics", metrics.addr());
        }
        Arc::new(Self { is_silent: output.quiet, is_drawn, scenario, metrics, last: Mutex::default() })
    }

    /// Shows the progress of a run; `None` where nobody sees it.
    pub(super) fn listener(self: &Arc<Self>) -> Option<ProgressListener> {
        let interval = match (self.is_drawn || self.metrics.is_some(), self.is_silent) {
            (true, _) => Duration::from_millis(500),
            (false, true) => return None,
            (false, false) => LINES,
        };
        let shown = Arc::clone(self);
        Some(ProgressListener { interval, show: Arc::new(move |progress| shown.show(progress)) })
    }

    fn show(&self, progress: RunProgress<'_>) {
        self.metrics.iter().for_each(|metrics| metrics.publish(progress));
        let mut last = self.last.lock();
        let is_due = self.is_drawn || last.line.is_none_or(|line| line.elapsed() >= LINES);
        if self.is_silent || !is_due {
            return;
        }
        let line = line(self.scenario, progress, &last);
        *last = Last { at: progress.at, ended: ended(progress), line: Some(Instant::now()) };
        let mut out = std::io::stderr().lock();
        let _ = if self.is_drawn {
            write!(out, "\r{}\x1b[K", cut(&line, width())).and_then(|()| out.flush())
        } else {
            writeln!(out, "{line}")
        };
    }

    /// Removes the redrawn line.
    pub(super) fn clear(&self) {
        if self.is_drawn {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// Cuts a line to the terminal's width: a longer one cannot be redrawn.
fn cut(line: &str, width: usize) -> &str {
    let end = line.char_indices().nth(width.saturating_sub(1)).map_or(line.len(), |(end, _)| end);
    &line[..end]
}

fn width() -> usize {
    rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |size| usize::from(size.ws_col).max(20))
}

fn ended(progress: RunProgress<'_>) -> u64 {
    progress.recorded.timeline.buckets.iter().map(|progress| progress.ended).sum()
}

fn line(scenario: &str, progress: RunProgress<'_>, last: &Last) -> String {
    let since = progress.at.saturating_sub(last.at).as_secs_f64().max(0.001);
    let now = (ended(progress) - last.ended) as f64 / since;
    let errors = progress.recorded.times(|series| !series.expected, |series| &series.response).count();
    let left = progress.end.saturating_sub(progress.at).as_millis() as u64;
    let left =
        if progress.at > progress.end { "draining".to_owned() } else { format!("{} left", clock(left)) };
    let waiting = progress.waiting();
    let waiting = if waiting > 0 { format!(", {} waiting", count(waiting)) } else { String::new() };
    let begun = count(progress.begun);
    let mut line = format!("  {scenario}  {left}  requests {}  {begun} started{waiting}", rate(now));
    let measurements = &progress.recorded;
    if measurements.series.is_empty() {
        return format!("{line}  warming up");
    }
    let value = |times: &ResponseTimes, quantile| {
        let found = times.at(quantile);
        bounded(found.us, found.at_least)
    };
    let mut percentiles = |name: &str, times: &ResponseTimes| {
        let (p50, p99) = (value(times, Quantile::P50), value(times, Quantile::P99));
        // Writing to a string cannot fail.
        let _ = write!(line, "  {name}p50 {p50}  p99 {p99}");
    };
    // A percentile over several routes says nothing.
    let verdicts = measurements.verdicts(UserWaits::LeftOut);
    if verdicts.count() > 0 {
        percentiles("verdict ", &verdicts);
    } else if measurements.counts.iter().filter(|counts| counts.sent > 0).count() < 2 {
        percentiles("", &measurements.times(|_| true, |series| &series.response));
    }
    if errors > 0 {
        let _ = write!(line, "  {} errors", count(errors));
    }
    let delay = measurements.delay.value_at(Quantile::P99.share());
    format!("{line}  generator delay p99 {}", micros(delay))
}
