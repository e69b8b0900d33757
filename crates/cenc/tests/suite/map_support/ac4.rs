//! Frames of AC-4 with a table of contents of any form: ETSI TS 103 190-1 and -2, written from the
//! tables of syntax there.

use super::bits::Bits;
use lanelock_testkit::Rng;

/// A frame, and the length of its table of contents.
pub(crate) fn frame(rng: &mut Rng) -> (Vec<u8>, usize) {
    let mut b = Bits::new();
    b.u(2, 2).u(10, rng.next_u64() & 0x3ff);
    if flag(rng, &mut b) {
        let wait = below(rng, 8);
        b.u(3, wait);
        if wait > 0 {
            b.u(2, 3); // br_code
        }
    }
    let high_rate = flag(rng, &mut b);
    let frame_rate = below(rng, 14);
    b.u(4, frame_rate).u(1, 1);
    let presentations = 1 + rng.below(4);
    b.flag(presentations == 1);
    if presentations > 1 {
        b.flag(true);
        variable(&mut b, 2, presentations as u64 - 2);
    }
    let base = if rng.one_in(3) { 1 + rng.below(80) } else { 0 };
    b.flag(base > 0);
    if base > 0 {
        b.u(5, (base as u64 - 1).min(31));
        if base >= 32 {
            variable(&mut b, 3, base as u64 - 32);
        }
    }
    if flag(rng, &mut b) {
        b.u(16, 0x1234);
        if flag(rng, &mut b) {
            b.u(64, 1 << 63).u(64, 1);
        }
    }
    // All presentations have one rate, since they may share groups.
    let factor = match frame_rate {
        0 | 1 | 7..=9 => *rng.pick(&[1, 2]),
        2..=4 => *rng.pick(&[1, 2, 4]),
        _ => 1,
    };
    let groups = 1 + below(rng, 10);
    let mut named = 0;
    for _ in 0..presentations {
        presentation(rng, &mut b, frame_rate, factor, groups, &mut named);
    }
    for _ in 0..named {
        group(rng, &mut b, factor, high_rate);
    }
    let sizes: Vec<usize> = (0..=rng.below(6)).map(|_| rng.below(3000)).collect();
    let present = sizes.len() > 1 || rng.one_in(2);
    if sizes.len() < 4 {
        b.u(2, sizes.len() as u64);
    } else {
        b.u(2, 0);
        variable(&mut b, 2, sizes.len() as u64 - 4);
    }
    if sizes.len() == 1 {
        b.flag(present);
    }
    if present {
        for &size in &sizes {
            b.flag(size >= 1024).u(10, size as u64 & 1023);
            if size >= 1024 {
                variable(&mut b, 2, size as u64 >> 10);
            }
        }
    }
    let mut frame = b.bytes();
    let contents = frame.len();
    let body = base + sizes.iter().sum::<usize>() + rng.below(3);
    frame.extend(rng.bytes(body));
    (frame, contents)
}

fn flag(rng: &mut Rng, b: &mut Bits) -> bool {
    let flag = rng.one_in(2);
    b.flag(flag);
    flag
}

fn below(rng: &mut Rng, n: u64) -> u64 {
    rng.next_u64() % n
}

/// The same value so many times.
fn fill(b: &mut Bits, count: u64, bits: u32, value: u64) {
    for _ in 0..count {
        b.u(bits, value);
    }
}

/// `variable_bits( n )`.
fn variable(b: &mut Bits, n: u32, value: u64) {
    // A code of k groups begins where those of k - 1 end.
    let (mut groups, mut first) = (1, 0);
    while value - first >= 1 << (n * groups) {
        first += 1 << (n * groups);
        groups += 1;
    }
    for group in (0..groups).rev() {
        b.u(n, (value - first) >> (n * group) & ((1 << n) - 1)).flag(group > 0);
    }
}

fn index(rng: &mut Rng, b: &mut Bits) {
    let index = below(rng, 12);
    b.u(2, index.min(3));
    if index >= 3 {
        variable(b, 2, index - 3);
    }
}

