//! Conditions in tables: `metrics=off`, `role!=router, version<0.5.15`. Terms are joined by `,`, which means *and*.

use serde::{Deserialize, Serialize};

use super::version::Version;

/// Terms of one condition.
const MOST_TERMS: usize = 32;

/// A condition over a server's facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Condition {
    text: String,
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    fact: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Is(String),
    IsNot(String),
    Below(Version),
    AtLeast(Version),
}

/// What a condition comes to when some facts may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// A fact that it needs is not known.
    Unknown,
}

impl Condition {
    /// The first fact that it is about.
    pub fn fact(&self) -> &str {
        self.terms.first().map_or("", |term| &term.fact)
    }

    /// All facts that it is about.
    pub fn facts(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.fact.as_str())
    }

    /// The condition for people, behind what is so then: `in versions before 0.10.2`, `where the role is prefill`.
    pub fn words(&self) -> String {
        self.terms.iter().map(Term::words).collect::<Vec<_>>().join(" and ")
    }

    /// Tests the condition; `fact` gives the value of a fact by name, `version` among them.
    pub fn holds<'a>(&self, fact: impl Fn(&str) -> Option<&'a str>) -> Holds {
        let mut result = Holds::Yes;
        for term in &self.terms {
            let answer = match (fact(&term.fact), &term.test) {
                (None, _) => None,
                (Some(value), Test::Is(wanted)) => Some(value == wanted),
                (Some(value), Test::IsNot(wanted)) => Some(value != wanted),
                (Some(value), Test::Below(limit)) => Version::parse(value).map(|version| version < *limit),
                (Some(value), Test::AtLeast(limit)) => Version::parse(value).map(|version| version >= *limit),
            };
            match answer {
                Some(false) => return Holds::No,
                Some(true) => {}
                None => result = Holds::Unknown,
            }
        }
        result
    }
}

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Condition, String> {
        if text.split(',').nth(MOST_TERMS).is_some() {
            return Err(format!("a condition has {MOST_TERMS} terms at most"));
        }
        let terms = text.split(',').map(|term| Term::parse(term.trim())).collect::<Result<_, _>>()?;
        Ok(Condition { text, terms })
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> String {
        condition.text
    }
}

impl Term {
    fn words(&self) -> String {
        let fact = self.fact.replace('_', " ");
        match &self.test {
            Test::Below(limit) if self.fact == "version" => {
                format!("in versions before {}", String::from(limit.clone()))
            }
            Test::AtLeast(limit) if self.fact == "version" => {
                format!("from version {} on", String::from(limit.clone()))
            }
            Test::Below(limit) => format!("where {fact} is below {}", String::from(limit.clone())),
            Test::AtLeast(limit) => format!("where {fact} is {} or more", String::from(limit.clone())),
            // No fact is ever called so: the condition asks whether it is known at all.
            Test::IsNot(value) if value == "none" => format!("where {fact} is told"),
            Test::Is(value) => format!("where {fact} is {value}"),
            Test::IsNot(value) => format!("where {fact} is not {value}"),
        }
    }

    fn parse(text: &str) -> Result<Term, String> {
        let version = |value: &str| {
            Version::parse(value).ok_or_else(|| format!("{value:?} is not a version, in condition {text:?}"))
        };
        let (fact, check) = if let Some((fact, value)) = text.split_once("!=") {
            (fact, Test::IsNot(value.trim().to_owned()))
        } else if let Some((fact, value)) = text.split_once(">=") {
            (fact, Test::AtLeast(version(value)?))
        } else if let Some((fact, value)) = text.split_once('<') {
            (fact, Test::Below(version(value)?))
        } else if let Some((fact, value)) = text.split_once('=') {
            (fact, Test::Is(value.trim().to_owned()))
        } else {
            return Err(format!("condition {text:?} has none of = != < >="));
        };
        Ok(Term { fact: fact.trim().to_owned(), test: check })
    }
}
