//! The programs, and what they are run with.

/// A program, and what it is run with, one after another in the same tree.
pub(super) struct Program {
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    pub(super) bin: &'static str,
    /// Whether it is tried by default.
    pub(super) usual: bool,
    pub(super) runs: &'static [&'static [&'static str]],
}

pub(super) const PROGRAMS: [Program; 12] = [
    Program {
        package: "ripgrep",
        version: "15.2.0",
        bin: "rg",
        usual: true,
        runs: &[
            &["--sort=path", "-n", "fn [a-z_]+", "."],
            &["--sort=path", "-c", "the", "."],
            &["--sort=path", "--files", "--hidden"],
            &["-uu", "--sort=path", "-l", "secret", "."],
            &["-U", "--only-matching", "first[^z]*?last", "text"],
            &["-w", "naïve|straße", "text/words.txt"],
            // Several threads walk; only one line can come.
            &["-j4", "only here", "."],
            &["nowhere to be found", "."],
            &["(", "."],
            &["x", "missing.txt"],
        ],
    },
    Program {
        package: "sd",
        version: "1.0.0",
        bin: "sd",
        usual: true,
        runs: &[
            &["-p", "needle", "thread", "text/a.txt"],
            &["(?P<a>\\w+) (?P<b>\\w+)", "$b $a", "text/words.txt"],
            &["-F", "(", "[", "src/lib.rs"],
            &["a", "b", "missing.txt"],
        ],
    },
    Program {
        package: "fd-find",
        version: "10.5.0",
        bin: "fd",
        usual: false,
        runs: &[
            &["-j1", "--strip-cwd-prefix", "--exact-depth=1"],
            &["-j1", "rs$"],
            &["-j4", "deepest"],
            &["-HI", "-j1", "-e", "log"],
            &["nothing"],
        ],
    },
    Program {
        package: "hexyl",
        version: "0.17.0",
        bin: "hexyl",
        usual: false,
        runs: &[&["data.bin"], &["-n", "40", "-s", "3", "--border=ascii", "data.bin"], &["missing"]],
    },
    Program {
        package: "b3sum",
        version: "1.8.7",
        bin: "b3sum",
        usual: false,
        runs: &[&["data.bin", "text/a.txt", "empty"], &["--no-mmap", "--length=8", "data.bin"], &["missing"]],
    },
    Program {
        package: "jaq",
        version: "3.1.2",
        bin: "jaq",
        usual: false,
        runs: &[
            &[".a.b[2].c", ".more/data.json"],
            &["[.n[] | select(. % 3 == 0)] | add", ".more/data.json"],
            &["-r", ".a.b[] | tostring", ".more/data.json"],
            &[".", "text/a.txt"],
        ],
    },
    Program { package: "huniq", version: "2.7.0", bin: "huniq", usual: false, runs: &[&[], &["-c", "-s"]] },
    Program {
        package: "choose",
        version: "1.3.7",
        bin: "choose",
        usual: false,
        runs: &[&["-i", "text/words.txt", "1:2"], &["-i", "text/words.txt", "-f", "s", "-1"], &["-i", "missing", "0"]],
    },
    Program { package: "runiq", version: "2.1.0", bin: "runiq", usual: false, runs: &[&["-"], &["--invert", "-"], &["missing"]] },
    Program {
        package: "grex",
        version: "1.4.6",
        bin: "grex",
        usual: false,
        runs: &[&["-r", "-d", "aaa", "aab", "b12", "c3"], &["-i", "-e", "naïve", "NAÏF"], &["-f", "text/words.txt"]],
    },
    Program {
        package: "htmlq",
        version: "0.4.0",
        bin: "htmlq",
        usual: false,
        runs: &[
            &["-f", ".more/page.html", "--text", "h1"],
            &["-f", ".more/page.html", "-a", "href", "a"],
            &["-f", ".more/page.html", "-p", "ul"],
            &["-f", "missing", "a"],
        ],
    },
    Program {
        package: "rnr",
        version: "0.5.1",
        bin: "rnr",
        usual: false,
        runs: &[&["regex", "-n", "-r", "t(.)", "T${1}x", "text"], &["regex", "-f", "-r", "(d)eep", "${1}eeply", "text"]],
    },
];
