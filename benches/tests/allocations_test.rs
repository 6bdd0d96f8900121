//! Reading a page allocates nothing per sample. Stands here because a counting allocator is unsafe code, which the
//! product's workspace forbids.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::HashSet;

use benches::{pages, parsers};

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: hands every call to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations during `run`, and what it found.
fn allocations(run: impl FnOnce() -> usize) -> (usize, usize) {
    let before = COUNT.get();
    let found = run();
    (COUNT.get() - before, found)
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| vec![1_u8].len()), (1, 1));
}

#[test]
fn no_allocation_in_either_page() {
    let wanted: HashSet<&str> = parsers::WANTED.into();
    for (page, all, some) in [(pages::recorded(), 553, 30), (pages::merged(), 37_051, 2010)] {
        assert_eq!(allocations(|| parsers::wire_all(&page)), (0, all));
        assert_eq!(allocations(|| parsers::wire_wanted(&page, &wanted)), (0, some));
    }
}
