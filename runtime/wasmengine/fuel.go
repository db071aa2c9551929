package wasmengine

// interval is how many units of fuel a guest uses between two looks at its budgets: one unit for each turn of a loop in the
// compiled code and for each 64 bytes of a bulk copy or fill. See TestFuelInterval for how it was chosen.
const interval = 20_000
