//! Lines that fit: words wrapped behind a hanging indent.

/// Columns of the terminal; where there is none those of COLUMNS, else 100.
pub(crate) fn columns() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).unwrap_or(100).clamp(40, 160)
}

/// How many columns a text takes: colour takes none.
pub(super) fn shown(text: &str) -> usize {
    let mut in_colour = false;
    let takes = |sign: &char| match (in_colour, *sign) {
        (false, '\u{1b}') => {
            in_colour = true;
            false
        }
        (true, sign) => {
            in_colour = sign != 'm';
            false
        }
        (false, _) => true,
    };
    text.chars().filter(takes).count()
}

/// `text` behind `lead`, wrapped at `width`; following lines are indented by as many columns as `lead` shows.
pub(crate) fn hang(lead: &str, indent: usize, text: &str, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    // A lead may be wider than the lines below it are indented.
    let first = width.saturating_sub(shown(lead)).clamp(10, room.max(10));
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let own = paragraph.len() - paragraph.trim_start().len();
        for word in words(paragraph) {
            let room = if lines.is_empty() { first } else { room };
            let together = shown(&line) + usize::from(!line.is_empty()) + shown(word);
            if together > room && (!line.is_empty() || lines.is_empty() && first < width.saturating_sub(indent)) {
                lines.push(std::mem::take(&mut line));
            }
            if line.is_empty() {
                line.push_str(if lines.is_empty() || own == 0 { "" } else { &paragraph[..own] });
            } else {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index == 0 {
            out.push_str(lead);
        } else {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(line);
        // A lead with nothing behind it ends where its last word does.
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

/// The words of a text; a sign of percent stays with its number.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = |from: usize| rest[from..].find(char::is_whitespace).map_or(rest.len(), |at| from + at);
        let mut at = end(0);
        if rest[at..].starts_with(" %") {
            at = end(at + 1);
        }
        words.push(&rest[..at]);
        rest = rest[at..].trim_start();
    }
    words
}

/// Short facts behind `lead`, two blanks between them, none of them broken that fits a line; wrapped like [`hang`].
pub(crate) fn facts(lead: &str, indent: usize, facts: &[String], width: usize) -> String {
    let mut out = String::new();
    let mut line = String::new();
    let mut lead = lead.to_owned();
    for fact in facts.iter().filter(|fact| !fact.is_empty()) {
        let together = indent + shown(&line) + 2 + shown(fact);
        if !line.is_empty() && together > width {
            out += &format!("{lead}{line}\n");
            lead = " ".repeat(indent);
            line.clear();
        }
        if !line.is_empty() {
            line += "  ";
        }
        if line.is_empty() && indent + shown(fact) > width {
            out += &hang(&lead, indent, fact, width);
            lead = " ".repeat(indent);
            continue;
        }
        line += fact;
    }
    if line.is_empty() && !out.is_empty() {
        return out;
    }
    out + &format!("{lead}{line}\n")
}
