// Package schema is the part of JSON Schema that this project enforces, and the vocabulary in which authors write it.
//
// A [Node] describes one value and [Props] the members of an object; both are written as Go values ([String], [Array],
// [Object] …) or read from JSON ([ParseNode], [ParseProps]). Their Schema methods turn them into plain JSON Schema.
//
// [Check] says whether a JSON Schema lies within the enforced subset, where nothing is accepted and then ignored: a keyword
// that would not be enforced is a violation. [Compile] makes such a schema ready for [Validate], which lists everything that
// is wrong with a value.
//
// All walks keep their own stack, so that only memory limits how deep schemas and values may nest (JSON-10).
package schema

import "strings"

// Error is an author's error: a schema that is outside of the subset, or a DSL that is not well formed.
type Error struct {
	// Violations are in the order of the walk, each "<path>: <what>".
	Violations []string
}

// Error lists the violations (RAW-13).
func (e *Error) Error() string { return "unsupported JSON schema: " + strings.Join(e.Violations, "; ") }

// Name is "JsonSchemaError".
func (e *Error) Name() string { return "JsonSchemaError" }

// Code is UNSUPPORTED_SCHEMA.
func (e *Error) Code() string { return "UNSUPPORTED_SCHEMA" }
