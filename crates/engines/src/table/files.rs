//! The four files of an engine's folder, read and checked: by the build script the built-in ones, and at run time those
//! that somebody adds.

use serde::de::DeserializeOwned;

use super::fault::Fault;
use super::{DoctorFile, EngineFile, KnobFile, SourceFile, Table, check};

/// The files' names.
pub const NAMES: [&str; 4] = ["engine.toml", "knobs.toml", "sources.toml", "doctor.toml"];

/// Faults of one folder that are told.
const MOST_FAULTS: usize = 100;

/// The content of the files of one folder; none for a file that is not there.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    /// The folder's own name, which is the engine's.
    pub name: String,
    /// Its path, for people.
    pub path: String,
    /// By the order of [`NAMES`].
    pub files: [Option<String>; 4],
}

impl Folder {
    /// The table that the files make. Where one is not there, that of `base` is taken; where there is no base either, a
    /// folder without `engine.toml` is none, and other files are taken to be empty.
    ///
    /// # Errors
    /// Every fault of the files, and of the table that they make together.
    pub fn table(&self, base: Option<&Table>) -> Result<Table, Vec<Fault>> {
        let mut faults = Vec::new();
        let engine = match (self.file::<EngineFile>(0, &mut faults), base) {
            (Some(engine), _) => Some(engine),
            (None, Some(base)) => Some(base.engine.clone()),
            (None, None) => None,
        };
        let knobs = self.file::<KnobFile>(1, &mut faults);
        let sources = self.file::<SourceFile>(2, &mut faults);
        let doctor = self.file::<DoctorFile>(3, &mut faults);
        let Some(engine) = engine else {
            if faults.is_empty() {
                faults.push(Fault::of(&self.path, "it has no engine.toml, and no built-in engine is called so"));
            }
            return Err(faults);
        };
        let mut table = base.cloned().unwrap_or_else(|| Table::of(engine.clone()));
        table.engine = engine;
        if let Some(file) = knobs {
            table.knobs = file.knob;
        }
        if let Some(file) = sources {
            (table.sources, table.infer, table.assume) = (file.source, file.infer, file.assume);
            (table.log, table.lines, table.tree) = (file.log, file.line, file.tree);
            table.bind = file.bind;
        }
        if let Some(file) = doctor {
            (table.needs, table.troubles) = (file.need, file.trouble);
        }
        if faults.is_empty() {
            if table.engine.name != self.name {
                let text = format!("the folder is called {:?}, and the engine {:?}", self.name, table.engine.name);
                faults.push(self.fault(0, &format!("{:?}", table.engine.name), &text));
            }
            let slips = check(&table);
            let more = slips.len().saturating_sub(MOST_FAULTS);
            faults
                .extend(slips.into_iter().take(MOST_FAULTS).map(|slip| self.fault(slip.file, &slip.near, &slip.text)));
            if more > 0 {
                faults.push(Fault::of(&self.path, format!("and {more} more faults")));
            }
        }
        if faults.is_empty() { Ok(table) } else { Err(faults) }
    }

    /// The table, where all the lines that it borrows are there.
    ///
    /// # Errors
    /// Every one that is not.
    pub(crate) fn borrowing(&self, table: Table, others: &[Table]) -> Result<Table, Vec<Fault>> {
        let faults = super::borrow::faults(&table, others);
        if faults.is_empty() {
            return Ok(table);
        }
        Err(faults.into_iter().map(|(near, text)| self.fault(0, &near, &text)).collect())
    }

    /// The path of a file, for people.
    fn path_of(&self, index: usize) -> String {
        format!("{}/{}", self.path, NAMES[index])
    }

    fn fault(&self, index: usize, near: &str, text: &str) -> Fault {
        Fault::near(&self.path_of(index), self.files[index].as_deref().unwrap_or_default(), near, text)
    }

    fn file<T: DeserializeOwned>(&self, index: usize, faults: &mut Vec<Fault>) -> Option<T> {
        let content = self.files[index].as_ref()?;
        let wrong = |error: toml::de::Error| {
            let text = error.message().trim().replace('\n', "; ");
            match error.span() {
                Some(range) => Fault::at(&self.path_of(index), content, range, text),
                None => Fault::of(&self.path_of(index), text),
            }
        };
        toml::from_str(content).map_err(|error| faults.push(wrong(error))).ok()
    }
}
