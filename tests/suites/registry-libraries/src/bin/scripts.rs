//! Other languages: a module of WebAssembly by `wasmi`, scripts of `rhai`, JavaScript by `boa`.

use std::error::Error;

fn webassembly() -> Result<(), Box<dyn Error>> {
    use wasmi::{Caller, Engine, Func, Linker, Module, Store};

    let text = r#"(module
        (import "host" "said" (func $said (param i32)))
        (memory (export "memory") 1)
        (func $fibonacci (export "fibonacci") (param $n i32) (result i64)
            (if (result i64) (i32.lt_u (local.get $n) (i32.const 2))
                (then (i64.extend_i32_u (local.get $n)))
                (else (i64.add
                    (call $fibonacci (i32.sub (local.get $n) (i32.const 1)))
                    (call $fibonacci (i32.sub (local.get $n) (i32.const 2)))))))
        (func (export "count") (param $to i32)
            (local $i i32)
            (loop $again
                (call $said (local.get $i))
                (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (br_if $again (i32.lt_u (local.get $i) (local.get $to)))))
        (func (export "root") (param f64) (result f64) (f64.sqrt (local.get 0)))
        (func (export "trap") (result i32) (i32.div_s (i32.const 1) (i32.const 0))))"#;
    let engine = Engine::default();
    let module = Module::new(&engine, wat::parse_str(text)?)?;
    let mut store = Store::new(&engine, Vec::new());
    let said = Func::wrap(&mut store, |mut caller: Caller<'_, Vec<i32>>, i: i32| caller.data_mut().push(i * i));
    let mut linker = Linker::new(&engine);
    linker.define("host", "said", said)?;
    let instance = linker.instantiate_and_start(&mut store, &module)?;
    let fibonacci = instance.get_typed_func::<i32, i64>(&store, "fibonacci")?;
    println!("wasmi: fibonacci {}", fibonacci.call(&mut store, 15)?);
    instance.get_typed_func::<i32, ()>(&store, "count")?.call(&mut store, 9)?;
    println!("wasmi: the host was called with {:?}", store.data());
    println!("wasmi: root {}", instance.get_typed_func::<f64, f64>(&store, "root")?.call(&mut store, 2.0)?);
    println!(
        "wasmi: trap {:?}",
        instance.get_typed_func::<(), i32>(&store, "trap")?.call(&mut store, ()).map_err(|error| error.to_string())
    );
    Ok(())
}

fn rhai() -> Result<(), Box<dyn Error>> {
    let mut engine = rhai::Engine::new();
    engine.register_fn("twice", |x: i64| x * 2);
    let sum: i64 = engine.eval(
        r#"
        fn collatz(n) { let steps = 0; while n != 1 { n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 }; steps += 1; } steps }
        let most = 0;
        for n in 1..200 { let steps = collatz(n); if steps > most { most = steps; } }
        print(`most steps ${most}`);
        let map = #{ a: [1, 2, 3], b: "text" };
        print(map.a.map(|x| x * x));
        print(map.b.to_upper());
        twice(most)
        "#,
    )?;
    println!("rhai: {sum}");
    println!("rhai: {}", engine.eval::<i64>("1 + ").unwrap_err());
    println!("rhai: {}", engine.eval::<i64>("let a = [1]; a[5]").unwrap_err());
    Ok(())
}

fn javascript() {
    let mut context = boa_engine::Context::default();
    for script in [
        "const words = 'the quick brown fox'.split(' '); words.map(w => w.length).reduce((a, b) => a + b)",
        "class Point { constructor(x, y) { Object.assign(this, { x, y }); } get length() { return Math.hypot(this.x, this.y); } }; new Point(3, 4).length",
        "JSON.stringify({ numbers: [...Array(5).keys()].map(n => n ** 2), text: 'ä'.normalize('NFD').length, when: new Date(0).toISOString() })",
        "function* f() { let [a, b] = [0n, 1n]; while (true) { yield a; [a, b] = [b, a + b]; } }; let last; let i = 0; for (const n of f()) { last = n; if (++i > 200) break; } String(last)",
        "'2026-11-26'.replace(/(\\d+)-(\\d+)-(\\d+)/u, '$3.$2.$1')",
        "null.property",
        "syntax error here",
    ] {
        match context.eval(boa_engine::Source::from_bytes(script)) {
            Ok(value) => println!("boa: {}", value.display()),
            Err(error) => println!("boa: {error}"),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    webassembly()?;
    rhai()?;
    javascript();
    Ok(())
}
