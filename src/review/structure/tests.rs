//! What a change may look like, fault by fault.
