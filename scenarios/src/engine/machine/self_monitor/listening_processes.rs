use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Processes of this machine that listen on one of these addresses: the target, if it runs here. Empty where
/// the system or its permissions do not show them.
pub(super) fn listening_processes(addresses: &[SocketAddr]) -> Vec<u32> {
    if addresses.is_empty() {
        return Vec::new();
    }
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    let sockets: HashSet<String> = tables
        .iter()
        .flat_map(|table| table.lines())
        .filter_map(parse_listener)
        .filter(|(local, _)| addresses.iter().any(|address| serves(*local, *address)))
        .map(|(_, inode)| format!("socket:[{inode}]"))
        .collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let holds = |pid: &u32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|file| file.to_str().is_some_and(|file| sockets.contains(file)))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok()).filter(holds).collect()
}

/// Whether a socket that listens on `local` accepts connections to `address` on this machine.
fn serves(local: SocketAddr, address: SocketAddr) -> bool {
    let everywhere = local.ip().is_unspecified() && is_local(address.ip());
    local.port() == address.port() && (everywhere || local.ip() == address.ip().to_canonical())
}

/// Whether an address is one of this machine: only such an address can be bound.
fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback() || std::net::UdpSocket::bind((ip, 0)).is_ok()
}

/// Address and inode of a listening socket in `/proc/net/tcp`.
fn parse_listener(line: &str) -> Option<(SocketAddr, u64)> {
    const LISTENS: &str = "0A";
    let fields: Vec<&str> = line.split_whitespace().collect();
    if *fields.get(3)? != LISTENS {
        return None;
    }
    let (ip, port) = fields.get(1)?.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    Some((SocketAddr::new(parse_ip(ip)?, port), fields.get(9)?.parse().ok()?))
}

/// An address as hexadecimal words in the byte order of this machine.
fn parse_ip(hex: &str) -> Option<IpAddr> {
    if !hex.is_ascii() {
        return None;
    }
    let word =
        |place: usize| u32::from_str_radix(hex.get(place * 8..place * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    match hex.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let mut bytes = [0; 16];
            for (place, part) in bytes.chunks_mut(4).enumerate() {
                part.copy_from_slice(&word(place)?);
            }
            Some(IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[cfg(target_endian = "little")]
    #[rstest]
    #[case("0100007F:1F90 00000000:0000 0A", Some("127.0.0.1:8080"))]
    #[case(
        "00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A",
        Some("[::1]:80")
    )]
    #[case(
        "0000000000000000FFFF00000100007F:0050 00000000000000000000000000000000:0000 0A",
        Some("127.0.0.1:80")
    )]
    #[case("0100007F:1F90 0100007F:C001 01", None)]
    #[case("0100007:1F90 00000000:0000 0A", None)]
    #[case("local_address rem_address st", None)]
    fn listeners_are_parsed(#[case] fields: &str, #[case] address: Option<&str>) {
        let line =
            format!("   0: {fields} 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0 100 0");
        assert_eq!(parse_listener(&line), address.map(|address| (address.parse().unwrap(), 4242)));
    }

    #[rstest]
    #[case("127.0.0.1:80", "127.0.0.1:80", true)]
    #[case("0.0.0.0:80", "127.0.0.1:80", true)]
    #[case("[::]:80", "127.0.0.1:80", true)]
    #[case("127.0.0.2:80", "127.0.0.1:80", false)]
    #[case("127.0.0.1:81", "127.0.0.1:80", false)]
    #[case("0.0.0.0:80", "192.0.2.1:80", false)]
    fn listener_serves_its_address(#[case] local: &str, #[case] address: &str, #[case] serves_it: bool) {
        assert_eq!(serves(local.parse().unwrap(), address.parse().unwrap()), serves_it);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_listener_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(listening_processes(&[address]), [std::process::id()]);
        drop(listener);
        assert!(listening_processes(&[address]).is_empty());
        assert!(listening_processes(&[]).is_empty());
    }
}
