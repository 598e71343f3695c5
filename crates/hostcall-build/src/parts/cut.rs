//! Crates that are too large for one part: the compiler works at a part on one processor, and at all of it again after
//! a changed line.
//!
//! A function that a single other refers to stays with that one, into which it may be inlined, as long as both are a
//! group of a moderate size. Groups are dealt to as many parts as it takes, by a hash of the name that leads the group:
//! what a changed line does not change is where it was. Small functions, which most of what is not optimised calls all
//! the time, are in each part that refers to them.

use std::collections::{BTreeMap, HashMap};

use offload_image::Sha256;

use super::module::Module;
use super::{LIBRARY, Place};

/// How large a crate may be before it is cut, in bytes of a module's text.
const LARGE: usize = 1 << 21;
/// How large its parts shall be.
const PART: usize = 1 << 19;
/// How large a group of functions may become.
const GROUP: usize = PART / 8;
/// How large a function may be to be in several parts.
const SMALL: usize = 1 << 9;

/// Deals the functions of large crates to several places. `users` has the functions that refer to each symbol, over
/// constants or not.
pub(super) fn large(module: &Module<'_>, owners: &mut [Option<Place<'_>>], users: &[Vec<usize>]) {
    let sizes: Vec<usize> = module.symbols.iter().map(|symbol| symbol.lines().map(str::len).sum()).collect();
    let mut crates: BTreeMap<&str, (usize, Vec<usize>)> = BTreeMap::new();
    for (function, place) in owners.iter().enumerate() {
        // The library's functions belong together.
        if let Some(Place { name, .. }) = place.filter(|place| place.name != LIBRARY) {
            let (size, functions) = crates.entry(name).or_default();
            *size += sizes[function];
            functions.push(function);
        }
    }
    for (size, functions) in crates.into_values().filter(|(size, _)| *size > LARGE) {
        let (small, functions): (Vec<usize>, Vec<usize>) =
            functions.into_iter().partition(|function| sizes[*function] <= SMALL && module.symbols[*function].is_local());
        for function in small {
            owners[function] = None;
        }
        // Always a power of two, so that a crate that grows a little is cut as before.
        let count = size.div_ceil(PART).next_power_of_two();
        let leaders = leaders(owners, users, &sizes, &functions);
        for (function, leader) in functions.into_iter().zip(leaders) {
            let piece = piece(module.symbols[leader].name(), count);
            owners[function] = owners[function].map(|place| Place { piece, ..place });
        }
    }
}

