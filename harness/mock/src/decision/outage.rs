use edgeproof_fixtures::spec::Stimulus;

/// Fault of the service in license checks (7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// The check has no result.
    CheckUnknown,
    /// The check itself fails.
    CheckFails,
    /// No license keys are configured.
    KeysMissing,
    /// The URL of the license keys is insecure.
    KeysInsecure,
}

/// Fault of the service in read token checks (7.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutage {
    /// No read token keys are configured.
    KeysMissing,
    /// The URL of the keys is insecure.
    KeysInsecure,
    /// The check itself fails.
    CheckFails,
}

impl Outage {
    /// Every variant.
    pub const ALL: [Self; 4] = [Self::CheckUnknown, Self::CheckFails, Self::KeysMissing, Self::KeysInsecure];

    /// The outage with this stimulus.
    pub fn for_stimulus(stimulus: Stimulus) -> Option<Self> {
        Self::ALL.into_iter().find(|outage| outage.stimulus() == stimulus)
    }

    /// Stimulus of the refusal.
    pub fn stimulus(self) -> Stimulus {
        match self {
            Self::CheckUnknown => Stimulus::LicenseCheckUnknown,
            Self::CheckFails => Stimulus::LicenseCheckFails,
            Self::KeysMissing => Stimulus::LicenseKeysMissing,
            Self::KeysInsecure => Stimulus::LicenseKeysInsecure,
        }
    }
}

impl ReadOutage {
    /// Every variant.
    pub const ALL: [Self; 3] = [Self::KeysMissing, Self::KeysInsecure, Self::CheckFails];

    /// The outage with this stimulus.
    pub fn for_stimulus(stimulus: Stimulus) -> Option<Self> {
        Self::ALL.into_iter().find(|outage| outage.stimulus() == stimulus)
    }

    /// Stimulus of the refusal.
    pub fn stimulus(self) -> Stimulus {
        match self {
            Self::KeysMissing => Stimulus::ReadTokenKeysMissing,
            Self::KeysInsecure => Stimulus::ReadTokenKeysInsecure,
            Self::CheckFails => Stimulus::ReadTokenCheckFails,
        }
    }
}
