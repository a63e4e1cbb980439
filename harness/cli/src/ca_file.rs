use std::path::Path;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::{self, PemObject};

use super::Failure;

/// Checks that a CA file is readable and holds at least one certificate. `option`: the option that names it.
pub fn check_ca_file(option: &str, path: &Path) -> Result<(), Failure> {
    let invalid = |why: &str| {
        let advice = format!("{option} takes a PEM file with the certificate of the issuing CA");
        Failure::usage(format!("cannot read the CA file {}: {why}", path.display()), advice)
    };
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(invalid("it holds no certificate")),
        Ok(_) => Ok(()),
        Err(pem::Error::Io(why)) => Err(invalid(&why.to_string())),
        Err(why) => Err(invalid(&why.to_string())),
    }
}
