use edgeproof_fixtures::spec::{
    Change, Dimension, Family, Forms, HealthChange, Level, OriginForm, Side, Spec, Value,
};

/// Wrong handling of some values of the model of variation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariationMutation {
    /// Its name, such as `framing/chunked-1`.
    pub name: String,
    /// The values, such as `framing=chunked-1`, and the family. An exchange with all of them is handled wrongly.
    pub values: Vec<String>,
    /// Prefix of the ids of the cases that play these values.
    pub cases: String,
    /// What varies: `request`, `reply`, `state`, `pairs` or `health`.
    pub class: &'static str,
    /// Id of the row that it breaks.
    pub row: String,
    /// Id of its cause.
    pub cause: String,
    /// Level of the broken requirement.
    pub level: Level,
    /// What the edge does.
    pub fault: VariationFault,
}

/// What an edge does with values that it handles wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariationFault {
    /// It changes the body.
    ChangesBody,
    /// It answers 500.
    Fails,
    /// It grants the request's origin.
    GrantsOrigin,
    /// It answers 503 to health checks.
    FailsHealth,
    /// It does not answer health checks.
    SilencesHealth,
}

impl VariationMutation {
    /// A mutation for each judged value, and for each family one that needs two values.
    pub(crate) fn all(spec: &Spec) -> Vec<Self> {
        let dimensions = &spec.variation().dimensions;
        let values = dimensions.iter().flat_map(|all| all.values.iter().map(move |value| (all, value)));
        let judged = values.filter(|(_, value)| value.level != Level::Open);
        let singles = judged.map(|(dimension, value)| single(dimension, value));
        let pairs = Family::ALL.iter().filter_map(|family| pair(dimensions, *family));
        let health = spec.variation().health.iter();
        let health = health.flat_map(|forms| forms.values.iter().map(move |value| (forms, value)));
        let health = health.filter(|(_, value)| value.level != Level::Open);
        singles.chain(pairs).chain(health.map(|(forms, value)| of_health(forms, value))).collect()
    }

    /// Whether a case plays the values.
    pub(crate) fn concerns(&self, case: &str) -> bool {
        case.starts_with(&self.cases)
    }
}

fn single(dimension: &Dimension, value: &Value) -> VariationMutation {
    VariationMutation {
        name: format!("{}/{}", dimension.id, value.id),
        values: vec![format!("{}={}", dimension.id, value.id)],
        cases: format!("vary.{}.", dimension.id),
        class: match dimension.side {
            Side::Request => "request",
            Side::Reply => "reply",
            Side::Connection | Side::History => "state",
        },
        row: dimension.row.clone(),
        cause: value.cause.clone(),
        level: value.level,
        fault: fault(dimension.side, &value.change),
    }
}

/// An edge that handles health checks wrongly from this form on.
fn of_health(forms: &Forms<HealthChange>, value: &Value<HealthChange>) -> VariationMutation {
    // Any status is right while the service fails.
    let fault = match value.change {
        HealthChange::Service(_) => VariationFault::SilencesHealth,
        _ => VariationFault::FailsHealth,
    };
    VariationMutation {
        name: format!("health-{}/{}", forms.id, value.id),
        values: vec![format!("health-{}={}", forms.id, value.id)],
        cases: format!("health.{}", forms.id),
        class: "health",
        row: forms.row.clone(),
        cause: value.cause.clone(),
        level: value.level,
        fault,
    }
}

/// Two values of a family that only fail together: the first that can be combined, of its first two dimensions.
fn pair(dimensions: &[Dimension], family: Family) -> Option<VariationMutation> {
    let combined = |value: &&Value| !value.alone && value.level == Level::Must;
    let of_family = dimensions.iter().filter(|dimension| dimension.families.contains(&family));
    let mut first =
        of_family.filter_map(|dimension| Some((dimension, dimension.values.iter().find(combined)?)));
    let ((one, first), (other, second)) = (first.next()?, first.next()?);
    Some(VariationMutation {
        name: format!("pairs/{family}"),
        values: vec![
            format!("{}={}", one.id, first.id),
            format!("{}={}", other.id, second.id),
            format!("family={family}"),
        ],
        cases: format!("vary.pairs.{family}"),
        class: "pairs",
        row: "statement.isolation".to_owned(),
        cause: "forms-together".to_owned(),
        level: Level::Must,
        fault: VariationFault::Fails,
    })
}

/// The fault that a value's cases have to notice.
fn fault(side: Side, change: &Change) -> VariationFault {
    match (side, change) {
        (_, Change::Origin(form)) if *form != OriginForm::Absent => VariationFault::GrantsOrigin,
        (Side::Request, _) => VariationFault::ChangesBody,
        (Side::Reply | Side::Connection | Side::History, _) => VariationFault::Fails,
    }
}
