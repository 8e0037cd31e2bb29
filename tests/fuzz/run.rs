//! One entry: known inputs and failures once, then mutated inputs for a time.

use crate::entries::Entry;
use crate::known::Known;
use crate::mutate::mutated;
use cpu_time::ProcessTime;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest processor time of one input.
const LIMIT: Duration = Duration::from_secs(10);
/// That of an input that is made in code, which is larger.
const KNOWN_LIMIT: Duration = Duration::from_secs(30);

pub(crate) enum Outcome {
    /// What was tried, in one line.
    Passed(String),
    /// What failed, and where its input is.
    Failed(String),
}

/// Stack of the thread that tries inputs. The page has 1 MB, and code without optimization takes
/// more.
const STACK_BYTES: usize = 4 << 20;

/// The input that is tried.
struct Present {
    since: ProcessTime,
    trial: Trial,
    what: String,
}

/// An input that is made in code, with what must come of it, or bytes.
#[derive(Clone)]
enum Trial {
    Known(&'static Known),
    Bytes(Arc<Vec<u8>>),
}

impl Trial {
    fn run(&self, entry: &Entry) {
        match self {
            Self::Known(known) => (known.check)(),
            Self::Bytes(input) => (entry.run)(input),
        }
    }

    fn limit(&self) -> Duration {
        match self {
            Self::Known(_) => KNOWN_LIMIT,
            Self::Bytes(_) => LIMIT,
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Known(_) => &[],
            Self::Bytes(input) => input,
        }
    }
}

/// Tries all known inputs of an entry, then mutated ones for this time, from this seed on.
pub(crate) fn run(entry: &'static Entry, time: Duration, seed: u64) -> Outcome {
    let tries = std::thread::Builder::new().stack_size(STACK_BYTES);
    let tries = tries.spawn(move || tried(entry, time, seed));
    let outcome = tries.map(std::thread::JoinHandle::join);
    match outcome {
        Ok(Ok(outcome)) => outcome,
        _ => Outcome::Failed(format!("{}: its thread has failed", entry.name)),
    }
}

fn tried(entry: &'static Entry, time: Duration, seed: u64) -> Outcome {
    let present: Arc<Mutex<Option<Present>>> = Arc::default();
    watch(entry, Arc::clone(&present));
    let current = folder().join("current");
    let _ = std::fs::create_dir_all(folder());
    let corpus = (entry.corpus)();
    let made = entry.known.iter().map(|known| {
        let what = format!("known input \"{}\"", known.name);
        (what, Trial::Known(known))
    });
    let found = found(entry).into_iter();
    let found = found.map(|(file, input)| (file, Trial::Bytes(Arc::new(input))));
    let mut known = made.chain(found);
    let (mut count, mut mutated_count) = (0_u64, 0);
    let mut worst = (Duration::ZERO, 0, String::new());
    // The time is for mutated inputs, so it begins with the first of them.
    let mut began = None;
    loop {
        let (what, trial) = if let Some(known) = known.next() {
            known
        } else if mutated_count < entry.least
            || began.get_or_insert_with(Instant::now).elapsed() < time
        {
            let seed = seed + mutated_count;
            mutated_count += 1;
            let input = Arc::new(mutated(&corpus, seed));
            (format!("seed {seed}"), Trial::Bytes(input))
        } else {
            break;
        };
        // A stack overflow ends the process: then this file says where.
        let _ = std::fs::write(&current, format!("{} {what}\n", entry.name));
        let since = ProcessTime::now();
        let trying = Present {
            since,
            trial: trial.clone(),
            what: what.clone(),
        };
        keep(&present, Some(trying));
        let result = quietly(|| trial.run(entry));
        let taken = since.elapsed();
        let tried = keep(&present, None);
        if let (Err(message), Some(tried)) = (result, tried) {
            return Outcome::Failed(failure(entry, &tried, &message));
        }
        worst = worst.max((taken, trial.bytes().len(), what));
        count += 1;
    }
    let (time, bytes, what) = worst;
    Outcome::Passed(format!(
        "{:<9} {count:>8} inputs, {} of them known; the slowest took {:.0} ms: {what}, {bytes} bytes",
        entry.name,
        count - mutated_count,
        time.as_secs_f64() * 1e3
    ))
}

fn keep(present: &Mutex<Option<Present>>, now: Option<Present>) -> Option<Present> {
    std::mem::replace(&mut lock(present), now)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where failures are stored.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz")
}

/// Ends the process when an input takes too long: a thread cannot be ended.
fn watch(entry: &'static Entry, present: Arc<Mutex<Option<Present>>>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let present = lock(&present);
            if let Some(tried) = present.as_ref()
                && tried.since.elapsed() > tried.trial.limit()
            {
                let message = format!("it takes longer than {} s", tried.trial.limit().as_secs());
                println!("{}", failure(entry, tried, &message));
                std::process::exit(1);
            }
        }
    });
}

/// Runs without printing a panic, and gives its message and place.
fn quietly(run: impl FnOnce()) -> Result<(), String> {
    let message: Arc<Mutex<String>> = Arc::default();
    let told = Arc::clone(&message);
    let hook = take_hook();
    set_hook(Box::new(move |panic| {
        *lock(&told) = panic.to_string();
    }));
    let result = catch_unwind(AssertUnwindSafe(run));
    set_hook(hook);
    result.map_err(|_| lock(&message).clone())
}

/// Stores the input, unless it is made in code, and says where.
fn failure(entry: &Entry, tried: &Present, message: &str) -> String {
    let Trial::Bytes(input) = &tried.trial else {
        return format!("{} FAILED at {}: {message}", entry.name, tried.what);
    };
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let path = folder().join(format!("{}-{:016x}", entry.name, hasher.finish()));
    let place = match std::fs::write(&path, input.as_slice()) {
        Ok(()) => path.display().to_string(),
        Err(problem) => format!("{} (not stored: {problem})", path.display()),
    };
    format!(
        "{} FAILED at {}: {message}\n  input: {place}",
        entry.name, tried.what
    )
}

/// Inputs that failed once.
fn found(entry: &Entry) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/found");
    let files = std::fs::read_dir(folder.join(entry.name))
        .into_iter()
        .flatten();
    let mut paths: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.sort();
    let read = |path: PathBuf| Some((path.display().to_string(), std::fs::read(&path).ok()?));
    paths.into_iter().filter_map(read).collect()
}

/// The most memory that the process has had; `None` where the system does not tell.
pub(crate) fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}
