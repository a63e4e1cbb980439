//! Advice that a difference gives: what a developer did, as the answer or the body shows it.

mod answer;
mod body;

pub(in crate::judge) use answer::{allow_advice, answer_advice, content_type_advice};
pub(in crate::judge) use body::{body_advice, common_start};
