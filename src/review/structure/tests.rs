//! The permitted shapes of a change, fault by fault.
