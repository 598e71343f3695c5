//! `gen-get-info-wrappers`: for each `olGet…Info`, a C++ template that returns the property in its own type.

use super::{Error, GENERIC_HEADER, PREFIX_LOWER, find_enum, put};
use crate::ir::{Api, Enum, Function};

pub(super) fn wrappers(out: &mut String, api: &Api) -> Result<(), Error> {
    out.push_str(GENERIC_HEADER);
    for function in api.functions.iter().filter(|function| function.name.starts_with("olGet") && function.name.ends_with("Info")) {
        let [object, property, _, _] = function.params.as_slice() else {
            return Err(Error::NotGetInfo { name: function.name.clone(), params: function.params.len() });
        };
        let (ty, name) = (&object.ty.text, &object.name);
        put!(out, "template <{} Desc> inline auto get_info({ty} {name});\n", property.ty.text);
        let properties = find_enum(api, &property.ty.text)?;
        specialisations(out, function, properties, ty, name);
        out.push('\n');
    }
    Ok(())
}

fn specialisations(out: &mut String, function: &Function, properties: &Enum, ty: &str, object: &str) {
    for etor in &properties.etors {
        let property = &etor.c_name;
        let tagged = etor.tagged_type.as_ref().map_or("", |ty| ty.text.as_str());
        let element = tagged.trim_end_matches(['[', ']']);
        let is_list = tagged.ends_with("[]");
        let value = match tagged {
            "char[]" => "std::string".to_owned(),
            _ if is_list => format!("std::vector<{element}>"),
            _ => tagged.to_owned(),
        };
        let result = format!("std::variant<{value}, {PREFIX_LOWER}_result_t>");
        put!(out, "template<> inline auto get_info<{property}>({ty} {object}) {{\n  {value} Result;\n");
        let (size, place) = if is_list { ("ResultSize", "Result.data()") } else { ("1", "&Result") };
        if is_list {
            out.push_str("  size_t ResultSize = 0;\n");
            put!(out, "  if (auto Err = {}Size({object}, {property}, &ResultSize))\n    return {result}{{Err}};\n", function.name);
            if tagged == "char[]" {
                out.push_str("  ResultSize -= 1;\n");
            } else {
                put!(out, "  assert(ResultSize % sizeof({element}) == 0);\n  ResultSize /= sizeof({element});\n");
            }
            out.push_str("  Result.resize(ResultSize);\n");
        }
        put!(out, "  if (auto Err = {}({object}, {property}, {size}, {place}))\n    return {result}{{Err}};\n", function.name);
        put!(out, "  else\n    return {result}{{Result}};\n}}\n");
    }
}
