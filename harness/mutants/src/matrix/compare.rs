use std::collections::HashMap;

use edgeproof_reports::matrix::{Matrix, MatrixAccuracy, MatrixCase, MatrixMutant};

/// What an earlier matrix has and this one lacks: a line for each case, each mutant, each kill by a case of the broken
/// row, and each share of right causes that is lower. Additions are no loss.
pub(crate) fn losses(before: &Matrix, now: &Matrix) -> Vec<String> {
    let cases: HashMap<&str, &MatrixCase> = now.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mutants: HashMap<&str, &MatrixMutant> =
        now.mutants.iter().map(|mutant| (mutant.id.as_str(), mutant)).collect();
    let mut losses = Vec::new();
    for MatrixCase { id, level, rows, .. } in &before.cases {
        match cases.get(id.as_str()) {
            None => losses.push(format!("case {id} is gone")),
            Some(case) if case.level != *level => {
                losses.push(format!(
                    "case {id}: the level changed from {} to {}",
                    level.name(),
                    case.level.name()
                ));
            }
            Some(case) => losses.extend(
                rows.iter()
                    .filter(|row| !case.rows.contains(row))
                    .map(|row| format!("case {id} no longer tests {row}")),
            ),
        }
    }
    for MatrixMutant { id, killers, .. } in &before.mutants {
        let Some(mutant) = mutants.get(id.as_str()) else {
            losses.push(format!("mutant {id} is gone"));
            continue;
        };
        let lost = killers.iter().filter(|killer| !mutant.killers.contains(killer));
        losses.extend(lost.map(|killer| format!("mutant {id}: {killer} no longer kills it")));
    }
    for MatrixAccuracy { name, hits, of } in &before.accuracy {
        match now.accuracy.iter().find(|share| share.name == *name) {
            None => losses.push(format!("{name}: not measured, {hits} of {of} before")),
            Some(now) if now.hits * of < hits * now.of => {
                losses.push(format!("{name}: {} of {}, {hits} of {of} before", now.hits, now.of));
            }
            Some(_) => {}
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::{Spec, Version};
    use edgeproof_reports::CaseLevel;
    use edgeproof_reports::matrix::{MutantStatus, Scope};
    use rstest::rstest;

    use super::*;
    use crate::matrix::empty_matrix;

    fn case(id: &str, level: CaseLevel, rows: &[&str]) -> MatrixCase {
        let rows = rows.iter().map(|row| (*row).to_owned()).collect();
        MatrixCase { id: id.into(), level, rows, kills: 0, exempt: None }
    }

    fn mutant(id: &str, killers: &[&str]) -> MatrixMutant {
        MatrixMutant {
            id: id.into(),
            title: String::new(),
            row: String::new(),
            level: CaseLevel::Must,
            status: MutantStatus::Killed,
            finding: false,
            killers: killers.iter().map(|killer| (*killer).to_owned()).collect(),
            cells: String::new(),
        }
    }

    fn matrix(cases: Vec<MatrixCase>, mutants: Vec<MatrixMutant>) -> Matrix {
        let empty = empty_matrix(&Spec::builtin(Version::Current), Scope::Gate, &[]);
        Matrix { cases, mutants, ..empty }
    }

    #[rstest]
    #[case::lower(&[(80, 101)], &["right: 80 of 101, 8 of 10 before"])]
    #[case::same(&[(16, 20)], &[])]
    #[case::not_measured(&[], &["right: not measured, 8 of 10 before"])]
    fn lower_accuracy_is_a_loss(#[case] now: &[(usize, usize)], #[case] expected: &[&str]) {
        let with = |shares: &[(usize, usize)]| {
            let shares = shares.iter();
            let accuracy = shares.map(|&(hits, of)| MatrixAccuracy { name: "right".into(), hits, of });
            Matrix { accuracy: accuracy.collect(), ..matrix(vec![], vec![]) }
        };
        assert_eq!(losses(&with(&[(8, 10)]), &with(now)), expected);
    }

    #[test]
    fn each_loss_is_named_and_additions_are_none() {
        let before = matrix(
            vec![
                case("a", CaseLevel::Must, &["r", "s"]),
                case("b", CaseLevel::Must, &["r"]),
                case("c", CaseLevel::Open, &[]),
            ],
            vec![mutant("m", &["a", "b"]), mutant("n", &["a"])],
        );
        let now = matrix(
            vec![
                case("a", CaseLevel::Must, &["r", "t"]),
                case("b", CaseLevel::Should, &["r"]),
                case("d", CaseLevel::Must, &[]),
            ],
            vec![mutant("m", &["a", "d"]), mutant("o", &[])],
        );
        assert_eq!(
            losses(&before, &now),
            [
                "case a no longer tests s",
                "case b: the level changed from must to should",
                "case c is gone",
                "mutant m: b no longer kills it",
                "mutant n is gone",
            ]
        );
        assert!(losses(&before, &before).is_empty());
    }
}
