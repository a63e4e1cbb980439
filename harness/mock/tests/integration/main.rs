//! Mock service: over sockets, through its admin port, with magic values, and its parsers with any input.

mod admin;
mod fuzz;
mod magic;
mod service;
