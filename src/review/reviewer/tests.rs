//! Every way in which a reviewer can fail to say yes.
