use edgeproof_reports::load::LoadReport;

/// What the generator must report. In every case its counts agree with the server's, and its percentiles do so
/// unless the run is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedReport {
    /// A complete run with the whole rate delivered.
    Delivered,
    /// A complete run with these failures.
    Failures,
    /// Right figures or an invalid run: the generator is starved.
    RightOrInvalid,
    /// An invalid run.
    Invalid,
    /// The target did not keep up.
    Saturated,
    /// The number of users limited the run.
    LimitedByUsers,
    /// The target was gone before the end.
    Gone,
}

impl ExpectedReport {
    /// Whether the report says so. The exit code of an invalid run does not.
    pub(super) fn is_shown(self, report: &LoadReport, text: &str) -> bool {
        let broken = report.thresholds.iter().any(|threshold| !threshold.holds);
        match self {
            Self::Delivered => {
                !broken && report.rate.delivered >= report.rate.asked.unwrap_or_default() * 0.99
            }
            Self::Failures => broken,
            Self::Saturated => broken && text.contains("did not keep up"),
            Self::LimitedByUsers => text.contains("--users"),
            Self::Gone => text.contains("gone"),
            Self::RightOrInvalid | Self::Invalid => true,
        }
    }

    /// The expectation as text.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Delivered => "the whole rate delivered, exit code 0",
            Self::Failures => "a broken threshold, exit code 1",
            Self::RightOrInvalid => "a complete or an invalid run",
            Self::Invalid => "an invalid run, exit code 3",
            Self::Saturated => "the target did not keep up, exit code 1",
            Self::LimitedByUsers => "limited by --users, exit code 3",
            Self::Gone => "the target was gone, a partial run",
        }
    }
}

/// What a report says in one line.
pub(super) fn reported(report: &LoadReport) -> String {
    let broken = report.thresholds.iter().filter(|threshold| !threshold.holds);
    let broken = broken.map(|threshold| format!("{} is broken", threshold.rule));
    let (delivered, asked) = (report.rate.delivered, report.rate.asked.unwrap_or_default());
    let all = std::iter::once(format!("{delivered:.1} of {asked:.1}/s delivered"));
    all.chain(broken).chain(report.findings.iter().cloned()).collect::<Vec<_>>().join("; ")
}
