use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};

use crate::scripts::{Action, Reply};

/// Requests that a random script covers unless it has a count.
pub(super) const DRAWN: usize = 10_000;

/// Draws, for each request, the reply or the usual answer. The same seed and chance give the same replies.
pub(super) fn draw(reply: &Reply, chance: f64, seed: u64, count: usize) -> Vec<Reply> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut one = || if rng.random_bool(chance) { reply.clone() } else { Reply::now(Action::Decide) };
    (0..count).map(|_| one()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_same_replies() {
        let reply = Reply::now(Action::Close);
        let hits = |chance, seed| {
            let drawn = draw(&reply, chance, seed, 1000);
            drawn.iter().map(|drawn| *drawn == reply).collect::<Vec<_>>()
        };
        assert_eq!(hits(0.25, 7), hits(0.25, 7));
        assert_ne!(hits(0.25, 7), hits(0.25, 8));
        let count = hits(0.25, 7).into_iter().filter(|hit| *hit).count();
        assert!((200..300).contains(&count), "{count}");
        assert!(hits(1.0, 7).into_iter().all(|hit| hit));
    }
}
