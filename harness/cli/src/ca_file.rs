use std::path::Path;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::Failure;

/// First byte of a certificate in DER: the tag of a sequence.
const DER_SEQUENCE: u8 = 0x30;
/// Start of an item in PEM (RFC 7468).
const PEM_START: &[u8] = b"-----BEGIN ";

/// Checks that a CA file is readable and holds at least one certificate. `option`: the option that names it.
pub fn check_ca_file(option: &str, path: &Path) -> Result<(), Failure> {
    let why = match std::fs::read(path) {
        Ok(content) => fault(&content),
        Err(why) => Some(why.to_string()),
    };
    why.map_or(Ok(()), |why| {
        let advice = format!("{option} takes a PEM file with the certificate of the issuing CA");
        Err(Failure::usage(format!("cannot read the CA file {}: {why}", path.display()), advice))
    })
}

/// Why a file holds no usable certificate, if it does not.
fn fault(content: &[u8]) -> Option<String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(content).collect();
    let has_pem = content.windows(PEM_START.len()).any(|part| part == PEM_START);
    Some(match certificates {
        Ok(certificates) if !certificates.is_empty() => return None,
        _ if content.is_empty() => "it is empty".into(),
        _ if content[0] == DER_SEQUENCE && !has_pem => {
            "it is DER, not PEM; `openssl x509 -inform der -in FILE -out ca.pem` converts it".into()
        }
        _ if !has_pem => "it is not PEM".into(),
        Ok(_) => "it holds no certificate".into(),
        Err(why) => why.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::certificate(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", None)]
    #[case::empty(b"", Some("it is empty"))]
    #[case::der(b"\x30\x82\x01\x0a", Some("it is DER, not PEM"))]
    #[case::text(b"no certificate", Some("it is not PEM"))]
    #[case::key(
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        Some("holds no certificate")
    )]
    #[case::truncated(b"-----BEGIN CERTIFICATE-----\nAAAA\n", Some("section end"))]
    fn fault_of_a_ca_file_is_named(#[case] content: &[u8], #[case] expected: Option<&str>) {
        match (fault(content), expected) {
            (Some(why), Some(expected)) => assert!(why.contains(expected), "{why}"),
            (why, expected) => assert_eq!(why.as_deref(), expected),
        }
    }
}
