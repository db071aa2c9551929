package wasmengine

// interval is how many units of fuel a guest uses between two looks at its budgets. A unit is one turn of a loop in the
// compiled code, or 64 bytes of a bulk copy or fill.
//
// Between two looks nothing can stop the guest, and the collector of the whole process waits for it. What a unit costs
// differs widely: a few nanoseconds in the interpreter's own loop, several times that where each unit touches fresh memory,
// which the kernel has to find and clear first. Over the hostile corpus, in processor time of the guest's thread on a small,
// busy virtual machine (BenchmarkLiveness), half of the stretches took 0.03 ms and one in a hundred 0.2 to 1.1 ms at 4,000
// units; at 20,000 it was 0.03 to 0.08 ms and 0.9 to 1.4 ms. The longest, 3 to 20 ms with any interval, are deep recursions,
// where wazero copies the stack that it grows: 15 MB into 30 MB of fresh memory at the last step. A look costs a fraction of a microsecond: no benchmark told 4,000 from
// 20,000 apart.
const interval = 4_000
