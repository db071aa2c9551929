// Package loop is the host's side of one run, shared by both engines: the event loop, the table of calls, timers, the
// clock, the output ledger, the outcome, and the checks of everything that comes out of the guest. It also holds
// prelude.js, the JavaScript that both engines evaluate before any program: console, bindings, timers, the lossless
// serialiser.
//
// The arrangement is this. An engine implements [Guest], one fresh instance of a JavaScript engine. [Do] makes one by
// Spec.NewGuest, tells it what to run, and then turns the loop: it waits for a reply, a timer, the end of a budget or of
// the caller's context, hands exactly one event to the guest, lets the guest run until it has no job left, and waits
// again. While the guest runs, it talks back through the one native function that the prelude was given; each message
// arrives at [Run.Receive] as a [Frame], of which nothing is trusted.
//
// The first terminal condition decides the outcome (RUN-9); from then on Receive drops everything and [Run.Tick] asks the
// engine to stop.
package loop
