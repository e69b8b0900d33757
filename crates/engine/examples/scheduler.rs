//! Jobs that come one by one, from a network for instance, and leave encrypted: the scheduler collects
//! them until the lanes are full.
//!
//!     cargo run -p lanelock --example scheduler
#![expect(clippy::print_stdout, reason = "an example")]

use std::iter;

use lanelock::{
    Aes128, Error, Pattern,
    lanes::{Completed, Order, OwnedJob, Scheduler},
};

fn main() -> Result<(), Error> {
    let key = Aes128::new(&[7; 16])?;
    // `Order::Finished` would let short jobs overtake long ones.
    let mut scheduler = Scheduler::new(Order::Submitted);

    for number in 0..200_usize {
        let buffer = vec![0; 500 + number % 7 * 400];
        // The tag comes back with the result: whatever tells the caller which job it was.
        let job = OwnedJob::new(&key, [9; 16], Pattern::ALL, buffer, number);
        if let Some(done) = scheduler.submit(job)? {
            deliver(&done);
        }
    }

    // No more will come: complete what waits for full lanes.
    println!("{} jobs are not complete yet", scheduler.waiting());
    scheduler.flush()?;
    iter::from_fn(|| scheduler.completed()).for_each(|done| deliver(&done));
    Ok(())
}

fn deliver(done: &Completed<Vec<u8>, usize>) {
    println!("job {:3}: {:4} bytes", done.tag, done.data.len());
}
