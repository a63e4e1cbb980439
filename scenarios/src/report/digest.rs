use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use edgeproof_reports::load::{PlannedLoad, ShardFigures};
use sha2::{Digest as _, Sha256};

/// Digest of what tells a shard from the others of its run. It finds edited reports, not forged ones.
pub fn digest(shard: &ShardFigures, plan: &PlannedLoad) -> String {
    let ShardFigures { index, count, scheduled, .. } = shard;
    let text = format!("edgeproof-load shard {index} of {count}, seed {}, {scheduled} operations", plan.seed);
    STANDARD_NO_PAD.encode(&Sha256::digest(text)[..12])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_changes_the_digest() {
        let shard =
            ShardFigures { index: 0, count: 3, started: String::new(), scheduled: 75, digest: String::new() };
        let plan = PlannedLoad { seed: 7, ..PlannedLoad::default() };
        let own = digest(&shard, &plan);
        assert_eq!(own, digest(&ShardFigures { digest: own.clone(), ..shard.clone() }, &plan));
        for other in [
            ShardFigures { index: 1, ..shard.clone() },
            ShardFigures { count: 4, ..shard.clone() },
            ShardFigures { scheduled: 76, ..shard.clone() },
        ] {
            assert_ne!(own, digest(&other, &plan));
        }
        assert_ne!(own, digest(&shard, &PlannedLoad { seed: 8, ..plan }));
    }
}
