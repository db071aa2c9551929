package registry

// This file is the pipeline: all stages of one call, in the order in which they happen.
//
//	1 create   identity, finalizer, arguments; a call that ends here reaches no policy
//	2 gate     pre-execute waterfall, approval, guards
//	3 around   wrappers around dispatch, and dispatch around the body
//	4 commit   post-execute waterfall, finalizer, notification
//
// The stage that settles a call stores its outcome and thereby chooses the lane to the end: in the POST lane the outcome
// still passes post-execute, in the FINAL lane it does not. lane.go runs the same four steps, the third in a goroutine.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// call is one call on its way through the pipeline. Its stages never overlap (PIPE-2).
type call struct {
	Execution
	registry *Registry
	scope    *Scope
	ctx      context.Context // the caller's; a call is one operation
	finalize func(Execution, Result) ([]Block, bool)

	outcome *resultData // nil until a stage has settled the call
	final   bool        // in the FINAL lane
	misused bool        // the caller's mistake: no stage at all

	// What bodies and wrappers may reach from several goroutines:
	mu         sync.Mutex
	deferred   []Context
	concluding bool
	invoked    bool           // the body was entered, at least once (CANCEL-3)
	closed     bool           // the wrappers have returned: next does nothing any more
	inside     sync.WaitGroup // calls of next that have not returned

	identity *execution // apart from the call, so that who keeps a result or an execution does not keep all this
	run      Run        // of the first attempt
}

// Execute runs one call through all stages and returns its one result, the very one that the observers saw (PIPE-1). It
// returns only after the body has returned, however long after the end of ctx that is (BODY-2). Every failure, of whatever
// stage, is a result. A call without an ID, or with an agent key that is not comparable, is the caller's mistake: it fails
// before the first stage and nobody observes it. A nil ctx panics.
func (r *Registry) Execute(ctx context.Context, input Call) Result {
	c := r.create(ctx, input)
	if c.outcome == nil {
		c.gate()
	}
	if c.outcome == nil {
		c.around()
	}
	return c.commit()
}

// settle ends the call in the POST lane with the ordinary failure of err.
func (c *call) settle(err error) { c.outcome = c.own(failureData(err)) }

// abandon ends the call in the FINAL lane with the ordinary failure of err.
func (c *call) abandon(err error) { c.outcome, c.final = c.own(failureData(err)), true }

// own marks a result that was made just now, and that nobody has seen, as this execution's.
func (c *call) own(d *resultData) *resultData {
	d.owner = c.identity
	return d
}

// ---- 1. create ----

// create reads every field of the input once and gives the call its identity (EXEC-2..EXEC-6).
func (r *Registry) create(ctx context.Context, input Call) *call {
	if ctx == nil {
		panic("registry: a call needs a context")
	}
	c := &call{registry: r, ctx: ctx, scope: r.scopeOf(input.Agent)}
	c.identity = &execution{id: input.ID, name: input.Name, root: input.RootID, agent: input.Agent, parent: input.Parent}
	if input.RootID == "" {
		c.identity.root = input.ID
	}
	c.Execution = Execution{c.identity}
	if err := input.mistake(); err != nil {
		c.misused = true
		c.settle(err)
		return c
	}

	cancelled := ctx.Err() != nil
	collapsed := false
	if t, _ := r.lookup(c.scope, input.Name); t != nil {
		collapsed = r.collapses(c.scope, input)
		if !collapsed || cancelled {
			c.finalize = t.Finalize // FINAL-1: of what is visible now, whatever happens to the tool later
		}
	}

	args, err := input.arguments()
	switch {
	case err != nil:
		c.abandon(argumentsError(err))
	case cancelled: // CANCEL-1
		c.abandon(errAbortedBefore)
	case collapsed: // PRESENT-6
		c.abandon(errCollapsed(input.Name))
	}
	c.identity.arguments = args
	return c
}

// mistake says what only the caller can have done wrong.
func (c *Call) mistake() error {
	switch {
	case c.ID == "":
		return errors.New("registry: a call needs an ID")
	case c.Agent != nil && !comparableKey(c.Agent):
		return fmt.Errorf("registry: the agent key %T is not comparable", c.Agent)
	}
	return nil
}

// collapses reports whether a code mode takes this call away: a direct call of anything but run_code (PRESENT-6). It is the
// one predicate for execution, classification and what the prompt says.
func (r *Registry) collapses(s *Scope, input Call) bool {
	return input.Parent == nil && input.Name != RunCode && r.modeOf(s) == Code
}

// ---- 2. gate ----

