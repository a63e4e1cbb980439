use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use edgeproof_fixtures::credentials::Secret;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::states::{CollectionState, StateReply, StateRequest};
use edgeproof_targets::{HookError, StateHook};

use super::supported::EXPIRES;
use super::{StateNeed, States};

/// Tries each state once.
struct Trial<'t> {
    hook: &'t StateHook,
    supported: BTreeSet<StateNeed>,
    credentials: BTreeMap<Stimulus, Secret>,
    expiring: Option<(Secret, Duration)>,
    reference: String,
}

impl States {
    /// The states to which a hook answers: each is tried once. `run`: a text that no other run sends.
    pub async fn tried(hook: StateHook, tokens: TrialTokens<'_>, run: &str) -> Result<Self, HookError> {
        let reference = format!("edgeproof-{run}-trial");
        let (supported, credentials) = (BTreeSet::new(), BTreeMap::new());
        let mut trial = Trial { hook: &hook, supported, credentials, expiring: None, reference };
        trial.sessions().await?;
        trial.revocation(&tokens).await?;
        trial.of(StateNeed::Rotate, StateRequest::Rotate {}).await?;
        trial.of(StateNeed::Later, StateRequest::Later { seconds: 1 }).await?;
        trial.others(tokens.outage).await?;
        let Trial { supported, credentials, expiring, .. } = trial;
        Ok(Self::new(hook, supported, credentials, expiring))
    }
}

/// What the trial of some states requires.
#[derive(Debug, Clone, Copy)]
pub struct TrialTokens<'t> {
    /// The read token.
    pub read: Option<&'t Secret>,
    /// A token that is revoked already.
    pub revoked: Option<&'t Secret>,
    /// Reason code of an outage.
    pub outage: Option<&'t str>,
}

impl Trial<'_> {
    /// Tries a state. Yields the answer if it is supported.
    async fn of(&mut self, need: StateNeed, request: StateRequest) -> Result<Option<StateReply>, HookError> {
        match self.hook.provide(&request).await {
            Ok(reply) => {
                self.supported.insert(need);
                Ok(Some(reply))
            }
            Err(HookError::Unsupported) => Ok(None),
            Err(why) => Err(why),
        }
    }

    fn authorization(&self, reply: StateReply, request: &StateRequest) -> Result<Secret, HookError> {
        let missing = || self.hook.failed(request, "its answer has no member authorization");
        reply.authorization.ok_or_else(missing)
    }

    fn named(&self, name: &str) -> String {
        format!("{}-{name}", self.reference)
    }

    async fn sessions(&mut self) -> Result<(), HookError> {
        let asked = self.named("verdict");
        let made = self.of(StateNeed::Verdict, StateRequest::verdict(&asked)).await?;
        if made.is_some_and(|reply| reply.reference.is_none_or(|reference| reference == asked)) {
            self.supported.insert(StateNeed::ChosenReference);
        }
        self.of(StateNeed::OtherLicense, StateRequest::other_license(self.named("other"))).await?;
        self.of(StateNeed::Aged, StateRequest::aged(self.named("aged"), 30)).await?;
        self.of(StateNeed::Pending, StateRequest::pending(self.named("pending"))).await?;
        self.of(StateNeed::Gone, StateRequest::Gone { reference: asked }).await?;
        Ok(())
    }

    /// The read token is only restored: a trial must not harm the run. A token that is revoked already is revoked again.
    async fn revocation(&mut self, tokens: &TrialTokens<'_>) -> Result<(), HookError> {
        let Some(read) = tokens.read else { return Ok(()) };
        self.of(StateNeed::Revoke, StateRequest::Restore { token: read.clone() }).await?;
        let Some(revoked) = tokens.revoked.filter(|_| self.supported.contains(&StateNeed::Revoke)) else {
            return Ok(());
        };
        let request = StateRequest::Revoke { token: revoked.clone() };
        if self.of(StateNeed::Revoke, request).await?.is_none() {
            self.supported.remove(&StateNeed::Revoke);
        }
        Ok(())
    }

    async fn others(&mut self, outage: Option<&str>) -> Result<(), HookError> {
        let (reference, form) = (self.named("collection"), CollectionState::Accepted);
        self.of(StateNeed::Collection, StateRequest::Collection { reference, form }).await?;
        for need in StateNeed::credentials() {
            let StateNeed::Credential(cause) = need else { continue };
            let request = StateRequest::Credential { cause, after: 0 };
            let Some(reply) = self.of(need, request.clone()).await? else { continue };
            let authorization = self.authorization(reply, &request)?;
            self.credentials.insert(cause, authorization);
        }
        let request =
            StateRequest::Credential { cause: Stimulus::ReadTokenExpired, after: EXPIRES.as_secs() };
        if let Some(reply) = self.of(StateNeed::ExpiringToken, request.clone()).await? {
            self.expiring = Some((self.authorization(reply, &request)?, EXPIRES));
        }
        if let Some(code) = outage {
            self.of(StateNeed::Outage, StateRequest::Outage { code: Some(code.to_owned()) }).await?;
            if self.supported.contains(&StateNeed::Outage) {
                let end = StateRequest::Outage { code: None };
                self.hook.provide(&end).await.map_err(|why| match why {
                    HookError::Unsupported => self.hook.failed(&end, "it began an outage and cannot end it"),
                    why @ HookError::Failed(_) => why,
                })?;
            }
        }
        let waiting = self.of(StateNeed::Waiting, StateRequest::Waiting {}).await?;
        if waiting.is_some_and(|reply| reply.waiting.is_none()) {
            return Err(self.hook.failed(&StateRequest::Waiting {}, "its answer has no member waiting"));
        }
        Ok(())
    }
}
