//! All cases in which a reviewer gives no approval.
