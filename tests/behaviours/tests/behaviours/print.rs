//! Printing: whole lines, in order, none lost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hostcall::Sink;
use hostcall_tests::{Bench, in_child, on_gpu, slow};
use offload::{Args, Launch};

/// What was printed.
type Printed = Arc<Mutex<Vec<u8>>>;

fn bench() -> (Bench, Printed, Printed) {
    let (stdout, out) = Sink::buffer();
    let (stderr, err) = Sink::buffer();
    (Bench::new(|b| b.stdout(stdout).stderr(stderr)), out, err)
}

fn text(buffer: &Mutex<Vec<u8>>) -> String {
    String::from_utf8(std::mem::take(&mut *buffer.lock().unwrap())).unwrap()
}

/// Checks the output of `prints`: every line whole, each lane's in order, and none missing.
fn check_lines<'a>(lines: impl Iterator<Item = &'a str>, mark: &str, lanes: u64, numbers: impl Iterator<Item = u64> + Clone) {
    let mut seen: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for line in lines {
        let parts: Vec<&str> = line.split(' ').collect();
        let [m, lane, n, fill] = parts[..] else { panic!("not a line of ours: {line:?}") };
        let (lane, n): (u64, u64) = (lane.parse().unwrap(), n.parse().unwrap());
        let expected = "x".repeat(((lane + n) % 60) as usize) + ".";
        assert!(m == mark && fill == expected, "broken line: {line:?}");
        seen.entry(lane).or_default().push(n);
    }
    assert_eq!(seen.len() as u64, lanes, "lanes that printed");
    for (lane, found) in seen {
        assert_eq!(found, numbers.clone().collect::<Vec<_>>(), "lane {lane}");
    }
}

#[test]
fn lines_of_many_waves_are_whole_and_in_order_and_none_is_lost() {
    let (bench, out, err) = bench();
    let (waves, lines) = if on_gpu() { (4096u32, 4u32) } else { (256, 3) };
    bench.run("prints", Launch::linear(waves / 2, 64), Args::new().value(lines).value(0u32)).unwrap();
    check_lines(text(&out).lines(), "O", u64::from(waves) * 32, 0..u64::from(lines));
    assert_eq!(text(&err), "");
}

#[test]
fn standard_error_is_separate() {
    let (bench, out, err) = bench();
    let lines = if slow() { 4 } else { 10 };
    bench.run("prints", Launch::linear(5, 40), Args::new().value(lines as u32).value(1u32)).unwrap();
    check_lines(text(&out).lines(), "O", 200, (0..lines).step_by(2));
    check_lines(text(&err).lines(), "E", 200, (1..lines).step_by(2));
}

#[test]
fn lines_longer_than_a_message_come_out_whole() {
    let (bench, out, _) = bench();
    for len in [500u32, 511, 512, 513, 5000, 40_000] {
        let lanes = if len > 10_000 { 33 } else { 100 };
        bench.run("prints_long", Launch::linear(1, lanes), Args::new().value(len)).unwrap();
        let text = text(&out);
        let mut lines: Vec<(u32, &str)> = text.lines().map(|l| l.split_once(':').unwrap()).map(|(n, l)| (n.parse().unwrap(), l)).collect();
        lines.sort();
        assert_eq!(lines.len() as u32, lanes);
        for (i, (lane, line)) in lines.into_iter().enumerate() {
            let letter = char::from(b'a' + (i % 26) as u8);
            assert_eq!(lane, i as u32);
            assert!(line.len() == len as usize && line.chars().all(|c| c == letter), "lane {lane}: {line}");
        }
    }
}

#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
struct Point {
    x: i32,
    name: &'static str,
    inner: Option<[u8; 2]>,
}

#[test]
fn formats_are_those_of_the_host() {
    let (bench, out, _) = bench();
    for (x, y, n) in [(1.5f32, -2.25f64, 42i64), (0.1, 1.0 / 3.0, -7), (f32::MAX, 1e-300, i64::MIN), (f32::INFINITY, -0.0, 0)] {
        bench.run("print_formats", Launch::linear(1, 1), Args::new().value(x).value(y).value(n)).unwrap();
        let expected = [
            format!("{x} {y} {n}"),
            format!("{x:?} {y:?} {n:?}"),
            format!("{x:.3}|{y:10.2}|{y:<10.1}|{y:+e}"),
            format!("{n:>8}|{n:<8}|{n:^8}|{n:08}|{n:+}|{:#x}|{:#010b}|{:o}", n as u16, n as u8, n as u16),
            format!("{:?} {:#?}", Point { x: -3, name: "a\"ß\n", inner: Some([1, 2]) }, Point { x: 4, name: "b", inner: None }),
            format!("{:*^9}|{:.2}|{:>w$}|{:?}|{}", "mid", "truncate", 'c', '\'', true, w = 4),
            format!("{} {} {}", f32::MIN_POSITIVE, f64::MAX, f64::NAN),
            "no newline\n".to_owned(),
        ];
        assert_eq!(text(&out), expected.join("\n"));
    }
}

#[test]
fn texts_without_a_newline_are_whole_and_stay_in_the_order_of_their_lane() {
    let (bench, out, _) = bench();
    bench.run("print_parts", Launch::linear(1, 1), Args::new()).unwrap();
    assert_eq!(text(&out), "<0>");
    bench.run("print_parts", Launch::linear(1, 32), Args::new()).unwrap();
    let text = text(&out);
    assert_eq!((text.matches('<').count(), text.matches('>').count()), (32, 32), "{text}");
    for lane in 0..32 {
        assert!(text.contains(&lane.to_string()), "{text}");
    }
}

#[test]
fn standard_output_may_be_a_pipe() {
    let printed = in_child("print::standard_output_may_be_a_pipe", || {
        let bench = Bench::new(|b| b);
        println!();
        bench.run("prints", Launch::linear(16, 64), Args::new().value(6u32).value(1u32)).unwrap();
    });
    let Some(output) = printed else { return };
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    check_lines(out.lines().filter(|l| l.starts_with("O ")), "O", 1024, (0..6).step_by(2));
    check_lines(err.lines().filter(|l| l.starts_with("E ")), "E", 1024, (1..6).step_by(2));
}
