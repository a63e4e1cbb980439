use edgeproof_reports::load::{LoadReport, LoadTarget, Model, PlannedLoad, Seal};
use edgeproof_reports::{ReportedSpec, TargetKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What all shards of a run have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDescription {
    /// Schema of the report.
    pub schema: String,
    /// Version of edgeproof.
    pub version: String,
    /// Version and digest of the tables; `None` in a report of an earlier version.
    pub spec: Option<ReportedSpec>,
    /// Name of the scenario.
    pub scenario: String,
    /// Open or closed model.
    pub model: Model,
    /// Number of shards.
    pub shards: u32,
    /// The plan. What differs between shards is left out.
    pub plan: PlannedLoad,
    /// The target. The URL of an edge that each shard started itself is left out.
    pub target: LoadTarget,
    /// Injected faults.
    pub faults: Vec<String>,
}

impl RunDescription {
    /// The run of a report.
    pub fn of(report: &LoadReport) -> Self {
        Self {
            schema: report.schema.clone(),
            version: report.tool.version.clone(),
            spec: report.spec.clone(),
            scenario: report.scenario.clone(),
            model: report.model,
            shards: report.shards.first().map_or(1, |shard| shard.count),
            plan: report.plan.clone(),
            target: report.target.clone(),
            faults: report.faults.iter().map(|fault| fault.fault.clone()).collect(),
        }
        .common()
    }

    /// The same without what differs between shards.
    #[must_use]
    pub fn common(mut self) -> Self {
        self.plan.drain.took_ms = 0;
        self.plan.users = 0;
        if let Seal::Real { cost_us, not_in_time } = &mut self.plan.seal {
            (*cost_us, *not_in_time) = (0.0, 0);
        }
        if self.target.kind != TargetKind::Attached {
            self.target.edge_url = None;
        }
        self
    }

    /// What differs from another run, such as `plan (stages)`. `None` for the same run.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let own = [
            ("schema", self.schema != other.schema),
            ("version of edgeproof", self.version != other.version),
            ("digest of the tables", self.spec != other.spec),
            ("scenario", self.scenario != other.scenario),
            ("model", self.model != other.model),
            ("number of shards", self.shards != other.shards),
            ("seed", self.plan.seed != other.plan.seed),
            ("plan", self.plan != other.plan),
            ("target", self.target != other.target),
            ("faults", self.faults != other.faults),
        ];
        let (what, _) = own.into_iter().find(|(_, differs)| *differs)?;
        if what != "plan" {
            return Some(what.to_owned());
        }
        Some(format!("{what} ({})", fields_that_differ(&self.plan, &other.plan).join(", ")))
    }
}

fn fields_that_differ(one: &PlannedLoad, other: &PlannedLoad) -> Vec<String> {
    let fields = |plan: &PlannedLoad| match serde_json::to_value(plan) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let other = fields(other);
    fields(one)
        .into_iter()
        .filter(|(name, value)| other.get(name) != Some(value))
        .map(|(name, _)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::load::{Drain, PlanStage};
    use rstest::rstest;

    use super::*;

    fn description() -> RunDescription {
        RunDescription {
            schema: "edgeproof.load/1".into(),
            version: "0.1.0".into(),
            spec: Some(ReportedSpec { version: "current".into(), digest: "d1".into() }),
            scenario: "edge-relay".into(),
            model: Model::Open,
            shards: 3,
            plan: PlannedLoad { seed: 7, ..PlannedLoad::default() },
            target: LoadTarget { kind: TargetKind::Embedded, command: None, edge_url: None, base_url: None },
            faults: Vec::new(),
        }
    }

    #[rstest]
    #[case::same(|_: &mut RunDescription| {}, None)]
    #[case::users(|run: &mut RunDescription| run.plan.users = 9, None)]
    #[case::drain(|run: &mut RunDescription| run.plan.drain.took_ms = 9, None)]
    #[case::own_edge(|run: &mut RunDescription| run.target.edge_url = Some("http://127.0.0.1:4/".into()), None)]
    #[case::version(|run: &mut RunDescription| run.version = "0.2.0".into(), Some("version of edgeproof"))]
    #[case::tables(|run: &mut RunDescription| run.spec = None, Some("digest of the tables"))]
    #[case::seed(|run: &mut RunDescription| run.plan.seed = 8, Some("seed"))]
    #[case::plan(
        |run: &mut RunDescription| {
            run.plan.stages.push(PlanStage { time_ms: 1, from: 1.0, to: 1.0 });
            run.plan.drain = Drain { limit_ms: 3, took_ms: 0 };
        },
        Some("plan (stages, drain)")
    )]
    #[case::target(|run: &mut RunDescription| run.target.base_url = Some("http://service/".into()), Some("target"))]
    #[case::faults(|run: &mut RunDescription| run.faults.push("service slower by 1s".into()), Some("faults"))]
    fn difference_is_named(#[case] change: fn(&mut RunDescription), #[case] expected: Option<&str>) {
        let mut other = description();
        change(&mut other);
        assert_eq!(description().difference(&other.common()).as_deref(), expected);
    }
}
