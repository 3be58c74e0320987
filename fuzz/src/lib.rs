//! Hostile input for every reader, on the stable toolchain.
//!
//! Inputs are mutations of a small corpus that know something of their format ([`mutate`]), drawn
//! from a seed, so that a run repeats. An input is kept for further mutations when a reader says
//! something about it that it had not said before ([`readers`]): the message without its numbers, or
//! the rough size of what was read. That is a coarser guide than the branches of the program, and
//! needs no instrumentation. A panic, more than [`guard::MOST_BYTES`] of live memory or
//! [`guard::PATIENCE`] without an end is a failure: the input is saved, and the command that replays
//! it printed.
//!
//! [`differential`] is of another kind: random problems, solved in several ways, certified and
//! compared.

pub mod corpus;
pub mod differential;
pub mod drawn;
pub mod guard;
pub mod mutate;
pub mod readers;
pub mod run;
