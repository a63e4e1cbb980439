//! Pairs of choices. A row has one position for each choice.

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
        let mut row = OpenRow::new(sizes.len(), table.positions.len());
        row.take(first, &table);
        row.take(second, &table);
        for (choice, size) in sizes.iter().enumerate() {
            if row.values[choice].is_none() {
                let start = table.starts[choice];
                let fitting = (start..start + size).rev().filter(|position| row.fits[*position]);
                let position = fitting.max_by_key(|position| row.covered[*position]).unwrap_or(start);
                row.take(position, &table);
            }
        }
        table.cover(&row);
        rows.push(row.values.into_iter().map(Option::unwrap_or_default).collect());
    }
    rows
}

/// Which pairs of positions are forbidden, and which are still missing: for each position the other ones. A run builds this for
/// thousands of pairs before its first request, so a row does not ask for each of them.
struct PairTable {
    /// All positions (choice, value). The tables refer to them by index.
    positions: Vec<(usize, usize)>,
    /// Index of the value 0 of each choice in `positions`.
    starts: Vec<usize>,
    forbidden: Vec<Vec<usize>>,
    missing: Vec<Vec<usize>>,
    /// No pair of a position before this one is missing.
    cursor: usize,
}

/// A row with a value for some choices.
struct OpenRow {
    /// The value of each choice.
    values: Vec<Option<usize>>,
    /// The positions of these values.
    taken: Vec<usize>,
    /// Whether each position is allowed beside these.
    fits: Vec<bool>,
    /// How many missing pairs each position makes with these.
    covered: Vec<usize>,
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
        let mut forbidden = vec![Vec::new(); positions.len()];
        let mut missing = vec![Vec::new(); positions.len()];
        for (number, one) in positions.iter().enumerate() {
            let others = positions.iter().enumerate().skip(number + 1).filter(|(_, other)| other.0 != one.0);
            for (other_number, other) in others {
                let pairs = if allowed(*one, *other) { &mut missing } else { &mut forbidden };
                pairs[number].push(other_number);
                pairs[other_number].push(number);
            }
        }
        Self { positions, starts, forbidden, missing, cursor: 0 }
    }

    /// The first missing pair.
    fn next_missing(&mut self) -> Option<(usize, usize)> {
        while let Some(others) = self.missing.get(self.cursor) {
            if let Some(other) = others.first() {
                return Some((self.cursor, *other));
            }
            self.cursor += 1;
        }
        None
    }

    /// The pairs of a row are no longer missing.
    fn cover(&mut self, row: &OpenRow) {
        let mut is_taken = vec![false; self.positions.len()];
        for position in &row.taken {
            is_taken[*position] = true;
        }
        for position in &row.taken {
            self.missing[*position].retain(|other| !is_taken[*other]);
        }
    }
}

impl OpenRow {
    fn new(choices: usize, positions: usize) -> Self {
        Self {
            values: vec![None; choices],
            taken: Vec::new(),
            fits: vec![true; positions],
            covered: vec![0; positions],
        }
    }

    fn take(&mut self, position: usize, table: &PairTable) {
        let (choice, value) = table.positions[position];
        self.values[choice] = Some(value);
        self.taken.push(position);
        for other in &table.forbidden[position] {
            self.fits[*other] = false;
        }
        for other in &table.missing[position] {
            self.covered[*other] += 1;
        }
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
