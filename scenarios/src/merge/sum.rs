use std::time::Duration;

use edgeproof_cli::Failure;
use edgeproof_reports::load::{LoadReport, LoadState, RouteFigures, Seal, TimelineFigures, Timing};

use super::changed;
use crate::measure::{ResponseTimes, Timeline};
use crate::report::response_timing;

/// Adds the figures of a later shard. Shares and what follows from figures are left to [`crate::report::finish`].
pub(super) fn add(sum: &mut LoadReport, shard: LoadReport) -> Result<(), Failure> {
    let merged = sum.shards.len() as f64;
    sum.shards.extend(shard.shards);
    if shard.started < sum.started {
        sum.started = shard.started;
    }
    sum.duration_ms = sum.duration_ms.max(shard.duration_ms);
    sum.plan.drain.took_ms = sum.plan.drain.took_ms.max(shard.plan.drain.took_ms);
    sum.plan.users += shard.plan.users;
    if let (Seal::Real { cost_us, not_in_time }, Seal::Real { cost_us: cost, not_in_time: late }) =
        (&mut sum.plan.seal, shard.plan.seal)
    {
        *cost_us = (*cost_us * merged + cost) / (merged + 1.0);
        *not_in_time += late;
    }
    sum.rate.asked = sum.rate.asked.map(|asked| asked + shard.rate.asked.unwrap_or_default());
    sum.rate.begun += shard.rate.begun;
    sum.rate.delivered += shard.rate.delivered;
    sum.ledger.add(&shard.ledger);
    sum.warm_up.add(&shard.warm_up);
    sum.connections.bytes_sent += shard.connections.bytes_sent;
    sum.connections.bytes_received += shard.connections.bytes_received;
    add_times([
        (&mut sum.response, &shard.response),
        (&mut sum.successes, &shard.successes),
        (&mut sum.observed, &shard.observed),
        (&mut sum.delay, &shard.delay),
        (&mut sum.service, &shard.service),
        (&mut sum.lateness, &shard.lateness),
        (&mut sum.waiting, &shard.waiting),
        (&mut sum.connections.connect, &shard.connections.connect),
        (&mut sum.generator.lag, &shard.generator.lag),
    ])?;
    for (own, other) in [
        (&mut sum.time_to_verdict, &shard.time_to_verdict),
        (&mut sum.time_to_verdict_observed, &shard.time_to_verdict_observed),
        (&mut sum.connections.tls, &shard.connections.tls),
    ] {
        if let Some(other) = other {
            add_times([(own.get_or_insert_default(), other)])?;
        }
    }
    if let (Some(own), Some(other)) = (&mut sum.edge_added, &shard.edge_added) {
        add_times([(&mut own.timing, &other.timing)])?;
    }
    // The cost of each edge is in the report of its shard.
    sum.edge_cost = None;
    for route in shard.routes {
        match sum.routes.iter_mut().find(|own| own.route == route.route) {
            None => sum.routes.push(route),
            Some(own) => add_route(own, route)?,
        }
    }
    for probe in shard.probes {
        match sum.probes.iter_mut().find(|own| own.route == probe.route && own.purpose == probe.purpose) {
            None => sum.probes.push(probe),
            Some(own) => own.sent += probe.sent,
        }
    }
    for counted in shard.reconciled {
        match sum.reconciled.iter_mut().find(|own| own.route == counted.route) {
            None => sum.reconciled.push(counted),
            Some(own) => {
                own.sent += counted.sent;
                own.unanswered += counted.unanswered;
                own.arrived += counted.arrived;
                own.agrees &= counted.agrees;
            }
        }
    }
    let mut timeline = restore(&sum.timeline)?;
    timeline.add(&restore(&shard.timeline)?);
    sum.timeline = timeline.figures();
    // Shards have the same faults. The slowest recovery counts; no recovery at all is the slowest.
    for (own, other) in sum.faults.iter_mut().zip(&shard.faults) {
        own.hit += other.hit;
        own.recovery_ms = own.recovery_ms.zip(other.recovery_ms).map(|(one, other)| one.max(other));
    }
    let (own, other) = (&mut sum.generator, shard.generator);
    own.cpu_s += other.cpu_s;
    own.processors += other.processors;
    own.starved = own.starved.max(other.starved);
    own.memory_first += other.memory_first;
    own.memory_last += other.memory_last;
    own.late_reads_measured &= other.late_reads_measured;
    let (own, other) = (&mut own.contention, other.contention);
    own.wait_s += other.wait_s;
    // That of the generator that waited most.
    own.wait_share = own.wait_share.max(other.wait_share);
    own.others_s += other.others_s;
    own.steal_s += other.steal_s;
    own.throttled_s += other.throttled_s;
    // Shards may load the same target on one machine, so its times are in the report of each shard only.
    (own.target_cpu_s, own.target_wait_s) = (None, None);
    let worst = [LoadState::Invalid, LoadState::Partial, LoadState::Unchecked]
        .into_iter()
        .find(|state| [sum.state, shard.state].contains(state));
    sum.state = worst.unwrap_or(LoadState::Complete);
    sum.findings.extend(shard.findings);
    Ok(())
}

/// Shifts the timeline of a shard that began later than the first one, by whole moments.
pub(super) fn shift_timeline(report: &mut LoadReport, by: Duration) -> Result<(), Failure> {
    let mut timeline = restore(&report.timeline)?;
    timeline.shift(by);
    report.timeline = timeline.figures();
    Ok(())
}

fn restore(timeline: &TimelineFigures) -> Result<Timeline, Failure> {
    Timeline::restore(timeline).ok_or_else(|| changed("the width of the moments in a timeline is invalid"))
}

fn add_route(sum: &mut RouteFigures, route: RouteFigures) -> Result<(), Failure> {
    sum.sent += route.sent;
    sum.unanswered += route.unanswered;
    sum.errors += route.errors;
    sum.answered_per_s += route.answered_per_s;
    add_times([
        (&mut sum.response, &route.response),
        (&mut sum.successes, &route.successes),
        (&mut sum.observed, &route.observed),
        (&mut sum.service, &route.service),
    ])?;
    for outcome in route.outcomes {
        let same = |own: &&mut edgeproof_reports::load::OutcomeFigures| {
            own.outcome == outcome.outcome && own.expected == outcome.expected
        };
        match sum.outcomes.iter_mut().find(same) {
            None => sum.outcomes.push(outcome),
            Some(own) => {
                own.count += outcome.count;
                add_times([(&mut own.response, &outcome.response), (&mut own.service, &outcome.service)])?;
            }
        }
    }
    Ok(())
}

fn add_times<const N: usize>(pairs: [(&mut Timing, &Timing); N]) -> Result<(), Failure> {
    for (own, other) in pairs {
        let read = |timing: &Timing| ResponseTimes::of(timing).map_err(|why| changed(&why.to_string()));
        let mut times = read(own)?;
        times.add(&read(other)?);
        *own = response_timing(&times);
    }
    Ok(())
}
