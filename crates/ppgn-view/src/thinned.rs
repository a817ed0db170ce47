//! A curve of any length in bounded space.
//!
//! Of a long run, the epochs 1, 1 + s, 1 + 2 s ... are kept, where the step s is the smallest power of two for which they fit,
//! and the last one. An epoch that is dropped is never needed again: the epochs of step 2 s are among those of step s.

/// Items by their epochs, in order, at most a number of them and at most a total weight.
#[derive(Debug, Clone)]
pub(crate) struct Thinned<T> {
    most: usize,
    heaviest: usize,
    step: usize,
    weight: usize,
    kept: Vec<(usize, usize, T)>,
    last: Option<(usize, T)>,
}

impl<T: Clone> Thinned<T> {
    /// Nothing yet.
    pub(crate) fn new(most: usize, heaviest: usize) -> Self {
        Thinned { most, heaviest, step: 1, weight: 0, kept: Vec::new(), last: None }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        (self.step, self.weight, self.last) = (1, 0, None);
        self.kept.clear();
    }

    /// Adds the next epoch. Amortised O(1).
    pub(crate) fn push(&mut self, epoch: usize, item: T, weight: usize) {
        if (epoch - 1).is_multiple_of(self.step) {
            self.kept.push((epoch, weight, item.clone()));
            self.weight += weight;
        }
        self.last = Some((epoch, item));
        while self.kept.len() > self.most.max(1) || self.kept.len() > 1 && self.weight > self.heaviest {
            self.step *= 2;
            let step = self.step;
            self.kept.retain(|(epoch, _, _)| (epoch - 1).is_multiple_of(step));
            self.weight = self.kept.iter().map(|(_, weight, _)| weight).sum();
        }
    }

    /// The distance between epochs that are kept.
    pub(crate) fn step(&self) -> usize {
        self.step
    }

    /// The epochs that are kept, with the items.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (usize, &T)> {
        self.kept.iter().map(|(epoch, _, item)| (*epoch, item))
    }

    /// The last epoch, which may be one of those that are kept.
    pub(crate) fn last(&self) -> Option<(usize, &T)> {
        self.last.as_ref().map(|(epoch, item)| (*epoch, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_epochs_a_bounded_number_stays_at_equal_distances() {
        let mut thinned = Thinned::new(100, 1000);
        for epoch in 1..=10_000usize {
            thinned.push(epoch, epoch * epoch, 7);
            let kept: Vec<_> = thinned.kept().collect();
            let step = thinned.step();
            let expected: Vec<usize> = (1..=epoch).step_by(step).collect();
            assert_eq!(kept.iter().map(|(epoch, _)| *epoch).collect::<Vec<_>>(), expected);
            assert!(kept.iter().all(|(epoch, item)| epoch * epoch == **item));
            assert!(kept.len() <= 100 && (epoch < 100 || kept.len() >= 50), "{epoch}: {}", kept.len());
            assert_eq!(thinned.last(), Some((epoch, &(epoch * epoch))));
        }
        assert_eq!(thinned.step(), 128);
        // By weight: 1000 / 40 of them.
        let mut heavy = Thinned::new(100, 1000);
        (1..=100).for_each(|epoch| heavy.push(epoch, (), 40));
        assert_eq!((heavy.step(), heavy.kept().count()), (4, 25));
        // One that is heavier than all that fits stays alone.
        let mut one = Thinned::new(10, 10);
        (1..=5).for_each(|epoch| one.push(epoch, (), 11));
        assert_eq!(one.kept().map(|(epoch, _)| epoch).collect::<Vec<_>>(), [1]);
        one.clear();
        assert_eq!((one.step(), one.kept().count(), one.last()), (1, 0, None));
    }
}
