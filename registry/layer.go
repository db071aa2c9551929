package registry

import "fmt"

// layer holds what is registered in one place: globally, or in one scope. The registry's lock guards all of it.
type layer struct {
	registry *Registry
	scope    *Scope // nil for the global layer
	disposed bool

	tools map[string]*tool
	order []*tool // in the order of registration, nil where one was removed

	pre     list[PreMiddleware]
	around  list[AroundMiddleware]
	post    list[PostMiddleware]
	results list[func(Execution, Result)]
	guards  list[Guard]
}

func preOf(l *layer) *list[PreMiddleware]               { return &l.pre }
func aroundOf(l *layer) *list[AroundMiddleware]         { return &l.around }
func postOf(l *layer) *list[PostMiddleware]             { return &l.post }
func resultsOf(l *layer) *list[func(Execution, Result)] { return &l.results }
func guardsOf(l *layer) *list[Guard]                    { return &l.guards }

// checkFree says why the layer cannot hold a tool of this name (TOOL-5); nil if it can.
func (l *layer) checkFree(name string) error {
	if _, taken := l.tools[name]; !taken {
		return nil
	}
	if l.scope == nil {
		return fmt.Errorf("a tool named %s is already registered; register a variant for one agent through that agent's scope", quote(name))
	}
	return fmt.Errorf("a tool named %s is already registered in this scope", quote(name))
}

func (l *layer) add(t *tool) {
	if l.tools == nil {
		l.tools = make(map[string]*tool)
	}
	t.layer, t.at = l, len(l.order)
	l.tools[t.Name] = t
	l.order = append(l.order, t)
}

// remove takes t out if it is still there, and reports whether it was.
func (l *layer) remove(t *tool) bool {
	if l.tools[t.Name] != t {
		return false
	}
	delete(l.tools, t.Name)
	l.order[t.at] = nil
	if len(l.order) >= 32 && len(l.tools) < len(l.order)/2 {
		l.compact()
	}
	return true
}

// clear disposes of the layer. Which registry it belongs to stays as it is: that is read without the lock.
func (l *layer) clear() {
	l.disposed = true
	l.tools, l.order = nil, nil
	l.pre, l.around, l.post = list[PreMiddleware]{}, list[AroundMiddleware]{}, list[PostMiddleware]{}
	l.results, l.guards = list[func(Execution, Result)]{}, list[Guard]{}
}

// compact closes the gaps that removed tools left, so that their number stays in proportion.
func (l *layer) compact() {
	order := make([]*tool, 0, len(l.tools))
	for _, t := range l.order {
		if t != nil {
			t.at = len(order)
			order = append(order, t)
		}
	}
	l.order = order
}
