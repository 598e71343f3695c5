//! The programs, and what they are run with.

/// A program, and what it is run with, one after another in the same tree.
pub(super) struct Program {
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    pub(super) bin: &'static str,
    /// Options for cargo.
    pub(super) build: &'static [&'static str],
    /// Options for the compiler.
    pub(super) flags: &'static str,
    /// Whether it is tried by default.
    pub(super) usual: bool,
    pub(super) runs: &'static [&'static [&'static str]],
}

/// What a program is that does not say otherwise: it is tried if all are asked for.
const LATER: Program = Program { package: "", version: "", bin: "", build: &[], flags: "", usual: false, runs: &[] };

pub(super) const PROGRAMS: [Program; 23] = [
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
        ..LATER
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
        ..LATER
    },
    Program {
        package: "fd-find",
        version: "10.5.0",
        bin: "fd",
        runs: &[
            &["-j1", "--strip-cwd-prefix", "--exact-depth=1"],
            &["-j1", "rs$"],
            &["-j4", "deepest"],
            &["-HI", "-j1", "-e", "log"],
            &["nothing"],
        ],
        ..LATER
    },
    Program {
        package: "hexyl",
        version: "0.17.0",
        bin: "hexyl",
        runs: &[&["data.bin"], &["-n", "40", "-s", "3", "--border=ascii", "data.bin"], &["missing"]],
        ..LATER
    },
    Program {
        package: "b3sum",
        version: "1.8.7",
        bin: "b3sum",
        runs: &[&["data.bin", "text/a.txt", "empty"], &["--no-mmap", "--length=8", "data.bin"], &["missing"]],
        ..LATER
    },
    Program {
        package: "jaq",
        version: "3.1.2",
        bin: "jaq",
        runs: &[
            &[".a.b[2].c", ".more/data.json"],
            &["[.n[] | select(. % 3 == 0)] | add", ".more/data.json"],
            &["-r", ".a.b[] | tostring", ".more/data.json"],
            &["-c", "--arg", "x", "y", "{$x, keys: keys, s: (.n | map(sqrt * 100 | floor))}", ".more/data.json"],
            &["-R", "ascii_upcase"],
            &["-i", ".n |= reverse", ".more/data.json"],
            &[".", "text/a.txt"],
        ],
        ..LATER
    },
    Program {
        package: "tokei",
        version: "15.0.0",
        bin: "tokei",
        runs: &[
            &["src", "text"],
            &["--hidden", "--sort=lines", "."],
            &["-C", "-o", "json", "src"],
            &["-t=JSON,HTML", "--hidden", "."],
            &["missing"],
        ],
        ..LATER
    },
    Program { package: "huniq", version: "2.7.0", bin: "huniq", runs: &[&[], &["-c", "-s"], &["-c", "-S"], &["-d", "a"]], ..LATER },
    Program {
        package: "bat",
        version: "0.26.1",
        bin: "bat",
        // Without Oniguruma, which is in C. The feature `minimal-application` asks for it, and the program needs the
        // code that this feature stands for. So the features that it consists of are named, with the engine in Rust,
        // and the compiler is told that the feature itself is there.
        build: &["--no-default-features", "--features=clap,etcetera,paging,wild,regex-fancy"],
        flags: "--cfg=feature=\"minimal-application\"",
        runs: &[
            &["src/lib.rs", "text/words.txt"],
            &[
                "--color=always",
                "--paging=never",
                "--style=full",
                "--terminal-width=60",
                "src/lib.rs",
                ".more/data.json",
                ".more/page.html",
            ],
            &["--color=always", "--paging=never", "--style=numbers,grid", "--theme=ansi", "--line-range=2:3", "--wrap=never", "text/a.txt"],
            &["--color=always", "--paging=never", "--plain", "--language=rust", "--highlight-line=1", "-"],
            &["--color=never", "--paging=never", "--decorations=always", "--show-all", "data.bin"],
            &["missing", "src/lib.rs"],
        ],
        ..LATER
    },
    Program {
        package: "choose",
        version: "1.3.7",
        bin: "choose",
        runs: &[
            &["-i", "text/words.txt", "1:2"],
            &["-i", "text/words.txt", "-f", "s", "-1"],
            &["-c", "-o", "+", "0:1"],
            &["-i", "missing", "0"],
        ],
        ..LATER
    },
    Program {
        package: "runiq",
        version: "2.1.0",
        bin: "runiq",
        runs: &[&["-"], &["--invert", "-"], &["-f", "sorted", "text/a.txt", "text/a.txt"], &["missing"]],
        ..LATER
    },
    Program {
        package: "grex",
        version: "1.4.6",
        bin: "grex",
        runs: &[
            &["-r", "-d", "aaa", "aab", "b12", "c3"],
            &["-i", "-e", "naïve", "NAÏF"],
            &["-x", "--colorize", "one", "two"],
            &["-f", "text/words.txt"],
        ],
        ..LATER
    },
    Program {
        package: "htmlq",
        version: "0.4.0",
        bin: "htmlq",
        runs: &[
            &["-f", ".more/page.html", "--text", "h1"],
            &["-f", ".more/page.html", "-a", "href", "a"],
            &["-f", ".more/page.html", "-p", "ul"],
            &["-f", ".more/page.html", "-r", "li", "-o", "rest.html"],
            &["-f", "missing", "a"],
        ],
        ..LATER
    },
    Program {
        package: "rnr",
        version: "0.5.1",
        bin: "rnr",
        runs: &[
            &["regex", "-n", "-r", "w(.)", "W${1}x", "text"],
            &["regex", "-f", "-r", "--no-dump", "(d)eepest", "${1}eeply", "text"],
            &["regex", "-f", "-b", "--no-dump", "a.txt", "b.txt", "text/a.txt"],
            &["to-ascii", "-n", "text/words.txt"],
            &["regex", "-f", "--no-dump", "a", "b", "missing"],
        ],
        ..LATER
    },
    Program {
        package: "svgbob_cli",
        version: "0.7.6",
        bin: "svgbob_cli",
        runs: &[
            &[".more/picture.bob"],
            &["--font-size", "20", "--stroke-width", "3", "--background", "black", "-o", "bob.svg", ".more/picture.bob"],
            &["-s", "o-->o"],
            &["missing"],
        ],
        ..LATER
    },
    Program {
        package: "resvg",
        version: "0.49.0",
        bin: "resvg",
        runs: &[
            &[".more/picture.svg", "out.png"],
            &["-w", "24", "--background", "#abc", ".more/picture.svg", "wide.png"],
            &["--export-id", "c", ".more/picture.svg", "part.png"],
            &["--query-all", ".more/picture.svg"],
            &["missing.svg", "none.png"],
        ],
        ..LATER
    },
    Program {
        package: "fend",
        version: "1.5.9",
        bin: "fend",
        build: &["--no-default-features"],
        runs: &[&["6 ft to cm"], &["sqrt 2 to 30 dp"], &["0xff to binary"], &["30! / 28!"], &["1 month ago +"]],
        ..LATER
    },
    Program {
        package: "diskus",
        version: "0.9.0",
        bin: "diskus",
        // The size of a directory depends on the file system. By default three threads are started for each processor,
        // of which a lane is one.
        runs: &[&["-j8", "-b", "."], &["-j8", "-b", "text", "src", "data.bin"], &["-j1", "-b", "-v", "missing"]],
        ..LATER
    },
    Program {
        package: "csview",
        version: "1.3.4",
        bin: "csview",
        runs: &[
            &[".more/table.csv"],
            &["--style", "rounded", "--number", "--header-align", "left", ".more/table.csv"],
            &["-H", "-d", ";", "--style", "markdown"],
            &["missing.csv"],
        ],
        ..LATER
    },
    Program {
        package: "jsonxf",
        version: "1.1.1",
        bin: "jsonxf",
        runs: &[
            &["-i", ".more/data.json"],
            &["-m", "-i", ".more/data.json", "-o", "min.json"],
            &["-t", "____", "-s", "[1,{\"a\":[]}]"],
            &["-i", "missing.json"],
        ],
        ..LATER
    },
    Program {
        package: "lowcharts",
        version: "0.5.8",
        bin: "lowcharts",
        runs: &[
            &["--color", "no", "hist", "--intervals", "4", ".more/numbers.txt"],
            &["--color", "no", "plot", "--width", "24", "--height", "6", ".more/numbers.txt"],
            &["--color", "no", "matches", "--input", "text/a.txt", "the", "needle", "none"],
            &["--color", "yes", "common-terms", "--lines", "3"],
        ],
        ..LATER
    },
    Program {
        package: "pastel",
        version: "0.12.0",
        bin: "pastel",
        runs: &[
            &["mix", "red", "steelblue", "#0f0"],
            &["gradient", "-n", "5", "-s", "LCh", "yellow", "navy"],
            &["format", "hsl", "rebeccapurple", "rgb(10, 200, 30)"],
            &["-f", "color", "hotpink"],
            &["sort-by", "hue", "red", "blue", "lime"],
            &["format", "hex", "no-color"],
        ],
        ..LATER
    },
    Program {
        package: "yj",
        version: "1.2.4",
        bin: "yj",
        runs: &[
            &[".more/data.yaml"],
            &["-c", "-o", "data.json", ".more/data.yaml"],
            &["-y", ".more/data.json"],
            &["-j"],
            &["missing.yaml"],
        ],
        ..LATER
    },
];
