use edgeproof_fixtures::spec::Level;

/// Name, title and requirement of a behaviour mutation.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourFacts {
    /// Slug.
    pub name: &'static str,
    /// One sentence that says what the mutant does.
    pub title: &'static str,
    /// Id of the row that it breaks.
    pub row: &'static str,
    /// Id of its cause: the mistake of a developer who writes such an edge or service.
    pub cause: &'static str,
    /// Level of the mutation, if it is lower than the level of the row.
    pub level: Option<Level>,
    /// Row that a second mutant breaks, with this behaviour in the later part of a run only. None: there is no such mutant.
    pub late_row: Option<&'static str>,
}

/// Defines an enum of behaviours from one list: variant, title (the doc comment), name, broken row, cause, level, and
/// `also late` for a second mutant that begins late, with its broken row if it is another one.
macro_rules! behaviours {
    (
        $(#[$about:meta])* pub enum $Behaviour:ident;
        $($(#[doc = $title:literal])+ $Variant:ident = $name:literal breaks $row:literal by $cause:literal $(at $level:ident)? $(also $late:ident $($late_row:literal)?)?;)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Behaviour {
            $($(#[doc = $title])+ $Variant,)*
        }

        impl $Behaviour {
            /// All behaviours.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),*];

            /// Name, title and requirement.
            pub const fn facts(self) -> BehaviourFacts {
                let (name, title, row, cause, level, late_row) = match self {
                    $(Self::$Variant => (
                        $name,
                        concat!($($title),+),
                        $row,
                        $cause,
                        behaviours!(@level $($level)?),
                        behaviours!(@late $row $(, $late $($late_row)?)?),
                    ),)*
                };
                BehaviourFacts { name, title: title.trim_ascii(), row, cause, level, late_row }
            }
        }
    };
    (@level) => { None };
    (@level $level:ident) => { Some(edgeproof_fixtures::spec::Level::$level) };
    (@late $row:literal) => { None };
    (@late $row:literal, late) => { Some($row) };
    (@late $row:literal, late $late_row:literal) => { Some($late_row) };
}

pub(super) use behaviours;
