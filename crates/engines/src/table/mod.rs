//! What an engine's folder says, as types: `engine.toml`, `knobs.toml`, `sources.toml`, `doctor.toml`. The build script
//! reads and checks the files with these types and embeds the result, so that a wrong row fails the build and a run
//! spends no time on TOML. `wrappers.toml` is of all engines at once, and treated alike.

pub(crate) mod borrow;
mod check;
pub mod condition;
mod doctor;
mod fault;
pub mod files;
mod knob;
mod line;
mod package;
mod read;
mod recognise;
mod source;
mod tree;
pub mod version;
pub(crate) mod wanted;
mod wrapper;

use check::check;
pub use doctor::{Case, CaseState, DoctorFile, Need, Trouble, TroubleLevel};
pub use fault::Fault;
pub use knob::{Knob, KnobFile};
pub use line::{Count, Line, LogFormat, word_behind};
pub use package::{Package, PackageRule};
pub use read::{Fold, Read, Refuse, Values, Zero};
pub use recognise::{AnswerRule, Borrow, EngineFile, EngineKind, PortRule, ProcessRule};
pub use source::{Assume, Bind, Empty, Format, Infer, Source, SourceFile, WorkerList};
pub use tree::{Hear, Leaf, Root, Tree};
pub(crate) use wanted::Wanted;
pub use wrapper::{Alias, EngineLabel, Wrapper, WrapperFile};

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

/// One engine: the four files of its folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Table {
    /// `engine.toml`: how it is recognised.
    pub engine: EngineFile,
    /// `knobs.toml`: its flags.
    pub knobs: Vec<Knob>,
    /// `sources.toml`: what its answers mean.
    pub sources: Vec<Source>,
    /// `sources.toml`: the files by which its servers find each other.
    pub tree: Option<Tree>,
    /// `sources.toml`: what follows from facts.
    pub infer: Vec<Infer>,
    /// `sources.toml`: pools below the device that bind.
    pub bind: Vec<Bind>,
    /// `sources.toml`: facts that only the numbers may tell.
    pub assume: Vec<Assume>,
    /// `sources.toml`: how its log is written.
    pub log: LogFormat,
    /// `sources.toml`: lines of its log, and those that it borrows.
    pub lines: Vec<Line>,
    /// `doctor.toml`: what an operator needs from it and how each is had.
    pub needs: Vec<Need>,
    /// `doctor.toml`: what is trouble by itself.
    pub troubles: Vec<Trouble>,
    /// By source: what of an answer its rows read; made when the first one comes.
    #[serde(skip)]
    wanted: OnceLock<Arc<[Wanted]>>,
}

impl Table {
    /// The table of an engine of which nothing but its name and how it is recognised is known.
    fn of(engine: EngineFile) -> Table {
        Table {
            engine,
            knobs: Vec::new(),
            sources: Vec::new(),
            tree: None,
            infer: Vec::new(),
            bind: Vec::new(),
            assume: Vec::new(),
            log: LogFormat::default(),
            lines: Vec::new(),
            needs: Vec::new(),
            troubles: Vec::new(),
            wanted: OnceLock::new(),
        }
    }

    /// What of an answer the rows of the source at this place read.
    pub(crate) fn wanted(&self, source: usize) -> Option<&Wanted> {
        self.all_wanted().get(source)
    }

    /// That of all sources.
    pub(crate) fn all_wanted(&self) -> &Arc<[Wanted]> {
        self.wanted.get_or_init(|| self.sources.iter().map(|source| Wanted::of(self, source)).collect())
    }
}
