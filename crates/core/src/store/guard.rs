//! Mapped files that may be cut in place, or whose disk fails, while somebody reads them.
//!
//! The kernel then sends SIGBUS, which ends the process. Here the signal's handler puts zeros in place of what is
//! gone, and the mapping is known to be broken: who reads it asks [`Guarded::is_whole`] afterwards, and throws away
//! what came of zeros. As long as files are whole this costs nothing. A fault that belongs to no mapping of ours goes
//! to the handler that was there before. Windows refuses to cut a mapped file, so there is no handler.

#![allow(unsafe_code)]

use memmap2::Mmap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// A mapping that the handler knows.
#[derive(Debug)]
pub struct Guarded {
    slot: &'static Slot,
    map: Mmap,
}

impl Guarded {
    /// Makes a mapping known to the handler.
    #[must_use]
    pub fn new(map: Mmap) -> Guarded {
        signal::install();
        let slot = free_slot();
        slot.broken.store(false, Ordering::SeqCst);
        slot.bytes.store(map.len(), Ordering::SeqCst);
        slot.start.store(map.as_ptr() as usize, Ordering::SeqCst);
        Guarded { slot, map }
    }

    /// Whether everything that was read of it so far was there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.slot.broken.load(Ordering::SeqCst)
    }
}

impl AsRef<[u8]> for Guarded {
    fn as_ref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // Forgotten before the memory is given back, which happens when `map` is dropped.
        self.slot.start.store(0, Ordering::SeqCst);
        self.slot.taken.store(false, Ordering::SeqCst);
    }
}

/// A place for one mapping. Slots are used again but never freed: the handler may look at them at any time.
#[derive(Debug, Default)]
struct Slot {
    taken: AtomicBool,
    /// Address; 0 while there is no mapping.
    start: AtomicUsize,
    bytes: AtomicUsize,
    broken: AtomicBool,
    next: AtomicPtr<Slot>,
}

static FIRST: AtomicPtr<Slot> = AtomicPtr::new(std::ptr::null_mut());

/// All slots. Takes no lock and no memory, so that a signal's handler may ask.
fn slots() -> impl Iterator<Item = &'static Slot> {
    // SAFETY: each pointer is null, or comes from a slot that `free_slot` has leaked.
    let at = |place: &AtomicPtr<Slot>| unsafe { place.load(Ordering::SeqCst).as_ref() };
    std::iter::successors(at(&FIRST), move |slot| at(&slot.next))
}

fn free_slot() -> &'static Slot {
    if let Some(free) = slots().find(|slot| !slot.taken.swap(true, Ordering::SeqCst)) {
        return free;
    }
    let slot = Box::leak(Box::<Slot>::default());
    slot.taken.store(true, Ordering::SeqCst);
    let added = std::ptr::from_mut(slot);
    let mut first = FIRST.load(Ordering::SeqCst);
    loop {
        slot.next.store(first, Ordering::SeqCst);
        match FIRST.compare_exchange(first, added, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) => return slot,
            Err(other) => first = other,
        }
    }
}

#[cfg(not(unix))]
mod signal {
    pub fn install() {}
}

#[cfg(unix)]
mod signal {
    use super::slots;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);
    /// What handled the signal before; leaked, so that the handler may read it at any time.
    static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());
    static INSTALLING: Mutex<()> = Mutex::new(());

    /// Makes `handle` the first to hear of SIGBUS. Called for each mapping, as others (Python's faulthandler) may
    /// have put themselves before it.
    pub fn install() {
        let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the structures are filled before they are read, and the old one is kept for good.
        unsafe {
            let mut now = MaybeUninit::<libc::sigaction>::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), now.as_mut_ptr()) != 0 {
                return;
            }
            let now = now.assume_init();
            if now.sa_sigaction == handler() {
                return;
            }
            PAGE_BYTES.store(libc::sysconf(libc::_SC_PAGESIZE).max(1) as usize, Ordering::SeqCst);
            BEFORE.store(Box::leak(Box::new(now)), Ordering::SeqCst);
            let mut ours = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            ours.sa_sigaction = handler();
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut ours.sa_mask);
            libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut());
        }
    }

    fn handler() -> libc::sighandler_t {
        handle as extern "C" fn(_, _, _) as libc::sighandler_t
    }

    /// Only what a handler may do: atomics, mmap, sigaction, raise.
    extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
        // SAFETY: the kernel gives a valid `info`. The memory that is mapped over lies within a mapping of ours, which
        // stays until nobody can read it: its reader waits in this handler.
        unsafe {
            let fault = (*info).si_code > 0;
            let at = if fault { (*info).si_addr() as usize } else { 0 };
            if at != 0 && mend(at) {
                return;
            }
            // Not ours: the one before hears of it when the instruction runs again, or now if somebody sent it.
            libc::sigaction(signal, BEFORE.load(Ordering::SeqCst), ptr::null_mut());
            if !fault {
                libc::raise(signal);
            }
        }
    }

    /// Zeros from the page of an address to the end of its mapping. False when it is in none.
    unsafe fn mend(at: usize) -> bool {
        let found = slots().find_map(|slot| {
            let start = slot.start.load(Ordering::SeqCst);
            let end = start.checked_add(slot.bytes.load(Ordering::SeqCst))?;
            (start != 0 && (start..end).contains(&at)).then_some((slot, end))
        });
        let Some((slot, end)) = found else {
            return false;
        };
        slot.broken.store(true, Ordering::SeqCst);
        let page = at - at % PAGE_BYTES.load(Ordering::SeqCst);
        // SAFETY: see `handle`.
        let zeros = unsafe {
            libc::mmap(
                page as *mut libc::c_void,
                end - page,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        zeros != libc::MAP_FAILED
    }
}
