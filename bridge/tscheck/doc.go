// Package tscheck type-checks programs before they run (GATE-7): it asks a TypeScript compiler what it thinks of a program, of the
// declarations of the tools that the program may call, and of the globals that it will find, and turns what would certainly go wrong
// into the failure that the run would otherwise have ended in, before any tool has been called.
//
// The compiler is a program that somebody else installed: npm's typescript, found where such things lie ([Find]). Without one, and
// whenever it fails, programs run unchecked. A [Checker] starts it for each program, or keeps one native compiler running and talks to
// it, which is several times faster. Either way the compiler sees three texts and nothing else of the machine: what a program imports
// or refers to is not looked up, and a compiler that is kept running has no files but those.
//
// Models write TypeScript as if it were JavaScript, and most of what a compiler says against that is not worth a refusal. Refused are
// names that do not exist where the program would use them, tools that do not exist where it would call them, and arguments that do not
// fit the declaration of their tool.
package tscheck
