use std::path::PathBuf;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::PartName;

use super::args::ConformanceArgs;
use crate::cases::Catalog;
use crate::cases::explore::sequence::{
    ActionModel, EdgeModel, NamedSequence, SequencePlan, ServiceModel, prepare_folder,
};

/// The random and the saved sequences of a run.
pub(super) fn sequences(
    args: &ConformanceArgs,
    part: PartName,
    catalog: &Catalog<'_>,
    seed: u64,
) -> Result<SequencePlan, Failure> {
    let mut plan =
        SequencePlan { count: args.explore, seed, save: args.save.clone(), ..SequencePlan::default() };
    if matches!(part, PartName::Service | PartName::Keys) {
        plan.service = replays(&args.replay, &ServiceModel::all())?;
    } else if !args.replay.is_empty() {
        plan.edge = replays(&args.replay, &EdgeModel::new(catalog))?;
    }
    Ok(plan)
}

/// Creates the folder for failing sequences.
pub(super) fn create_folder(args: &ConformanceArgs) -> Result<(), Failure> {
    let Some(folder) = &args.save else { return Ok(()) };
    prepare_folder(folder).map_err(|why| {
        Failure::usage(
            format!("cannot save sequences in {}: {why}", folder.display()),
            "--save takes a folder; edgeproof creates it if its parent folder is writable",
        )
    })
}

/// Reads saved sequences. Each file's name becomes a case id.
fn replays<M: ActionModel>(paths: &[PathBuf], model: &M) -> Result<Vec<NamedSequence<M::Action>>, Failure> {
    let mut replays: Vec<NamedSequence<M::Action>> = Vec::new();
    for path in paths {
        let replay = NamedSequence::load(path, model)?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        if replay.name.is_empty() || !replay.name.chars().all(is_plain) {
            return Err(Failure::usage(
                format!("cannot replay {}: its name cannot be part of a case id", path.display()),
                "rename the file: letters, digits, dots, dashes and underscores",
            ));
        }
        if let Some(other) = replays.iter().find(|other| other.name == replay.name) {
            return Err(Failure::usage(
                format!(
                    "cannot replay {} and {}: they have the same name",
                    other.path.display(),
                    path.display()
                ),
                "rename one of them: the name becomes the case id",
            ));
        }
        replays.push(replay);
    }
    Ok(replays)
}
