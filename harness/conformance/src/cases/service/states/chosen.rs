use crate::cases::ServiceNeed;
use crate::states::StateNeed;

/// What a verdict for a reference of ours requires.
pub(super) const CHOSEN: [ServiceNeed; 3] =
    [ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::ChosenReference)];
