//! An earlier run that a run is compared with: read and refused before anything is loaded, compared when it is over. What is
//! no measure, or was another load, would call a change what is none.

use std::path::{Path, PathBuf};

use miette::Diagnostic;
use reports::ReportError;
use reports::load::{Comparison, LoadReport, LoadState, Model, PlanStage};

use crate::measure::{Histogram, HistogramError, Measured, compare};

/// The report of an earlier run that can be compared with.
#[derive(Debug)]
pub struct Baseline {
    path: PathBuf,
    report: LoadReport,
    response: Histogram,
}

/// The load that was asked for, as far as it has to be the same.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// Open or closed.
    pub model: Model,
    /// Stages of the open model.
    pub stages: &'a [PlanStage],
    /// Users, where they were asked for.
    pub users: Option<u32>,
    /// How many processes share the load.
    pub shards: u32,
}

/// Why an earlier run cannot be compared with.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum BaselineError {
    /// It is no report.
    #[error(transparent)]
    #[diagnostic(help("give a report that --report json=PATH of a run of load wrote"))]
    Read(#[from] ReportError),
    /// Its response times cannot be read.
    #[error("read the response times in {}: {why}", path.display())]
    #[diagnostic(help("the report was changed after it was written: run it again"))]
    Histogram {
        /// The file.
        path: PathBuf,
        /// Why.
        why: HistogramError,
    },
    /// Its figures prove nothing.
    #[error("compare with {}: that run was {state}", path.display())]
    #[diagnostic(help("compare with a run that came to its end and that the generator kept up with"))]
    NoMeasure {
        /// The file.
        path: PathBuf,
        /// How it ended.
        state: &'static str,
    },
    /// It was another load.
    #[error("compare with {}: {what} of that run is {earlier}, of this one {now}", path.display())]
    #[diagnostic(help("repeat the earlier run with the same load, or compare with one that had it"))]
    OtherLoad {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// In the earlier run.
        earlier: String,
        /// In the one that is about to begin.
        now: String,
    },
}

/// Users that rounding adds or takes away, where several scenarios share them.
const ROUNDED: u32 = 2;
/// Rates that are as close count as the same.
const SAME_RATE: f64 = 0.001;

impl Baseline {
    /// Reads one.
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        let report = LoadReport::load(path)?;
        let path = path.to_owned();
        let state = match report.state {
            LoadState::Complete | LoadState::Unchecked => None,
            LoadState::Partial => Some("partial"),
            LoadState::Invalid => Some("invalid"),
        };
        if let Some(state) = state {
            return Err(BaselineError::NoMeasure { path, state });
        }
        match Histogram::decode(&report.response.histogram) {
            Ok(response) => Ok(Self { path, report, response }),
            Err(why) => Err(BaselineError::Histogram { path, why }),
        }
    }

    /// Fails where it was another load than the one that is planned.
    pub fn fits(&self, planned: Asked<'_>) -> Result<(), BaselineError> {
        let earlier = Asked {
            scenario: &self.report.scenario,
            model: self.report.model,
            stages: &self.report.plan.stages,
            users: Some(self.report.plan.users),
            // The sum of shards is one run; a shard alone is a part of one.
            shards: if let [shard] = &self.report.shards[..] { shard.count } else { 1 },
        };
        match differing(earlier, planned) {
            None => Ok(()),
            Some((what, earlier, now)) => {
                Err(BaselineError::OtherLoad { path: self.path.clone(), what, earlier, now })
            }
        }
    }

    /// What changed since.
    pub fn compare(&self, report: &LoadReport, tolerance: f64) -> Comparison {
        // The figure of a process that the edge was in says nothing about one that it was not in.
        let comparable = self.report.target.kind == report.target.kind;
        let measured = |report: &LoadReport, response: Histogram| {
            let (cpu, cpu_total) = cpu(report);
            Measured { response, cpu: comparable.then_some(cpu), cpu_total }
        };
        let now = Histogram::decode(&report.response.histogram).unwrap_or_default();
        let differences =
            compare(&measured(&self.report, self.response.clone()), &measured(report, now), tolerance);
        Comparison {
            baseline: self.path.display().to_string(),
            started: self.report.started.clone(),
            tolerance,
            differences,
        }
    }
}

