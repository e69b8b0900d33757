//! The arithmetic of ECDSA modulo the order of a group.

use lanelock_isa::{LimbKernel, Limbs};
use zeroize::Zeroize;

use crate::field::{Element, Modulus};

/// Which of both computations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    /// r = x modulo n, and s = (e + r d) / k.
    Sign,
    /// e / s and r / s.
    Verify,
}

/// The numbers of one signature, all below 2 n.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalars<N> {
    /// The nonce k, or s; not 0.
    pub(crate) divisor: N,
    /// x of the point of the nonce, or r.
    pub(crate) x: N,
    /// The number e of the digest.
    pub(crate) digest: N,
    /// The private key d.
    pub(crate) key: N,
    /// The two results, below n.
    pub(crate) results: [N; 2],
}

impl<N: Zeroize> Zeroize for Scalars<N> {
    fn zeroize(&mut self) {
        self.divisor.zeroize();
        self.key.zeroize();
    }
}

/// All of them, as many at once as there are lanes.
pub(crate) struct Divide<'a, M, const D: usize> {
    pub(crate) order: M,
    pub(crate) side: Side,
    pub(crate) jobs: &'a mut [Scalars<[u64; D]>],
}

impl<M: Modulus<D>, const D: usize> LimbKernel for Divide<'_, M, D> {
    type Out = ();

    #[inline(always)]
    fn run<S: Limbs>(self, s: S) {
        for jobs in self.jobs.chunks_mut(S::LANES) {
            let count = jobs.len();
            let divisor = Element::<S, M, D>::gather(s, count, |lane| &jobs[lane].divisor);
            let inverse = divisor.into_form().inverse();
            let x = Element::gather(s, count, |lane| &jobs[lane].x).subtract_once();
            let digest = Element::gather(s, count, |lane| &jobs[lane].digest);
            let (first, dividend) = match self.side {
                Side::Sign => {
                    let key = Element::gather(s, count, |lane| &jobs[lane].key).into_form();
                    (x, (x.multiply(&key).sum() + digest.sum()).digits())
                }
                Side::Verify => (digest.multiply(&inverse).subtract_once(), x),
            };
            // Of a plain number and one in Montgomery's form the product is plain.
            let second = dividend.multiply(&inverse).subtract_once();
            first.scatter(|lane, number| {
                jobs.get_mut(lane).into_iter().for_each(|job| job.results[0] = number);
            });
            second.scatter(|lane, number| {
                jobs.get_mut(lane).into_iter().for_each(|job| job.results[1] = number);
            });
        }
    }
}
