// Package registry holds an agent's tools and is the one way to call them.
//
// A tool is a [Definition]: what the model sees (name, description, parameters), what runs (Execute) and what it promises to
// return (Output). [Define] makes one from Go types. Tools are registered with the registry for everybody, or with a [Scope]
// for one agent and those below it; [Registry.Present] says what an agent's model gets to see.
//
// Every call, whether a model made it natively or a program made it from inside of run_code, goes through [Registry.Execute]
// and passes the same stages:
//
//	pre-execute gate → approval → guards → around(body) → post-execute → finalizer → notification
//
// pipeline.go is that sequence, from top to bottom. Whatever a tool or a listener does, Execute returns a [Result].
//
// [Lane] runs many calls in order, overlapping those that are safe to overlap; [Driver] runs the calls of one assistant
// message on a lane and records them. The registry knows no language: what run_code is comes in through [Transport].
//
// All types of this package are safe for concurrent use unless they say otherwise. No lock is held while foreign code (a
// tool, a listener, a predicate) runs, so that code may call back into the registry.
package registry
