use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener as StdListener};
use std::sync::{Mutex, PoisonError};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// Where launched and embedded edges listen.
pub(super) const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// A port of this machine that is taken, and where connections are refused, until it listens. So a service can be away
/// and come back without anybody else getting its port in between.
///
/// Linux refuses connections to a bound socket that does not listen (a test proves it); macOS does the same.
#[derive(Debug)]
pub struct HeldPort {
    socket: Socket,
    addr: SocketAddr,
}

impl HeldPort {
    /// Takes a port of 127.0.0.1 that the system chooses. Fails where the system has none left.
    pub fn bind() -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.bind(&SocketAddrV4::new(HOST, 0).into())?;
        let addr = socket
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::Error::other("the socket has no internet address"))?;
        Ok(Self { socket, addr })
    }

    /// The address that is held.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Accepts connections from now on. Call it within a runtime.
    pub fn listen(self) -> io::Result<TcpListener> {
        self.socket.listen(BACKLOG)?;
        self.socket.set_nonblocking(true)?;
        TcpListener::from_std(self.socket.into())
    }
}

/// A port that was free a moment ago: the system chose it, and it has been given back. None is handed out twice: two
/// programs that start at the same time would get the same one, and the one that comes too late would be judged by the
/// answers of the other.
pub(super) fn free_port() -> io::Result<u16> {
    static HANDED_OUT: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut held = Vec::new();
    loop {
        // Those that were handed out before stay taken until there is another one.
        let listener = StdListener::bind((HOST, 0))?;
        let port = listener.local_addr()?.port();
        if HANDED_OUT.lock().unwrap_or_else(PoisonError::into_inner).insert(port) {
            return Ok(port);
        }
        held.push(listener);
    }
}

/// Whether somebody listens on the port, or uses it otherwise.
pub(super) fn is_taken(port: u16) -> bool {
    StdListener::bind((HOST, port)).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[test]
    fn no_port_is_handed_out_twice() {
        let ports: Vec<_> = (0..300).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), ports.len());
    }

    #[tokio::test]
    async fn a_held_port_refuses_until_it_listens() {
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
    fn a_port_given_back_is_not_taken() {
        assert!(!is_taken(free_port().unwrap()));
    }
}
