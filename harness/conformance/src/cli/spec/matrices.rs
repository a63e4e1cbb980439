use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::interface::MutantCounts;
use edgeproof_reports::matrix::{Matrix, MatrixMutant, MutantStatus};

/// The kill matrices that a command reads.
#[derive(Debug, Args)]
pub(super) struct MatrixArgs {
    /// Kill matrix that `just mutants` wrote, target/mutants.json (repeatable: one of the collector's mutants)
    #[arg(long, value_name = "FILE")]
    matrix: Vec<PathBuf>,
}

/// Kill matrices about one or two versions of an interface.
pub(super) struct Matrices(Vec<Matrix>);

impl MatrixArgs {
    /// Reads the matrices, each about one of these interfaces.
    pub(super) fn read(&self, specs: &[&Spec]) -> Result<Matrices, Failure> {
        let mut matrices = Vec::new();
        let mut known = BTreeSet::new();
        for path in &self.matrix {
            let advice = "give a matrix that `just mutants --report json=FILE` wrote";
            let matrix = Matrix::load(path).map_err(|why| Failure::of(&why, advice))?;
            let refused = |why: String| {
                let what = format!("cannot use the matrix {}: {why}", path.display());
                Failure::usage(what, "run `just mutants` with this edgeproof and this interface again")
            };
            if !specs.iter().any(|spec| spec.digest() == matrix.digest) {
                let wanted: Vec<_> =
                    specs.iter().map(|spec| format!("{} {}", spec.version(), spec.digest())).collect();
                return Err(refused(format!(
                    "it is about the interface {} {}, not {}",
                    matrix.spec,
                    matrix.digest,
                    wanted.join(" or ")
                )));
            }
            if matrix.version != env!("CARGO_PKG_VERSION") {
                let own = env!("CARGO_PKG_VERSION");
                return Err(refused(format!("edgeproof {} wrote it, and this is {own}", matrix.version)));
            }
            let mutants = matrix.mutants.iter().map(|mutant| (matrix.digest.clone(), mutant.id.clone()));
            if mutants.into_iter().any(|mutant| !known.insert(mutant)) {
                let what = format!("cannot use the matrix {}: its mutants are given twice", path.display());
                return Err(Failure::usage(what, "give each matrix once"));
            }
            matrices.push(matrix);
        }
        Ok(Matrices(matrices))
    }
}

impl Matrices {
    /// Whether there is one.
    pub(super) fn given(&self) -> bool {
        !self.0.is_empty()
    }

    /// Each matrix in one line.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.iter().map(|matrix| format!("{}, edgeproof {}", matrix.line(), matrix.version)).collect()
    }

    /// The mutants that behave wrongly.
    pub(super) fn mutants(&self) -> impl Iterator<Item = &MatrixMutant> {
        let all = self.0.iter().flat_map(|matrix| &matrix.mutants);
        all.filter(|mutant| mutant.status != MutantStatus::Equivalent)
    }

    /// The number of mutants of a row.
    pub(super) fn counts(&self, row: &str) -> MutantCounts {
        let mut counts = MutantCounts::default();
        for mutant in self.mutants().filter(|mutant| mutant.row == row) {
            counts.planted += 1;
            counts.killed += usize::from(mutant.status == MutantStatus::Killed);
            counts.noticed += usize::from(mutant.status == MutantStatus::Noticed);
        }
        counts
    }

    /// The mutants of a row that none of its cases detects.
    pub(super) fn survivors(&self, row: &str) -> Vec<String> {
        let of_row = self.mutants().filter(|mutant| mutant.row == row);
        of_row
            .filter(|mutant| mutant.status == MutantStatus::Survived)
            .map(|mutant| mutant.id.clone())
            .collect()
    }
}
