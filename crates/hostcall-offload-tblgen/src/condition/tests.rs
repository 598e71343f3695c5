use super::*;
use crate::ir::{Api, Condition, Enum, Enumerator, Function, Handle, Macro, Member, Param, Return, ReturnOrigin, Struct, Type};

fn shown(text: &str) -> String {
    parse(text).map_or_else(|error| format!("error: {error}"), |expr| expr.to_string())
}

/// Every operation in parentheses, so that the tree can be seen.
fn tree(expr: &Expr) -> String {
    match expr {
        Expr::Binary { op, left, right } => format!("({} {} {})", tree(left), op.symbol(), tree(right)),
        Expr::Unary { op, operand } => format!("({}{})", op.symbol(), tree(operand)),
        other => other.to_string(),
    }
}

#[test]
fn operators_bind_as_in_c() {
    let tree = |text: &str| tree(&parse(text).unwrap());
    assert_eq!(tree("a || b && c | d ^ e & f == g"), "(a || (b && (c | (d ^ (e & (f == g))))))");
    assert_eq!(tree("a < b << c + d * -e"), "(a < (b << (c + (d * (-e)))))");
    assert_eq!(tree("a - b - c"), "((a - b) - c)");
    assert_eq!(tree("!a == b"), "((!a) == b)");
    assert_eq!(tree("(a & b) != 0"), "((a & b) != 0)");
}

#[test]
fn expressions_are_shown_with_the_parentheses_they_need() {
    for text in [
        "NULL == Queue",
        "(ArgPtrs == NULL) != (ArgSizes == NULL)",
        "(Alignment & Alignment - 1) != 0",
        "InitArgs != NULL && InitArgs->Size < sizeof(ol_init_args_t)",
        "a - (b - c)",
        "!(a || b)",
        "*Size == 0",
        "(*Args).Size == 0",
        "~(A | B) & Flags",
    ] {
        assert_eq!(parse(&shown(text)).unwrap(), parse(text).unwrap(), "{text} was shown as {}", shown(text));
    }
    assert_eq!(shown("( (a) )==0x10u"), "a == 16");
    assert_eq!(shown("nullptr == a"), "NULL == a");
}

#[test]
fn text_that_is_no_expression_says_where_and_why() {
    for (text, part) in [
        ("", "expected an expression, found the end"),
        ("a =b", "did you mean `==`?, at `=b`"),
        ("a == ", "found the end"),
        ("f(a)", "calls are not supported"),
        ("a ? b : c", "`?:` is not supported"),
        ("a b", "expected an operator"),
        ("(a", "expected `)`"),
        ("a->", "name of a member"),
        ("012 == a", "not a number"),
        ("99999999999999999999", "not a number"),
        ("sizeof(void (*)())", "callbacks"),
        ("a == 'x'", "`'` cannot be part"),
        ("a == é", "`é` cannot be part"),
    ] {
        let error = shown(text);
        assert!(error.starts_with("error: ") && error.contains(part), "{text}: {error}");
    }
}

#[test]
fn nesting_has_a_limit() {
    for text in ["(".repeat(100_000), "!".repeat(100_000), "a + ".repeat(100_000), format!("{}a", "-".repeat(250)), "*".repeat(250)] {
        assert!(parse(&text).is_err());
    }
}

fn param(ty: &str, name: &str) -> Param {
    Param {
        name: name.into(),
        desc: String::new(),
        ty: Type::new(ty),
        is_in: true,
        is_out: false,
        is_optional: false,
        range: None,
        type_tag: None,
        span: None,
    }
}