/// Groups are named in order, so that each is in a presentation.
fn name(rng: &mut Rng, b: &mut Bits, groups: u64, named: &mut u64) {
    let group = if *named < groups { *named } else { below(rng, groups) };
    *named = (*named).max(group + 1);
    b.u(3, group.min(7));
    if group >= 7 {
        variable(b, 2, group - 7);
    }
}

fn presentation(
    rng: &mut Rng,
    b: &mut Bits,
    frame_rate: u64,
    factor: u64,
    groups: u64,
    named: &mut u64,
) {
    let single = flag(rng, b);
    let config = below(rng, 9);
    if !single {
        b.u(3, config.min(7));
        if config >= 7 {
            variable(b, 2, config - 7);
        }
    }
    for _ in 0..rng.below(3) {
        b.flag(true); // presentation_version
    }
    b.flag(false);
    let mut streams = !single && config == 6;
    if !streams {
        b.u(3, 1);
        if flag(rng, b) {
            variable(b, 2, below(rng, 99));
        }
        if matches!(frame_rate, 0..=4 | 7..=9) {
            b.flag(factor > 1);
            if factor > 1 && matches!(frame_rate, 2..=4) {
                b.flag(factor == 4);
            }
        }
        match frame_rate {
            5..=9 if factor == 1 => {
                flag(rng, b);
            }
            10..=12 if flag(rng, b) => {
                flag(rng, b);
            }
            _ => {}
        }
        emdf(rng, b);
        if flag(rng, b) {
            flag(rng, b);
        }
        if single {
            name(rng, b, groups, named);
        } else {
            flag(rng, b); // b_multi_pid
            let count = match config {
                0..=2 => 2,
                3 | 4 => 3,
                5 => {
                    let count = 2 + below(rng, 6);
                    b.u(2, (count - 2).min(3));
                    if count >= 5 {
                        variable(b, 2, count - 5);
                    }
                    count
                }
                _ => {
                    let skipped = below(rng, 70);
                    b.u(5, skipped & 31).flag(skipped >= 32);
                    if skipped >= 32 {
                        variable(b, 2, skipped >> 5);
                    }
                    fill(b, skipped, 8, 0xa5);
                    0
                }
            };
            for _ in 0..count {
                name(rng, b, groups, named);
            }
        }
        flag(rng, b); // b_pre_virtualized
        streams = flag(rng, b);
        b.u(2, 0);
        index(rng, b);
    }
    if streams {
        let count = 1 + below(rng, 6);
        b.u(2, if count < 4 { count } else { 0 });
        if count >= 4 {
            variable(b, 2, count - 4);
        }
        for _ in 0..count {
            emdf(rng, b);
        }
    }
}

fn emdf(rng: &mut Rng, b: &mut Bits) {
    for (bits, more) in [(2, 2), (3, 3)] {
        let (most, value) = ((1 << bits) - 1, below(rng, 12));
        b.u(bits, value.min(most));
        if value >= most {
            variable(b, more, value - most);
        }
    }
    if flag(rng, b) {
        index(rng, b);
    }
    let lengths = [1 + rng.below(3), rng.below(4)];
    for length in lengths {
        b.u(2, length as u64);
    }
    for length in lengths {
        fill(b, [0, 1, 4, 16][length], 8, 0x5a);
    }
}

fn group(rng: &mut Rng, b: &mut Bits, factor: u64, high_rate: bool) {
    let (indexed, extended) = (flag(rng, b), flag(rng, b));
    let count = 1 + below(rng, 6);
    b.flag(count == 1);
    if count > 1 {
        b.u(2, (count - 2).min(3));
        if count >= 5 {
            variable(b, 2, count - 5);
        }
    }
    let channels = flag(rng, b);
    if !channels && flag(rng, b) {
        flag(rng, b);
        if indexed {
            index(rng, b);
        }
    }
    for _ in 0..count {
        let mut base = false;
        if channels {
            base = channel_mode(rng, b);
        } else if flag(rng, b) {
            joint_objects(rng, b);
        } else {
            objects(rng, b);
        }
        if high_rate && flag(rng, b) {
            flag(rng, b);
        }
        if flag(rng, b) {
            let rate = below(rng, 8);
            b.u(3, rate);
            if rate & 1 == 1 {
                b.u(2, 1);
            }
        }
        if base {
            flag(rng, b);
        }
        fill(b, factor, 1, 1);
        if indexed {
            index(rng, b);
            if extended {
                index(rng, b);
            }
        }
    }
    if flag(rng, b) {
        b.u(3, 1);
        if flag(rng, b) {
            if flag(rng, b) {
                b.u(17, 0x1_2345);
            } else {
                let bytes = below(rng, 64);
                b.u(6, bytes);
                fill(b, bytes, 8, 0x61);
            }
        }
    }
}

