package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

func TestFailure(t *testing.T) {
	cause := errors.New("user pressed stop")
	failures := []*Failure{
		{Kind: Exception, Message: "Error: x"}, ComputeFailure(time.Second), WallFailure(400 * time.Millisecond), AbortFailure(cause), ClosedFailure(),
		HeapFailure(64 << 20), ExitFailure("7"), {Kind: InvalidOutput, Message: MessageResult}, {Kind: OutputLimit, Message: MessageOutput(96)},
	}
	t.Run("RUN-7 a failure matches its kind and no other", func(t *testing.T) {
		if len(Kinds()) != 6 {
			t.Fatalf("%d kinds", len(Kinds()))
		}
		for _, f := range failures {
			err := fmt.Errorf("wrapped: %w", f)
			for _, k := range Kinds() {
				if errors.Is(err, k) != (k == f.Kind) {
					t.Errorf("errors.Is(%v, %v) = %v", f, k, k != f.Kind)
				}
			}
			if !slices.Contains(Kinds(), f.Kind) {
				t.Errorf("%v is no kind", f.Kind)
			}
		}
	})
	t.Run("RUN-5 a result without a failure may be asked for one", func(t *testing.T) {
		var r Result
		for _, target := range []error{Timeout, Abort, context.Canceled, context.DeadlineExceeded, cause} {
			if errors.Is(r.Error, target) {
				t.Errorf("no failure matches %v", target)
			}
		}
		var misuse *MisuseError
		if errors.As(r.Error, &misuse) {
			t.Error("no failure is a misuse")
		}
	})
	t.Run("RUN-7 timeouts and aborts match the context's errors", func(t *testing.T) {
		for _, f := range failures {
			if errors.Is(f, context.DeadlineExceeded) != (f.Kind == Timeout) || errors.Is(f, context.Canceled) != (f.Kind == Abort) {
				t.Errorf("%v", f)
			}
		}
		if !errors.Is(AbortFailure(cause), cause) || errors.Is(ClosedFailure(), cause) {
			t.Error("an abort does not match its cause alone")
		}
		// A caller's deadline is an abort that matches both: it is what the caller's context says.
		if f := AbortFailure(context.DeadlineExceeded); f.Kind != Abort || !errors.Is(f, context.DeadlineExceeded) {
			t.Errorf("%v", f)
		}
	})
	for _, c := range []struct {
		rule string
		f    *Failure
		want Failure
	}{
		{"BUDGET-4", ComputeFailure(700 * time.Millisecond), Failure{Kind: Timeout, Message: "compute time used up: limit 700 ms", Budget: "compute"}},
		{"BUDGET-4", ComputeFailure(1500 * time.Microsecond), Failure{Kind: Timeout, Message: "compute time used up: limit 1.5 ms", Budget: "compute"}},
		{"BUDGET-5", WallFailure(10 * time.Minute), Failure{Kind: Timeout, Message: "wall-clock limit reached: 600000 ms", Budget: "wall"}},
		{"BUDGET-6", StuckFailure(), Failure{Kind: WorkerExit, Message: "the program waits for a promise that nothing can settle"}},
		{"BUDGET-7", AbortFailure(cause), Failure{Kind: Abort, Message: "user pressed stop", cause: cause}},
		{"BUDGET-8", HeapFailure(512 << 20), Failure{Kind: WorkerExit, Message: "heap limit reached: 512 MiB"}},
		{"BUDGET-10", StoppedFailure("trap"), Failure{Kind: WorkerExit, Message: "engine stopped: trap"}},
		{"RUN-40", ClosedFailure(), Failure{Kind: Abort, Message: "runtime is shut down"}},
		{"RUN-45", ExitFailure("0"), Failure{Kind: WorkerExit, Message: "program ended itself with code 0"}},
		{"RUN-46", UncaughtFailure("boom"), Failure{Kind: WorkerExit, Message: "uncaught error: boom"}},
	} {
		t.Run(c.rule+" "+c.want.Message, func(t *testing.T) {
			if *c.f != c.want {
				t.Errorf("got %+v, want %+v", *c.f, c.want)
			}
		})
	}
	t.Run("LOG-12 the diagnostic", func(t *testing.T) {
		if got := MessageOutput(67108864); got != "output larger than 67108864 bytes" {
			t.Error(got)
		}
	})
	t.Run("HOSTILE-3 the rejection", func(t *testing.T) {
		if got := MessageNoBinding("tools", "nope"); got != `no binding "tools.nope"` {
			t.Error(got)
		}
	})
	t.Run("RUN-6 misuse is an error of its own", func(t *testing.T) {
		var m *MisuseError
		if !errors.As(ErrorClosed(), &m) || !strings.Contains(m.Error(), "runtime is shut down") {
			t.Error(ErrorClosed())
		}
	})
	t.Run("RUN-24 an error that panics has a text", func(t *testing.T) {
		if got := ErrorText(panicking{}); !strings.Contains(got, "boom") {
			t.Error(got)
		}
	})
}

