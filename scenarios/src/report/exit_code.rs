use edgeproof_reports::load::{LoadReport, LoadState};

/// The exit code of a run that no signal ended.
pub fn exit_code(report: &LoadReport) -> u8 {
    // The thresholds of shards are judged on the sum only.
    let judges = report.as_shard().is_none();
    let broken = judges && report.thresholds.iter().any(|threshold| !threshold.holds);
    match report.state {
        // The figures of an invalid run prove nothing, not even that a threshold is broken.
        LoadState::Invalid => 3,
        _ if broken => 1,
        LoadState::Partial => 3,
        LoadState::Complete | LoadState::Unchecked => 0,
    }
}
