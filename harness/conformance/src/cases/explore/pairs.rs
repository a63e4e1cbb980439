//! Pairs of choices. A row has one position for each choice.

use std::cmp::Ordering;

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
        for position in [first, second] {
            let (choice, value) = table.positions[position];
            row[choice] = Some(value);
        }
        for choice in 0..sizes.len() {
            if row[choice].is_none() {
                let start = table.starts[choice];
                let fits = |position: &usize| taken.iter().all(|other| table.allowed[*position][*other]);
                let covered =
                    |position: &usize| taken.iter().filter(|other| table.missing[*position][**other]).count();
                let values = (start..start + sizes[choice]).rev();
                let position = values.filter(fits).max_by_key(covered).unwrap_or(start);
                row[choice] = Some(position - start);
                taken.push(position);
            }
        }
        for (number, position) in taken.iter().enumerate() {
            for other in &taken[number + 1..] {
                table.cover(*position, *other);
            }
        }
        rows.push(row.into_iter().map(Option::unwrap_or_default).collect());
    }
    rows
}

/// Which pairs of positions are allowed, and which are still missing. Both tables have an entry for each order of a pair.
struct PairTable {
    /// All positions (choice, value). The tables refer to them by index.
    positions: Vec<(usize, usize)>,
    /// Index of the value 0 of each choice in `positions`.
    starts: Vec<usize>,
    allowed: Vec<Vec<bool>>,
    missing: Vec<Vec<bool>>,
    /// No pair of a position before this one is missing.
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
        let is_allowed = |one: &(usize, usize), other: &(usize, usize)| match one.0.cmp(&other.0) {
            Ordering::Less => allowed(*one, *other),
            Ordering::Greater => allowed(*other, *one),
            Ordering::Equal => false,
        };
        let row = |one| positions.iter().map(|other| is_allowed(one, other)).collect();
        let table: Vec<Vec<bool>> = positions.iter().map(row).collect();
        Self { missing: table.clone(), allowed: table, positions, starts, cursor: 0 }
    }

    /// The first missing pair.
    fn next_missing(&mut self) -> Option<(usize, usize)> {
        while let Some(row) = self.missing.get(self.cursor) {
            if let Some(other) = row.iter().position(|missing| *missing) {
                return Some((self.cursor, other));
            }
            self.cursor += 1;
        }
        None
    }

    fn cover(&mut self, one: usize, other: usize) {
        self.missing[one][other] = false;
        self.missing[other][one] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: &[usize] = &[2, 5, 3, 1, 7, 4];

    fn choice_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
    }

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
}
