//! What operations have in common, whatever they compute.

use alloc::vec::Vec;
use core::fmt;

use crate::{Error, Random};

/// One operation, which others of its class can join in the lanes.
pub trait Operation: Sized {
    /// What it gives.
    type Output;
    /// What operations that share lanes have in common: algorithm, size, level.
    type Class: Copy + Eq + fmt::Debug;

    /// The class of this operation.
    fn class(&self) -> Self::Class;

    /// How many operations of a class one pass of the kernel takes.
    fn lanes(class: Self::Class) -> usize;

    /// Computes operations of one class side by side; result *i* is that of operation *i*. An error in one leaves the
    /// others undisturbed.
    fn run(operations: &[&Self], random: &mut dyn Random) -> Vec<Result<Self::Output, Error>>;
}

/// Computes operations of any classes; result *i* is that of operation *i*.
pub fn run_batch<O: Operation>(
    operations: &[O],
    random: &mut dyn Random,
) -> Vec<Result<O::Output, Error>> {
    let mut results: Vec<Option<Result<O::Output, Error>>> =
        operations.iter().map(|_| None).collect();
    let mut left: Vec<usize> = (0..operations.len()).collect();
    while let Some(&first) = left.first() {
        let class = operations[first].class();
        let (now, others) = left.into_iter().partition(|&at| operations[at].class() == class);
        left = others;
        let of_class: Vec<&O> = now.iter().map(|&at: &usize| &operations[at]).collect();
        for (at, result) in now.iter().zip(O::run(&of_class, random)) {
            results[*at] = Some(result);
        }
    }
    results.into_iter().flatten().collect()
}
