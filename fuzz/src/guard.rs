//! What an input may not do: take too much memory or too much time.

// A global allocator cannot be written without `unsafe`; this one counts and gives up.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

/// Live memory of the whole process.
pub const MOST_BYTES: usize = 1 << 30;
/// Time for one input.
pub const PATIENCE: Duration = Duration::from_secs(10);

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static GIVING_UP: AtomicBool = AtomicBool::new(false);
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
static CURRENT: Mutex<(&'static str, Vec<u8>)> = Mutex::new(("", Vec::new()));

fn count(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
    if live > MOST_BYTES && !GIVING_UP.swap(true, Relaxed) {
        give_up(&format!("more than {MOST_BYTES} bytes of memory"));
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most memory that was ever live.
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// Says which input comes next.
pub fn begin(reader: &'static str, input: &[u8]) {
    let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    current.0 = reader;
    current.1.clear();
    current.1.extend_from_slice(input);
    EXECUTIONS.fetch_add(1, Relaxed);
}

/// Watches from another thread, once for all.
pub fn watch() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        thread::spawn(|| {
            let mut seen = u64::MAX;
            loop {
                thread::sleep(PATIENCE);
                let now = EXECUTIONS.load(Relaxed);
                if now == seen && !IDLE.load(Relaxed) {
                    give_up(&format!("no end within {PATIENCE:?}"));
                }
                seen = now;
            }
        });
    });
}

static IDLE: AtomicBool = AtomicBool::new(true);

/// Says whether inputs are being read, so that waiting for something else is no failure.
pub fn idle(idle: bool) {
    IDLE.store(idle, Relaxed);
}

/// Saves the current input and ends the process.
fn give_up(why: &str) -> ! {
    GIVING_UP.store(true, Relaxed);
    eprintln!("{}", save(why));
    std::process::abort();
}

/// Saves the current input; returns what to say about it.
pub fn save(why: &str) -> String {
    let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    let (reader, input) = (&current.0, &current.1);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("failures");
    let sum = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("{reader}-{sum:016x}"));
    let saved = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input));
    let (path, length) = (path.display(), input.len());
    let place = match saved {
        Ok(()) => format!(
            "replay: cargo run --release -p robust-mdp-fuzz -- --reader {reader} --replay {path}"
        ),
        Err(error) => format!("{path} could not be written ({error}): {input:?}"),
    };
    format!("{reader}: {why} on an input of {length} bytes\n{place}")
}