type panicking struct{}

func (panicking) Error() string { panic("boom") }

func TestLimits(t *testing.T) {
	t.Run("BUDGET-1 defaults", func(t *testing.T) {
		want := Limits{Compute: 60000 * time.Millisecond, Wall: 600000 * time.Millisecond, MaxOutput: 67108864, Heap: 512 << 20}
		if got := (Limits{}).WithDefaults(); got != want {
			t.Errorf("got %+v", got)
		}
		if got := (Limits{Compute: 1, Wall: 2, MaxOutput: 4, Heap: 5}).WithDefaults(); got != (Limits{1, 2, 4, 5}) {
			t.Errorf("got %+v", got)
		}
	})
	for _, c := range []struct {
		l     Limits
		field string // "" = valid
	}{
		{Limits{}, ""},
		{Limits{Compute: 1, Wall: 1, MaxOutput: 4, Heap: 1}, ""},
		{Limits{Wall: 2147483647 * time.Millisecond, MaxOutput: 1<<53 - 1}, ""},
		{Limits{Compute: -1}, "computeMs"},
		{Limits{Wall: -1}, "maxWallMs"},
		{Limits{Wall: 2147483648 * time.Millisecond}, "maxWallMs"},
		{Limits{MaxOutput: 3}, "maxOutputBytes"},
		{Limits{MaxOutput: -1}, "maxOutputBytes"},
		{Limits{MaxOutput: 1 << 53}, "maxOutputBytes"},
		{Limits{Heap: -1}, "maxOldGenerationSizeMb"},
	} {
		t.Run(fmt.Sprintf("BUDGET-2 %+v", c.l), func(t *testing.T) {
			err := c.l.Validate()
			if (err == nil) != (c.field == "") || err != nil && !strings.Contains(err.Error(), c.field) {
				t.Errorf("got %v, want %q", err, c.field)
			}
		})
	}
}

