//! Tests that need a program which not every machine has. They are ignored, and `just test-browser` runs them.

mod chromium;
mod curl;
mod examples;
mod hooks;
