//! A family: its head, and its samples as text.

use std::fmt::Write;

use model::Kind;

/// One family on its way to the page.
pub(crate) struct Family {
    name: String,
    help: String,
    kind: Kind,
    samples: String,
}

impl Family {
    pub(crate) fn new(name: String, kind: Kind, help: String) -> Family {
        Family { name, help, kind, samples: String::new() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds the sample with these labels, which are written already. What is no number (the source's division by nothing)
    /// is no sample.
    pub(crate) fn sample(&mut self, labels: &str, value: f64) {
        if !value.is_finite() {
            return;
        }
        let text = &mut self.samples;
        text.push_str(&self.name);
        if !labels.is_empty() {
            text.push('{');
            text.push_str(labels);
            text.push('}');
        }
        text.push(' ');
        number(text, value);
        text.push('\n');
    }

    /// Bytes that it takes on the page.
    pub(crate) fn len(&self) -> usize {
        if self.samples.is_empty() { 0 } else { self.samples.len() + self.help.len() + 2 * self.name.len() + 32 }
    }

    /// Writes it out; nothing where it has no samples.
    pub(crate) fn write(&self, page: &mut String) {
        if self.samples.is_empty() {
            return;
        }
        let kind = kind(self.kind);
        // Writing to a `String` cannot fail.
        let _ = writeln!(page, "# HELP {0} {1}\n# TYPE {0} {kind}", self.name, self.help);
        page.push_str(&self.samples);
    }
}

/// The kind as the text format spells it.
pub(crate) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
    }
}

/// Whole numbers without a point, others with the fewest digits that read back as the same number.
fn number(text: &mut String, value: f64) {
    let _ = if value.fract() == 0.0 && value.abs() < 1.0e15 {
        write!(text, "{}", value as i64)
    } else {
        write!(text, "{value:?}")
    };
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short_and_exact() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (2_581_504.0, "2581504"),
            (0.976, "0.976"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.5e300, "1.5e300"),
            (1.0e15, "1000000000000000.0"),
        ] {
            let mut written = String::new();
            number(&mut written, value);
            assert_eq!(written, text);
            assert_eq!(written.parse::<f64>().expect("a number"), value);
        }
    }
}
