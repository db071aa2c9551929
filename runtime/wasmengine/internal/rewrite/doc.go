// Package rewrite instruments a WebAssembly module so that an embedder can stop it, meter it and start it from a memory
// image.
//
// Compiled WebAssembly cannot be pre-empted, and the interpreter inside of the module polls for interrupts only where
// its authors thought of it. [Module] therefore changes the code itself:
//
//   - At the header of each loop a counter, the fuel, falls by one. Below zero the module calls a host import, which may
//     end the run; otherwise the counter is filled up again.
//   - memory.copy and memory.fill, which are no loops but can move gigabytes, become calls of added functions that work
//     in pieces and take fuel by the byte.
//   - memory.grow and chosen allocators trap when they fail, with a reason that the host can read: code that was
//     written with a failing allocation in mind cannot catch that, and code that was not cannot run on with a null.
//   - The data section is taken out, so that instantiating the module does not write over a memory image that is
//     already in place.
//   - The table of functions goes: each call through it becomes a call of an added function that branches to a direct call.
//     Filling the table would be most of the work of instantiating the module.
//   - One exported function dispatches to a list of others. In wazero each handle of an exported function owns a native
//     stack, so an instance with one handle costs far less than an instance with twenty.
//
// The package trusts nothing about the module: malformed bytes give an error. What it accepts is still to be validated
// by the engine that compiles it.
package rewrite