/// Of each function of a crate the one that its group is named for.
fn leaders(owners: &[Option<Place<'_>>], users: &[Vec<usize>], sizes: &[usize], functions: &[usize]) -> Vec<usize> {
    // The only user, if it is of the same crate.
    let above = |function: usize| match users[function][..] {
        [user] if owners[user] == owners[function] => Some(user),
        _ => None,
    };
    // Groups grow from their last functions up. What waits for itself, in a circle that nobody else calls, leads
    // itself.
    let mut waits: HashMap<usize, usize> = HashMap::new();
    for user in functions.iter().filter_map(|function| above(*function)) {
        *waits.entry(user).or_default() += 1;
    }
    let mut ready: Vec<usize> = functions.iter().copied().filter(|function| !waits.contains_key(function)).collect();
    let mut below: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    let mut joined: HashMap<usize, usize> = HashMap::new();
    while let Some(function) = ready.pop() {
        let mut size = sizes[function];
        // The small ones first: they are most likely to be inlined.
        let mut groups = below.remove(&function).unwrap_or_default();
        groups.sort_unstable();
        for (more, leader) in groups {
            if size + more <= GROUP {
                size += more;
                joined.insert(leader, function);
            }
        }
        if let Some(user) = above(function) {
            below.entry(user).or_default().push((size, function));
            let left = waits.entry(user).or_default();
            *left -= 1;
            if *left == 0 {
                ready.push(user);
            }
        }
    }
    functions
        .iter()
        .map(|function| {
            let mut leader = *function;
            while let Some(user) = joined.get(&leader) {
                leader = *user;
            }
            leader
        })
        .collect()
}

/// Which of `count` pieces a name is in.
fn piece(name: &str, count: usize) -> usize {
    // LLVM's number behind a name may be another one after a change elsewhere.
    let [first, second, ..] = Sha256::of(name.split('.').next().unwrap_or(name).as_bytes()).0;
    usize::from(u16::from_le_bytes([first, second])) % count
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::{Facts, Part, split};
    use super::*;

    /// A program of `count` functions, each with a helper of more than half a group that nobody else calls, all called
    /// by `main`; and what one of them does besides.
    fn module(count: usize, changed: &str) -> String {
        let body = "  call void @llvm.trap()\n".repeat(GROUP / 40);
        let mut text = String::from("target triple = \"nvptx64-nvidia-cuda\"\n");
        let mut main = String::new();
        for number in 0..count {
            let more = if number == 3 { changed } else { "" };
            text += &format!("define internal void @_RNvCs1_1p4help{number}() {{\n{body}{more}  ret void\n}}\n");
            let body = "  call void @_RNvCs1_1p5small()\n".repeat(SMALL / 40 + 10);
            let work = format!("define internal void @_RNvCs1_1p4work{number}()");
            text += &format!("{work} {{\n{body}  call void @_RNvCs1_1p4help{number}()\n  ret void\n}}\n");
            main += &format!("  call void @_RNvCs1_1p4work{number}()\n");
        }
        text += "define internal void @_RNvCs1_1p5small() {\n  call void @llvm.trap()\n  ret void\n}\n";
        text + &format!("define void @main() {{\n{main}  ret void\n}}\ndeclare void @llvm.trap()\n")
    }

    fn parts(module: &str) -> Vec<Part> {
        let (own, libraries) = (HashSet::from(["main"]), HashSet::from(["std"]));
        let own = own.into_iter().chain(module.lines().filter_map(crate::module::definition).map(|(_, name)| name)).collect();
        split(module, &Facts { own: &own, libraries: &libraries }, &HashSet::new()).expect("it is understood")
    }

    #[test]
    fn a_crate_is_cut_once_it_is_large_and_what_one_function_alone_calls_stays_with_it() {
        assert_eq!(parts(&module(8, "")).len(), 1);
        let parts = parts(&module(60, ""));
        assert_eq!(
            parts.iter().map(|part| &*part.name).collect::<Vec<_>>(),
            ["program", "program.1", "program.2", "program.3", "program.4", "program.5", "program.6", "program.7"]
        );
        let mut helpers = 0;
        for part in &parts {
            assert!(part.text.len() < 2 * PART, "{}: {}", part.name, part.text.len());
            for helper in part.text.lines().filter_map(|line| line.strip_prefix("define internal void @_RNvCs1_1p4help")) {
                let number = helper.split('(').next().expect("digits");
                let caller = format!("void @_RNvCs1_1p4work{number}() {{\n");
                assert!(part.text.contains(&caller), "{}: {number}", part.name);
                helpers += 1;
            }
            assert_eq!(part.text.matches("define internal void @_RNvCs1_1p5small()").count(), 1, "{}", part.name);
        }
        assert_eq!(helpers, 60, "none is seen from another part");
    }

    #[test]
    fn a_changed_line_of_a_large_crate_changes_one_of_its_parts() {
        let (before, after) = (parts(&module(64, "")), parts(&module(64, "  call void @llvm.trap()\n")));
        assert_eq!(before.iter().zip(&after).filter(|(before, after)| before != after).count(), 1);
    }

    #[test]
    fn functions_that_only_call_each_other_lead_themselves() {
        let place = Some(Place { name: "p", piece: 0 });
        // 0 and 1 call each other; 2 is called by 1, and 3 by 2; 4 by 0 and by 2.
        let users = [vec![1], vec![0], vec![1], vec![2], vec![0, 2]];
        assert_eq!(leaders(&[place; 5], &users, &[1; 5], &[0, 1, 2, 3, 4]), [0, 1, 2, 2, 4]);
    }

    #[test]
    fn a_group_has_the_smallest_of_what_its_leader_alone_calls_and_no_more_than_is_moderate() {
        let place = Some(Place { name: "p", piece: 0 });
        let users = [vec![], vec![0], vec![0], vec![2]];
        assert_eq!(leaders(&[place; 4], &users, &[1, GROUP - 1, 1, 1], &[0, 1, 2, 3]), [0, 1, 0, 0]);
        // Another crate's is not led.
        let other = Some(Place { name: "q", piece: 0 });
        assert_eq!(leaders(&[other, place], &[vec![], vec![0]], &[1; 2], &[1]), [1]);
    }
}
