package registry

import "github.com/runcode-go/runcode/registry/card"

// Presenter returns how the tool that the agent sees under this name presents its calls, for card.ViewForEvent. An agent
// that has no scope, such as one of a restored log, has the global view (CARD-36).
func (r *Registry) Presenter(name string, agent AgentKey) (card.Presenter, bool) {
	d, ok := r.Get(name, agent)
	if !ok {
		return card.Presenter{}, false
	}
	return card.Presenter{Call: d.PresentCall, Result: d.PresentResult}, true
}

// CardResult returns the part of a result that is logged, as presenters get it (CARD-7).
func CardResult(r Result) card.PersistedResult {
	out := card.PersistedResult{IsError: r.IsError(), Meta: r.Meta()}
	for _, b := range r.Content() {
		out.Content = append(out.Content, b.Value())
	}
	return out
}
