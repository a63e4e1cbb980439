//! Combinations of choices: singles and pairs. A row has one position for each choice.

use std::cmp::Ordering;

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
    let mut table = PairTable::new(sizes, allowed);
    let mut rows = Vec::new();
    while let Some((first, second)) = table.next_missing() {
        // Starts with a missing pair, so that each row covers at least one.
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        let mut taken = vec![first, second];
        for (choice, value) in [first, second] {
            row[choice] = Some(value);
        }
        for choice in 0..sizes.len() {
            if row[choice].is_none() {
                let fits = |value: &usize| taken.iter().all(|other| table.allows((choice, *value), *other));
                let covered = |value: &usize| {
                    taken.iter().filter(|other| table.misses((choice, *value), **other)).count()
                };
                let value = (0..sizes[choice]).rev().filter(fits).max_by_key(covered).unwrap_or_default();
                row[choice] = Some(value);
                taken.push((choice, value));
            }
        }
        let row: Vec<usize> = row.into_iter().map(Option::unwrap_or_default).collect();
        for (a, b) in choice_pairs(sizes.len()) {
            table.cover((a, row[a]), (b, row[b]));
        }
        rows.push(row);
    }
    rows
}

/// Which pairs of positions are allowed, and which are still missing.
struct PairTable {
    /// All positions (choice, value).
    positions: Vec<(usize, usize)>,
    /// Index of the value 0 of each choice in `positions`.
    starts: Vec<usize>,
    allowed: Vec<bool>,
    missing: Vec<bool>,
    /// No pair before this index is missing.
    cursor: usize,
}

impl PairTable {
    fn new(sizes: &[usize], allowed: impl Fn((usize, usize), (usize, usize)) -> bool) -> Self {
        let choices = sizes.iter().enumerate();
        let positions: Vec<_> =
            choices.flat_map(|(choice, size)| (0..*size).map(move |value| (choice, value))).collect();
        let mut starts = Vec::new();
        let mut next = 0;
        for size in sizes {
            starts.push(next);
            next += size;
        }
        let (mut table_allowed, mut missing) = (Vec::new(), Vec::new());
        for one in &positions {
            for other in &positions {
                let is_allowed = match one.0.cmp(&other.0) {
                    Ordering::Less => allowed(*one, *other),
                    Ordering::Greater => allowed(*other, *one),
                    Ordering::Equal => false,
                };
                table_allowed.push(is_allowed);
                // Each pair is missing once.
                missing.push(is_allowed && one.0 < other.0);
            }
        }
        Self { positions, starts, allowed: table_allowed, missing, cursor: 0 }
    }

    /// The first missing pair.
    fn next_missing(&mut self) -> Option<((usize, usize), (usize, usize))> {
        self.cursor += self.missing[self.cursor..].iter().position(|missing| *missing)?;
        let count = self.positions.len();
        Some((self.positions[self.cursor / count], self.positions[self.cursor % count]))
    }

    fn allows(&self, one: (usize, usize), other: (usize, usize)) -> bool {
        self.allowed[self.index(one, other)]
    }

    fn misses(&self, one: (usize, usize), other: (usize, usize)) -> bool {
        self.missing[self.index(one, other)]
    }

    fn cover(&mut self, one: (usize, usize), other: (usize, usize)) {
        let index = self.index(one, other);
        self.missing[index] = false;
    }

    fn index(&self, one: (usize, usize), other: (usize, usize)) -> usize {
        let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
        (self.starts[first.0] + first.1) * self.positions.len() + self.starts[second.0] + second.1
    }
}

fn choice_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
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
        let forbidden = [((1, 4), (4, 6)), ((0, 1), (2, 2))];
        let allowed = |one, other| !forbidden.contains(&(one, other));
        let rows = allowed_pairs(SIZES, allowed);
        for ((a, x), (b, y)) in forbidden {
            assert!(rows.iter().all(|row| (row[a], row[b]) != (x, y)));
        }
        assert!(rows.iter().any(|row| row[1] == 4) && rows.iter().any(|row| row[4] == 6));
    }

    #[test]
    fn singles_change_one_choice_each() {
        let rows = singles(&[3, 2]);
        assert_eq!(rows, [[1, 0], [2, 0], [0, 1]]);
    }
}
