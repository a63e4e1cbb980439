use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Longer than any delay of a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Between two looks, so that the program has the processors.
const PAUSE: Duration = Duration::from_millis(2);

/// Looks until it finds what no event announces. Fails with what it saw last.
pub(crate) fn until<T, S: Debug>(what: &str, mut look: impl FnMut() -> Result<T, S>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(began.elapsed() < LIMIT, "no {what} after {LIMIT:?}: {seen:?}"),
        }
        #[expect(clippy::disallowed_methods, reason = "no event; a loop without a pause takes a processor")]
        std::thread::sleep(PAUSE);
    }
}
