// Package bridge is code mode: it gives a registry the transport tool run_code, with which a model reaches all its tools by
// writing one program, and turns every call that the program makes into a full execution in the registry.
//
// A program is no way round policy. Each of its calls, a sub-call, passes the same pipeline as a direct call of the model
// would: gate, guards, wrappers, body, post-execute, finalizer, observers. The program sees the canonical value of a success or
// the message of a failure, and nothing else. What reaches the model is what the program printed and returned.
//
// A harness makes a [Bridge] over an engine and hands it to the registry as its transport:
//
//	b, err := bridge.New(bridge.Options{Engine: engine})
//	reg, err := registry.New(registry.Options{Mode: registry.Code, Transport: b})
//
// From then on the registry presents run_code and the generated SDK to the model of every agent whose mode is "code" or "both",
// and executes run_code like any other tool. [Options.PerRun] is how a harness sets and watches single runs: their logs as they
// come, their events, and at the end the whole [Outcome].
package bridge
