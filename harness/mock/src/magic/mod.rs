//! Magic values: texts that a mock service maps to a row of the interface, whatever else a request holds. A test of a
//! backend puts one into its configuration (a license, a read token) or into its data (a session reference) and gets the
//! answer of that row, always. Any other service refuses the tokens as malformed, and has no such sessions.
//!
//! All of them come from the tables: a row that is added there has its values.
//!
//! ```
//! use edgeproof_fixtures::spec::{Spec, Version};
//! use edgeproof_mock::magic::{Carrier, Magic};
//!
//! let magic = Magic::of(&Spec::builtin(Version::Current));
//! let pair = magic.pairs().iter().find(|pair| pair.row == "verdict.401.expired").unwrap();
//! assert_eq!(pair.value, "service_read_magic.verdict.401.expired");
//! assert_eq!((pair.carrier, pair.status), (Carrier::ReadToken, 401));
//! ```

mod pair;
mod table;

pub use pair::{Carrier, Effect, Pair};
pub use table::{AFTER_EXAMPLE, Magic};
