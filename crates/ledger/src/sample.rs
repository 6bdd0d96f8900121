//! What is kept of one series in one look, and of a step of many looks.

/// What one look said of one series.
#[derive(Clone, Copy, Debug)]
pub enum Sample {
    /// A number, fresh; kept to the last bit, NaN too.
    Value(f64),
    /// A number that was already old when it was looked at.
    Stale(f64),
    /// The server answered and did not say this.
    NotReported,
    /// The server did not answer.
    Unreachable,
    /// A number that cannot be.
    Impossible(f64),
    /// This look does not have the series at all.
    Absent,
}

/// How many states there are besides a value.
pub(crate) const STATES: usize = 6;

impl Sample {
    /// The number of the state in files.
    pub(crate) fn state(self) -> u8 {
        match self {
            Self::Value(_) => 0,
            Self::Stale(_) => 1,
            Self::NotReported => 2,
            Self::Unreachable => 3,
            Self::Impossible(_) => 4,
            Self::Absent => 5,
        }
    }

    /// The number beside the state, where it has one.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Value(number) | Self::Stale(number) | Self::Impossible(number) => Some(number),
            Self::NotReported | Self::Unreachable | Self::Absent => None,
        }
    }

    /// The sample of a state; `number` is asked only where the state has one.
    pub(crate) fn of(state: u8, number: impl FnOnce() -> Option<f64>) -> Option<Self> {
        Some(match state {
            0 => Self::Value(number()?),
            1 => Self::Stale(number()?),
            2 => Self::NotReported,
            3 => Self::Unreachable,
            4 => Self::Impossible(number()?),
            5 => Self::Absent,
            _ => return None,
        })
    }
}

/// Equal to the bit: NaN is itself, and 0.0 is not -0.0.
impl PartialEq for Sample {
    fn eq(&self, other: &Self) -> bool {
        self.state() == other.state() && self.number().map(f64::to_bits) == other.number().map(f64::to_bits)
    }
}

/// How many looks of a step had which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Fresh numbers; the figures are of these.
    pub values: u64,
    /// Fresh values that are NaN; in no figure.
    pub nan: u64,
    /// Stale numbers; in no figure.
    pub stale: u64,
    /// Looks in which the server did not say it.
    pub not_reported: u64,
    /// Looks in which the server did not answer.
    pub unreachable: u64,
    /// Numbers that cannot be; in no figure.
    pub impossible: u64,
    /// Looks that do not have the series.
    pub absent: u64,
}

impl Counts {
    pub(crate) fn all(&self) -> [u64; 7] {
        [self.values, self.nan, self.stale, self.not_reported, self.unreachable, self.impossible, self.absent]
    }

    pub(crate) fn of(all: [u64; 7]) -> Self {
        let [values, nan, stale, not_reported, unreachable, impossible, absent] = all;
        Self { values, nan, stale, not_reported, unreachable, impossible, absent }
    }
}

/// Figures of the fresh numbers of a step, in the series' own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The least.
    pub min: f64,
    /// The largest: no peak is lost by thinning.
    pub max: f64,
    /// The newest; of looks at clocks that went back, the one that came last.
    pub last: f64,
    /// The arithmetic mean over looks; NaN where infinities of both signs meet.
    pub mean: f64,
}

/// A step of a thinned series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many looks had which state.
    pub counts: Counts,
    /// `None` where no look had a fresh number: nothing is put in its place.
    pub figures: Option<Figures>,
}

impl Summary {
    /// Takes one more look into the step.
    pub(crate) fn add(&mut self, sample: Sample) {
        let counts = &mut self.counts;
        match sample {
            Sample::Value(number) if number.is_nan() => counts.nan += 1,
            Sample::Value(number) => {
                let one = Counts { values: 1, ..Counts::default() };
                let figures = Figures { min: number, max: number, last: number, mean: number };
                self.merge(&Self { counts: one, figures: Some(figures) });
            }
            Sample::Stale(_) => counts.stale += 1,
            Sample::NotReported => counts.not_reported += 1,
            Sample::Unreachable => counts.unreachable += 1,
            Sample::Impossible(_) => counts.impossible += 1,
            Sample::Absent => counts.absent += 1,
        }
    }

    /// Takes a later step into this one.
    pub(crate) fn merge(&mut self, later: &Self) {
        self.figures = match (self.figures, later.figures) {
            (Some(a), Some(b)) => {
                let (few, more) = (self.counts.values as f64, later.counts.values as f64);
                // Equal means stay what they are, to the bit.
                let mean = if a.mean == b.mean { a.mean } else { (a.mean * few + b.mean * more) / (few + more) };
                Some(Figures { min: a.min.min(b.min), max: a.max.max(b.max), last: b.last, mean })
            }
            (a, b) => b.or(a),
        };
        let (mine, theirs) = (self.counts.all(), later.counts.all());
        self.counts = Counts::of(std::array::from_fn(|index| mine[index].saturating_add(theirs[index])));
    }
}
