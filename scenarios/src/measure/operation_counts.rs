/// Every operation that was to begin, and where it went. What is not accounted for is an error of ours, and makes the
/// run invalid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// Operations that were to begin until the end of the run.
    pub scheduled: u64,
    /// Ended with an answer, whatever it said.
    pub answered: u64,
    /// Ended without one.
    pub failed: u64,
    /// Never begun, because no connection was free before the end.
    pub dropped: u64,
    /// Begun, and not ended when the time to drain was over.
    pub open: u64,
    /// Of those that were answered: not with what was to come out.
    pub unexpected: u64,
    /// Of those that were answered as they were to be: when the run was over already.
    pub late: u64,
    /// Sessions that were to get a verdict and got none.
    pub without_verdict: u64,
}

/// Figures that should agree and do not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountMismatch {
    /// Operations got lost, or were counted twice.
    #[error("{scheduled} operations were scheduled, and {accounted} are accounted for")]
    Operations {
        /// To begin.
        scheduled: u64,
        /// Answered, failed, dropped or open.
        accounted: u64,
    },
    /// The service counted something else.
    #[error(
        "{route}: {sent} requests were sent and {unanswered} of them got no answer, but the service counted {arrived}"
    )]
    Arrivals {
        /// The route.
        route: String,
        /// Sent.
        sent: u64,
        /// Of those, without an answer: they may have arrived or not.
        unanswered: u64,
        /// As the service counts.
        arrived: u64,
    },
}

impl OperationCounts {
    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.scheduled += other.scheduled;
        self.answered += other.answered;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.open += other.open;
        self.unexpected += other.unexpected;
        self.late += other.late;
        self.without_verdict += other.without_verdict;
    }

    /// Whether everything that was scheduled is accounted for.
    pub fn balance(&self) -> Result<(), CountMismatch> {
        let accounted = self.answered + self.failed + self.dropped + self.open;
        if accounted == self.scheduled {
            return Ok(());
        }
        Err(CountMismatch::Operations { scheduled: self.scheduled, accounted })
    }

    /// Whether a service of ours saw what was sent to it: each request that was answered, and of the others none or all.
    pub fn reconcile(route: &str, sent: u64, unanswered: u64, arrived: u64) -> Result<(), CountMismatch> {
        if (sent - unanswered..=sent).contains(&arrived) {
            return Ok(());
        }
        Err(CountMismatch::Arrivals { route: route.to_owned(), sent, unanswered, arrived })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(OperationCounts { scheduled: 10, answered: 5, failed: 2, dropped: 2, open: 1, unexpected: 3, ..OperationCounts::default() }, true)]
    #[case(OperationCounts { scheduled: 10, answered: 10, failed: 1, ..OperationCounts::default() }, false)]
    #[case(OperationCounts { scheduled: 10, answered: 9, ..OperationCounts::default() }, false)]
    fn everything_is_accounted_for(#[case] operations: OperationCounts, #[case] balanced: bool) {
        assert_eq!(operations.balance().is_ok(), balanced);
    }

    #[rstest]
    #[case(10, 0, 10, true)]
    #[case(10, 0, 9, false)]
    #[case(10, 0, 11, false)]
    #[case(10, 2, 8, true)]
    #[case(10, 2, 7, false)]
    fn the_service_counts_the_same(
        #[case] sent: u64,
        #[case] unanswered: u64,
        #[case] arrived: u64,
        #[case] agrees: bool,
    ) {
        assert_eq!(OperationCounts::reconcile("GET /x", sent, unanswered, arrived).is_ok(), agrees);
    }
}
