//! A hostile proxy: it forwards the first connections to a server, and mistreats all others.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use url::Url;

use super::hostility::{forward, head, mistreat};
use crate::held_port::HeldPort;

/// Listens until it is dropped.
pub(crate) struct HostileProxy {
    address: SocketAddr,
    accepting: JoinHandle<()>,
    mistreated: Arc<AtomicUsize>,
    open: watch::Receiver<usize>,
    /// No other listener gets the port after this one has gone.
    _port: HeldPort,
}

impl HostileProxy {
    /// Forwards the first `forwarded` connections to `inner`, and mistreats all others.
    pub(crate) async fn start(inner: SocketAddr, forwarded: usize, hostility: &'static str) -> Self {
        let port = HeldPort::new();
        let listener = TcpListener::bind(("127.0.0.1", port.number())).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mistreated = Arc::new(AtomicUsize::new(0));
        let (opened, open) = watch::channel(0);
        let accepting =
            tokio::spawn(accept(listener, inner, forwarded, hostility, Arc::clone(&mistreated), opened));
        Self { address, accepting, mistreated, open, _port: port }
    }

    pub(crate) fn url(&self) -> Url {
        format!("http://{}/", self.address).parse().unwrap()
    }

    /// Number of mistreated connections.
    pub(crate) fn mistreated(&self) -> usize {
        self.mistreated.load(Ordering::SeqCst)
    }

    /// Waits for the first mistreated connection.
    pub(crate) async fn first_mistreated(&self) {
        let mut open = self.open.clone();
        while self.mistreated() == 0 {
            open.changed().await.unwrap();
        }
    }

    /// Waits until no connection is open.
    pub(crate) async fn all_closed(&self) {
        self.open.clone().wait_for(|open| *open == 0).await.unwrap();
    }
}

impl Drop for HostileProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    inner: SocketAddr,
    forwarded: usize,
    hostility: &'static str,
    mistreated: Arc<AtomicUsize>,
    opened: watch::Sender<usize>,
) {
    let mut number = 0_usize;
    // This hostility closes the listener.
    while hostility != "gone" || number < forwarded {
        let Ok((client, _)) = listener.accept().await else { continue };
        let is_forwarded = number < forwarded || (hostility == "fickle" && number.is_multiple_of(2));
        number += 1;
        if !is_forwarded {
            mistreated.fetch_add(1, Ordering::SeqCst);
        }
        let opened = opened.clone();
        opened.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            connection(client, inner, is_forwarded, hostility).await;
            opened.send_modify(|open| *open -= 1);
        });
    }
}

async fn connection(mut client: TcpStream, inner: SocketAddr, is_forwarded: bool, hostility: &'static str) {
    // This hostility does not read the request.
    if hostility == "deaf-mute" && !is_forwarded {
        return std::future::pending().await;
    }
    let Some(head) = head(&mut client).await else { return };
    if is_forwarded {
        return forward(client, &head, inner).await;
    }
    mistreat(client, if hostility == "fickle" { "markup" } else { hostility }).await;
}
