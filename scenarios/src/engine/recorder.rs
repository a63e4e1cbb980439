use parking_lot::{Mutex, MutexGuard};

use crate::measure::LoadMeasurements;

/// Records measurements, in several parts so that users rarely wait for a lock. Memory does not depend on the
/// number of requests or users.
#[derive(Debug)]
pub struct LoadRecorder(Vec<Mutex<LoadMeasurements>>);

impl LoadRecorder {
    /// A recorder with this many parts.
    pub fn new(parts: usize) -> Self {
        Self((0..parts.max(1)).map(|_| Mutex::default()).collect())
    }

    /// The part of a user.
    pub fn of(&self, user: usize) -> MutexGuard<'_, LoadMeasurements> {
        self.0[user % self.0.len()].lock()
    }

    /// The sum of all parts.
    pub fn sum(&self) -> LoadMeasurements {
        let mut sum = LoadMeasurements::default();
        for part in &self.0 {
            // Copied, because users wait for the lock meanwhile: adding takes longer.
            let part = part.lock().clone();
            sum.add(&part);
        }
        sum
    }
}
