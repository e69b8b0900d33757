//! The command line.

use std::path::{Path, PathBuf};

use crate::rows;

pub struct Options {
    /// Passes over all rows; the lowest median counts.
    pub passes: usize,
    /// Windows in each measurement.
    pub windows: usize,
    /// Which rows: words that a row must contain, separated by `+`; any of them. Empty: all.
    pub rows: Vec<String>,
    /// Which libraries; empty: all.
    pub peers: Vec<String>,
    /// Whether to build the workers, or to take those that are there.
    pub build: bool,
    /// Where the report goes.
    pub out: PathBuf,
    /// A file of results to make a report from, without measuring.
    pub from: Option<PathBuf>,
}

const HELP: &str = "\
Measures Lanelock beside its peers and the limit of the hardware, and writes a report.

    make lab ARGS=\"...\"            or: cargo run --manifest-path lab/Cargo.toml -- ...

    --quick              one pass of short windows: to see that everything works
    --rows R,R,...       only rows that contain one of these; words joined by + must all occur
                         (gcm+seal+16384, ctr)
    --peers P,P,...      only these libraries (openssl, ring, ...); Lanelock always takes part
    --passes N           passes over all rows (7); the lowest median counts
    --windows N          windows of 8 us in each measurement (401)
    --no-build           take the workers as they were built before
    --out DIR            where performance.md, performance.json and plots/ go: docs/ after a full
                         run, lab/target/report/ after one with any of the options above
    --from FILE          make the report from results of before, measure nothing
    --list               print the rows, measure nothing

LANELOCK_IPSEC_MB, LANELOCK_ISAL_CRYPTO and LANELOCK_CRYPTO_MB name folders where the newest ipsec-mb,
isa-l_crypto (2.25 or newer) and crypto_mb were built or installed. Without them lab/peers fetches and builds the releases that are pinned there;
where that fails, rows say \"best peer missing\".";

/// The options, or none if there is nothing more to do.
pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        passes: 7,
        windows: 401,
        rows: Vec::new(),
        peers: Vec::new(),
        build: true,
        out: PathBuf::new(),
        from: None,
    };
    let (mut out, mut full) = (None, true);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let list = |text: String| text.split(',').map(str::to_owned).collect();
        let number = |text: String| {
            text.parse().ok().filter(|n| *n > 0).ok_or(format!("{text} is not a number above 0"))
        };
        match &argument[..] {
            "--quick" => (options.passes, options.windows) = (1, 41),
            "--rows" => options.rows = list(value()?),
            "--peers" => options.peers = list(value()?),
            "--passes" => options.passes = number(value()?)?,
            "--windows" => options.windows = number(value()?)?,
            "--no-build" => options.build = false,
            "--out" => out = Some(PathBuf::from(value()?)),
            "--from" => options.from = Some(PathBuf::from(value()?)),
            "--list" => {
                for row in rows::all() {
                    println!("{}", row.row);
                }
                return Ok(None);
            }
            "--help" => {
                println!("{HELP}");
                return Ok(None);
            }
            _ => return Err(format!("{argument}: see --help")),
        }
        full &= matches!(&argument[..], "--out" | "--from" | "--no-build");
    }
    let lab = Path::new(env!("CARGO_MANIFEST_DIR"));
    let usual = if full { lab.join("../docs") } else { lab.join("target/report") };
    options.out = out.unwrap_or(usual);
    Ok(Some(options))
}