// gate asks everybody who may deny the call. If it leaves the call unsettled, the call goes on to its body.
func (c *call) gate() {
	decision, err := c.pre(chain(c.registry, c.scope, preOf))
	if err != nil {
		c.abandon(err)
		return
	}
	switch decision.kind {
	case PreAllow:
	case PreDeny:
		c.deny(decision.reason)
	case PreAsk:
		c.ask(decision.reason)
	default: // PRE-5: fail closed
		c.abandon(errPreDecision)
	}
	if c.outcome == nil {
		c.guards()
	}
	if c.outcome == nil && c.ctx.Err() != nil { // GUARD-6: a denial wins over cancellation
		c.settle(errAbortedBefore)
	}
}

// pre runs the waterfall from its first listener inwards; behind the last one stands permission (PRE-1).
func (c *call) pre(listeners []entry[PreMiddleware]) (d PreDecision, err error) {
	if len(listeners) == 0 {
		return Allow(), nil
	}
	defer c.caught("a pre-execute listener", &err)
	return listeners[0].f(c.ctx, c.Execution, func() (PreDecision, error) { return c.pre(listeners[1:]) })
}

func (c *call) deny(reason string) {
	if reason == "" {
		reason = "tool " + quote(c.Name()) + " was denied by policy"
	}
	c.settle(errors.New(reason))
}

// ask lets the approver decide (ASK-3, ASK-4). Only allowed-once leaves the call unsettled, and guards still follow.
func (c *call) ask(reason string) {
	tool := "tool " + quote(c.Name())
	switch {
	case c.registry.options.Approver == nil && reason != "":
		c.deny(reason)
		return
	case c.registry.options.Approver == nil:
		c.deny(tool + " needs approval and no approver is configured")
		return
	case c.Agent() == nil:
		c.deny(tool + " needs approval but the call belongs to no agent")
		return
	}
	outcome, err := c.approve(ApprovalRequest{
		Agent: c.Agent(), Tool: c.Name(), CallID: c.CallID(), Arguments: c.Arguments(), Reason: reason,
	})
	switch {
	case err != nil:
		c.abandon(err)
	case outcome == AllowedOnce:
	case outcome == Rejected:
		c.deny("the user refused to run " + tool)
	case outcome == Cancelled && c.ctx.Err() != nil:
		c.settle(errAbortedBefore)
	case outcome == Cancelled:
		c.deny("the approval request for " + tool + " was withdrawn")
	case outcome == Unavailable || outcome == Suspended:
		c.deny(tool + " needs approval and nobody can answer the request")
	default: // ASK-6
		c.abandon(errUnknownOutcome)
	}
}

func (c *call) approve(q ApprovalRequest) (outcome Outcome, err error) {
	defer c.caught("the approver", &err)
	return c.registry.options.Approver.Approve(c.ctx, q)
}

// guards asks the guards, global ones first, then those of the scopes from the farthest ancestor to the agent's own
// (GUARD-3). The first denial settles the call.
func (c *call) guards() {
	c.guardsOf(&c.registry.global)
	for _, s := range slices.Backward(c.registry.ancestry(c.scope)) {
		c.guardsOf(&s.layer) // does nothing once the call is settled
	}
}

// guardsOf walks the live list of one layer: a guard that an earlier one adds takes part (GUARD-8).
func (c *call) guardsOf(l *layer) {
	r := c.registry
	for order := int64(-1 << 63); c.outcome == nil; {
		r.mu.RLock()
		g, found := l.guards.after(order)
		r.mu.RUnlock()
		if !found {
			return
		}
		order = g.order
		if reason, deny, err := c.guard(g.f); err != nil {
			c.abandon(err)
		} else if deny {
			c.deny(reason)
		}
	}
}

func (c *call) guard(g Guard) (reason string, deny bool, err error) {
	defer c.caught("a guard", &err)
	reason, deny = g(c.Execution)
	return reason, deny, nil
}

// ---- 3. around ----

// around runs the wrappers and, through them, the body. It always settles the call.
func (c *call) around() {
	wrappers := chain(c.registry, c.scope, aroundOf)
	result, err := c.wrapped(wrappers, c.ctx)
	c.quiesce()

	switch {
	case err != nil: // AROUND-11
		c.abandon(err)
		return
	case result.d == nil:
		c.abandon(errNoResult)
		return
	case len(wrappers) == 0: // nobody else has seen it
		c.outcome = result.d
	case result.d.owner == c.identity || result.d.isError: // what dispatch made, or an authored failure (AROUND-9)
		own := *result.d
		c.outcome = c.own(&own)
	default: // an authored success, or one that belongs to another call (AROUND-8, AROUND-10)
		if c.outcome = c.authored(result.d.value, result.d.valueErr); c.outcome.isError {
			c.final = true
			return
		}
		c.outcome.contexts = result.d.contexts
	}
	c.outcome.contexts = append(slices.Clip(c.deferred), c.outcome.contexts...) // CTX-2: the body's, then the wrappers'
	c.outcome.concludes = !c.outcome.isError && c.concluding                    // TURN-3
	c.replaceCancelled()
}

