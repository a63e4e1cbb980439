use std::fs;

use super::process_tree;

/// Number of open files and sockets of a process and its descendants. None: only Linux tells it, and only of one's own
/// processes.
pub fn open_files(root: u32) -> Option<usize> {
    let processes = process_tree(root);
    if processes.is_empty() {
        return None;
    }
    let open = |pid: u32| Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count());
    processes.into_iter().map(|(pid, _)| open(pid)).sum()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn files_of_a_child_count() {
        let mut child = Command::new("bash")
            .args(["-c", "for n in {1..40}; do exec {fd}</dev/null; done; echo; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut line).unwrap();
        let open = open_files(child.id());
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(open.is_some_and(|open| (43..60).contains(&open)), "{open:?}");
        assert_eq!(open_files(child.id()), None);
    }
}
