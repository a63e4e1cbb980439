//! Addresses that a launched program listens on, for the error about a program that never answers.

#[cfg(not(target_os = "linux"))]
pub(super) fn of(_program: &super::descendants::Descendants) -> Vec<std::net::SocketAddr> {
    Vec::new()
}

#[cfg(target_os = "linux")]
pub(super) use linux::of;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

    use crate::descendants::Descendants;
    use crate::processes;

    /// State of a listening socket in the kernel's table.
    const LISTENS: &str = "0A";

    /// Sorted listening addresses of a program and its descendants.
    pub(crate) fn of(program: &Descendants) -> Vec<SocketAddr> {
        let sockets: BTreeSet<String> =
            processes::pids(program.group, &program.mark).into_iter().flat_map(sockets).collect();
        let mut found: Vec<SocketAddr> = ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .filter_map(|table| fs::read_to_string(table).ok())
            .flat_map(|table| table.lines().filter_map(|line| listener(line, &sockets)).collect::<Vec<_>>())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Inode numbers of a process's open sockets.
    fn sockets(pid: rustix::process::Pid) -> Vec<String> {
        let Ok(files) = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())) else { return Vec::new() };
        files
            .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
            .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
            .collect()
    }

    /// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`
    fn listener(line: &str, sockets: &BTreeSet<String>) -> Option<SocketAddr> {
        let columns: Vec<&str> = line.split_ascii_whitespace().collect();
        let (local, state, inode) = (columns.get(1)?, columns.get(3)?, columns.get(9)?);
        if *state != LISTENS || !sockets.contains(*inode) {
            return None;
        }
        let (address, port) = local.split_once(':')?;
        Some(SocketAddr::new(ip(address)?, u16::from_str_radix(port, 16).ok()?))
    }

    /// Parses hexadecimal 32-bit words in native byte order.
    fn ip(text: &str) -> Option<IpAddr> {
        let words: Vec<u8> = (0..text.len())
            .step_by(8)
            .map(|at| u32::from_str_radix(text.get(at..at + 8)?, 16).ok())
            .collect::<Option<Vec<u32>>>()?
            .into_iter()
            .flat_map(u32::to_ne_bytes)
            .collect();
        if let Ok(v4) = <[u8; 4]>::try_from(&words[..]) {
            return Some(IpAddr::V4(Ipv4Addr::from(v4)));
        }
        <[u8; 16]>::try_from(&words[..]).ok().map(|v6| IpAddr::V6(Ipv6Addr::from(v6)))
    }

    #[cfg(test)]
    mod tests {
        use rstest::rstest;

        use super::*;

        #[rstest]
        #[case("0100007F", "127.0.0.1")]
        #[case("00000000000000000000000001000000", "::1")]
        #[case("0000000000000000FFFF00000100007F", "::ffff:127.0.0.1")]
        fn kernel_table_addresses_parse(#[case] text: &str, #[case] expected: &str) {
            if cfg!(target_endian = "little") {
                assert_eq!(ip(text), Some(expected.parse().unwrap()));
            }
        }
    }
}
