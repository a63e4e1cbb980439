use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::AUTHORIZATION;

use super::answer::Answer;
use super::condition::Condition;
use super::seen::Seen;

/// What earlier exchanges have to share with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Same {
    /// Nothing but the part.
    Part,
    Connection,
    /// Request target.
    Target,
    /// `Authorization` header.
    Token,
    /// Session reference, in letters of any case.
    Letters,
    /// Session reference, as a store reads it.
    Like(Reading),
}

/// How a store reads a session reference wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Without white space at its ends.
    Trimmed,
    /// Without equals signs at its end.
    Unpadded,
    /// Its first characters.
    First(usize),
    /// Its characters without accents.
    Plain,
    /// As a number: without leading zeros, signs and fractions.
    Number,
    /// As a number of 64 bits with a fraction.
    Float,
    /// Decoded once more.
    Decoded,
    /// A plus sign is a space.
    Form,
    /// Up to a semicolon, question mark or hash.
    Path,
    /// Its last segment.
    LastSegment,
    /// Without characters that no ASCII text has.
    Ascii,
}

/// Exchanges to remember: those with the same connection, target, … that fulfilled a condition.
pub(crate) type Memory = (Same, &'static Condition);

/// A remembered exchange.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Past {
    pub(crate) body: Bytes,
    pub(crate) reference: String,
    /// The right answer.
    pub(crate) answer: Answer,
}

/// What a part received and did before, as far as conditions and effects need it.
#[derive(Debug, Default)]
pub(crate) struct History {
    remembered: Vec<(Memory, HashMap<Vec<u8>, Remembered>)>,
    /// Collections under way.
    under_way: u32,
    /// Connections that sent a request.
    connections: BTreeMap<u64, ConnectionUse>,
}

/// When a connection was used.
#[derive(Debug, Default)]
struct ConnectionUse {
    /// End of the last exchange.
    ended: Option<Instant>,
    /// Time between that end and the arrival of the current request.
    pause: Duration,
}

/// One of the exchanges of a memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    /// The first that ended.
    First,
    /// The last that ended.
    Last,
    /// The last that arrived. Its right answer is not known yet.
    Arrived,
}

#[derive(Debug, Default)]
struct Remembered {
    /// Number of exchanges that ended.
    count: u32,
    first: Option<Past>,
    last: Option<Past>,
    arrived: Option<Past>,
}

impl History {
    /// An empty history that will remember these.
    pub(crate) fn new(memories: impl IntoIterator<Item = Memory>) -> Self {
        let mut history = Self::default();
        for memory in memories {
            if history.remembered.iter().all(|(known, _)| *known != memory) {
                history.remembered.push((memory, HashMap::new()));
            }
        }
        history
    }

    /// A request arrived.
    pub(crate) fn arrive(&mut self, seen: &Seen<'_>) {
        let used = self.connections.entry(seen.connection).or_default();
        used.pause = used.ended.map_or(Duration::ZERO, |ended| ended.elapsed());
        self.under_way += u32::from(Condition::Collection.holds(seen, self));
        self.remember(seen, |known, past| known.arrived = Some(past));
    }

    /// An exchange ended with its right answer.
    pub(crate) fn conclude(&mut self, seen: &Seen<'_>) {
        self.connections.entry(seen.connection).or_default().ended = Some(Instant::now());
        self.under_way -= u32::from(self.under_way > 0 && Condition::Collection.holds(seen, self));
        self.remember(seen, |known, past| {
            known.count += 1;
            known.first.get_or_insert_with(|| past.clone());
            known.last = Some(past);
        });
    }

    /// Number of the earlier exchanges of a memory.
    pub(crate) fn count(&self, memory: Memory, seen: &Seen<'_>) -> u32 {
        self.remembered(memory, seen).map_or(0, |known| known.count)
    }