// wrapped runs the wrappers from the first one inwards, and dispatch behind the last.
func (c *call) wrapped(wrappers []entry[AroundMiddleware], ctx context.Context) (r Result, err error) {
	if len(wrappers) == 0 {
		return Result{c.dispatch(ctx)}, nil
	}
	defer c.caught("an execute wrapper", &err)
	return wrappers[0].f(ctx, c.Execution, func(inner context.Context) (Result, error) {
		if inner == nil {
			return Result{}, errNilContext
		}
		if !c.enter() {
			return Result{}, errLateNext
		}
		defer c.inside.Done()
		return c.wrapped(wrappers[1:], inner)
	})
}

// enter admits one call of next, as long as the stage lasts.
func (c *call) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.inside.Add(1)
	return true
}

// quiesce ends the stage: it waits for every dispatch that a wrapper left behind in a goroutine (BODY-2).
func (c *call) quiesce() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.inside.Wait()
}

// dispatch resolves the tool, runs its body once and normalizes what comes back. It never fails but with a result
// (AROUND-1).
func (c *call) dispatch(outer context.Context) *resultData {
	ctx, release := c.fuse(outer)
	defer release()
	if ctx.Err() != nil { // AROUND-5
		return c.own(failureData(c.cancelled()))
	}
	t, err := c.registry.lookup(c.scope, c.Name()) // AROUND-2: what is visible now
	if err == nil && t == nil {
		err = errUnknownTool(c.Name())
	}
	if err != nil {
		return c.own(failureData(err))
	}
	returned, err := c.body(ctx, t)
	ended := ctx.Err() != nil || c.ctx.Err() != nil
	if err != nil {
		d := failureData(err)
		if ended && d.failure.Info == nil && isCancellation(err) { // CANCEL-8
			d.failure.Info = infoOf(errAborted.(*codedError))
		}
		return c.own(d)
	}
	value, err := snapshot(returned)
	d := c.normalize(t, value, err)
	if ended && !d.isError { // AROUND-6
		d = failureData(errAborted)
	}
	return c.own(d)
}

// body enters the tool.
func (c *call) body(ctx context.Context, t *tool) (value any, err error) {
	run := &c.run
	c.mu.Lock()
	if c.invoked { // a further attempt (AROUND-12): the run of an earlier one is over
		run = new(Run)
	}
	c.invoked = true // BODY-3
	c.mu.Unlock()
	run.call = c
	defer run.close()
	defer c.caught("the tool", &err)
	return t.Execute(ctx, c.Arguments(), run)
}

// normalize holds a value to the contract of the tool's output and derives what is shown of it (OUT-2). The value is absent
// if err says why it could not be read.
func (c *call) normalize(t *tool, value jsonval.Value, err error) *resultData {
	invalid := func(violations ...string) *resultData {
		return failureData(&OutputError{Tool: c.Name(), Violations: violations})
	}
	if err != nil {
		if message, yes := unread(err); yes {
			return invalid(`"value": could not be read: ` + message)
		}
		return invalid(`"value": not a lossless JSON value`)
	}
	if violations := t.output.Validate(value, "value"); len(violations) > 0 {
		return invalid(violations...)
	}
	content, err := c.render(t, value)
	if err != nil {
		return invalid("render: " + messageOf(err))
	}
	if !validContent(content) {
		return invalid("render: not lossless JSON")
	}
	d := &resultData{value: value, content: slices.Clone(content), concludes: c.concludes()}
	if t.Output.PresentationMeta == nil || c.Parent() != nil { // OUT-4
		return d
	}
	projected, err := c.presentationMeta(t, value)
	if err != nil {
		return invalid("presentationMeta: " + messageOf(err))
	}
	meta, err := snapshot(projected)
	if err != nil {
		if message, yes := unread(err); yes {
			return invalid("presentationMeta: " + message)
		}
		return invalid("presentationMeta: not lossless JSON")
	}
	if !meta.IsNull() { // RESULT-2
		d.meta = meta
	}
	return d
}

func (c *call) render(t *tool, value jsonval.Value) (content []Block, err error) {
	defer c.caught("a renderer", &err)
	return t.Output.Render(c.Arguments(), value)
}

func (c *call) presentationMeta(t *tool, value jsonval.Value) (meta any, err error) {
	defer c.caught("a metadata projector", &err)
	return t.Output.PresentationMeta(c.Arguments(), value)
}

// authored normalizes a value that a wrapper or a post-execute listener put in, under the tool that is visible now.
func (c *call) authored(value jsonval.Value, err error) *resultData {
	t, lookupErr := c.registry.lookup(c.scope, c.Name())
	switch {
	case lookupErr != nil:
		return c.own(failureData(lookupErr))
	case t == nil:
		return c.own(failureData(errUnknownTool(c.Name())))
	}
	return c.own(c.normalize(t, value, err))
}

