//! What the limits allow fits on an ordinary stack, whoever looks at it.

use tablegen::{Options, Value, dump_json, parse_str, print_records};

#[test]
fn the_deepest_value_can_be_printed_and_read_on_a_small_stack() {
    let depth = Options::default().limits.expression - 10;
    let text = format!("def op; def x {{ dag d = !foldl((op), !range({depth}), so_far, i, (op so_far)); }}");
    let outcome = parse_str("deep.td", &text, &Options::default());
    assert_eq!(outcome.diagnostics, []);
    let records = outcome.records.expect("no errors");
    let mut printed = Vec::new();
    print_records(&records, &mut printed).expect("memory");
    dump_json(&records, &mut printed).expect("memory");
    let mut value = records.def("x").and_then(|x| x.get("d")).expect("there");
    let mut levels = 0;
    while let Value::Dag(dag) = value {
        levels += 1;
        match dag.args.first() {
            Some(arg) => value = &arg.value,
            None => break,
        }
    }
    assert_eq!(levels, depth + 1);
}

#[test]
fn values_and_types_deeper_than_the_limit_are_refused() {
    let deep_value = "def op; def x { dag d = !foldl((op), !range(100000), so_far, i, (op so_far)); }".to_owned();
    let mut deep_type = String::from("deftype t0 = list<int>;\n");
    for i in 1..5000 {
        deep_type.push_str(&format!("deftype t{i} = list<t{}>;\n", i - 1));
    }
    let mut deep_list = String::from("defvar v0 = [1];\n");
    for i in 1..5000 {
        deep_list.push_str(&format!("defvar v{i} = [v{}];\n", i - 1));
    }
    for text in [deep_value, deep_type, deep_list] {
        let outcome = parse_str("deep.td", &text, &Options::default());
        assert!(outcome.records.is_none());
        assert!(outcome.diagnostics.iter().any(|d| d.message.contains("nested too deeply")), "{:?}", outcome.diagnostics);
    }
}
