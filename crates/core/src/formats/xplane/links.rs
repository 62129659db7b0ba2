//! Arrows from the event that hands work over to the event that takes it up.

use super::pieces::Link;
use rustc_hash::FxHashMap;

/// Arrows by the type and id that both ends carry.
#[derive(Debug, Default)]
pub struct Links {
    flows: FxHashMap<(u64, u64), (u32, Ends)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ends {
    start: bool,
    end: bool,
}

impl Links {
    /// Number of the arrow of this end: dense, in the order in which arrows first occur.
    pub fn flow(&mut self, link: &Link) -> i64 {
        let next = self.flows.len() as u32;
        let (flow, ends) = self.flows.entry((link.kind, link.id)).or_insert((next, Ends::default()));
        ends.start |= link.produces;
        ends.end |= !link.produces;
        i64::from(*flow)
    }

    /// Number of arrows of which only one end was recorded.
    pub fn one_sided(&self) -> u64 {
        self.flows.values().filter(|(_, ends)| ends.start != ends.end).count() as u64
    }
}

/// What an arrow is called: the part of the runtime that hands work over (tsl's ContextType).
pub fn name(kind: u64) -> &'static str {
    const NAMES: [&str; 18] = [
        "generic",
        "legacy",
        "tf_executor",
        "tfrt_executor",
        "shared_batch_scheduler",
        "pjrt",
        "adaptive_shared_batch_scheduler",
        "tfrt_tpu_runtime",
        "tpu_embedding_engine",
        "gpu_launch",
        "batcher",
        "tpu_stream",
        "tpu_launch",
        "pathways_executor",
        "pjrt_library_call",
        "threadpool_event",
        "jax_serving_executor",
        "sparse_core_offload",
    ];
    usize::try_from(kind).ok().and_then(|kind| NAMES.get(kind)).copied().unwrap_or("unknown")
}
