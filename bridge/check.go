package bridge

// This file defines the check of a program before anything of it has run (GATE-7).

import (
	"context"
	"fmt"

	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/sdkgen"
)

// Checker looks at programs before they run. It must be safe for concurrent use.
type Checker interface {
	// Check returns why the program of req must not run, or nil. req is what an engine would get, without what makes it act: it says
	// which namespaces, members and globals the program will find. tools are the members of the namespace tools.
	//
	// The run waits for the answer under ctx; a Checker that cannot answer says nil.
	Check(ctx context.Context, req runtime.Request, tools []sdkgen.Tool) *runtime.Failure
}

// refusal asks the checker, if there is one, about a program. A panic in it is contained and logged: the program runs.
func (b *Bridge) refusal(ctx context.Context, engine runtime.Engine, req runtime.Request, view []registry.Definition) (failure *runtime.Failure) {
	if b.o.Check == nil || engine.Language() != runtime.LanguageTypeScript {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			b.o.Logger.Warn("the check of a program panicked", "panic", fmt.Sprint(p))
			failure = nil
		}
	}()
	return b.o.Check.Check(ctx, inert(req), SDKTools(view))
}

// inert returns a request that can do nothing: no member of its namespaces is there to be called, nobody is told.
func inert(req runtime.Request) runtime.Request {
	spaces := make([]runtime.Namespace, len(req.Namespaces))
	for i, n := range req.Namespaces {
		spaces[i] = runtime.Namespace{Global: n.Global, ErrorClass: n.ErrorClass, Functions: make([]runtime.Function, len(n.Functions))}
		for j, f := range n.Functions {
			spaces[i].Functions[j].Name = f.Name
		}
	}
	req.Namespaces, req.OnLog, req.OnTurn = spaces, nil, nil
	return req
}
