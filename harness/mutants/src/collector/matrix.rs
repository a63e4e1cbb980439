use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use edgeproof::cases::{self, Case, CaseFacts, Catalog, Collector, SealUse};
use edgeproof::causes::Fingerprints;
use edgeproof::collector::{CollectorModule, EdgeCredentials, SharedBrowser};
use edgeproof::run::{CollectorRunner, CollectorRunnerOptions, ConformanceRun, RunOptions, Selection};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, Redactor};
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::CaseReport;
use edgeproof_reports::difference::{DifferenceKind, PageEffect};
use edgeproof_reports::matrix::{Matrix, MatrixMutant, MutantStatus, Scope};

use super::collector_mutants;
use super::script::{FILES, UNCHANGED};
use crate::causes::{MutantFailures, fingerprints, outdated};
use crate::matrix::{
    CaseResults, MutantResult, advice, case_results, empty_matrix, has_advice, in_turn, is_monitor,
    is_of_collector, judge, run_all, turns, without_kill,
};
use crate::mutant::Mutant;
use crate::mutation::{CollectorMutation, Mutation};
use crate::play::TestBedError;

/// Timeout of a case. Half of it is the timeout of a call: only mutants that never end take so long.
const CASE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(8);
/// Concurrent cases of one mutant. They share few pages.
const JOBS: usize = 2;

/// Most cases of its row that a mutant plays at first in a quick run. Opening its pages takes as long as they do.
const FEW: usize = 4;

/// Row of mutants whose first session shows how they use the seal key.
const SEALED: &str = "statement.collection-sealed";

/// Options of a matrix of collector mutants.
#[derive(Debug)]
pub struct CollectorMatrixOptions {
    /// Chromium (default: the usual places).
    pub chromium: Option<std::path::PathBuf>,
    /// Which cases run.
    pub scope: Scope,
    /// Whether mutants play a few cases of their row at first.
    pub is_quick: bool,
    /// Concurrent mutants.
    pub jobs: usize,
    /// Called after each mutant with the number of finished mutants and of all mutants.
    pub progress: fn(usize, usize),
}

/// What all runs share.
struct CollectorBed {
    scope: Scope,
    cases: Vec<Case<Collector>>,
    edges: Arc<EdgeCredentials>,
    browser: Arc<SharedBrowser>,
    redactor: Arc<Redactor>,
}

/// Runs each collector mutant, and judges the cases by the result. Yields the fingerprints as well.
pub async fn collector_matrix(
    spec: Arc<Spec>,
    options: &CollectorMatrixOptions,
) -> Result<(Matrix, Fingerprints), TestBedError> {
    let began = Instant::now();
    let bed = CollectorBed::new(Arc::clone(&spec), options)?;
    let facts: Vec<CaseFacts> = bed.cases.iter().map(|case| case.facts.clone()).collect();
    // The wrapper alone changes nothing.
    let reference: CaseResults =
        case_results(&bed.play(wrapper(UNCHANGED.into()), &bed.cases, Some(SealUse::Opens)).await?).collect();
    let mutants = collector_mutants(&spec);
    let results = if options.is_quick {
        bed.few_results(&mutants, &facts, &reference, options).await?
    } else {
        let run = |at: usize| bed.run(&mutants[at], bed.cases_of(&mutants[at]));
        run_all(mutants.len(), options.jobs, options.progress, run).await?
    };
    bed.browser.close().await;
    let mut matrix = empty_matrix(&spec, options.scope, &facts);
    matrix.problems.extend(judge::reference_failures(&reference, &matrix.cases));
    // Every case would kill a module with a mistake in its script.
    let is_broken = |result: &MutantResult| {
        let mut mismatches = result.cases.values().flat_map(|case| &case.mismatches);
        mismatches.any(|mismatch| {
            matches!(mismatch.kind(), Some(DifferenceKind::Page { effect: PageEffect::ModuleLoads, .. }))
        })
    };
    let broken = mutants.iter().zip(&results).filter(|(_, result)| is_broken(result));
    matrix.problems.extend(broken.map(|(mutant, _)| format!("mutant {} does not load", mutant.id)));
    let ran: Vec<_> = mutants.iter().zip(&results).collect();
    let failures: Vec<MutantFailures> = ran
        .iter()
        .map(|(Mutant { id, cause, .. }, result)| MutantFailures::new(id, cause, &result.cases))
        .collect();
    if options.scope == Scope::Gate {
        let problems = outdated(Fingerprints::of_collectors(), &failures, "just fingerprints-collector");
        matrix.problems.extend(problems);
    }
    matrix.problems.extend(advice::problems(&spec, &ran, &facts, is_of_collector));
    matrix.mutants = mutants
        .iter()
        .zip(&results)
        .map(|(mutant, result)| judge::mutant(mutant, result, &facts, &reference))
        .collect();
    matrix.summary.plays = results.iter().map(|result| result.cases.len()).sum();
    judge::conclude(&mut matrix);
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok((matrix, fingerprints(&failures)))
}

