//! Cases over sockets, on the embedded edge.

use std::sync::Arc;
use std::time::Duration;

use fixtures::credentials::{CredentialError, CredentialFiles, Credentials, MintOptions, Redactor};
use fixtures::spec::{Spec, Version};
use reports::{CaseReport, Event};

use super::pure::PureWorld;
use crate::cases::{self, Case, Catalog, Need};
use crate::mock::ReplyShape;
use crate::run::{
    Behind, Circumstances, Fleet, LeaseError, Options, Pins, Plan, PlanError, Props, Selection, Tally,
    Verdict, run,
};
use crate::target::{Embedded, Target, Twist};

/// Twice the longest wait for an answer: a service that takes a second is still waited for.
const CASE_TIMEOUT: Duration = Duration::from_millis(2500);
/// Cases at the same time on one edge.
const JOBS: usize = 8;

/// All that edges are proven with; made once, since keys and certificates take time.
#[derive(Debug)]
pub struct World {
    /// For conversations without sockets.
    pub pure: PureWorld,
    redactor: Arc<Redactor>,
}

/// What a run over sockets came to.
#[derive(Debug, Default)]
pub struct Ran {
    /// Of each case.
    pub reports: Vec<CaseReport>,
    /// What was said about the whole run.
    pub findings: Vec<String>,
    /// How the program would have ended.
    pub exit_code: u8,
}

/// Why nothing can be proven about the cases.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// No credentials.
    #[error(transparent)]
    Mint(#[from] CredentialError),
    /// No folder for them.
    #[error("write credentials to a temporary folder")]
    Files(#[from] std::io::Error),
    /// No mock service.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// No cases.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl World {
    /// Everything for the current interface.
    pub fn new(spec: Arc<Spec>) -> Result<Self, WorldError> {
        let credentials = Arc::new(Credentials::mint(&MintOptions::default())?);
        let files = CredentialFiles::write(&credentials)?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let shape = ReplyShape::from_profile(spec.profile());
        Ok(Self { pure: PureWorld { spec, shape, credentials, files }, redactor })
    }

    /// The same for the built-in tables.
    pub fn builtin() -> Result<Self, WorldError> {
        Self::new(Arc::new(Spec::builtin(Version::Current)))
    }

    /// Every case for an edge.
    pub fn cases(&self) -> Vec<Case> {
        cases::edge(Catalog::new(&self.pure.spec, &self.pure.shape, false))
    }

    /// Plays these cases on the embedded edge with a deviation; or with none. Those that need HTTPS are played on one
    /// that serves it.
    pub async fn play(&self, cases: &[Case], twist: Option<&Twist>) -> Result<Ran, WorldError> {
        let (https, http): (Vec<Case>, Vec<Case>) =
            cases.iter().cloned().partition(|case| case.needs.contains(&Need::Https));
        let mut ran = Ran::default();
        for (cases, https) in [(http, false), (https, true)] {
            if !cases.is_empty() {
                self.play_on(cases, twist.cloned(), https, &mut ran).await?;
            }
        }
        Ok(ran)
    }

    async fn play_on(
        &self,
        cases: Vec<Case>,
        twist: Option<Twist>,
        https: bool,
        ran: &mut Ran,
    ) -> Result<(), WorldError> {
        let PureWorld { spec, shape, credentials, .. } = &self.pure;
        let files = CredentialFiles::write(credentials)?;
        let mut embedded = Embedded::new(Arc::clone(spec), spec.profile().clone());
        if https {
            embedded = embedded.https(credentials, &files);
        }
        if let Some(twist) = twist {
            embedded = embedded.twisted(twist);
        }
        let circumstances = Circumstances {
            starts_edges: true,
            service: true,
            origin: true,
            log: true,
            https,
            loopback_clients: cfg!(target_os = "linux"),
        };
        let plan = Plan::new(cases, &Selection::default(), &circumstances)?;
        let props = Props {
            spec: Arc::clone(spec),
            profile: spec.profile().clone(),
            shape: shape.clone(),
            credentials: Arc::clone(credentials),
            files,
            target: Target::Embedded(Box::new(embedded)),
            behind: Behind::Each,
            redactor: Arc::clone(&self.redactor),
            spare: 4,
        };
        let options = Arc::new(Options {
            jobs: JOBS,
            case_timeout: CASE_TIMEOUT,
            repeat: 1,
            shuffle: None,
            hold: None,
            pins: Pins::default(),
            latency: false,
        });
        let fleet = Arc::new(Fleet::new(props).await?);
        let verdict = Verdict::default();
        let mut tally = Tally::new(&plan);
        let mut tell = |event| match event {
            Event::Ended(report) => ran.reports.push(*report),
            Event::Finding(finding) => ran.findings.push(finding),
            _ => {}
        };
        run(&plan, &fleet, &options, &verdict, &mut tally, &mut tell).await;
        let code = tally.finish(&verdict, &mut tell);
        ran.exit_code = match (ran.exit_code, code) {
            // As in one run, 1 goes before 3.
            (1, _) | (_, 1) => 1,
            (before, code) => before.max(code),
        };
        // Its edges hold nothing that is worth waiting for: dropped, they end at once.
        drop(fleet);
        Ok(())
    }
}
