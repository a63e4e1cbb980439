use edgeproof_fixtures::spec::{
    AllowedOriginForm, CertificateFileForm, Forms, Level, LicenseText, ServiceUrlForm, SettingChange, Spec,
    Value,
};

/// Wrong handling of one form of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingMutation {
    /// The form. Edges with other settings behave correctly.
    pub change: SettingChange,
    /// What an edge with this form does.
    pub fault: SettingFault,
    /// Id of the row that it breaks.
    pub row: String,
    /// Id of its cause.
    pub cause: String,
    /// Level of the broken requirement.
    pub level: Level,
}

/// What an edge does with a form of a setting that it handles wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingFault {
    /// It does not reach the service, or ignores the setting.
    Fails,
    /// It uses the setting in another form.
    Distorts,
    /// It accepts collections without relaying them.
    AcceptsAnyway,
    /// It does not check the service's certificate.
    TrustsAny,
    /// It grants every origin access.
    GrantsAny,
}

impl SettingMutation {
    /// The mutations of each form.
    pub(crate) fn all(spec: &Spec) -> Vec<Self> {
        let forms = spec.variation().settings.iter();
        forms.flat_map(|forms| forms.values.iter().flat_map(move |value| of_value(forms, value))).collect()
    }

    /// Its name, such as `service-url=slash fails`.
    pub(crate) fn name(&self) -> String {
        let fault = match self.fault {
            SettingFault::Fails => "fails",
            SettingFault::Distorts => "distorts",
            SettingFault::AcceptsAnyway => "accepts-anyway",
            SettingFault::TrustsAny => "trusts-any",
            SettingFault::GrantsAny => "grants-any",
        };
        format!("{}/{fault}", self.change.name().replace('=', "/"))
    }

    /// Whether a case plays the form.
    pub(crate) fn concerns(&self, case: &str) -> bool {
        case.strip_prefix("settings.").is_some_and(|name| name == self.change.name().replace('=', "."))
    }
}

fn of_value(forms: &Forms<SettingChange>, value: &Value<SettingChange>) -> Vec<SettingMutation> {
    let change = value.change;
    let of = |fault, level| {
        let (row, cause) = (forms.row.clone(), cause(fault, value).to_owned());
        SettingMutation { change, fault, row, cause, level }
    };
    let faults: &[(SettingFault, Level)] = match change {
        SettingChange::CaFile(_) if change.is_unusable() => &[(SettingFault::TrustsAny, Level::Must)],
        SettingChange::AllowedOrigin(AllowedOriginForm::Empty | AllowedOriginForm::Unset) => {
            &[(SettingFault::GrantsAny, Level::Should), (SettingFault::AcceptsAnyway, Level::Must)]
        }
        SettingChange::AllowedOrigin(_) if value.level == Level::Open => {
            &[(SettingFault::GrantsAny, Level::Must), (SettingFault::AcceptsAnyway, Level::Must)]
        }
        SettingChange::License(LicenseText::Characters | LicenseText::Long) => {
            &[(SettingFault::Distorts, Level::Must)]
        }
        SettingChange::ServiceUrl(
            ServiceUrlForm::Slash | ServiceUrlForm::Prefix | ServiceUrlForm::EncodedPrefix,
        )
        | SettingChange::Certificate(CertificateFileForm::Chain) => {
            &[(SettingFault::Distorts, Level::Should), (SettingFault::Fails, value.level)]
        }
        _ if value.level == Level::Open => &[(SettingFault::AcceptsAnyway, Level::Must)],
        _ => &[(SettingFault::Fails, value.level), (SettingFault::AcceptsAnyway, Level::Must)],
    };
    faults.iter().map(|(fault, level)| of(*fault, *level)).collect()
}

/// Id of the cause of an edge with this fault. Some faults are the same mistake, whatever the setting is.
fn cause(fault: SettingFault, value: &Value<SettingChange>) -> &str {
    match fault {
        SettingFault::Fails | SettingFault::Distorts => &value.cause,
        SettingFault::AcceptsAnyway => "accepted-without-service",
        SettingFault::TrustsAny => "service-certificate-unchecked",
        SettingFault::GrantsAny => "any-origin",
    }
}