fn api(conditions: &[(&str, &str)]) -> Api {
    let etor = |name: &str, value| Enumerator {
        name: name.into(),
        c_name: format!("OL_MODE_{name}"),
        value,
        desc: String::new(),
        tagged_type: None,
        span: None,
    };
    let member = |ty: &str, name: &str| Member { name: name.into(), desc: String::new(), ty: Type::new(ty), span: None };
    let returns = conditions.iter().map(|(value, text)| Return {
        value: (*value).into(),
        conditions: vec![Condition::new(*text)],
        origin: ReturnOrigin::Declared,
        span: None,
    });
    let mut api = Api {
        prefix: "OL".into(),
        handles: vec![Handle { name: "ol_queue_handle_t".into(), desc: String::new(), span: None }],
        enums: vec![Enum {
            name: "ol_mode_t".into(),
            desc: String::new(),
            prefix: "OL_MODE".into(),
            is_bit_field: false,
            is_typed: false,
            nodiscard: false,
            etors: vec![etor("NONE", 0), etor("TWO", 2)],
            span: None,
        }],
        structs: vec![Struct {
            name: "ol_args_t".into(),
            desc: String::new(),
            base_class: None,
            nodiscard: false,
            members: vec![member("size_t", "Size"), member("struct ol_args_t *", "Next"), member("float", "Ratio")],
            span: None,
        }],
        macros: vec![Macro {
            name: "OL_MAX".into(),
            desc: String::new(),
            value: "64".into(),
            condition: None,
            alt_value: None,
            span: None,
        }],
        functions: vec![Function {
            name: "olDo".into(),
            desc: String::new(),
            details: vec![],
            analogues: vec![],
            params: vec![
                param("ol_queue_handle_t", "Queue"),
                param("ol_mode_t", "Mode"),
                param("size_t", "Size"),
                param("size_t", "Count"),
                param("const ol_args_t*", "Args"),
                param("void*", "Data"),
                param("double", "Ratio"),
            ],
            returns: returns.collect(),
            nodiscard: false,
            span: None,
        }],
        ..Api::default()
    };
    assert!(api.link().is_empty());
    api
}

fn kind(text: &str) -> String {
    let api = api(&[]);
    let scope = Scope { api: &api, function: &api.functions[0] };
    scope.kind(&parse(text).unwrap()).map_or_else(|error| error.to_string(), |kind| format!("{kind:?}"))
}

#[test]
fn kinds_follow_from_the_parameters() {
    for text in
        ["Size == 0", "NULL == Queue", "Mode == OL_MODE_TWO", "!Data", "Size > OL_MAX && Args", "Args->Next->Size < sizeof(ol_args_t)"]
    {
        assert_eq!(kind(text), "Bool", "{text}");
    }
    assert_eq!(kind("Size % Count"), "Integer");
    assert_eq!(kind("*Args"), "Struct(\"ol_args_t\")");
}

