//! The screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Sparkline};

use super::model::{Model, Program, Stream};
use crate::screen::short;

/// Columns of a stream's numbers; its name has what is left, and the rates of the past beside it.
const NUMBERS: usize = 9;
const HEADINGS: [&str; 6] = ["values/s", "mess./s", "B/s", "values", "dropped", "waited"];
const NAME: u16 = 18;

pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, title: &str, seconds: f64) {
    let streams = model.streams.len() as u16;
    let programs = (model.programs.len() as u16).min(4);
    // Streams come first: rings are shown where there is room for some streams beside them.
    let has_room = frame.area().height >= 8 + programs + 2;
    let [head, rates, rings, last, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(streams.clamp(1, 24) + 3),
        Constraint::Length(if programs > 0 && has_room { programs + 2 } else { 0 }),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_head(frame, head, model, title, seconds);
    draw_rates(frame, rates, model);
    draw_rings(frame, rings, &model.programs);
    draw_last(frame, last, model);
    frame.render_widget(Line::from(" q: end").dim(), foot);
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, model: &Model, title: &str, seconds: f64) {
    let state = match &model.end {
        Some(end) if end.starts_with("error") => Span::from(end.clone()).red().bold(),
        Some(end) => Span::from(end.clone()).green(),
        None if model.behind > 64 << 20 => Span::from(format!("live, {}B behind", short(model.behind))).yellow(),
        None => Span::from("live").cyan(),
    };
    let mut words = vec![Span::from(format!(" {title} ")).bold(), state, Span::from(format!("  {seconds:.0} s"))];
    let (torn, malformed) = model.spoiled;
    for (count, what) in [(torn, "torn"), (malformed, "malformed")] {
        if count > 0 {
            words.push(Span::from(format!("  {} {what}", short(count))).red());
        }
    }
    frame.render_widget(Line::from(words), area);
}

fn draw_rates(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let block = Block::bordered().title(" streams ");
    let inside = block.inner(area);
    frame.render_widget(block, area);
    if model.streams.is_empty() {
        return frame.render_widget(Line::from(" no streams yet").dim(), inside);
    }
    let right = |text: &str| format!("{text:>NUMBERS$}");
    let headings: String = HEADINGS.iter().map(|heading| right(heading)).collect();
    let line = |row: u16| Rect { y: inside.y + row, height: 1, ..inside };
    frame.render_widget(Line::from(format!("{:<1$}{headings}", "", usize::from(NAME))).dim(), line(0));
    let most = model.streams.values().flat_map(|stream| stream.history.iter()).copied().max().unwrap_or(0).max(1);
    let rows = usize::from(inside.height.saturating_sub(1));
    let (shown, hidden) = shown(model, rows);
    for (row, stream) in (1..).zip(shown) {
        draw_stream(frame, line(row), stream, most);
    }
    if hidden > 0 && rows > 1 {
        frame.render_widget(Line::from(format!(" … and {hidden} more")).dim(), line(inside.height - 1));
    }
}

/// The streams for which there is room, and how many there are besides. If there is not room for all, those are shown
/// of which something comes, and of them and of the others those with the most values.
fn shown(model: &Model, rows: usize) -> (Vec<&Stream>, usize) {
    let mut all: Vec<&Stream> = model.streams.values().collect();
    if all.len() <= rows {
        return (all, 0);
    }
    all.sort_by_key(|stream| std::cmp::Reverse((stream.rate.values > 0, stream.all.values)));
    // The last row says how many are left out, if there are two.
    let room = if rows > 1 { rows - 1 } else { rows };
    let hidden = all.len() - room;
    all.truncate(room);
    (all, hidden)
}

fn draw_stream(frame: &mut Frame<'_>, area: Rect, stream: &Stream, most: u64) {
    let [name, numbers, past] =
        Layout::horizontal([Constraint::Length(NAME), Constraint::Length((NUMBERS * HEADINGS.len()) as u16 + 1), Constraint::Min(0)])
            .areas(area);
    frame.render_widget(Line::from(stream.name.clone()).bold(), name);
    let (dropped, waited) = stream.counted.unzip();
    let count = |number: Option<u64>| number.map_or("-".to_owned(), short);
    let cells = [
        short(stream.rate.values),
        short(stream.rate.messages),
        short(stream.rate.bytes),
        short(stream.all.values),
        count(dropped),
        count(waited),
    ];
    let style = |i: usize| match i {
        4 if dropped.is_some_and(|dropped| dropped > 0) => Style::new().red().add_modifier(Modifier::BOLD),
        0 => Style::new().cyan(),
        _ => Style::new(),
    };
    let cells: Vec<Span<'_>> = cells.iter().enumerate().map(|(i, cell)| Span::styled(format!("{cell:>NUMBERS$}"), style(i))).collect();
    frame.render_widget(Line::from(cells), numbers);
    let shown = stream.history.len().saturating_sub(past.width.into());
    // All streams have one scale, so their heights compare.
    let data: Vec<u64> = stream.history.iter().skip(shown).copied().collect();
    frame.render_widget(Sparkline::default().data(&data).max(most).style(Style::new().fg(Color::Cyan)), past);
}

fn draw_rings(frame: &mut Frame<'_>, area: Rect, programs: &[Program]) {
    if area.height < 3 {
        return;
    }
    let block = Block::bordered().title(" rings ");
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let all: u64 = programs.iter().map(Program::bytes).sum();
    for (row, program) in (0..inside.height).zip(programs) {
        let line = Rect { y: inside.y + row, height: 1, ..inside };
        let [words, share] = Layout::horizontal([Constraint::Length(76), Constraint::Min(0)]).areas(line);
        let part = if all > 0 { 100.0 * program.bytes() as f64 / all as f64 } else { 0.0 };
        let busiest = program.busiest().map_or("-".to_owned(), |part| format!("{part:.0} %"));
        let text = format!(
            "{:<16.16} {:<8.8} {:>8}B/s {part:>4.0} %  {:>4} of {:<4} busiest {busiest:>5}",
            program.name,
            program.device,
            short(program.bytes()),
            program.used(),
            program.rings.len(),
        );
        frame.render_widget(Line::from(text), words);
        let width = usize::from(share.width).max(1);
        let together = program.rings.len().div_ceil(width).max(1);
        let data: Vec<u64> = program.rings.chunks(together).map(|rings| rings.iter().sum()).collect();
        frame.render_widget(Sparkline::default().data(&data).style(Style::new().fg(Color::Magenta)), share);
    }
}

fn draw_last(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.height < 3 {
        return;
    }
    let block = Block::bordered().title(" last values ");
    let lines: Vec<Line<'_>> = model
        .streams
        .values()
        .filter(|stream| !stream.last.is_empty())
        .map(|stream| Line::from(vec![Span::from(format!("{} ", stream.name)).bold(), Span::from(stream.last.clone())]))
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostcall_abi::stream::{From, Header, Kind, Policy};
    use hostcall_stream::file::{Device, Program, Reader, Writer};
    use hostcall_stream::{Field, Schema, StreamCounts, Summary};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    /// A model of a recording with two streams, after three ticks of one second.
    fn model(counted: bool) -> Model {
        let schema = |name: &str| Schema {
            name: name.into(),
            signature: 1,
            bytes: 8,
            policy: Policy::Drop,
            fields: [("step", 0), ("value", 4)]
                .map(|(name, offset)| Field { name: name.into(), ty: "u32".into(), offset, bytes: 4 })
                .into(),
        };
        let mut writer = Writer::new(Vec::new()).expect("memory");
        let streams = vec![(1, schema("Loss")), (2, schema("a name which is far too long")), (3, schema("Silent"))];
        let ring = writer.program(Program::new("train", Device::new(0, "NVIDIA H200", "cuda"), 8, streams)).expect("memory");
        for i in 0..600u32 {
            let from = From { group: 7, wave: 1, sm: 0, launch: 0 };
            let (stream, mask) = if i % 3 == 0 { (2, 1u64) } else { (1, 0xffff_ffff) };
            let header = Header {
                stream,
                granules: 0,
                kind: Kind::Rows,
                mask,
                wide: false,
                site: 0,
                weight: 0,
                user: 0,
                values: 1,
                time: None,
                from,
            };
            let values: Vec<u8> = (0..mask.count_ones()).flat_map(|lane| [i.to_le_bytes(), lane.to_le_bytes()].concat()).collect();
            writer.message(ring + i % 4, header, &values).expect("memory");
        }
        if counted {
            let counts = |name: &str, dropped| StreamCounts { name: name.into(), dropped, waited: 12, ..StreamCounts::default() };
            writer.counters(&Summary { streams: vec![counts("Loss", 1_234_567)], torn: 3, ..Summary::default() }).expect("memory");
        }
        let bytes = writer.end().expect("memory");
        let mut reader = Reader::new(&bytes[..]).expect("a recording");
        let mut model = Model::default();
        for tick in [100, 300, 200] {
            for _ in 0..tick {
                model.add(&reader.next().expect("no damage").expect("a message"));
            }
            model.tick(1.0, &reader);
        }
        assert!(reader.next().expect("no damage").is_none());
        if counted {
            model.tick(1.0, &reader);
        }
        model
    }

    fn drawn(model: &Model, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        terminal.draw(|frame| draw(frame, model, "run.hcs", 3.0)).expect("memory");
        terminal.backend().to_string()
    }

    #[test]
    fn rates_rings_and_last_values_are_on_the_screen() {
        insta::assert_snapshot!(drawn(&model(false), 110, 16));
    }

    #[test]
    fn the_end_and_losses_are_on_the_screen() {
        let mut model = model(true);
        model.end("complete".into());
        insta::assert_snapshot!(drawn(&model, 110, 16));
    }

    #[test]
    fn where_there_is_not_room_for_all_streams_those_are_shown_of_which_something_comes() {
        let mut model = model(false);
        for number in 10..24 {
            let mut stream = Stream { name: format!("idle{number}"), ..Stream::default() };
            stream.all.values = 1_000_000;
            model.streams.insert(number, stream);
        }
        let mut busy = Stream { name: "busy".into(), ..Stream::default() };
        (busy.rate.values, busy.all.values) = (7, 7);
        model.streams.insert(30, busy);
        for height in [10, 14] {
            let screen = drawn(&model, 110, height);
            assert!(screen.contains("busy") && screen.contains(" more"), "{height}: {screen}");
        }
    }

    #[test]
    fn any_size_of_a_terminal_will_do() {
        let model = model(true);
        for (width, height) in [(1, 1), (10, 3), (40, 8), (80, 24), (300, 100)] {
            drawn(&model, width, height);
            drawn(&Model::default(), width, height);
        }
    }
}
