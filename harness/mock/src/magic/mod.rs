//! Magic values: texts that a mock service maps to a row of the interface, whatever else a request contains. A test
//! uses one as license, as read token or as session reference, and always gets the answer of that row. Other services
//! refuse the tokens as malformed and do not know the sessions.
//!
//! They come from the tables: a new row has its values.
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
