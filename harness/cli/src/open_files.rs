use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files that a run needs at most: many systems start programs with a limit of 256 or 1,024.
pub const OPEN_FILES: u64 = 8192;

/// Open files below which connections to a correct target fail.
pub const FEWEST_OPEN_FILES: u64 = 1024;

/// The limit on open files of this process. None: no limit.
pub fn open_files_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Raises the limit on open files of this process and its later children to `wanted`, or as far as the system allows.
/// Never lowers it. Where it fails, what needs more files reports that.
pub fn raise_open_files(wanted: u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // Unset means without a limit.
    let allowed = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if current.is_some_and(|current| current < allowed) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum });
    }
}
