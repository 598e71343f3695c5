//! What was accessed, when, and how well.

use hostcall_stream::Sites;
use hostcall_stream::handlers::{BankUse, Conflicts, LineUse, Lines};

use super::{Figure, Section, Table, name, place};
use crate::digest::{Grid, Memory, PAGE};
use crate::draw::{self, Chart, Heat, Scale, Unit, count, number};

/// Rows and columns of the heat map, and places of a plot.
const ROWS: usize = 48;
const COLUMNS: i64 = 96;
const PLACES: usize = 16;

pub(super) fn section(memory: &Memory, places: &Sites) -> Section {
    let mut section = Section { id: "memory", title: "Memory".into(), ..Section::default() };
    let (heat, (lines, mut line_report), (conflicts, mut conflict_report)) = (memory.heat(), memory.lines(), memory.conflicts());
    line_report.name_sites(places);
    conflict_report.name_sites(places);
    let used = lines.all().into_iter().fold(LineUse::default(), |all, (_, lines)| all + lines.all());
    let banks = conflicts.all().into_iter().fold(BankUse::default(), |all, (_, conflicts)| all + conflicts.all());
    section.lines = heat.lines.clone();
    if used.accesses > 0 {
        let efficiency = used.efficiency().unwrap_or(0.0);
        let note = format!("{} sectors, {} would do", count(used.sectors), count(used.least_sectors));
        section.figures = vec![
            Figure::new(
                "accesses of waves",
                &number(used.accesses as f64, Unit::Count),
                format!("{} of lanes", number(used.lanes as f64, Unit::Count)),
            ),
            Figure::new(
                "bytes needed",
                &number(used.bytes as f64, Unit::Bytes),
                format!("{} lines of 128 bytes", number(used.lines as f64, Unit::Count)),
            ),
            Figure { unit: "%".into(), ..Figure::new("coalescing", &format!("{efficiency:.0}"), note) },
        ];
    }
    if banks.accesses > 0 {
        let note = format!("{} of {} cycles", count(banks.extra), count(banks.cycles));
        let share = 100.0 * banks.extra as f64 / banks.cycles.max(1) as f64;
        section.figures.push(Figure { unit: "%".into(), ..Figure::new("bank conflicts", &format!("{share:.0}"), note) });
    }
    let (grid, timed) = memory.grid();
    section.charts.extend(map(grid, timed).map(|chart| Chart {
        table: heat.tables.first().map(|table| Table { title: format!("the hottest pages of {PAGE} bytes"), ..table.into() }),
        ..chart
    }));
    section.tables.extend(heat.tables.iter().skip(1).map(Table::from));
    if used.accesses > 0 {
        let of = |(kernel, lines): (_, &Lines)| lines.rows().into_iter().map(move |(site, kind, used)| (kernel, site, kind, used));
        let mut rows: Vec<_> = lines.all().into_iter().flat_map(of).collect();
        rows.sort_by_key(|(.., used)| std::cmp::Reverse(used.sectors));
        let bars: Vec<_> = rows
            .iter()
            .take(PLACES)
            .map(|(kernel, site, kind, used)| (bar(*kernel, &place(places, *site), kind.name()), used.efficiency().unwrap_or(0.0)))
            .collect();
        let tip = |i: usize| {
            let (.., used) = rows[i];
            format!(
                "{}\n{:.1} % of the bytes in touched sectors are needed\n{} sectors, {} would do\nan access: {}",
                bars[i].0,
                bars[i].1,
                count(used.sectors),
                count(used.least_sectors),
                used.in_words()
            )
        };
        let mut chart = draw::bars(&bars, Scale::new(0.0, 100.0, Unit::Plain), tip);
        (chart.title, chart.x_label) = ("Cache-line use by place".into(), "needed share of touched sectors [%]".into());
        chart.note = "the places that touch most come first; longer is better".into();
        chart.table = line_report.tables.first().map(Table::from);
        section.charts.push(chart);
    }
    if banks.accesses > 0 {
        let of =
            |(kernel, conflicts): (_, &Conflicts)| conflicts.rows().into_iter().map(move |(site, kind, used)| (kernel, site, kind, used));
        let mut rows: Vec<_> = conflicts.all().into_iter().flat_map(of).collect();
        rows.sort_by_key(|(.., used)| std::cmp::Reverse(used.extra));
        let per_access = |extra: u64, accesses: u64| extra as f64 / accesses.max(1) as f64;
        let bars: Vec<_> = rows
            .iter()
            .take(PLACES)
            .map(|(kernel, site, kind, used)| (bar(*kernel, &place(places, *site), kind.name()), per_access(used.extra, used.accesses)))
            .collect();
        let most = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
        let tip = |i: usize| {
            let (.., used) = rows[i];
            format!(
                "{}\n{} cycles too many in {} accesses\nat worst {} cycles at once\nan access: {}",
                bars[i].0,
                count(used.extra),
                count(used.accesses),
                count(used.worst),
                used.in_words()
            )
        };
        let mut chart = draw::bars(&bars, Scale::up_to(most, Unit::Plain), tip);
        (chart.title, chart.x_label) = ("Bank conflicts by place".into(), "extra cycles per access of a wave".into());
        chart.note = "32 banks of 4 bytes, as NVIDIA's; shorter is better".into();
        chart.table = conflict_report.tables.first().map(Table::from);
        section.charts.push(chart);
    }
    section
}

/// What a bar is of: kernel, if it is known, place, and what is done there.
fn bar(kernel: Option<&str>, place: &str, kind: &str) -> String {
    let kernel = kernel.map(|kernel| format!("{}: ", name(kernel))).unwrap_or_default();
    format!("{kernel}{place}, {kind}")
}

/// Accesses by address and time.
fn map(grid: &Grid, timed: bool) -> Option<Chart> {
    let grid = grid.at_most(ROWS, COLUMNS);
    let (begin, end) = grid.span()?;
    let (rows, size): (Vec<u64>, u64) = (grid.rows().collect(), grid.row_size());
    let gaps = rows.windows(2).enumerate().filter(|(_, two)| two[1] - two[0] > size).map(|(row, _)| row).collect();
    let sums = grid.sums().into_iter().map(|row| row.into_iter().map(|sum| sum as f64).collect()).collect();
    let unit = if timed { Unit::Nanoseconds } else { Unit::Count };
    let names = rows.iter().map(|row| format!("{row:#x}")).collect();
    let map = Heat { sums, rows: names, gaps, x: Scale::new(0.0, end - begin, unit), of: "accesses" };
    let mut chart = draw::heat(&map);
    chart.title = "Accesses by address and time".into();
    chart.note = format!(
        "a row is {}, a column {}; rows without accesses are left out, a line stands for them",
        number(size as f64, Unit::Bytes),
        if timed { number(grid.column_size(), Unit::Nanoseconds) } else { format!("{} messages", count(grid.column_size() as u64)) }
    );
    (chart.x_label, chart.y_label) = (if timed { "time since the first access" } else { "message" }.into(), "address".into());
    Some(chart)
}
