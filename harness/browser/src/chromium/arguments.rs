use std::ffi::OsString;
use std::path::Path;

use rustix::process::geteuid;

/// Names that Chromium resolves: this machine only, and no lookup leaves it. Rules also apply to addresses.
const HOSTS: &str =
    "MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE localhost.";

/// Arguments of every start.
const ARGUMENTS: [&str; 43] = [
    "--headless=new",
    // Two ways to the same protocol. WebSocket carries it. The pipe carries nothing: Chromium ends when it closes.
    "--remote-debugging-port=0",
    "--remote-debugging-pipe",
    // No traffic of its own.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-quic",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-service-autorun",
    "--safebrowsing-disable-auto-update",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Chromium refuses to connect to port 1, so that its requests for accounts and components fail before a lookup.
    "--gaia-url=http://localhost:1/",
    "--component-updater=url-source=http://localhost:1/",
    // A proxy of the environment would get all requests.
    "--no-proxy-server",
    // HttpsUpgrades and HttpsFirst change requests to http://. WebUIOmnibox and SpareRenderer start processes for
    // each new window. The others send requests of their own.
    "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,HttpsFirstModeV2,AsyncDns,DnsOverHttps,\
     DnsHttpsSvcb,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,DialMediaRouteProvider,Translate,\
     AutofillServerCommunication,CertificateTransparencyComponentUpdater,InterestFeedContentSuggestions,\
     NetworkTimeServiceQuerying,SegmentationPlatform,Prerender2,PreconnectToSearch,\
     WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,SpareRendererForSitePerProcess",
    // All pages run at full speed, as in a window that the user looks at.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-prompt-on-repost",
    // A window that the page opens is recorded instead of blocked.
    "--disable-popup-blocking",
    // Containers have a small /dev/shm.
    "--disable-dev-shm-usage",
    // The same rendering with and without graphics hardware.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--lang=en-US",
];

/// Arguments of one start, with the profile in `profile`.
pub(super) fn arguments(profile: &Path, trusted_spki: &[String]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ARGUMENTS.iter().map(OsString::from).collect();
    arguments.push(format!("--host-resolver-rules={HOSTS}").into());
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(profile);
    arguments.push(user_data);
    if !trusted_spki.is_empty() {
        arguments.push(format!("--ignore-certificate-errors-spki-list={}", trusted_spki.join(",")).into());
    }
    // Chromium refuses to start as root with its sandbox.
    if geteuid().is_root() {
        arguments.push("--no-sandbox".into());
    }
    arguments.push("about:blank".into());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_is_off_only_as_root_and_certificates_are_judged_unless_trusted() {
        let plain = arguments(Path::new("/profile"), &[]);
        assert_eq!(plain.contains(&"--no-sandbox".into()), geteuid().is_root());
        assert!(!plain.iter().any(|one| one.to_string_lossy().contains("ignore-certificate")));
        let trusting = arguments(Path::new("/profile"), &["one=".into(), "two=".into()]);
        assert!(trusting.contains(&"--ignore-certificate-errors-spki-list=one=,two=".into()));
    }
}
