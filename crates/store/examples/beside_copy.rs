//! How long encrypting and packaging take from and to a server on this machine, beside a bare parallel copy of
//! the same objects by the same client:
//!
//! ```text
//! cargo run --release -p lanelock-store --features cloud --example beside_copy -- movie.mp4 [TURNS]
//! ```
//! The copy asks for ranges and sends objects and parts of the same sizes, as many at once. The turns of both
//! alternate; figures are medians.
#![allow(clippy::print_stdout, reason = "it prints figures")]

use std::{
    env,
    error::Error,
    io::{BufRead as _, BufReader, Read as _},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use lanelock_packager::{
    EncryptOptions, KeyMap, Quiet, Scheme, encrypt,
    package::{Package, PackageOptions},
};
use lanelock_store::{Location, Settings, Store};
use lanelock_testkit::object_server::ObjectServer;
use object_store::{
    ObjectStore, ObjectStoreExt as _, aws::AmazonS3, aws::AmazonS3Builder,
    multipart::MultipartStore, path::Path,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What the store sends at once, and in which parts.
const AT_ONCE: usize = 8;
const PART: u64 = 8 << 20;

fn main() -> Outcome<()> {
    let args: Vec<String> = env::args().collect();
    let file = args.get(1).ok_or("name an MP4 file, clear, of some hundred MB")?;
    if args.get(2).is_some_and(|word| word == "serve") {
        return serve(file);
    }
    let turns = args.get(2).map_or(Ok(5), |turns| turns.parse())?;
    let mut server = Command::new(env::current_exe()?)
        .args([file, "serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut url = String::new();
    BufReader::new(server.stdout.take().ok_or("no pipe")?).read_line(&mut url)?;
    let done = measure(url.trim(), turns);
    server.kill()?;
    server.wait()?;
    done
}

/// A process of its own, until it is killed or the other one ends.
fn serve(file: &str) -> Outcome<()> {
    let server = ObjectServer::new();
    server.store("bucket/in.mp4", std::fs::read(file)?);
    println!("{}", server.url());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn measure(url: &str, turns: usize) -> Outcome<()> {
    let variables = [
        ("AWS_ENDPOINT_URL", url),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "testing"),
        ("AWS_SECRET_ACCESS_KEY", "testing"),
    ];
    let named = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let store = Store::new(Settings::new().with_variables(named.into()))?;
    let mut s3 = AmazonS3Builder::new().with_bucket_name("bucket");
    for (name, value) in variables {
        s3 = s3.with_config(name.to_lowercase().parse()?, value);
    }
    let s3 = Arc::new(s3.build()?);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for case in [Case::Encrypt, Case::Package] {
        let (mut ours, mut copies) = (Vec::new(), Vec::new());
        let mut sizes = Vec::new();
        for turn in 0..=turns {
            let start = Instant::now();
            case.run(&store)?;
            let own = start.elapsed();
            if sizes.is_empty() {
                sizes = runtime.block_on(sizes_below(&s3))?;
            }
            runtime.block_on(clear(&s3))?;
            let start = Instant::now();
            runtime.block_on(copy(&s3, &sizes))?;
            let copied = start.elapsed();
            runtime.block_on(clear(&s3))?;
            // The first turn is for warming up.
            if turn > 0 {
                ours.push(own);
                copies.push(copied);
            }
        }
        let (own, copied) = (median(&mut ours), median(&mut copies));
        let total: u64 = sizes.iter().map(|(_, size)| size).sum();
        println!(
            "{case:?}: {} objects, {:.1} MB: {:.0} ms beside {:.0} ms for the copy: {:.2} x",
            sizes.len(),
            Duration::from_micros(total).as_secs_f64(),
            own.as_secs_f64() * 1e3,
            copied.as_secs_f64() * 1e3,
            own.as_secs_f64() / copied.as_secs_f64(),
        );
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[derive(Clone, Copy, Debug)]
enum Case {
    Encrypt,
    Package,
}

impl Case {
    fn run(self, store: &Store) -> Outcome<()> {
        let mut keys = KeyMap::new();
        keys.parse_insert(
            "video=00112233445566778899aabbccddeeff:0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        )?;
        keys.parse_insert(
            "audio=a0112233445566778899aabbccddeeff:af1e2d3c4b5a69788796a5b4c3d2e1f0",
        )?;
        let options = EncryptOptions::new(Scheme::Cbcs, keys);
        let source = store.source(&Location::parse("s3://bucket/in.mp4")?)?;
        match self {
            Self::Encrypt => {
                let sink = store.sink(&Location::parse("s3://bucket/out/encrypted.mp4")?)?;
                encrypt(&source, Box::new(sink), &options, &Quiet)?;
            }
            Self::Package => {
                let options = PackageOptions::new().with_protection(Some(options));
                let folder = store.folder(&Location::parse("s3://bucket/out")?)?;
                let package = Package::new(vec![Arc::new(source)], options, &Quiet)?;
                package.write(Box::new(folder), &Quiet)?;
            }
        }
        Ok(())
    }
}

async fn sizes_below(s3: &AmazonS3) -> Outcome<Vec<(Path, u64)>> {
    let objects = s3.list(Some(&Path::from("out")));
    Ok(objects.map_ok(|object| (object.location, object.size)).try_collect().await?)
}

async fn clear(s3: &AmazonS3) -> Outcome<()> {
    for (path, _) in sizes_below(s3).await? {
        s3.delete(&path).await?;
    }
    Ok(())
}

/// Objects of these sizes from ranges of the input, one behind the other.
async fn copy(s3: &Arc<AmazonS3>, sizes: &[(Path, u64)]) -> Outcome<()> {
    let input = Path::from("in.mp4");
    let len = s3.head(&input).await?.size;
    let mut at = 0;
    let mut jobs = Vec::new();
    for (path, size) in sizes {
        // What was added goes beyond the end.
        let start = at.min(len.saturating_sub(*size));
        jobs.push((path.clone(), start..start + (*size).min(len)));
        at += size;
    }
    let copied = stream::iter(jobs).map(|(path, range)| {
        let (s3, input) = (s3.clone(), input.clone());
        tokio::spawn(async move {
            if range.end - range.start <= PART {
                let bytes = s3.get_range(&input, range).await?;
                s3.put(&path, bytes.into()).await?;
                return Ok(());
            }
            let id = s3.create_multipart(&path).await?;
            let count = (range.end - range.start).div_ceil(PART);
            let parts = stream::iter(0..count).map(|number| {
                let (s3, input, path, id) = (s3.clone(), input.clone(), path.clone(), id.clone());
                let start = range.start + number * PART;
                let part = start..range.end.min(start + PART);
                let index = usize::try_from(number).unwrap_or(usize::MAX);
                async move {
                    let bytes = s3.get_range(&input, part).await?;
                    s3.put_part(&path, &id, index, bytes.into()).await
                }
            });
            let parts = parts.buffered(AT_ONCE).try_collect().await?;
            s3.complete_multipart(&path, &id, parts).await?;
            Ok::<_, object_store::Error>(())
        })
    });
    let copied: Vec<_> = copied.buffer_unordered(AT_ONCE).collect().await;
    copied.into_iter().try_for_each(|done| Ok(done??))
}
