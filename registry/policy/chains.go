package policy

// This file keeps one chain for each agent, without keeping the agents alive (REPEAT-17).

import (
	"reflect"
	"weak"

	"github.com/runcode-go/runcode/registry"
)

// chain is the current run of equal calls of one agent.
type chain struct {
	key    key
	length int
	used   uint64
}

// chains maps agents to their chains. An agent that is a pointer is held weakly and swept when it has gone; one of another
// kind, such as a string, is forgotten when its scope is disposed, and beyond maxNamed of them, least recently used first.
type chains struct {
	weak  map[weakKey]*chain
	named map[registry.AgentKey]*chain
	clock uint64
	sweep int // the size of weak at which to look for agents that have gone
}

const maxNamed = 4096

// weakKey identifies an agent that is a pointer.
type weakKey struct {
	t reflect.Type
	p weak.Pointer[byte]
}

func weakly(agent registry.AgentKey) (weakKey, bool) {
	v := reflect.ValueOf(agent)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return weakKey{}, false
	}
	return weakKey{v.Type(), weak.Make((*byte)(v.UnsafePointer()))}, true
}

// count adds one call to the agent's chain and returns its length.
func (c *chains) count(agent registry.AgentKey, k key) int {
	c.clock++
	ch := c.of(agent)
	ch.used = c.clock
	if ch.length == 0 || ch.key != k {
		ch.key, ch.length = k, 0
	}
	ch.length++
	return ch.length
}

func (c *chains) of(agent registry.AgentKey) *chain {
	w, isPointer := weakly(agent)
	if !isPointer {
		if c.named[agent] == nil {
			c.addNamed(agent)
		}
		return c.named[agent]
	}
	if ch := c.weak[w]; ch != nil {
		return ch
	}
	if c.weak == nil {
		c.weak = make(map[weakKey]*chain)
	}
	if c.sweep = max(c.sweep, 64); len(c.weak) >= c.sweep {
		for k := range c.weak {
			if k.p.Value() == nil {
				delete(c.weak, k)
			}
		}
		c.sweep = 2 * len(c.weak)
	}
	ch := &chain{}
	c.weak[w] = ch
	return ch
}

func (c *chains) addNamed(agent registry.AgentKey) {
	if c.named == nil {
		c.named = make(map[registry.AgentKey]*chain)
	}
	if len(c.named) >= maxNamed { // drop the half that was used longest ago
		old := c.clock - maxNamed/2
		for k, ch := range c.named {
			if ch.used <= old {
				delete(c.named, k)
			}
		}
	}
	c.named[agent] = &chain{}
}

func (c *chains) forget(agent registry.AgentKey) {
	if w, isPointer := weakly(agent); isPointer {
		delete(c.weak, w)
		return
	}
	delete(c.named, agent)
}
