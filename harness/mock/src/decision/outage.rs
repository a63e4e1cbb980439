use edgeproof_fixtures::spec::Stimulus;

/// A fault of the service's own that keeps it from checking licenses (7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// The check ends without a result.
    CheckUnknown,
    /// The check itself fails.
    CheckFails,
    /// There are no license keys.
    KeysMissing,
    /// The license keys' address is not secure.
    KeysInsecure,
}

/// A fault of the service's own that keeps it from checking read tokens (7.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutage {
    /// There are no keys for read tokens.
    KeysMissing,
    /// The keys' address is not secure.
    KeysInsecure,
    /// The check itself fails.
    CheckFails,
}

impl Outage {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::CheckUnknown, Self::CheckFails, Self::KeysMissing, Self::KeysInsecure];

    /// The outage that is this cause of a refusal.
    pub fn for_stimulus(stimulus: Stimulus) -> Option<Self> {
        Self::ALL.into_iter().find(|outage| outage.stimulus() == stimulus)
    }

    /// The cause of a refusal that it is.
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::KeysMissing, Self::KeysInsecure, Self::CheckFails];

    /// The outage that is this cause of a refusal.
    pub fn for_stimulus(stimulus: Stimulus) -> Option<Self> {
        Self::ALL.into_iter().find(|outage| outage.stimulus() == stimulus)
    }

    /// The cause of a refusal that it is.
    pub fn stimulus(self) -> Stimulus {
        match self {
            Self::KeysMissing => Stimulus::ReadTokenKeysMissing,
            Self::KeysInsecure => Stimulus::ReadTokenKeysInsecure,
            Self::CheckFails => Stimulus::ReadTokenCheckFails,
        }
    }
}
