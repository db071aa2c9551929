package registry

// ExecMode says whether a call may overlap others.
type ExecMode uint8

// The classes of calls. What is not known to be safe is exclusive (MODE-1).
const (
	Exclusive ExecMode = iota
	Parallel
)

// String returns "exclusive" or "parallel".
func (m ExecMode) String() string {
	if m == Parallel {
		return "parallel"
	}
	return "exclusive"
}

// ExecutionMode classifies a call: it is Parallel only if the tool that the agent sees may be called this way and its
// classifier returns true for these arguments. Everything else, a classifier that panics included, is Exclusive.
func (r *Registry) ExecutionMode(c Call) ExecMode {
	if c.Agent != nil && !comparableKey(c.Agent) {
		return Exclusive
	}
	s := r.scopeOf(c.Agent)
	if r.collapses(s, c) {
		return Exclusive
	}
	t, err := r.lookup(s, c.Name)
	if err != nil || t == nil || t.ConcurrencySafe == nil {
		return Exclusive
	}
	args, err := c.arguments()
	if err != nil {
		return Exclusive
	}
	safe := false
	if guarded(func() { safe = t.ConcurrencySafe(args) }) != nil || !safe {
		return Exclusive
	}
	return Parallel
}
