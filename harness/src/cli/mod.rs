//! Arguments and what is printed: the only place that prints or decides on an exit code.

pub mod signals;
