//! What the paper's experiments, the benchmark suite and the tool share: a journal of what was measured,
//! facts of the machine, statistics of runs that a limit may have stopped, and tables.

pub mod journal;
pub mod machine;
pub mod statistics;
pub mod table;
