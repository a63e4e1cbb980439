use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The cases that each mutant of a sample has to kill, by the indices of mutant and cases.
pub(super) type Cover = Vec<(usize, BTreeSet<usize>)>;

/// A small set of mutants that together may kill all of these cases, where a mutant can. `candidates`: the cases that
/// each mutant may kill. The mutant with the most of the remaining cases goes first, of several the first one.
pub(super) fn cover(candidates: &[BTreeSet<usize>], cases: &BTreeSet<usize>) -> Cover {
    let remaining = |all: &BTreeSet<usize>| all.intersection(cases).copied().collect();
    let mut candidates: Vec<BTreeSet<usize>> = candidates.iter().map(remaining).collect();
    let mut cover = Cover::new();
    while let Some(mutant) =
        (0..candidates.len()).max_by_key(|mutant| (candidates[*mutant].len(), Reverse(*mutant)))
    {
        let killed = std::mem::take(&mut candidates[mutant]);
        if killed.is_empty() {
            break;
        }
        for candidate in &mut candidates {
            candidate.retain(|case| !killed.contains(case));
        }
        cover.push((mutant, killed));
    }
    cover
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(cases: &[usize]) -> BTreeSet<usize> {
        cases.iter().copied().collect()
    }

    #[test]
    fn each_case_is_in_the_cover_of_one_mutant_that_may_kill_it() {
        let candidates = [set(&[0]), set(&[0, 1, 2]), set(&[2, 3]), set(&[3]), set(&[])];
        let cover = cover(&candidates, &set(&[0, 1, 2, 3, 4]));
        assert_eq!(cover, [(1, set(&[0, 1, 2])), (2, set(&[3]))]);
    }

    #[test]
    fn mutants_of_other_cases_change_nothing() {
        let candidates = [set(&[0]), set(&[1]), set(&[0, 1])];
        let more = [set(&[5]), set(&[0]), set(&[1]), set(&[4, 5]), set(&[0, 1])];
        assert_eq!(cover(&candidates, &set(&[0, 1])), [(2, set(&[0, 1]))]);
        let with_more = cover(&more, &set(&[0, 1, 4, 5]));
        assert!(with_more.contains(&(4, set(&[0, 1]))), "{with_more:?}");
    }
}
