package wasmengine

// interval is how many units of fuel a guest uses between two looks at its budgets. A unit is one turn of a loop in the
// compiled code, or 64 bytes of a bulk copy or fill.
//
// Between two looks nothing can stop the guest, and the collector of the whole process waits for it. What a unit costs
// depends on the loop: 7 ns on average in the interpreter's own, 0.5 ns in the tightest, 15 to 30 ns where each unit
// touches fresh memory, which the kernel has to find and clear first. With 4,000 units a stretch takes some 30 µs, and 150
// µs at the worst of a hundred hostile programs; with 20,000 it took 130 to 700 µs and up to 1.5 ms. A look costs 0.2 µs,
// so a smaller interval would begin to show (1,000: 4 % slower), a larger one gains nothing. Stretches are processor
// time, measured on the two cores that the tests run on.
const interval = 4_000
