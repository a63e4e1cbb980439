//! `edgeproof explain`: what is required and why, and how to get it right.

mod text;

use clap::Args;
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::{Spec, SpecChoice, Version};
use edgeproof_mock::ReplyShape;

pub use text::explain_case;
pub(super) use text::required;

use super::spec_option::spec_option;
use crate::cases::{self, AnyCase, Catalog};
use crate::nearest::{nearest_ids, similar_text};

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Id of a case, a row or a cause, such as relay.body.large-numbers, edge.502.service-unreachable or body-parsed
    #[arg(value_name = "CASE|ROW|CAUSE")]
    id: String,
    /// The interface: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t)]
    spec: SpecChoice,
}

/// `edgeproof explain`.
pub(super) fn main(args: &ExplainArgs) -> Result<u8, Failure> {
    let text = explain(&args.spec.load()?, &args.id, &spec_option(&args.spec))?;
    write_stdout(text.as_bytes())?;
    Ok(0)
}

/// All cases of all parts.
pub(in crate::cli) fn all_cases(spec: &Spec) -> Vec<Box<dyn AnyCase>> {
    let shape = ReplyShape::from_profile(spec.profile());
    cases::all(Catalog::new(spec, &shape, false).explore(true).thorough(true))
}

/// `option`: what the printed commands need to read the same interface.
fn explain(spec: &Spec, id: &str, option: &str) -> Result<String, Failure> {
    let cases = all_cases(spec);
    if let Some(case) = cases.iter().find(|case| case.facts().id == id) {
        return Ok(explain_case(spec, &**case, option));
    }
    if let Some(row) = spec.row(id) {
        return Ok(text::of_row(spec, row, &cases, option));
    }
    if let Some(cause) = spec.cause(id) {
        return Ok(text::of_cause(cause, &cases, option));
    }
    let what = format!("cannot explain {id:?}: no case, row or cause has this id");
    if spec.profile().point(id).is_some() {
        let advice = format!("it is an open point: `edgeproof spec show {id}{option}` shows it");
        return Err(Failure::usage(what, advice));
    }
    let in_version = |version: &&Version| {
        let other = Spec::builtin(**version);
        other.row(id).is_some() || all_cases(&other).iter().any(|case| case.facts().id == id)
    };
    if let Some(version) =
        Version::ALL.iter().filter(|version| version.name() != spec.version()).find(in_version)
    {
        return Err(Failure::usage(
            what,
            format!("the id exists in interface version {version}: add --spec {version}"),
        ));
    }
    let rows = spec.rows().iter().map(|row| row.id.as_str());
    let causes = spec.causes().iter().map(|cause| cause.id.as_str());
    let similar =
        nearest_ids(id, cases.iter().map(|case| case.facts().id.as_str()).chain(rows).chain(causes));
    let advice = "`edgeproof conformance --list` lists the cases, `edgeproof spec list` the rows";
    Err(Failure::usage(what + &similar_text(&similar), advice))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_case_row_and_cause_has_an_explanation() {
        for version in Version::ALL {
            let spec = Spec::builtin(*version);
            let cases = all_cases(&spec);
            for case in &cases {
                let text = explain_case(&spec, &**case, "");
                assert!(text.contains("\nrequired\n") && text.contains("\nexchange\n"), "{text}");
                assert!(!text.contains("{marker}") && !text.contains("{origin}"), "{text}");
            }
            for row in spec.rows() {
                assert!(text::of_row(&spec, row, &cases, "").contains("\nrequired\n"), "{}", row.id);
            }
            for cause in spec.causes() {
                assert!(text::of_cause(cause, &cases, "").contains("\nfix\n"), "{}", cause.id);
            }
        }
    }

    #[test]
    fn an_id_names_one_thing() {
        let spec = Spec::builtin(Version::Current);
        let mut ids = BTreeSet::new();
        for case in all_cases(&spec) {
            let case = case.facts();
            // The explanation of such a case shows the row.
            assert!(spec.row(&case.id).is_none() || case.rows.contains(&case.id), "{}", case.id);
            assert!(ids.insert(case.id.clone()), "{} is used twice", case.id);
        }
        for cause in spec.causes() {
            assert!(!ids.contains(&cause.id) && spec.row(&cause.id).is_none(), "{}", cause.id);
        }
    }
}