#[test]
fn what_means_nothing_is_refused_with_its_reason() {
    for (text, part) in [
        ("Sizes == 0", "`Sizes` is neither a parameter of olDo"),
        ("Queue == 1", "compare pointers with `NULL`"),
        ("Size == NULL", "compare pointers with `NULL`"),
        ("Data + 1 == 0", "compare pointers with `NULL`"),
        ("Args.Size == 0", "use `->`"),
        ("(*Args)->Size == 0", "use `.`"),
        ("Args->Length == 0", "no member `Length`"),
        ("*Data == 0", "points to nothing"),
        ("Size->x", "not a structure"),
        ("Ratio == 0", "not floating point"),
        ("Args->Ratio == 0", "not floating point"),
        ("sizeof(ol_no_t) == Size", "unknown type"),
        ("sizeof(void) == Size", "no size"),
        ("!*Args", "neither true nor false"),
        ("~Queue", "needs a number"),
    ] {
        let error = kind(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// The checks in order, and the problems.
fn planned(conditions: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let api = api(conditions);
    let plan = plan(Scope { api: &api, function: &api.functions[0] });
    let checks = plan.nulls.iter().chain(&plan.checks).map(|check| check.expr.to_string()).collect();
    (checks, plan.problems.iter().map(|problem| format!("{}{}", if problem.is_fatal { "fatal: " } else { "" }, problem.message)).collect())
}

#[test]
fn a_division_comes_after_the_check_of_its_divisor() {
    let (checks, problems) = planned(&[("OL_A", "`Size % Count != 0`"), ("OL_B", "`Count == 0`"), ("OL_C", "`NULL == Queue`")]);
    assert_eq!(checks, ["NULL == Queue", "Count == 0", "Size % Count != 0"]);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn a_division_by_something_unchecked_is_a_problem() {
    let (checks, problems) = planned(&[("OL_A", "`Size % Count != 0`"), ("OL_B", "`Size == 0`")]);
    assert_eq!(checks, ["Size == 0", "Size % Count != 0"]);
    assert_eq!(problems, ["`Count` may be zero here; add a condition `Count == 0`"]);
}

#[test]
fn guards_within_a_condition_count() {
    for text in [
        "`Count != 0 && Size % Count != 0`",
        "`Count == 0 || Size % Count != 0`",
        "`Count > 0 && Size / Count > 2`",
        "`Count && Size % Count`",
        "`!(Count == 0) && Size % Count`",
        "`Size % 4 != 0`",
        "`Size % OL_MAX != 0`",
        "`Size % sizeof(ol_args_t) != 0`",
        "`Args != NULL && Args->Size == 0`",
        "`Args != NULL && Args->Next != NULL && Args->Next->Size == 0`",
    ] {
        let (_, problems) = planned(&[("OL_A", text)]);
        assert!(problems.is_empty(), "{text}: {problems:?}");
    }
    for (text, part) in [
        ("`Count != 0 || Size % Count != 0`", "`Count` may be zero"),
        ("`Count < 4 && Size % Count != 0`", "`Count` may be zero"),
        ("`Size % (Count - 1) != 0`", "`Count - 1` may be zero"),
        ("`Size % OL_MODE_NONE != 0`", "`OL_MODE_NONE` may be zero"),
        ("`Args->Size == 0`", "`Args` may be null"),
        ("`Args == NULL && Args->Size == 0`", "`Args` may be null"),
        ("`Args != NULL && Args->Next->Size == 0`", "`Args->Next` may be null"),
    ] {
        let (_, problems) = planned(&[("OL_A", text)]);
        assert!(problems.len() == 1 && problems[0].contains(part), "{text}: {problems:?}");
    }
}

#[test]
fn a_check_for_null_makes_what_it_points_to_readable() {
    let (checks, problems) = planned(&[("OL_A", "`Args->Size == 0`"), ("OL_B", "`NULL == Args`"), ("OL_B", "`Args == NULL`")]);
    assert_eq!(checks, ["NULL == Args", "Args->Size == 0"]);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn conditions_that_cannot_be_checked_are_named_and_left_out() {
    let (checks, problems) =
        planned(&[("OL_A", "`Size = 0`"), ("OL_A", "`Sise == 0`"), ("OL_A", "prose `Size`"), ("OL_A", "`Size` and `Count`")]);
    assert!(checks.is_empty());
    assert_eq!(problems.len(), 2);
    assert!(
        problems[0].starts_with("fatal: an assignment") && problems[1].starts_with("fatal: `Sise` is neither a parameter"),
        "{problems:?}"
    );
}

/// Text made of the pieces that conditions are made of, most of which is not a condition.
fn random_text(seed: &mut u64) -> String {
    const PIECES: &str = "a Size 0 17 0x1f NULL true ( ) == != < && || & | ~ ! - * ->x .y % sizeof(int)";
    let pieces: Vec<_> = PIECES.split(' ').collect();
    let mut next = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize
    };
    (0..next() % 12).map(|_| pieces[next() % pieces.len()]).collect::<Vec<_>>().join(if next() % 2 == 0 { " " } else { "" })
}

#[test]
fn whatever_can_be_read_is_shown_as_text_that_reads_the_same() {
    let mut seed = 1;
    let mut read = 0;
    for _ in 0..50_000 {
        let text = random_text(&mut seed);
        if let Ok(expr) = parse(&text) {
            read += 1;
            assert_eq!(parse(&expr.to_string()).as_ref(), Ok(&expr), "{text} was shown as {expr}");
        }
    }
    assert!(read > 500, "only {read} of the texts were conditions");
}
