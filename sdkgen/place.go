// This file defines places: the nodes of a schema document with an identity, so that references can point at them (MCP-41).

package sdkgen

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// place is one spot of a document. The place below another under one key is made once, when it is first asked for.
type place struct {
	value  jsonval.Value
	parent *place
	key    string
	kids   map[string]*place

	uses  int // how many references and inline uses lead here from the root
	seen  bool
	named *namedType
}

// at returns the place below p under key, a member's name or an array's index; nil if there is none.
func (p *place) at(key string) *place {
	if kid, ok := p.kids[key]; ok {
		return kid
	}
	v, ok := p.value.Get(key)
	if p.value.IsArray() {
		i, err := strconv.Atoi(key)
		if ok = err == nil && i >= 0 && i < p.value.Len() && strconv.Itoa(i) == key; ok {
			v = p.value.Index(i)
		}
	}
	if !ok {
		return nil
	}
	kid := &place{value: v, parent: p, key: key}
	if p.kids == nil {
		p.kids = map[string]*place{}
	}
	p.kids[key] = kid
	return kid
}

// list returns the places of the array under key.
func (p *place) list(key string) []*place {
	at := p.at(key)
	if at == nil || !at.value.IsArray() {
		return nil
	}
	places := make([]*place, at.value.Len())
	for i := range places {
		places[i] = at.at(strconv.Itoa(i))
	}
	return places
}

// maxPointer is how many keys of a place's path a report shows.
const maxPointer = 20

// pointer returns the JSON pointer of p; of a long one the end.
func (p *place) pointer() string {
	text := ""
	for n := 0; p.parent != nil; p = p.parent {
		if n++; n > maxPointer {
			return "…" + text
		}
		text = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p.key) + text
	}
	return "#" + text
}

// resolve returns the place that a reference names; nil if it is in another document or nowhere. Nothing is ever fetched.
func (p *place) resolve(ref string) *place {
	if id, ok := p.value.Get("$id"); ok && id.Str() != "" {
		if rest, ok := strings.CutPrefix(ref, strings.TrimSuffix(id.Str(), "#")); ok && strings.HasPrefix(rest, "#") {
			ref = rest
		}
	}
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil || fragment != "" && fragment[0] != '/' {
		return nil
	}
	at := p
	for fragment != "" && at != nil {
		var key string
		key, fragment, _ = cutPointer(fragment[1:])
		at = at.at(strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
	}
	return at
}

// cutPointer splits a pointer's text after its first key; rest keeps its slash.
func cutPointer(text string) (key, rest string, more bool) {
	if i := strings.IndexByte(text, '/'); i >= 0 {
		return text[:i], text[i:], true
	}
	return text, "", false
}

// countUses counts how many ways lead to each place of the document below p that a projection can reach. A place that is reached twice
// becomes a named type; each way round a circle of references is a second way to the place at which it is entered, so naming those is
// also what ends recursion.
func (p *place) countUses(pool *pool, rootName string) {
	todo := []*place{}
	reach := func(to *place) {
		if to == nil {
			return
		}
		if to.uses++; to.uses == 2 {
			pool.named++
			to.named = &namedType{id: pool.named, base: to.baseName(rootName), place: to}
		}
		if !to.seen {
			to.seen = true
			todo = append(todo, to)
		}
	}
	reach(p)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !at.value.IsObject() {
			continue
		}
		if ref, ok := at.value.Get("$ref"); ok && ref.IsString() {
			reach(p.resolve(ref.Str()))
		}
		for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"} {
			for _, kid := range at.list(key) {
				reach(kid)
			}
		}
		for _, key := range []string{"items", "additionalItems"} {
			if kid := at.at(key); kid != nil && !kid.value.IsArray() {
				reach(kid)
			}
		}
		if properties := at.at("properties"); properties != nil && properties.value.IsObject() {
			for name := range properties.value.Members() {
				reach(properties.at(name))
			}
		}
	}
}

// baseName returns what the schema calls the definition at p: its last key that is not a keyword's.
func (p *place) baseName(rootName string) string {
	for at := p; at.parent != nil; at = at.parent {
		switch at.parent.key {
		case "$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "schemas":
			return at.key
		}
	}
	return rootName
}
