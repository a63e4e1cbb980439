/// A deterministic draw by weights: which choice is due at each number of a run.
///
/// Consecutive numbers form blocks. Each block has every choice as often as its weight says, in turns, and
/// begins at another place of the turns. So each shard, which takes every n-th number, has the same mix, and
/// no choice coincides with a share of the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedDraw {
    turns: Vec<u16>,
    seed: u64,
}

/// Largest length of a block. Larger weights are rounded.
const LONGEST: f64 = 65_536.0;

impl WeightedDraw {
    /// A draw from choices with these weights. A choice with weight 0 is never drawn.
    pub fn new(weights: &[u64], seed: u64) -> Self {
        let divisor = weights.iter().copied().fold(0, greatest_common_divisor).max(1);
        let reduced: Vec<f64> = weights.iter().map(|weight| (weight / divisor) as f64).collect();
        let scale = (LONGEST / reduced.iter().sum::<f64>()).min(1.0);
        let scaled = |weight: &f64| ((weight * scale) as i64).max(i64::from(*weight > 0.0));
        let weights: Vec<i64> = reduced.iter().map(scaled).collect();
        Self { turns: take_turns(&weights), seed }
    }

    /// The index of the choice that is due at this number.
    pub fn draw(&self, number: u64) -> usize {
        let length = self.turns.len() as u64;
        if length <= 1 {
            return self.turns.first().map_or(0, |choice| usize::from(*choice));
        }
        let (block, place) = (number / length, number % length);
        let begin = mix(block ^ self.seed) % length;
        usize::from(self.turns[((begin + place) % length) as usize])
    }
}

/// Each choice as often as its weight, spread evenly: the choice that lags most behind its share is next.
fn take_turns(weights: &[i64]) -> Vec<u16> {
    let sum: i64 = weights.iter().sum();
    let mut lag = vec![0_i64; weights.len()];
    let mut turns = Vec::with_capacity(sum as usize);
    for _ in 0..sum {
        lag.iter_mut().zip(weights).for_each(|(lag, weight)| *lag += weight);
        let most = (0..lag.len()).max_by_key(|place| (lag[*place], lag.len() - place)).unwrap_or(0);
        lag[most] -= sum;
        turns.push(most as u16);
    }
    turns
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// A well-mixed function of a number (`SplitMix64`).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn counts(draw: &WeightedDraw, numbers: impl Iterator<Item = u64>, choices: usize) -> Vec<u64> {
        let mut counts = vec![0; choices];
        numbers.for_each(|number| counts[draw.draw(number)] += 1);
        counts
    }

    #[rstest]
    #[case::mixed(&[6, 3, 1])]
    #[case::one(&[5])]
    #[case::reducible(&[60, 30, 10])]
    #[case::absent(&[0, 3, 1])]
    fn every_block_has_the_weights(#[case] weights: &[u64]) {
        let draw = WeightedDraw::new(weights, 7);
        let sum: u64 = weights.iter().sum();
        assert_eq!(counts(&draw, 0..sum, weights.len()), weights);
        let many: Vec<u64> = weights.iter().map(|weight| weight * 50).collect();
        assert_eq!(counts(&draw, 0..sum * 50, weights.len()), many);
    }

    /// The table of turns must not grow with the weights.
    #[test]
    fn large_weights_are_rounded() {
        let draw = WeightedDraw::new(&[u64::MAX, 1], 7);
        assert!(draw.turns.len() as f64 <= LONGEST + 2.0);
        assert_eq!(counts(&draw, 0..draw.turns.len() as u64, 2)[1], 1);
    }

    #[test]
    fn same_seed_gives_the_same_order() {
        let drawn = |seed| (0..200).map(|n| WeightedDraw::new(&[6, 3, 1], seed).draw(n)).collect::<Vec<_>>();
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    proptest! {
        /// Ten shards of weights that sum to ten: without another begin of each block, each would have one choice.
        #[test]
        fn each_shard_has_the_mix(shards in 1u64..12, seed in any::<u64>()) {
            let draw = WeightedDraw::new(&[6, 3, 1], seed);
            for shard in 0..shards {
                let counts = counts(&draw, (0..2_000).map(|local| local * shards + shard), 3);
                for (count, weight) in counts.iter().zip([6.0, 3.0, 1.0]) {
                    prop_assert!((*count as f64 / 200.0 - weight).abs() < 1.0, "{counts:?}");
                }
            }
        }
    }
}