    /// An exchange of a memory.
    pub(crate) fn recall(&self, which: Which, memory: Memory, seen: &Seen<'_>) -> Option<&Past> {
        let known = self.remembered(memory, seen)?;
        match which {
            Which::First => known.first.as_ref(),
            Which::Last => known.last.as_ref(),
            Which::Arrived => known.arrived.as_ref(),
        }
    }

    /// Number of collections under way.
    pub(crate) fn under_way(&self) -> u32 {
        self.under_way
    }

    /// Whether a connection before this one sent no valid request.
    pub(crate) fn has_silent_connection(&self, connection: u64) -> bool {
        (0..connection).any(|earlier| !self.connections.contains_key(&earlier))
    }

    /// Time between the last exchange on a connection and the current request.
    pub(crate) fn idle(&self, connection: u64) -> Duration {
        self.connections.get(&connection).map_or(Duration::ZERO, |used| used.pause)
    }

    fn remembered(&self, memory: Memory, seen: &Seen<'_>) -> Option<&Remembered> {
        let (_, exchanges) = self.remembered.iter().find(|(known, _)| *known == memory)?;
        exchanges.get(&memory.0.key(seen))
    }

    /// Adds an exchange to the memories whose conditions it fulfils.
    fn remember(&mut self, seen: &Seen<'_>, add: impl Fn(&mut Remembered, Past)) {
        let conditions = self.remembered.iter().map(|((_, condition), _)| *condition);
        let fulfilled: Vec<bool> = conditions.map(|condition| condition.holds(seen, self)).collect();
        for (((same, _), exchanges), _) in self.remembered.iter_mut().zip(fulfilled).filter(|(_, is)| *is) {
            let past = Past {
                body: seen.body.cloned().unwrap_or_default(),
                reference: seen.reference.to_owned(),
                answer: seen.answer.cloned().unwrap_or_default(),
            };
            add(exchanges.entry(same.key(seen)).or_default(), past);
        }
    }
}

impl Same {
    /// What exchanges share.
    pub(super) fn key(self, seen: &Seen<'_>) -> Vec<u8> {
        match self {
            Self::Part => Vec::new(),
            Self::Connection => seen.connection.to_be_bytes().to_vec(),
            Self::Target => seen.target.as_bytes().to_vec(),
            Self::Token => seen.headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes()).to_vec(),
            Self::Letters => seen.reference.to_lowercase().into_bytes(),
            Self::Like(reading) => reading.of(seen.reference).into_bytes(),
        }
    }
}

impl Reading {
    fn of(self, reference: &str) -> String {
        let cut = |at: Option<usize>| reference[..at.unwrap_or(reference.len())].to_owned();
        match self {
            Self::Trimmed => reference.trim().to_owned(),
            Self::Unpadded => reference.trim_end_matches('=').to_owned(),
            Self::First(length) => reference.chars().take(length).collect(),
            Self::Plain => {
                let is_mark = |letter: &char| ('\u{300}'..='\u{36f}').contains(letter);
                let letters = reference.chars().filter(|letter| !is_mark(letter));
                let plain = letters.map(|letter| match letter {
                    '\u{f6}' => 'o',
                    '\u{e9}' => 'e',
                    other => other,
                });
                plain.collect()
            }
            Self::Number if reference.contains('-') => reference.to_owned(),
            Self::Number => {
                let whole = reference.trim().trim_start_matches(['+', '0']);
                whole.split('.').next().unwrap_or_default().to_owned()
            }
            Self::Float => {
                reference.parse::<f64>().map_or_else(|_| reference.to_owned(), |number| number.to_string())
            }
            Self::Decoded => percent_encoding::percent_decode_str(reference).decode_utf8_lossy().into_owned(),
            Self::Form => reference.replace('+', " "),
            Self::Path => cut(reference.find([';', '?', '#'])),
            Self::LastSegment => reference.rsplit('/').next().unwrap_or_default().to_owned(),
            Self::Ascii => reference.chars().filter(char::is_ascii).collect(),
        }
    }
}