func TestCheckNamespaces(t *testing.T) {
	call := Go(func(context.Context, jsonval.Value) (any, error) { return nil, nil })
	ns := func(global string, class ...string) Namespace {
		n := Namespace{Global: global, Functions: []Function{{Name: "__proto__", Call: call}, {Name: "", Call: call}, {Name: "a b", Call: call}}}
		if class != nil {
			n.ErrorClass = &ErrorClass{Name: class[0], MemberProperty: class[1]}
		}
		return n
	}
	value := jsonval.Null()
	for _, c := range []struct {
		name       string
		namespaces []Namespace
		globals    []Global
		want       []string // in the message; nil = valid
	}{
		{"RUN-13 identifiers", []Namespace{ns("tools"), ns("_a1"), ns("A", "B", "code")}, nil, nil},
		{"RUN-13 none", nil, nil, nil},
		{"RUN-13 blanks", []Namespace{ns("not valid!")}, nil, []string{`"not valid!"`, "identifier"}},
		{"RUN-13 a keyword", []Namespace{ns("await")}, nil, []string{`"await"`, "reserved"}},
		{"RUN-13 a keyword of Python", []Namespace{ns("lambda")}, nil, []string{`"lambda"`, "reserved"}},
		{"RUN-13 underscore", []Namespace{ns("_")}, nil, []string{`"_"`, "reserved"}},
		{"RUN-13 dollars", []Namespace{ns("$tools")}, nil, []string{`"$tools"`, "identifier"}},
		{"RUN-13 a dollar within", []Namespace{ns("a$b")}, nil, []string{`"a$b"`, "identifier"}},
		{"RUN-13 empty", []Namespace{ns("")}, nil, []string{`""`, "identifier"}},
		{"RUN-13 a digit", []Namespace{ns("9x")}, nil, []string{`"9x"`, "identifier"}},
		{"RUN-13 letters beyond ASCII", []Namespace{ns("é")}, nil, []string{`"é"`, "identifier"}},
		{"RUN-13 an error class", []Namespace{ns("tools", "class", "code")}, nil, []string{`"class"`, "reserved"}},
		{"RUN-14 console", []Namespace{ns("console")}, nil, []string{`"console"`, "reserved"}},
		{"RUN-14 builtins", []Namespace{ns("tools", "__builtins__", "code")}, nil, []string{`"__builtins__"`, "reserved"}},
		{"RUN-15 twice", []Namespace{ns("a"), ns("a")}, nil, []string{`"a"`, "duplicate"}},
		{"RUN-15 class and namespace", []Namespace{ns("a", "b", "x"), ns("b")}, nil, []string{`"b"`, "duplicate"}},
		{"RUN-15 class and class", []Namespace{ns("a", "E", "x"), ns("b", "E", "y")}, nil, []string{`"E"`, "duplicate"}},
		{"RUN-15 ToolCallError as a namespace", []Namespace{ns("ToolCallError")}, nil, nil},
		{"RUN-16 empty", []Namespace{ns("a", "E", "")}, nil, []string{"member property", `""`}},
		{"RUN-16 taken", []Namespace{ns("a", "E", "stack")}, nil, []string{`"stack"`, "member property"}},
		{"RUN-16 dunder", []Namespace{ns("a", "E", "__x__")}, nil, []string{`"__x__"`, "member property"}},
		{"RUN-16 no dunders", []Namespace{ns("a", "A", "_private"), ns("b", "B", "__mid"), ns("c", "C", "__"), ns("d", "D", "____"), ns("e", "E", "a b")}, nil, nil},
		{"RUN-17 a function without a handler", []Namespace{{Global: "a", Functions: []Function{{Name: "f"}}}}, nil, []string{`"f"`, "handler"}},
		{"RUN-13 a global", nil, []Global{{"args", value}}, []string{`"args"`}},
		{"RUN-4 globals", []Namespace{ns("tools")}, []Global{{"input", value}}, nil},
		{"RUN-15 a global and a namespace", []Namespace{ns("tools")}, []Global{{"tools", value}}, []string{`"tools"`, "duplicate"}},
		{"RUN-4 a global without a value", nil, []Global{{"input", jsonval.Value{}}}, []string{`"input"`, "no value"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "RUN-13 a global" {
				c.globals[0].Name = "with"
				c.want = []string{`"with"`, "reserved"}
			}
			err := CheckNamespaces(c.namespaces, c.globals)
			if c.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var m *MisuseError
			if !errors.As(err, &m) {
				t.Fatalf("got %v", err)
			}
			for _, w := range c.want {
				if !strings.Contains(m.Error(), w) {
					t.Errorf("%q does not say %s", m, w)
				}
			}
		})
	}
	t.Run("RUN-13 every reserved word", func(t *testing.T) {
		for _, w := range strings.Fields(reservedWords + reservedGlobals) {
			if CheckNamespaces([]Namespace{ns(w)}, nil) == nil {
				t.Errorf("%s is accepted", w)
			}
		}
	})
}

func TestGo(t *testing.T) {
	for _, c := range []struct {
		name, want string
		f          func(context.Context, jsonval.Value) (any, error)
	}{
		{"RUN-24 an error", "<nil> no such row", func(context.Context, jsonval.Value) (any, error) { return nil, errors.New("no such row") }},
		{"RUN-24 a panic", "<nil> boom", func(context.Context, jsonval.Value) (any, error) { panic("boom") }},
		{"RUN-24 a panic with an error", "<nil> bad", func(context.Context, jsonval.Value) (any, error) { panic(errors.New("bad")) }},
		{"RUN-24 an ended goroutine", "<nil> the host function ended without an answer", func(context.Context, jsonval.Value) (any, error) { goruntime.Goexit(); return 1, nil }},
		{"RUN-27 a result", "7 <nil>", func(_ context.Context, v jsonval.Value) (any, error) { return v.Float(), nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make(chan string, 1)
			Go(c.f)(context.Background(), jsonval.MustOf(7), func(v any, err error) { got <- fmt.Sprint(v, " ", err) })
			if g := <-got; g != c.want {
				t.Errorf("got %s, want %s", g, c.want)
			}
		})
	}
	t.Run("RUN-27 the call does not block", func(t *testing.T) {
		done, answered := make(chan bool), make(chan bool)
		Go(func(context.Context, jsonval.Value) (any, error) { <-done; return nil, nil })(context.Background(), jsonval.Null(), func(any, error) { close(answered) })
		close(done)
		<-answered
	})
}
