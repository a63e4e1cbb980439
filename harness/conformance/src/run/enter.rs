/// Waits for a line on standard input. False: standard input is closed.
pub(super) async fn enter() -> bool {
    // A separate thread: after a signal, the runtime would wait for a blocked worker.
    let (sender, line) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let read = std::io::stdin().read_line(&mut String::new());
        sender.send(read.is_ok_and(|bytes| bytes > 0))
    });
    line.await.unwrap_or(false)
}
