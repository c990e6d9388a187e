//! The arithmetic of vector search.
//!
//! A crate of its own, because packages are compiled for size, at which the compiler makes no use
//! of vector instructions; this one is compiled for speed.

/// Returns the dot product of the numbers that both have. It works in strips of a fixed length,
/// which the compiler turns into vector instructions.
pub fn dot_of_bytes(one: &[i8], other: &[i8]) -> i32 {
    const STRIP: usize = 32;
    let (strips, rest) = one.as_chunks::<STRIP>();
    let (others, other_rest) = other.as_chunks::<STRIP>();
    let mut sum = 0;
    for (a, b) in strips.iter().zip(others) {
        sum += a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum::<i32>();
    }
    sum + rest.iter().zip(other_rest).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>()
}
