// Package jsonval is the lossless JSON value: the one form in which data crosses a boundary, and its one codec.
//
// A [Value] is null, a boolean, a finite number other than negative zero, a string of Unicode text, an array or an object
// whose members keep their order (JSON-1, JSON-6); the zero Value is absent, which is none of these. A Value never changes:
// it may be shared between goroutines, copied and kept for ever, and nothing that it hands out leads back into it (JSON-9).
//
// Nothing is dropped, rounded or repaired on the way in. What the domain cannot hold is refused as an [*Error] that says
// what was found and where; a Go value that fails while it is read is refused as a [*ReadError] (JSON-8).
//
// Every walk keeps its own stack on the heap, so that only memory limits how deep a value may nest (JSON-10).
package jsonval
