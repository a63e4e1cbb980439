//! Families and areas of cases, which show in their ids.

/// The id without its last word: `refusal.401` of `refusal.401.revoked`.
pub(super) fn family(case: &str) -> &str {
    case.rsplit_once('.').map_or(case, |(family, _)| family)
}

/// The first word of the id: `refusal` of `refusal.401.revoked`.
pub(super) fn area(case: &str) -> &str {
    case.split_once('.').map_or(case, |(area, _)| area)
}
