//! The provider clients against a scripted server: every kind of failure, byte by byte.

mod embed;
mod openai;
mod others;
mod script;
