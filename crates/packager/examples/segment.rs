//! What a server does that protects on demand: it plans a movie once, and makes the segment that a
//! client asks for, in memory:
//!
//!     cargo run -p lanelock-packager --example segment [FILE] [NUMBER]
#![expect(clippy::print_stdout, reason = "an example")]

use std::{env, error::Error, path::Path, sync::Arc};

use lanelock_packager::{
    EncryptOptions, KeyMap, MoviePlan, PlanOptions, Protection, Quiet, Scheme, io::FileSource,
};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../media/demo.mp4");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| DEMO.into());
    let number: usize = arguments.next().map_or(Ok(2), |number| number.parse())?;

    // The plan has read metadata alone. It can be kept, cloned, and shared by threads.
    let source = Arc::new(FileSource::open(Path::new(&path))?);
    let plan = MoviePlan::new(source, &PlanOptions::new(), &Quiet)?;
    for (number, segment) in plan.segments().iter().enumerate() {
        println!("segment {number}: from {:?}, {} bytes", segment.start, segment.bytes);
    }

    // Keys and IVs for one audience. All IVs follow from here, whichever segments are made.
    let mut keys = KeyMap::new();
    keys.parse_insert("00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0")?;
    let protection = Protection::new(&plan, EncryptOptions::new(Scheme::Cbcs, keys), &Quiet)?;
    println!("initialization segment: {} bytes", protection.init().len());

    if number >= plan.len() {
        return Err(format!("the movie has segments 0 to {}", plan.len() - 1).into());
    }
    println!("segment {number}, encrypted: {} bytes", protection.segment(number)?.len());
    Ok(())
}
