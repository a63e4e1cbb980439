//! A file with the authority of somebody's certificate, as the command line names it.

use std::path::Path;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::{self, PemObject};

use super::Failure;

/// The file can be read, and holds at least one certificate as PEM.
pub fn check(option: &str, path: &Path) -> Result<(), Failure> {
    let advice = format!("{option} takes a PEM file with the authority that signed the certificate");
    let wrong = |why: &str| Failure::usage(format!("read the authority {}: {why}", path.display()), &advice);
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(wrong("it holds no certificate")),
        Ok(_) => Ok(()),
        Err(pem::Error::Io(why)) => Err(wrong(&why.to_string())),
        Err(why) => Err(wrong(&why.to_string())),
    }
}
