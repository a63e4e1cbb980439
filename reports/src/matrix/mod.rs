//! Kill matrix: mutants × cases. A report about edgeproof itself, not about a target.

mod html;
mod model;

pub use model::{
    Matrix, MatrixAccuracy, MatrixCase, MatrixMutant, MatrixSummary, MutantStatus, SCHEMA, Scope,
};
