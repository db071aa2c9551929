// This file defines what a projection reports: where a schema says nothing that a type can say, and why.

package sdkgen

import (
	"github.com/runcode-go/runcode/runtime/jsonval"
)

// Loss is one place of a schema that became any JSON value.
type Loss struct {
	Pointer string // JSON pointer of the place
	Reason  string
}

// The reasons. A schema that states nothing loses nothing, but its reader learns nothing either.
const (
	lossUnsaid    = "states no type"
	lossBoolean   = "is a boolean schema"
	lossNoSchema  = "is not a schema"
	lossType      = "has an unknown type"
	lossReference = "refers to another document or to nothing"
	lossLiteral   = "admits a value that is not scalar"
	lossSize      = "is past the limit of nodes"
	lossDepth     = "is past the limit of reference levels"
	lossCircular  = "is defined as itself"
	lossRoot      = "has a root that is no object"
)

// lose records a loss and returns what remains.
func (j *projector) lose(at *place, reason string) *shape {
	if len(j.lost) < maxLosses {
		j.lost = append(j.lost, Loss{at.pointer(), reason})
	}
	return anything
}

// maxLosses bounds the report, since a path may be as long as a document is deep.
const maxLosses = 100

// Projection is what the declarations say of one schema.
type Projection struct {
	Exact  bool   // the schema lies in the enforced subset and was taken as it is (MCP-39)
	Losses []Loss // at most 100, in the order of the document

	shape *shape
}

// Project projects any schema (MCP-39 to MCP-50), without the wish of MCP-50 that a tool's arguments be an object.
func Project(schema jsonval.Value) *Projection {
	p := newPool()
	s, lost := project(p, schema, "Root")
	return &Projection{Exact: inSubset(schema), Losses: lost, shape: s}
}

// TypeScript returns the projection as a TypeScript type, behind the named types that it refers to.
func (p *Projection) TypeScript() string {
	w := newTypeScriptWriter(Options{})
	w.names.add(p.shape)
	w.declareNames(nil)
	w.write(p.shape, 0)
	return string(w.buf)
}
