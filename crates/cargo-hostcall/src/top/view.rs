//! The screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};

use super::table::{Tables, line};

/// Draws as many lines as there is room for: tables come in the order in which they matter.
pub(super) fn draw(frame: &mut Frame<'_>, tables: &Tables, ended: bool) {
    let area = frame.area();
    let state = if ended { Span::from("ended").green() } else { Span::from("live").cyan() };
    let mut lines = vec![Line::from(vec![Span::from(format!(" {}  ", tables.title)).bold(), state])];
    for table in &tables.all {
        lines.push(Line::default());
        lines.push(Line::from(format!(" {}", table.title)).bold());
        let widths = table.widths();
        if !table.rows.is_empty() {
            lines.push(Line::from(format!("  {}", line(table.headings.iter().copied(), &widths))).dim());
        }
        for row in &table.rows {
            let style = if row.bad { Style::new().red() } else { Style::new() };
            lines.push(Line::styled(format!("  {}", line(row.cells.iter().map(String::as_str), &widths)), style));
        }
        if let Some(rest) = &table.rest {
            lines.push(Line::from(format!("  ({rest})")).dim());
        }
    }
    let room = area.height.saturating_sub(1);
    let hidden = lines.len().saturating_sub(room.into());
    lines.truncate(room.into());
    let foot = if hidden > 0 { format!(" q: end; {hidden} more lines, for which there is no room") } else { " q: end".to_owned() };
    lines.push(Line::from(foot).dim());
    // The foot is at the bottom.
    let last = lines.len() - 1;
    for (row, line) in lines.into_iter().enumerate() {
        let at = if row == last { room } else { row as u16 };
        frame.render_widget(line, Rect { y: area.y + at, height: 1.min(area.height), ..area });
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::looks;
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(ended: bool, width: u16, height: u16) -> String {
        let [before, now] = looks();
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        terminal.draw(|frame| draw(frame, &Tables::new(&now, &before), ended)).expect("memory");
        terminal.backend().to_string()
    }

    #[test]
    fn services_come_first_and_what_has_no_room_is_counted() {
        let screen = drawn(false, 100, 10);
        assert!(screen.contains("live") && screen.contains("Host::add42"), "{screen}");
        assert!(screen.contains(" q: end; 14 more lines"), "{screen}");
        let whole = drawn(true, 100, 40);
        assert!(whole.contains("ended") && whole.contains("Loss") && whole.contains(" q: end "), "{whole}");
    }

    #[test]
    fn any_size_of_a_terminal_will_do() {
        for (width, height) in [(1, 1), (10, 3), (40, 8), (80, 24), (300, 100)] {
            drawn(false, width, height);
        }
    }
}
