//! A bit writer for hand-made headers, with emulation prevention.

/// Bits of an RBSP.
#[derive(Clone, Default)]
pub(crate) struct Bits(Vec<bool>);

impl Bits {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// u(n).
    pub(crate) fn u(&mut self, n: u32, value: u64) -> &mut Self {
        assert!(n == 64 || value >> n == 0, "{value} has more than {n} bits");
        self.0.extend((0..n).rev().map(|i| value >> i & 1 == 1));
        self
    }

    /// u(1).
    pub(crate) fn flag(&mut self, flag: bool) -> &mut Self {
        self.0.push(flag);
        self
    }

    /// Several u(1).
    pub(crate) fn flags(&mut self, flags: &[u8]) -> &mut Self {
        self.0.extend(flags.iter().map(|&flag| flag == 1));
        self
    }

    /// ue(v).
    pub(crate) fn ue(&mut self, value: u64) -> &mut Self {
        let bits = (value + 1).ilog2();
        self.u(bits, 0).u(bits + 1, value + 1)
    }

    /// Several ue(v).
    pub(crate) fn ues(&mut self, values: &[u64]) -> &mut Self {
        for &value in values {
            self.ue(value);
        }
        self
    }

    /// se(v).
    pub(crate) fn se(&mut self, value: i64) -> &mut Self {
        let magnitude = value.unsigned_abs();
        self.ue(if value > 0 { 2 * magnitude - 1 } else { 2 * magnitude })
    }

    /// A one and zeros up to a byte border: `rbsp_trailing_bits()`, `byte_alignment()`.
    pub(crate) fn stop(&mut self) -> &mut Self {
        self.0.push(true);
        while !self.0.len().is_multiple_of(8) {
            self.0.push(false);
        }
        self
    }

    /// Ones up to a byte border: `cabac_alignment_one_bit`.
    pub(crate) fn ones(&mut self) -> &mut Self {
        while !self.0.len().is_multiple_of(8) {
            self.0.push(true);
        }
        self
    }

    /// The bytes before emulation prevention; a started byte is filled with zeros.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0
            .chunks(8)
            .map(|byte| byte.iter().enumerate().map(|(i, &bit)| u8::from(bit) << (7 - i)).sum())
            .collect()
    }

    /// A NAL unit: `header`, then these bits, then `data`, all escaped.
    pub(crate) fn nal(&self, header: &[u8], data: &[u8]) -> Vec<u8> {
        let payload = [self.bytes().as_slice(), data].concat();
        [header, &escape(&payload)].concat()
    }

    /// Escaped length of the first `bits` bits, rounded up to a byte; an emulation prevention byte
    /// behind the last byte does not count.
    pub(crate) fn escaped_len(&self, bits: usize) -> usize {
        escape(&self.bytes()[..bits.div_ceil(8)]).len()
    }
}

/// Inserts emulation prevention bytes.
pub(crate) fn escape(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(payload.len());
    let mut zeros = 0;
    for &byte in payload {
        if zeros == 2 && byte <= 3 {
            out.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        out.push(byte);
    }
    out
}

/// NAL units behind four-byte lengths.
pub(crate) fn unit(nals: &[&[u8]]) -> Vec<u8> {
    nals.iter()
        .flat_map(|nal| {
            let length = u32::try_from(nal.len()).expect("short");
            [&length.to_be_bytes()[..], nal].concat()
        })
        .collect()
}

/// An `avcC` payload with four-byte NAL lengths.
pub(crate) fn avcc(sps: &[&[u8]], pps: &[&[u8]]) -> Vec<u8> {
    let mut record = vec![1, 100, 0, 30, 0xff, 0xe0 | count(sps)];
    push_sets(&mut record, sps);
    record.push(count(pps));
    push_sets(&mut record, pps);
    record
}

/// An `hvcC` payload with four-byte NAL lengths.
pub(crate) fn hvcc(sps: &[&[u8]], pps: &[&[u8]]) -> Vec<u8> {
    let mut record = vec![0; 21];
    record[0] = 1;
    record.extend([0xff, 2]);
    for (kind, sets) in [(33, sps), (34, pps)] {
        record.extend([0x80 | kind, 0, count(sets)]);
        push_sets(&mut record, sets);
    }
    record
}

fn count(sets: &[&[u8]]) -> u8 {
    sets.len().try_into().expect("few")
}

fn push_sets(record: &mut Vec<u8>, sets: &[&[u8]]) {
    for set in sets {
        record.extend(u16::try_from(set.len()).expect("short").to_be_bytes());
        record.extend(*set);
    }
}
