#![doc = include_str!("../README.md")]

mod behaviour;
mod causes;
mod collector;
mod conditional;
mod edge;
mod hooks;
mod matrix;
mod mutant;
mod mutant_set;
mod mutation;
mod play;
mod program;
mod service;

pub use behaviour::BehaviourFacts;
pub use causes::{Accuracy, MutantFailures, Share};
pub use collector::{CollectorMatrixOptions, collector_matrix, collector_mutants, left_out_of_collectors};
pub use conditional::{ConditionalOptions, ConditionalResult, Noticed, measure_conditions};
pub use matrix::{
    CANARIES, KillMatrix, MatrixOptions, SampleMatrix, kill_matrix, sample_advice, sample_matrix,
};
pub use mutant::Mutant;
pub use mutant_set::MutantSet;
pub use mutation::{
    AnswerMutation, BehaviourMutation, CollectorMutation, Mutation, RowMutation, SettingMutation,
    VariationMutation,
};
pub use play::{PureResult, SocketResult, TestBed, TestBedError};
pub use program::main;
