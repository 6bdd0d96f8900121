//! Lines that fit: words wrapped behind a hanging indent.

/// Columns of the terminal; 100 where there is none.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).clamp(40, 160))
}

/// `text` behind `lead`, wrapped at `width`; following lines are indented by as many columns as `lead` shows.
pub(crate) fn hang(lead: &str, indent: usize, text: &str, width: usize) -> String {
    let room = width.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let own = paragraph.len() - paragraph.trim_start().len();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > room {
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
        out.push('\n');
    }
    out
}

/// Short facts behind `lead`, two blanks between them, none of them broken; wrapped like [`hang`].
pub(crate) fn facts(lead: &str, indent: usize, facts: &[String], width: usize) -> String {
    let mut out = String::new();
    let mut line = String::new();
    let mut lead = lead.to_owned();
    for fact in facts.iter().filter(|fact| !fact.is_empty()) {
        let together = indent + line.chars().count() + 2 + fact.chars().count();
        if !line.is_empty() && together > width {
            out += &format!("{lead}{line}\n");
            lead = " ".repeat(indent);
            line.clear();
        }
        if !line.is_empty() {
            line += "  ";
        }
        line += fact;
    }
    out + &format!("{lead}{line}\n")
}