impl CollectorBed {
    fn new(spec: Arc<Spec>, options: &CollectorMatrixOptions) -> Result<Self, TestBedError> {
        let shape = ReplyShape::from_profile(spec.profile());
        let cases = cases::collector(Catalog::new(&spec, &shape, false));
        let mut mint = MintOptions::default();
        mint.service_hosts.extend(CollectorRunnerOptions::HOSTS.map(str::to_owned));
        let credentials = Arc::new(Credentials::mint(&mint)?);
        let files = CredentialFiles::write(&credentials)?;
        let redactor = Arc::new(Redactor::new(&credentials));
        let browser = Arc::new(CollectorRunnerOptions::browser(&credentials, options.chromium.clone()));
        let profile = spec.profile().clone();
        let edges = Arc::new(EdgeCredentials { spec, profile, credentials, files });
        Ok(Self { scope: options.scope, cases, edges, browser, redactor })
    }

    /// Results of mutants that play a few cases of their row each, the mutants of a row in turn other ones. A mutant that
    /// survives these plays the others of its row, and one of whose cases killed none plays that one.
    async fn few_results(
        &self,
        mutants: &[Mutant],
        facts: &[CaseFacts],
        reference: &CaseResults,
        options: &CollectorMatrixOptions,
    ) -> Result<Vec<MutantResult>, TestBedError> {
        let judged = |at: usize, result: &MutantResult| judge::mutant(&mutants[at], result, facts, reference);
        let (turns, judged) = (&turns(mutants), &judged);
        let run = |at: usize| async move {
            let (mutant, own) = (&mutants[at], self.cases_of(&mutants[at]));
            let takes_turns =
                |case: &Case<Collector>| !is_monitor(&case.facts) && !has_advice(&self.edges.spec, mutant);
            let mut result = self.run(mutant, in_turn(&own, takes_turns, FEW, turns[at])).await?;
            if judged(at, &result).status == MutantStatus::Survived {
                let others = own.into_iter().filter(|case| !result.cases.contains_key(&case.id)).collect();
                result.cases.extend(self.run(mutant, others).await?.cases);
            }
            Ok(result)
        };
        let mut results = run_all(mutants.len(), options.jobs, options.progress, run).await?;

        let played: Vec<MatrixMutant> =
            results.iter().enumerate().map(|(at, result)| judged(at, result)).collect();
        let open = without_kill(&empty_matrix(&self.edges.spec, options.scope, facts).cases, &played);
        let open: BTreeSet<&str> = open.into_iter().map(|at| facts[at].id.as_str()).collect();
        let run_open = |at: usize| {
            let is_left = |id: &str| open.contains(id) && !results[at].cases.contains_key(id);
            let mut own = self.cases_of(&mutants[at]);
            own.retain(|case| is_left(&case.id));
            self.run(&mutants[at], own)
        };
        let more = run_all(mutants.len(), options.jobs, |_, _| {}, run_open).await?;
        for (result, more) in results.iter_mut().zip(more) {
            result.cases.extend(more.cases);
        }
        Ok(results)
    }

    /// All cases, or in a gate those of the row that the mutant breaks.
    fn cases_of(&self, mutant: &Mutant) -> Vec<Case<Collector>> {
        let concerns = |case: &&Case<Collector>| self.scope == Scope::Full || case.rows.contains(&mutant.row);
        self.cases.iter().filter(concerns).cloned().collect()
    }

    /// Runs a mutant against these cases.
    async fn run(&self, mutant: &Mutant, own: Vec<Case<Collector>>) -> Result<MutantResult, TestBedError> {
        let Mutation::Collector(CollectorMutation { module: source }) = &mutant.mutation else {
            return Ok(MutantResult::default());
        };
        if own.is_empty() {
            return Ok(MutantResult::default());
        }
        // A monitor judges what other cases do.
        let cases = cases::with_session(own, &self.cases);
        // What a mutant does to the seal decides how its cases are played.
        let seal = (mutant.row != SEALED).then_some(SealUse::Opens);
        let reports = self.play(wrapper(Arc::clone(source)), &cases, seal).await?;
        Ok(MutantResult { cases: case_results(&reports).collect(), ..MutantResult::default() })
    }

    async fn play(
        &self,
        module: CollectorModule,
        cases: &[Case<Collector>],
        seal: Option<SealUse>,
    ) -> Result<Vec<CaseReport>, TestBedError> {
        let options = CollectorRunnerOptions {
            module,
            name: CollectorRunnerOptions::MAKER.into(),
            browser: Arc::clone(&self.browser),
            edges: Arc::clone(&self.edges),
            seal,
            opener: None,
            redactor: Arc::clone(&self.redactor),
        };
        let run = ConformanceRun::new(cases.to_vec(), &Selection::default(), CollectorRunner::new(options))?;
        let options = RunOptions {
            jobs: JOBS,
            case_timeout: CASE_TIMEOUT,
            probes_sanity: false,
            ..RunOptions::default()
        };
        Ok(ConformanceRun { options, ..run }.execute().await?.cases)
    }
}

fn wrapper(module: Arc<str>) -> CollectorModule {
    CollectorModule::Reference { module, files: FILES }
}
