use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener as StdListener};
use std::ops::Range;

use parking_lot::Mutex;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// Address that launched edges listen on.
pub(super) const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Listen backlog.
const BACKLOG: i32 = 1024;

/// Bound port that refuses connections until [`HeldPort::listen`]. With it a service can be down and come back, and no
/// other program gets its port in between.
///
/// Linux and macOS refuse connections to a bound socket that does not listen. A test checks it.
#[derive(Debug)]
pub struct HeldPort {
    socket: Socket,
    addr: SocketAddr,
}

impl HeldPort {
    /// Binds a port of 127.0.0.1 that the system chooses. Fails when the system has no free port.
    pub fn bind() -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.bind(&SocketAddrV4::new(HOST, 0).into())?;
        let addr = socket
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::Error::other("the socket has no internet address"))?;
        Ok(Self { socket, addr })
    }

    /// The bound address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Starts to listen. Needs a tokio runtime.
    pub fn listen(self) -> io::Result<TcpListener> {
        self.socket.listen(BACKLOG)?;
        self.socket.set_nonblocking(true)?;
        TcpListener::from_std(self.socket.into())
    }
}

/// Ports for launched programs. Systems choose from higher ports for other programs, so no other program gets one of these
/// by chance before a slow program binds it.
const PORTS: Range<u16> = 15_000..32_000;
/// Attempts to find a free port.
const TRIES: usize = 1_000;

/// Free port of 127.0.0.1. No port is handed out twice: of two programs that start at the same time with the same port, one
/// would be judged by the answers of the other.
pub(super) fn free_port() -> io::Result<u16> {
    static HANDED_OUT: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut handed_out = HANDED_OUT.lock();
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for _ in 0..TRIES {
        let port = rand::random_range(PORTS);
        if handed_out.contains(&port) {
            continue;
        }
        match StdListener::bind((HOST, port)) {
            Ok(_) => {
                handed_out.insert(port);
                return Ok(port);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Whether the port is in use.
pub(super) fn is_taken(port: u16) -> bool {
    StdListener::bind((HOST, port)).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[test]
    fn free_ports_are_unique() {
        let ports: Vec<_> = (0..300).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), ports.len());
    }

    #[tokio::test]
    async fn held_port_refuses_until_listen() {
        let held = HeldPort::bind().unwrap();
        let addr = held.addr();
        assert!(is_taken(addr.port()));
        let refused = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);

        let listener = held.listen().unwrap();
        let (client, server) = tokio::join!(TcpStream::connect(addr), listener.accept());
        client.unwrap().write_all(b"x").await.unwrap();
        assert_eq!(server.unwrap().0.read_u8().await.unwrap(), b'x');
    }

    #[test]
    fn released_port_is_free() {
        assert!(!is_taken(free_port().unwrap()));
    }
}