/// Table 78 of TS 103 190-2; whether `add_ch_base` follows.
fn channel_mode(rng: &mut Rng, b: &mut Bits) -> bool {
    let (bits, mode) = *rng.pick(&[
        (1, 0b0),
        (2, 0b10),
        (4, 0b1100),
        (4, 0b1101),
        (4, 0b1110),
        (7, 0b111_1000),
        (7, 0b111_1001),
        (7, 0b111_1010),
        (7, 0b111_1011),
        (7, 0b111_1100),
        (7, 0b111_1101),
        (8, 0b1111_1100),
        (8, 0b1111_1101),
        (9, 0b1_1111_1100),
        (9, 0b1_1111_1101),
        (9, 0b1_1111_1110),
    ]);
    b.u(bits, mode);
    if matches!(mode, 0b1111_1100 | 0b1111_1101 | 0b1_1111_1100 | 0b1_1111_1101) {
        b.u(4, below(rng, 16));
    }
    bits == 7 && mode >= 0b111_1010
}

fn joint_objects(rng: &mut Rng, b: &mut Bits) {
    flag(rng, b);
    let fixed = flag(rng, b);
    if !fixed {
        let signals = 1 + below(rng, 16);
        b.u(4, signals - 1);
        assignment(rng, b, signals);
    }
    if flag(rng, b) {
        if !flag(rng, b) {
            b.u(5, 7);
        }
        flag(rng, b);
        if flag(rng, b) {
            let bytes = 1 + below(rng, 9);
            b.u(1, u64::from(bytes > 1));
            if bytes > 1 {
                variable(b, 2, bytes - 2);
            }
            fill(b, bytes, 8, 0xc3);
        }
    }
    let signals = 1 + below(rng, 20);
    b.u(4, (signals - 1).min(15));
    if signals >= 16 {
        variable(b, 3, signals - 16);
    }
    assignment(rng, b, signals);
}

fn assignment(rng: &mut Rng, b: &mut Bits, signals: u64) {
    match rng.below(6) {
        0 => {
            b.u(1, 1);
        } // b_dyn_objects_only
        1 => {
            b.u(2, 0b01).u(3, 2);
        } // b_isf
        2 => {
            b.u(3, 0b001).u(3, 2);
        } // b_ch_assign_code
        3 => {
            b.u(5, 0b00011).u(17, 9);
        } // b_nonstd_bed_channel_assignment
        4 => {
            b.u(5, 0b00010).u(10, 9);
        }
        _ => {
            b.u(4, 0);
            let mut beds = 1;
            if signals > 1 {
                beds = 1 + below(rng, signals);
                b.u((signals - 1).ilog2() + 1, beds - 1);
            }
            fill(b, beds, 4, 3);
        }
    }
}

fn objects(rng: &mut Rng, b: &mut Bits) {
    b.u(3, 2);
    match rng.below(7) {
        0 => {
            b.u(1, 1).u(1, 0);
        } // b_dynamic_objects
        1 => {
            b.u(3, 0b010);
        } // b_bed_objects without a start
        2 => {
            b.u(4, 0b0111).u(3, 4);
        } // b_ch_assign_code
        3 => {
            b.u(5, 0b01101).u(17, 4);
        }
        4 => {
            b.u(5, 0b01100).u(10, 4);
        }
        5 => {
            b.u(3, 0b001);
            if flag(rng, b) {
                b.u(3, 5); // isf_config
            }
        }
        _ => {
            let bytes = below(rng, 16);
            b.u(3, 0).u(4, bytes);
            fill(b, bytes, 8, 0x11);
        }
    }
}
