// Package runtime says what running one program means: the request, the result, the kinds of failure, the budgets, and
// the way from a model's TypeScript to the JavaScript that an engine runs.
//
// It knows nothing about tools, agents or prompts. A program reaches the outside only through the namespaces of its
// request. Two engines implement [Engine]: wasmengine (QuickJS-NG in WebAssembly, the default) and gojaengine (goja,
// in-process, for programs that are trusted).
//
// Everything that comes out of a program is hostile until checked, and so is its source text: see [Transformer].
package runtime