// cancelled returns the error of a call whose context has ended: it says whether side effects were possible (CANCEL-3).
func (c *call) cancelled() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.invoked {
		return errAborted
	}
	return errAbortedBefore
}

// replaceCancelled turns a success into a failure if the caller has gone; contexts stay (CANCEL-4).
func (c *call) replaceCancelled() {
	if c.outcome.isError || c.ctx.Err() == nil {
		return
	}
	contexts := c.outcome.contexts
	c.settle(c.cancelled())
	c.outcome.contexts = contexts
}

// ---- 4. commit ----

// commit takes a settled call to its end.
func (c *call) commit() Result {
	if c.misused {
		return Result{c.outcome}
	}
	if !c.final {
		c.post()
	}
	c.materialize()
	c.finalizeContent()
	c.materialize()
	result := Result{c.outcome}
	c.notify(result)
	return result
}

// post runs the post-execute waterfall and applies its decision. It never runs again for the same call (POST-9).
func (c *call) post() {
	decision, err := c.review(chain(c.registry, c.scope, postOf), Result{c.outcome})
	before := c.outcome
	switch {
	case err != nil:
		c.settle(err)
	case decision.kind == PostBlock:
		c.outcome = c.own(blocked(decision))
	case decision.kind != PostAccept: // POST-8: fail closed
		c.settle(errPostDecision)
	case decision.hasValue && decision.hasContent:
		c.settle(errValueAndContent)
	case decision.hasValue && before.isError:
		c.settle(errValueOnFailure)
	case decision.hasValue: // POST-5
		if c.outcome = c.authored(decision.value, decision.valueErr); !c.outcome.isError {
			c.accept(before, decision)
		}
	case decision.hasContent || len(decision.contexts) > 0:
		own := *before
		c.outcome = &own
		if decision.hasContent { // POST-3
			c.outcome.content = decision.content
		}
		c.accept(before, decision)
	}
	c.replaceCancelled() // POST-10
}

// accept puts the contexts of the decision behind those of the result (POST-7).
func (c *call) accept(before *resultData, d PostDecision) {
	c.outcome.contexts = append(slices.Clip(before.contexts), d.contexts...)
}

// review runs the waterfall from its first listener inwards; behind the last one stands acceptance.
func (c *call) review(listeners []entry[PostMiddleware], r Result) (d PostDecision, err error) {
	if len(listeners) == 0 {
		return Accept(), nil
	}
	defer c.caught("a post-execute listener", &err)
	return listeners[0].f(c.ctx, c.Execution, r, func() (PostDecision, error) { return c.review(listeners[1:], r) })
}

// blocked is the failure that a block makes: its content is the feedback itself, its contexts are the decision's (POST-6).
func blocked(decision PostDecision) *resultData {
	lines := make([]string, len(decision.content))
	for i, b := range decision.content {
		if lines[i] = b.Text(); b.Type() != "text" {
			lines[i] = "[" + b.Type() + " block]"
		}
	}
	message := strings.Join(lines, "\n")
	if message == "" {
		message = "result blocked by policy"
	}
	return &resultData{isError: true, failure: Failure{Message: message}, content: decision.content, contexts: decision.contexts}
}

// materialize makes sure that everything on the outcome is lossless JSON (FINAL-3). Go's types leave one way to break that,
// a zero Block.
func (c *call) materialize() {
	if !validContent(c.outcome.content) || !validContexts(c.outcome.contexts) {
		c.settle(errLossyResult)
	}
}

// finalizeContent gives the tool its last word on the content, once (FINAL-2, FINAL-5).
func (c *call) finalizeContent() {
	if c.finalize == nil {
		return
	}
	content, replace, err := c.finalized()
	switch {
	case err != nil:
		c.settle(err)
	case replace:
		own := *c.outcome
		own.content = slices.Clone(content)
		c.outcome = &own
	}
}

func (c *call) finalized() (content []Block, replace bool, err error) {
	defer c.caught("a finalizer", &err)
	content, replace = c.finalize(c.Execution, Result{c.outcome})
	return content, replace, nil
}

// notify shows the final result to the observers. Nothing that they do reaches the caller (NOTIFY-2).
func (c *call) notify(result Result) {
	for _, observer := range chain(c.registry, c.scope, resultsOf) {
		if err := guarded(func() { observer.f(c.Execution, result) }); err != nil {
			c.registry.log.LogAttrs(context.Background(), slog.LevelWarn, "an observer of tool results failed",
				slog.String("tool", c.Name()), slog.String("call", c.CallID()), slog.String("error", messageOf(err)))
		}
	}
}
