//! CRCs by carry-less folding.
