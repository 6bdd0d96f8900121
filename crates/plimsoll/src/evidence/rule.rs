//! What is taken out, by rule, counted.

use std::collections::BTreeMap;
use std::fmt;

/// A reason to leave something out; `docs/redaction.md` says what each does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// Values that are likely secret.
    Secrets,
    /// Prompts, generated texts and whatever else is long or free text.
    Texts,
    /// Lines of logs that nothing is read from.
    LogLines,
    /// Command lines of processes that are no server, router or monitor.
    CommandLines,
    /// Variables of environments.
    Variables,
    /// What metrics pages say of their own series.
    HelpTexts,
    /// Rows and names that tell of other things on the host: sockets that are no listeners, pipes, homes, containers.
    Others,
    /// Whole answers of which nobody knows what they hold.
    Answers,
}

impl Rule {
    /// All of them, in the order in which they are shown.
    pub(crate) const ALL: [Rule; 8] = [
        Rule::Secrets,
        Rule::Texts,
        Rule::LogLines,
        Rule::CommandLines,
        Rule::Variables,
        Rule::HelpTexts,
        Rule::Others,
        Rule::Answers,
    ];

    /// A stable word for scripts.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Rule::Secrets => "secrets",
            Rule::Texts => "texts",
            Rule::LogLines => "log-lines",
            Rule::CommandLines => "command-lines",
            Rule::Variables => "variables",
            Rule::HelpTexts => "help-texts",
            Rule::Others => "others",
            Rule::Answers => "answers",
        }
    }

    /// What was taken out, for people, to be read behind a number.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Rule::Secrets => "secrets blotted",
            Rule::Texts => "texts left out (prompts, answers, templates, other long ones)",
            Rule::LogLines => "log lines left out that tell nothing of the cache",
            Rule::CommandLines => "command lines of other processes left out",
            Rule::Variables => "environment variables left out",
            Rule::HelpTexts => "help texts of series left out",
            Rule::Others => "rows and names of other things on the host left out",
            Rule::Answers => "answers of unknown kinds left out",
        }
    }
}

/// How much was taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Removed(BTreeMap<Rule, u64>);

impl Removed {
    /// So many more by this rule.
    pub(crate) fn add(&mut self, rule: Rule, many: u64) {
        if many > 0 {
            *self.0.entry(rule).or_default() += many;
        }
    }

    /// One more by this rule.
    pub(crate) fn note(&mut self, rule: Rule) {
        self.add(rule, 1);
    }

    /// All that was counted elsewhere, too.
    pub(crate) fn take(&mut self, other: Removed) {
        for (rule, many) in other.0 {
            self.add(rule, many);
        }
    }

    /// As lines of a rule's word and a number, and back.
    pub(crate) fn lines(&self) -> String {
        let rules = Rule::ALL.into_iter().filter(|rule| self.of(*rule) > 0);
        rules.map(|rule| format!("{} {}\n", rule.id(), self.of(rule))).collect()
    }

    /// Reads such lines; what is not understood is passed over.
    pub(crate) fn of_lines(text: &str) -> Removed {
        let mut removed = Removed::default();
        for (word, many) in text.lines().filter_map(|line| line.split_once(' ')) {
            if let (Some(rule), Ok(many)) = (Rule::ALL.into_iter().find(|rule| rule.id() == word), many.parse()) {
                removed.add(rule, many);
            }
        }
        removed
    }

    /// How much went by this rule.
    pub(crate) fn of(&self, rule: Rule) -> u64 {
        self.0.get(&rule).copied().unwrap_or(0)
    }
}

impl fmt::Display for Removed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = Rule::ALL.into_iter().filter(|rule| self.of(*rule) > 0);
        let parts: Vec<String> = rules.map(|rule| format!("{} {}", self.of(rule), rule.title())).collect();
        formatter.write_str(&if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") })
    }
}
