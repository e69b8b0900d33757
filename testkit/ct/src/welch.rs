//! Whether two classes of times have the same mean: Welch's t-test, on all times and on those below several
//! quantiles, where what interrupts a measurement no longer drowns a difference.

/// Sums of one class, updated one time after the other (B. P. Welford, 1962).
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    /// The sum of the squares of differences from the mean.
    squares: f64,
}

impl Moments {
    fn add(&mut self, time: f64) {
        self.count += 1.0;
        let difference = time - self.mean;
        self.mean += difference / self.count;
        self.squares += difference * (time - self.mean);
    }

    /// The variance of the mean.
    fn variance_of_mean(&self) -> f64 {
        self.squares / (self.count - 1.0) / self.count
    }
}

/// How two classes differ.
#[derive(Clone, Copy, Default)]
pub struct Difference {
    /// Positive if class 0 takes longer.
    pub t: f64,
    /// The difference of the means as a share of the mean of class 1: 0.01 is one per cent.
    pub share: f64,
}

/// Two classes, of which only times up to a limit count.
#[derive(Clone, Copy)]
struct Cropped {
    limit: u64,
    classes: [Moments; 2],
}

impl Cropped {
    /// Nothing while there is too little of a class to say anything.
    fn difference(&self) -> Difference {
        let [a, b] = self.classes;
        if a.count < FEWEST || b.count < FEWEST {
            return Difference::default();
        }
        let difference = a.mean - b.mean;
        let variance = a.variance_of_mean() + b.variance_of_mean();
        // Times that are all the same, which happens where the clock is coarse, have no variance.
        let t = if variance > 0.0 {
            difference / variance.sqrt()
        } else if difference == 0.0 {
            0.0
        } else {
            f64::INFINITY.copysign(difference)
        };
        Difference { t, share: difference.abs() / b.mean }
    }
}

/// Below so many times a class has no t: the test takes means for normally distributed.
const FEWEST: f64 = 1000.0;

/// The test at all limits.
pub struct Welch(Vec<Cropped>);

impl Welch {
    /// A test whose limits are quantiles of `sample`, and none. As in dudect they are closer to one another
    /// the shorter the times are: the shortest have the least noise.
    pub fn new(mut sample: Vec<u64>) -> Self {
        sample.sort_unstable();
        let mut limits = vec![u64::MAX];
        for number in 1..=LIMITS {
            let share = 1.0 - 0.5_f64.powf(10.0 * f64::from(number) / f64::from(LIMITS));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "an index of a few thousand samples"
            )]
            let at = (share * sample.len() as f64) as usize;
            limits.extend(sample.get(at));
        }
        limits.sort_unstable();
        limits.dedup();
        Self(
            limits
                .into_iter()
                .map(|limit| Cropped { limit, classes: Default::default() })
                .collect(),
        )
    }

    /// Takes a time of class 0 or 1.
    pub fn add(&mut self, class: usize, time: u64) {
        // Limits rise: the first ones are those to be left out.
        let first = self.0.partition_point(|cropped| cropped.limit < time);
        for cropped in &mut self.0[first..] {
            #[expect(clippy::cast_precision_loss, reason = "times are below 2^53")]
            cropped.classes[class].add(time as f64);
        }
    }

    /// The largest difference, by its |t|.
    pub fn largest(&self) -> Difference {
        let differences = self.0.iter().map(Cropped::difference);
        differences.fold(Difference::default(), |a, b| if b.t.abs() > a.t.abs() { b } else { a })
    }
}

/// Limits, without the one that is none.
const LIMITS: u32 = 20;

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_precision_loss, reason = "small numbers")]

    use lanelock_testkit::Rng;

    use super::*;

    /// The textbook's t of two small classes, computed from sums of squares.
    fn naive(a: &[u64], b: &[u64]) -> f64 {
        let [(mean_a, var_a), (mean_b, var_b)] = [a, b].map(|times| {
            let count = times.len() as f64;
            let mean = times.iter().sum::<u64>() as f64 / count;
            let squares: f64 = times.iter().map(|&time| (time as f64 - mean).powi(2)).sum();
            (mean, squares / (count - 1.0) / count)
        });
        (mean_a - mean_b) / (var_a + var_b).sqrt()
    }

    fn classes(shift: u64) -> [Vec<u64>; 2] {
        let mut rng = Rng::new(1);
        [0, shift].map(|shift| (0..5000).map(|_| 1000 + shift + rng.below(100) as u64).collect())
    }

    fn test_of([a, b]: &[Vec<u64>; 2]) -> Welch {
        let mut test = Welch::new(a[..1000].to_vec());
        for (&a, &b) in a.iter().zip(b) {
            test.add(0, a);
            test.add(1, b);
        }
        test
    }

    #[test]
    fn agrees_with_the_formula() {
        for shift in [0, 3, 10] {
            let classes = classes(shift);
            let all = test_of(&classes).0.last().expect("the limit that is none").difference().t;
            let expected = naive(&classes[0], &classes[1]);
            assert!((all - expected).abs() < 1e-6, "shift {shift}: {all}, {expected}");
        }
    }

    #[test]
    fn tells_means_apart() {
        assert!(test_of(&classes(0)).largest().t.abs() < 4.5);
        let [a, b] = classes(10);
        assert!(test_of(&[a.clone(), b.clone()]).largest().t < -10.0, "class 1 takes longer");
        assert!(test_of(&[b, a]).largest().t > 10.0, "class 0 takes longer");
    }

    #[test]
    fn looks_below_the_noise() {
        // A rare interruption hides a small difference from the test on all times.
        let mut classes = classes(10);
        for times in &mut classes {
            times
                .iter_mut()
                .step_by(50)
                .enumerate()
                .for_each(|(at, time)| *time += 100_000 * (at as u64 % 7));
        }
        let test = test_of(&classes);
        assert!(test.0.last().expect("the limit that is none").difference().t.abs() < 4.5);
        assert!(test.largest().t < -10.0);
    }
}
