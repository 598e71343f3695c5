//! Scratch.
use offload_tblgen::{generate::Backend, ir::*};
use serde_json::Value as V;
fn s(v: &V, k: &str) -> String { v[k].as_str().unwrap_or("").to_owned() }
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let j: V = serde_json::from_str(&std::fs::read_to_string(&args[1]).unwrap()).unwrap();
    let names = |c: &str| -> Vec<String> { let mut v: Vec<String> = j["!instanceof"][c].as_array().unwrap().iter().map(|x| x.as_str().unwrap().to_owned()).collect(); v.sort(); v };
    let r = |v: &V| -> V { j[v["def"].as_str().unwrap()].clone() };
    let param = |v: &V| { let p = r(v); let flags: u32 = p["flags"].as_array().unwrap().iter().enumerate().map(|(i, b)| (b.as_u64().unwrap() as u32) << i).sum();
        let range = r(&p["range"]); let ti = r(&p["type_info"]);
        Param { name: s(&p, "name"), desc: s(&p, "desc"), ty: Type::new(s(&p, "type")), is_in: flags & 1 != 0, is_out: flags & 2 != 0, is_optional: flags & 4 != 0,
            range: (s(&range, "end") != "").then(|| Range { begin: s(&range, "begin"), end: s(&range, "end") }),
            type_tag: (s(&ti, "enum") != "").then(|| TypeTag { tag: s(&ti, "enum"), size: s(&ti, "size") }), span: None } };
    let mut api = Api { format: FORMAT, source: "OffloadAPI.td".into(), prefix: "OL".into(), ..Api::default() };
    for n in names("Macro") { let v = &j[&n]; api.macros.push(Macro { name: n.clone(), desc: s(v, "desc"), value: s(v, "value"), condition: v["condition"].as_str().map(Into::into), alt_value: v["alt_value"].as_str().map(Into::into), span: None }); }
    for n in names("Handle") { api.handles.push(Handle { desc: s(&j[&n], "desc"), name: n, span: None }); }
    for n in names("Enum") { let v = &j[&n]; let bits = v["is_bit_field"] == 1; let prefix = n[..n.len() - 2].to_uppercase();
        let etors = v["etors"].as_array().unwrap().iter().enumerate().map(|(i, e)| { let e = r(e); Enumerator { name: s(&e, "name"), c_name: format!("{prefix}_{}", s(&e, "name")), value: if bits { 1 << i } else { i as u32 }, desc: s(&e, "desc"), tagged_type: e["tagged_type"].as_str().map(Type::new), span: None } }).collect();
        api.enums.push(Enum { desc: s(v, "desc"), nodiscard: false, prefix, is_bit_field: bits, is_typed: v["is_typed"] == 1, etors, name: n.clone(), span: None }); }
    for n in names("Typedef") { api.typedefs.push(Typedef { desc: s(&j[&n], "desc"), ty: Type::new(s(&j[&n], "value")), name: n, span: None }); }
    for n in names("FptrTypedef") { let v = &j[&n]; api.callbacks.push(Callback { desc: s(v, "desc"), params: v["params"].as_array().unwrap().iter().map(param).collect(), ret: Type::new(s(v, "return")), name: n.clone(), span: None }); }
    for n in names("Struct") { let v = &j[&n]; api.structs.push(Struct { desc: s(v, "desc"), nodiscard: false, base_class: None, members: v["all_members"].as_array().unwrap().iter().map(|m| { let m = r(m); Member { name: s(&m, "name"), desc: s(&m, "desc"), ty: Type::new(s(&m, "type")), span: None } }).collect(), name: n.clone(), span: None }); }
    for n in names("Function") { let v = &j[&n]; let defaults = 2;
        api.functions.push(Function { desc: s(v, "desc"), details: v["details"].as_array().unwrap().iter().map(|x| x.as_str().unwrap().into()).collect(), analogues: vec![], params: v["params"].as_array().unwrap().iter().map(param).collect(),
            returns: v["all_returns"].as_array().unwrap().iter().enumerate().map(|(i, x)| { let x = r(x); Return { value: s(&x, "value"), conditions: x["conditions"].as_array().unwrap().iter().map(|c| Condition::new(c.as_str().unwrap())).collect(), origin: if i < defaults { ReturnOrigin::Default } else { ReturnOrigin::Declared }, span: None } }).collect(), nodiscard: v["nodiscard"] == 1, name: n.clone(), span: None }); }
    for u in api.link() { eprintln!("{u}"); }
    for b in Backend::ALL { if b.action() == args[2] { match b.generate(&api) { Ok(t) => print!("{t}"), Err(e) => { eprintln!("error: {e}"); std::process::exit(1) } } } }
}
