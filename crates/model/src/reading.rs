//! Readings: one value of one signal with its unit, time, source, state and precision.

use serde::Serialize;

use crate::{Time, Unit};

/// How a value is known, or why it is not. These are never confused, from the first byte to the last surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Said by the source, also when it is really 0.
    Reported,
    /// Computed from reported values, which `inputs` names.
    Derived,
    /// Concluded from a flag, a log line or a formula, which `inputs` names.
    Inferred,
    /// Said, but cannot be (negative tokens, usage above one, NaN); value null, `reason` holds what was said.
    Impossible,
    /// This build, role or configuration does not say.
    NotReported,
    /// Said too long ago; keeps value and age.
    Stale,
    /// Could not ask.
    Unreachable,
}

/// One value of one signal. Shape in JSON: `{value, unit, state, source, age_s, precision, reason, inputs}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// The number, or null where `state` is `not_reported`, `unreachable` or `impossible`.
    pub value: Option<f64>,
    /// What the number counts.
    pub unit: Unit,
    /// How it is known.
    pub state: State,
    /// Which answer of which address said it, e.g. `http://127.0.0.1:30002/v1/loads num_used_tokens`.
    pub source: Option<String>,
    /// Seconds between the value's own time and the snapshot's.
    pub age_s: Option<f64>,
    /// The value is right within ± this much, where that is known; in `unit`.
    pub precision: Option<f64>,
    /// Why there is no value, or what limits it.
    pub reason: Option<String>,
    /// What a derived or inferred value was made from.
    pub inputs: Vec<String>,
    /// It is counted when a request ends, and stands while that one runs: standing still, it says nothing.
    #[serde(skip)]
    pub at_end: bool,
    /// When the source took the value; `age_s` is made from it when the snapshot is.
    #[serde(skip)]
    pub at: Option<Time>,
}

impl Reading {
    /// A value that a source said.
    pub fn reported(value: f64, unit: Unit, source: impl Into<String>, at: Time) -> Reading {
        Reading {
            value: Some(value),
            source: Some(crate::text::visible(source)),
            at: Some(at),
            ..Reading::empty(unit, State::Reported)
        }
    }

    /// A value computed from others; as old as the oldest of them, and of unknown age where one of them is.
    pub fn derived(value: f64, unit: Unit, inputs: &[&Reading], names: &[&str]) -> Reading {
        let timeless = inputs.iter().find(|input| input.at.is_none());
        let oldest = inputs.iter().filter_map(|input| input.at).min_by(|one, other| one.0.total_cmp(&other.0));
        let mut sources: Vec<&str> = inputs.iter().filter_map(|input| input.source.as_deref()).collect();
        sources.dedup();
        let inferred = inputs.iter().any(|input| input.state == State::Inferred);
        Reading {
            value: Some(value),
            source: (!sources.is_empty()).then(|| sources.join(", ")),
            at: oldest.filter(|_| timeless.is_none()),
            reason: timeless.and_then(|input| input.reason.clone()),
            inputs: names.iter().map(ToString::to_string).collect(),
            ..Reading::empty(unit, if inferred { State::Inferred } else { State::Derived })
        }
    }

    /// A value concluded from `input` (a flag, a formula).
    pub fn inferred(value: f64, unit: Unit, input: impl Into<String>, at: Option<Time>) -> Reading {
        Reading {
            value: Some(value),
            at,
            inputs: vec![crate::text::visible(input)],
            ..Reading::empty(unit, State::Inferred)
        }
    }

    /// No value, because nothing says it.
    pub fn not_reported(unit: Unit, reason: impl Into<String>) -> Reading {
        Reading { reason: Some(crate::text::visible(reason)), ..Reading::empty(unit, State::NotReported) }
    }

    /// No value, because nobody could be asked.
    pub fn unreachable(unit: Unit, reason: impl Into<String>) -> Reading {
        Reading { reason: Some(crate::text::visible(reason)), ..Reading::empty(unit, State::Unreachable) }
    }

    /// No value, because what was said cannot be; `said` is the text of it and why.
    pub fn impossible(unit: Unit, said: impl Into<String>, source: impl Into<String>, at: Time) -> Reading {
        Reading {
            source: Some(crate::text::visible(source)),
            reason: Some(said.into()),
            at: Some(at),
            ..Reading::empty(unit, State::Impossible)
        }
    }

    /// The same reading, right within ± `precision`.
    #[must_use]
    pub fn within(mut self, precision: Option<f64>) -> Reading {
        self.precision = precision;
        self
    }

    /// The same reading, with a remark if its source did not say when it took the value, although it can.
    #[must_use]
    pub fn untimed(mut self, untimed: bool) -> Reading {
        if untimed && self.value.is_some() {
            self.reason.get_or_insert_with(|| "the answer does not say when this was taken".to_owned());
        }
        self
    }

    /// The same reading, with a remark on how much older than its time it may be; none where `lag` is empty.
    #[must_use]
    pub fn lagging(mut self, lag: &str) -> Reading {
        if self.value.is_some() && !lag.is_empty() {
            self.reason = Some(self.reason.map_or_else(|| lag.to_owned(), |reason| format!("{reason}; {lag}")));
        }
        self
    }

    /// The value, if it may be believed now: said, derived or inferred, and not stale.
    pub fn fresh(&self) -> Option<f64> {
        matches!(self.state, State::Reported | State::Derived | State::Inferred).then_some(self.value).flatten()
    }

    fn empty(unit: Unit, state: State) -> Reading {
        Reading {
            value: None,
            unit,
            state,
            source: None,
            age_s: None,
            precision: None,
            reason: None,
            inputs: Vec::new(),
            at_end: false,
            at: None,
        }
    }
}
