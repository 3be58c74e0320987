//! The entries of a row by falling objective.

use std::cell::RefCell;

use crate::rows::Row;

thread_local! {
    static ORDER: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Hands over the entries of a row by falling w, ties by number: those of the sweep, or sorted here.
pub(super) fn falling<T>(row: Row<'_>, read: impl FnOnce(&[u32]) -> T) -> T {
    if let Some(order) = row.order {
        return read(order);
    }
    ORDER.with_borrow_mut(|order| {
        order.clear();
        order.extend(0..row.w.len() as u32);
        order.sort_unstable_by(|&i, &j| {
            row.w[j as usize].total_cmp(&row.w[i as usize]).then(i.cmp(&j))
        });
        read(order)
    })
}
