//! Combinations of choices: singles and pairs. A row has one position for each choice.

use std::collections::BTreeSet;

/// One row for each value that is not the default. All other positions are 0.
pub(crate) fn singles(sizes: &[usize]) -> Vec<Vec<usize>> {
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

/// Rows that contain every pair of values of two choices at least once. Greedy: for each choice, a row takes the value
/// that covers most missing pairs.
pub(crate) fn all_pairs(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut missing = BTreeSet::new();
    for (a, b) in choice_pairs(sizes.len()) {
        for (x, y) in (0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (x, y))) {
            missing.insert((a, x, b, y));
        }
    }
    let mut rows = Vec::new();
    while let Some(first) = missing.first().copied() {
        // Starts with a missing pair, so that each row covers at least one.
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        row[first.0] = Some(first.1);
        row[first.2] = Some(first.3);
        for choice in 0..sizes.len() {
            if row[choice].is_none() {
                let covered = |value: &usize| {
                    let others = row.iter().enumerate().filter_map(|(other, value)| Some((other, (*value)?)));
                    others.filter(|other| missing.contains(&pair((choice, *value), *other))).count()
                };
                row[choice] = (0..sizes[choice]).rev().max_by_key(covered);
            }
        }
        let row: Vec<usize> = row.into_iter().map(|value| value.unwrap()).collect();
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

#[test]
fn all_pairs_are_covered_by_fewer_than_60_rows() {
    let sizes = crate::EdgeVariant::CHOICES;
    let rows = all_pairs(sizes);
    for (a, b) in choice_pairs(sizes.len()) {
        for (x, y) in (0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (x, y))) {
            assert!(rows.iter().any(|row| (row[a], row[b]) == (x, y)), "no row has {a}={x} and {b}={y}");
        }
    }
    assert!(rows.len() < 60, "{} rows", rows.len());
}
