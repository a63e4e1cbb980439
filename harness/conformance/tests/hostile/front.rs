//! A hostile service: in front of one that serves well stands what does so for the first connections, and then changes
//! its mind.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use url::Url;

use crate::hostility::{head, serve_well, treat};

/// Listens until it is dropped.
pub(crate) struct Front {
    address: SocketAddr,
    accepting: JoinHandle<()>,
    turned: Arc<AtomicUsize>,
    open: watch::Receiver<usize>,
}

impl Front {
    /// Serves the first connections well, and treats all others so.
    pub(crate) async fn start(inner: SocketAddr, well: usize, hostility: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let turned = Arc::new(AtomicUsize::new(0));
        let (opened, open) = watch::channel(0);
        let accepting = tokio::spawn(accept(listener, inner, well, hostility, Arc::clone(&turned), opened));
        Self { address, accepting, turned, open }
    }

    pub(crate) fn url(&self) -> Url {
        format!("http://{}/", self.address).parse().unwrap()
    }

    /// Connections that met the hostility.
    pub(crate) fn turned(&self) -> usize {
        self.turned.load(Ordering::SeqCst)
    }

    /// Waits until somebody meets the hostility.
    pub(crate) async fn somebody_waits(&self) {
        let mut open = self.open.clone();
        while self.turned() == 0 {
            open.changed().await.unwrap();
        }
    }

    /// Waits until no connection is open any more.
    pub(crate) async fn nobody_is_left(&self) {
        self.open.clone().wait_for(|open| *open == 0).await.unwrap();
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    inner: SocketAddr,
    well: usize,
    hostility: &'static str,
    turned: Arc<AtomicUsize>,
    opened: watch::Sender<usize>,
) {
    let mut number = 0_usize;
    // One that is gone does not even listen any more.
    while hostility != "gone" || number < well {
        let Ok((client, _)) = listener.accept().await else { continue };
        let served = number < well || (hostility == "fickle" && number.is_multiple_of(2));
        number += 1;
        if !served {
            turned.fetch_add(1, Ordering::SeqCst);
        }
        let opened = opened.clone();
        opened.send_modify(|open| *open += 1);
        tokio::spawn(async move {
            connection(client, inner, served, hostility).await;
            opened.send_modify(|open| *open -= 1);
        });
    }
}

async fn connection(mut client: TcpStream, inner: SocketAddr, served: bool, hostility: &'static str) {
    // One that does not even read what it is asked.
    if hostility == "deaf-mute" && !served {
        return std::future::pending().await;
    }
    let Some(head) = head(&mut client).await else { return };
    if served {
        return serve_well(client, &head, inner).await;
    }
    treat(client, if hostility == "fickle" { "markup" } else { hostility }).await;
}
