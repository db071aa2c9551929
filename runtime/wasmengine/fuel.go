package wasmengine

// interval is how many units of fuel a guest uses between two looks at its budgets. A unit is one turn of a loop in the
// compiled code, or 64 bytes of a bulk copy or fill.
//
// Between two looks nothing can stop the guest, and the collector of the whole process waits for it. What a unit costs
// differs widely: 7 ns in the interpreter's own loop, but 30 ns and more where each unit touches fresh memory, which the
// kernel has to find and clear first. Measured over the programs of the hostile tests, in processor time on a small virtual
// machine: with 20,000 units half of the stretches took 0.13 to 0.7 ms, one in a hundred up to 3.8 ms; with 4,000 it is 0.03
// to 0.15 ms, and one in a hundred 0.46 ms. A look costs some 0.2 µs, under 1 % of the shortest stretch, so there is little
// to gain by more units and nothing to fear from fewer.
const interval = 4_000