/// In what two loads differ, with both.
fn differing(earlier: Asked<'_>, now: Asked<'_>) -> Option<(&'static str, String, String)> {
    let (was, is) = (peak(earlier.stages), peak(now.stages));
    if earlier.scenario != now.scenario {
        return Some(("the scenario", earlier.scenario.to_owned(), now.scenario.to_owned()));
    }
    if earlier.model != now.model {
        return Some(("the model", model(earlier.model).to_owned(), model(now.model).to_owned()));
    }
    if earlier.shards != now.shards {
        return Some(("the number of shards", earlier.shards.to_string(), now.shards.to_string()));
    }
    if (was - is).abs() > is.max(was) * SAME_RATE {
        return Some(("the highest rate", format!("{was}/s"), format!("{is}/s")));
    }
    match (earlier.users, now.users) {
        // In the open model they are connections, of which there are enough.
        (Some(was), Some(is)) if now.model == Model::Closed && was.abs_diff(is) > ROUNDED => {
            Some(("the number of users", was.to_string(), is.to_string()))
        }
        _ => None,
    }
}

/// CPU seconds for 100,000 requests, and all that were used: of the edge where it was launched, else of the process.
fn cpu(report: &LoadReport) -> (f64, f64) {
    match &report.edge_cost {
        Some(cost) => (cost.cpu_s_per_100k, cost.cpu_s),
        None => (report.generator.cpu_s_per_100k, report.generator.cpu_s),
    }
}

fn model(model: Model) -> &'static str {
    match model {
        Model::Open => "open",
        Model::Closed => "closed",
    }
}

fn peak(stages: &[PlanStage]) -> f64 {
    stages.iter().flat_map(|stage| [stage.from, stage.to]).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_same("journey", Model::Open, 100.0, 8, 1, None)]
    #[case::another_scenario("mixed", Model::Open, 100.0, 8, 1, Some("the scenario: journey, mixed"))]
    #[case::another_model("journey", Model::Closed, 0.0, 8, 1, Some("the model: open, closed"))]
    #[case::another_rate("journey", Model::Open, 500.0, 8, 1, Some("the highest rate: 100/s, 500/s"))]
    #[case::a_shard("journey", Model::Open, 100.0, 8, 4, Some("the number of shards: 1, 4"))]
    #[case::more_connections("journey", Model::Open, 100.0, 80, 1, None)]
    fn only_the_same_load_is_compared_with(
        #[case] scenario: &str,
        #[case] model: Model,
        #[case] rate: f64,
        #[case] users: u32,
        #[case] shards: u32,
        #[case] found: Option<&str>,
    ) {
        let stages = |rate| [PlanStage { time_ms: 1000, from: rate, to: rate }];
        let (earlier, now) = (stages(100.0), stages(rate));
        let journey =
            Asked { scenario: "journey", model: Model::Open, stages: &earlier, users: Some(8), shards: 1 };
        let now = Asked { scenario, model, stages: &now, users: Some(users), shards };
        let told = |(what, was, is): (&str, String, String)| format!("{what}: {was}, {is}");
        assert_eq!(differing(journey, now).map(told).as_deref(), found);
    }

    #[test]
    fn users_of_the_closed_model_are_the_load() {
        let closed = |users| Asked {
            scenario: "journey",
            model: Model::Closed,
            stages: &[],
            users: Some(users),
            shards: 1,
        };
        assert!(differing(closed(50), closed(51)).is_none());
        assert!(differing(closed(50), closed(100)).is_some());
    }
}
