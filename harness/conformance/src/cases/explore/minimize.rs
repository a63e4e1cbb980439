use super::model::Model;
use super::play::{Played, Player};
use super::trial::Trial;

/// The plainest trial that still fails.
#[derive(Debug)]
pub(super) struct Minimal {
    /// Its values.
    pub(super) trial: Trial,
    /// How it failed.
    pub(super) played: Played,
    /// It fails with the plainest row of its family too.
    pub(super) any_row: bool,
    /// It failed again when played alone.
    pub(super) repeats: bool,
}

impl Minimal {
    /// One value alone fails, also with the plainest row: the case of its dimension plays the same trial.
    pub(super) fn is_single_value(&self) -> bool {
        self.repeats && self.any_row && self.trial.changes.len() == 1
    }

    /// Both repeat with the same values, perhaps with different rows.
    pub(super) fn has_same_values(&self, other: &Self) -> bool {
        self.repeats && other.repeats && self.trial.changes == other.trial.changes
    }
}

/// Reduces a failed trial: plays it again with fewer changes, until each remaining change is necessary.
pub(super) async fn minimize(model: &Model, player: &Player<'_>, trial: &Trial, first: Played) -> Minimal {
    let plainest = model.plainest(model.rows[trial.row].family).unwrap_or(trial.row);
    for changes in std::iter::once(Vec::new()).chain(trial.changes.iter().map(|change| vec![*change])) {
        let plain = Trial { row: plainest, changes };
        if let Some(played) = fails(player, &plain).await {
            return Minimal { trial: plain, played, any_row: true, repeats: true };
        }
        let alone = trial.with(plain.changes);
        if alone == *trial || trial.row == plainest {
            continue;
        }
        if let Some(played) = fails(player, &alone).await {
            return Minimal { trial: alone, played, any_row: false, repeats: true };
        }
    }
    let again = player.play(trial).await;
    if !again.failed() {
        return Minimal { trial: trial.clone(), played: first, any_row: false, repeats: false };
    }
    let mut minimal = Minimal { trial: trial.clone(), played: again, any_row: false, repeats: true };
    let mut position = 0;
    while position < minimal.trial.changes.len() {
        let mut changes = minimal.trial.changes.clone();
        changes.remove(position);
        let fewer = trial.with(changes);
        if let Some(played) = fails(player, &fewer).await {
            minimal = Minimal { trial: fewer, played, ..minimal };
        } else {
            position += 1;
        }
    }
    let plain = Trial { row: plainest, changes: minimal.trial.changes.clone() };
    if plain.row != minimal.trial.row
        && let Some(played) = fails(player, &plain).await
    {
        return Minimal { trial: plain, played, any_row: true, repeats: true };
    }
    minimal
}

/// How a trial fails. A plain one has to fail twice: it would blame every exchange, and a busy machine can be late once.
async fn fails(player: &Player<'_>, trial: &Trial) -> Option<Played> {
    let played = player.play(trial).await;
    let again = played.failed() && trial.changes.is_empty();
    let played = if again { player.play(trial).await } else { played };
    played.failed().then_some(played)
}
