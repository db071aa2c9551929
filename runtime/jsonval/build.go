package jsonval

// This file defines the builder: what the parser and Of have read of a value whose containers are not closed yet.

// builder holds the finished children of all open containers, in one stack for the items and one for the members. Closing a
// container copies its children to a slice of exactly their number.
type builder struct {
	items   []Value
	members []Member
	open    []opened
}

// opened is one open container: where its children start, shifted left by one; the lowest bit says that it is an object.
type opened int

func (b *builder) openArray()  { b.open = append(b.open, opened(len(b.items)<<1)) }
func (b *builder) openObject() { b.open = append(b.open, opened(len(b.members)<<1|1)) }

func (o opened) object() bool { return o&1 == 1 }
func (o opened) start() int   { return int(o >> 1) }

func (b *builder) closeArray() Value {
	start := b.pop()
	items := b.items[start:]
	b.items = b.items[:start]
	if len(items) == 0 {
		return Value{kind: KindArray}
	}
	return array(append(make([]Value, 0, len(items)), items...))
}

func (b *builder) closeObject() Value {
	start := b.pop()
	members := b.members[start:]
	b.members = b.members[:start]
	if len(members) == 0 {
		return Value{kind: KindObject}
	}
	return object(append(make([]Member, 0, len(members)), members...))
}

func (b *builder) pop() (start int) {
	last := len(b.open) - 1
	start = b.open[last].start()
	b.open = b.open[:last]
	return start
}

// path returns where the next child goes: the last step is the item that is to come, or the member added last. With
// container, it is the path of the innermost open container.
func (b *builder) path(container bool) string {
	n := len(b.open)
	if container && n > 0 {
		n--
	}
	return joinPath(n, func(i int) string {
		o := b.open[i]
		end := len(b.items)
		if o.object() {
			end = len(b.members)
		}
		for _, inner := range b.open[i+1:] {
			if inner.object() == o.object() {
				end = inner.start()
				break
			}
		}
		if o.object() {
			return nameStep(b.members[end-1].Name)
		}
		return indexStep(end - o.start())
	})
}
