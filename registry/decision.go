package registry

// This file defines what the two waterfalls decide.

import (
	"slices"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// PreKind is the kind of a [PreDecision].
type PreKind uint8

// What a pre-execute listener may decide. The zero kind is invalid: it fails the call (PRE-5).
const (
	PreAllow PreKind = iota + 1
	PreDeny
	PreAsk
)

// PreDecision is what the pre-execute waterfall decides about a call. The zero value is invalid.
type PreDecision struct {
	kind   PreKind
	reason string
}

// Allow lets the call go on to the guards.
func Allow() PreDecision { return PreDecision{kind: PreAllow} }

// Deny fails the call with reason as its message; with an empty reason the message says that policy denied it.
func Deny(reason string) PreDecision { return PreDecision{PreDeny, reason} }

// Ask lets the approver decide. The reason, which may be empty, is for whoever answers.
func Ask(reason string) PreDecision { return PreDecision{PreAsk, reason} }

// Kind returns what was decided.
func (d PreDecision) Kind() PreKind { return d.kind }

// Reason returns why, "" if no reason was given.
func (d PreDecision) Reason() string { return d.reason }

// PostKind is the kind of a [PostDecision].
type PostKind uint8

// What a post-execute listener may decide. The zero kind is invalid: it fails the call (POST-8).
const (
	PostAccept PostKind = iota + 1
	PostBlock
)

// PostDecision is what the post-execute waterfall decides about a result. It is immutable: its modifiers return a changed
// copy. The zero value is invalid.
type PostDecision struct {
	kind       PostKind
	hasContent bool
	hasValue   bool
	content    []Block // the replacement, or the feedback of a block
	value      jsonval.Value
	valueErr   error
	contexts   []Context
}

// Accept lets the result stand.
func Accept() PostDecision { return PostDecision{kind: PostAccept} }

// Blocked turns the result into a failure whose content is the feedback as given (POST-6).
func Blocked(feedback ...Block) PostDecision {
	return PostDecision{kind: PostBlock, content: slices.Clone(feedback)}
}

// WithContent replaces the content and nothing else (POST-3): programs still get the value. On a block it replaces the
// feedback.
func (d PostDecision) WithContent(content ...Block) PostDecision {
	d.hasContent, d.content = true, slices.Clone(content)
	return d
}

// WithValue replaces the value of a success; content and metadata are then derived anew by the tool (POST-5). The value is
// read once, here.
func (d PostDecision) WithValue(value any) PostDecision {
	d.hasValue = true
	d.value, d.valueErr = snapshot(value)
	return d
}

// AppendContexts adds messages for the model behind those that the decision has.
func (d PostDecision) AppendContexts(contexts ...Context) PostDecision {
	d.contexts = append(slices.Clip(d.contexts), copyContexts(contexts)...)
	return d
}

// PrependContexts adds messages for the model in front of those that the decision has.
func (d PostDecision) PrependContexts(contexts ...Context) PostDecision {
	d.contexts = append(copyContexts(contexts), d.contexts...)
	return d
}

// Kind returns what was decided.
func (d PostDecision) Kind() PostKind { return d.kind }

// Content returns the replacement content or the feedback of a block, and whether there is one.
func (d PostDecision) Content() ([]Block, bool) {
	return slices.Clone(d.content), d.hasContent || d.kind == PostBlock
}

// Value returns the replacement value and whether there is one. The value is absent if it was not lossless JSON.
func (d PostDecision) Value() (jsonval.Value, bool) { return d.value, d.hasValue }

// Contexts returns the messages that the decision adds, in slices of the caller's own.
func (d PostDecision) Contexts() []Context { return copyContexts(d.contexts) }
