//! Combinations of choices: singles and pairs. A row has one position for each choice.

use std::collections::BTreeSet;

/// One row for each value that is not the default. All other positions are 0.
pub fn singles(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut rows = Vec::new();
    for (choice, size) in sizes.iter().enumerate() {
        for value in 1..*size {
            let mut row = vec![0; sizes.len()];
            row[choice] = value;
            rows.push(row);
        }
    }
    rows
}

/// Rows that contain every pair of values of two choices at least once.
pub fn all_pairs(sizes: &[usize]) -> Vec<Vec<usize>> {
    allowed_pairs(sizes, |_, _| true)
}

/// Rows that contain every allowed pair of values of two choices at least once, and no other pair. `allowed` compares
/// two positions (choice, value) with the lower choice first; it must allow the value 0 beside every value. Greedy: for
/// each choice, a row takes the value that covers most missing pairs.
pub fn allowed_pairs(
    sizes: &[usize],
    allowed: impl Fn((usize, usize), (usize, usize)) -> bool,
) -> Vec<Vec<usize>> {
    let mut missing = BTreeSet::new();
    for (a, b) in choice_pairs(sizes.len()) {
        for (x, y) in (0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (x, y))) {
            if allowed((a, x), (b, y)) {
                missing.insert((a, x, b, y));
            }
        }
    }
    let mut rows = Vec::new();
    while let Some(first) = missing.first().copied() {
        // Starts with a missing pair, so that each row covers at least one.
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        row[first.0] = Some(first.1);
        row[first.2] = Some(first.3);
        for choice in 0..sizes.len() {
            if row[choice].is_some() {
                continue;
            }
            let taken: Vec<_> =
                row.iter().enumerate().filter_map(|(other, value)| Some((other, (*value)?))).collect();
            let fits = |value: &usize| {
                taken.iter().all(|other| {
                    let (a, x, b, y) = pair((choice, *value), *other);
                    allowed((a, x), (b, y))
                })
            };
            let covered = |value: &usize| {
                taken.iter().filter(|other| missing.contains(&pair((choice, *value), **other))).count()
            };
            row[choice] = (0..sizes[choice]).rev().filter(fits).max_by_key(covered);
        }
        let row: Vec<usize> = row.into_iter().map(Option::unwrap_or_default).collect();
        for (a, b) in choice_pairs(sizes.len()) {
            missing.remove(&(a, row[a], b, row[b]));
        }
        rows.push(row);
    }
    rows
}

fn choice_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

fn pair(one: (usize, usize), other: (usize, usize)) -> (usize, usize, usize, usize) {
    let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
    (first.0, first.1, second.0, second.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: &[usize] = &[2, 5, 3, 1, 7, 4];

    #[test]
    fn all_pairs_are_covered_by_few_rows() {
        let rows = all_pairs(SIZES);
        for (a, b) in choice_pairs(SIZES.len()) {
            for (x, y) in (0..SIZES[a]).flat_map(|x| (0..SIZES[b]).map(move |y| (x, y))) {
                assert!(rows.iter().any(|row| (row[a], row[b]) == (x, y)), "no row has {a}={x} and {b}={y}");
            }
        }
        assert!(rows.len() < 45, "{} rows", rows.len());
    }

    #[test]
    fn forbidden_pairs_are_in_no_row() {
        let allowed = |one, other| !(one == (1, 4) && other == (4, 6)) && !(one == (0, 1) && other == (2, 2));
        let rows = allowed_pairs(SIZES, allowed);
        assert!(rows.iter().all(|row| !(row[1] == 4 && row[4] == 6) && !(row[0] == 1 && row[2] == 2)));
        assert!(rows.iter().any(|row| row[1] == 4) && rows.iter().any(|row| row[4] == 6));
    }

    #[test]
    fn singles_change_one_choice_each() {
        let rows = singles(&[3, 2]);
        assert_eq!(rows, [[1, 0], [2, 0], [0, 1]]);
    }
}
