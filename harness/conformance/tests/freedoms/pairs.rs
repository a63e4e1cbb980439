//! Which values are put together.

use std::collections::BTreeSet;

/// Each value that is not usual, alone: one row each.
pub(crate) fn singles(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut rows = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        for value in 1..*size {
            let mut row = vec![0; sizes.len()];
            row[at] = value;
            rows.push(row);
        }
    }
    rows
}

/// Rows in which every two values of different freedoms meet at least once. Greedy: each row takes, freedom by freedom,
/// the value that meets the most others it has not met yet.
pub(crate) fn all_pairs(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut left = BTreeSet::new();
    for (a, b) in places(sizes.len()) {
        for (x, y) in (0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (x, y))) {
            left.insert((a, x, b, y));
        }
    }
    let mut rows = Vec::new();
    while let Some(first) = left.first().copied() {
        // The row begins with a pair that is missing, so that each row is of use.
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        row[first.0] = Some(first.1);
        row[first.2] = Some(first.3);
        for at in 0..sizes.len() {
            if row[at].is_none() {
                let meets = |value: &usize| {
                    let others = row.iter().enumerate().filter_map(|(other, met)| Some((other, (*met)?)));
                    others.filter(|(other, met)| left.contains(&pair((at, *value), (*other, *met)))).count()
                };
                row[at] = (0..sizes[at]).rev().max_by_key(meets);
            }
        }
        let row: Vec<usize> = row.into_iter().map(|value| value.unwrap()).collect();
        for (a, b) in places(sizes.len()) {
            left.remove(&(a, row[a], b, row[b]));
        }
        rows.push(row);
    }
    rows
}

fn places(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

fn pair(one: (usize, usize), other: (usize, usize)) -> (usize, usize, usize, usize) {
    let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
    (first.0, first.1, second.0, second.1)
}

#[test]
fn every_two_values_meet() {
    let sizes = edgeproof_edge::style::Style::FREEDOMS;
    let rows = all_pairs(sizes);
    for (a, b) in places(sizes.len()) {
        for (x, y) in (0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (x, y))) {
            assert!(rows.iter().any(|row| (row[a], row[b]) == (x, y)), "{a}={x} never meets {b}={y}");
        }
    }
    let values: usize = sizes.iter().sum();
    println!(
        "{} freedoms with {values} values: {} alone, {} rows of pairs",
        sizes.len(),
        singles(sizes).len(),
        rows.len()
    );
    assert!(rows.len() < 60, "{} rows", rows.len());
}
