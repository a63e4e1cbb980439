/// The number of scheduled operations and how they ended. A difference is a bug of the generator and makes
/// the run invalid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperationCounts {
    /// Operations scheduled until the end of the run.
    pub scheduled: u64,
    /// Operations that ended with any answer.
    pub answered: u64,
    /// Operations that ended without an answer.
    pub failed: u64,
    /// Operations that never started because no connection was free.
    pub dropped: u64,
    /// Operations still running after the drain time.
    pub open: u64,
    /// Answered operations with an unexpected answer.
    pub unexpected: u64,
    /// Operations answered as expected after the end of the load.
    pub late: u64,
    /// Sessions that expected a verdict and got none.
    pub without_verdict: u64,
}

/// Counts disagree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CountMismatch {
    /// Operations were lost or counted twice.
    #[error("{scheduled} operations were scheduled, but {accounted} are accounted for")]
    Operations {
        /// Scheduled operations.
        scheduled: u64,
        /// Answered, failed, dropped and open operations.
        accounted: u64,
    },
    /// The service counted another number of requests.
    #[error(
        "{route}: {sent} requests were sent and {unanswered} of them got no answer, but the service counted {arrived}"
    )]
    Arrivals {
        /// The route.
        route: String,
        /// Requests sent.
        sent: u64,
        /// Requests sent without an answer. They may have arrived.
        unanswered: u64,
        /// Requests counted by the service.
        arrived: u64,
    },
}

impl OperationCounts {
    /// Adds other counts.
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

    /// Fails unless every scheduled operation is accounted for.
    pub fn balance(&self) -> Result<(), CountMismatch> {
        let accounted = self.answered + self.failed + self.dropped + self.open;
        if accounted == self.scheduled {
            return Ok(());
        }
        Err(CountMismatch::Operations { scheduled: self.scheduled, accounted })
    }

    /// Fails unless the mock service counted every answered request, and at most all requests.
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
    fn every_scheduled_operation_needs_an_end(#[case] operations: OperationCounts, #[case] balanced: bool) {
        assert_eq!(operations.balance().is_ok(), balanced);
    }

    #[rstest]
    #[case(10, 0, 10, true)]
    #[case(10, 0, 9, false)]
    #[case(10, 0, 11, false)]
    #[case(10, 2, 8, true)]
    #[case(10, 2, 7, false)]
    fn service_counts_every_answered_request(
        #[case] sent: u64,
        #[case] unanswered: u64,
        #[case] arrived: u64,
        #[case] agrees: bool,
    ) {
        assert_eq!(OperationCounts::reconcile("GET /x", sent, unanswered, arrived).is_ok(), agrees);
    }
}
