//! Names in other languages' spellings.

/// `olGetDeviceInfo` becomes `ol_get_device_info`; a run of capitals is one word (`RPCCallback`: `rpc_callback`).
pub fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 8);
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| chars[i]);
        let after = chars.get(i + 1);
        let begins_word = c.is_ascii_uppercase()
            && before.is_some_and(|before| before != '_' && (!before.is_ascii_uppercase() || after.is_some_and(char::is_ascii_lowercase)));
        if begins_word {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `ol_device_info_t` becomes `OlDeviceInfoT`, `GLOBAL_MEM_SIZE` becomes `GlobalMemSize`.
pub fn pascal_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for word in snake_case(name).split('_') {
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_a_reader_would() {
        assert_eq!(snake_case("olGetDeviceInfo"), "ol_get_device_info");
        assert_eq!(snake_case("olPlatformRegisterRPCCallback"), "ol_platform_register_rpc_callback");
        assert_eq!(snake_case("pNext"), "p_next");
        assert_eq!(snake_case("NUM_LANES"), "num_lanes");
        assert_eq!(pascal_case("GLOBAL_MEM_SIZE"), "GlobalMemSize");
        assert_eq!(pascal_case("olMemAlloc"), "OlMemAlloc");
    }
}
