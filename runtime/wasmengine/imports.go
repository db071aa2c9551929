package wasmengine

// This file is the table of everything that a guest can ask of its host (RUN-50). There is nothing else: no file system, no
// environment, no network, no clock but the run's.

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// The answers of WASI functions.
const (
	wasiOK    = 0
	wasiBadFD = 8
	wasiFault = 21
)

// hostImport is one function of the host. stack holds its parameters and takes its result.
type hostImport struct {
	module, name    string
	params, results []api.ValueType
	call            func(g *guest, stack []uint64)
}

const interruptImport = "env.host_interrupt"

var hostImports = [...]hostImport{
	// The bridge: name, length, this, argc, argv → box.
	{"env", "host_call", []api.ValueType{i32, i32, i32, i32, i32}, []api.ValueType{i32}, (*guest).hostCall},
	// The fuel is used up; non-zero ends the run.
	{"env", "host_interrupt", nil, []api.ValueType{i32}, (*guest).hostInterrupt},
	// A promise was rejected without a handler, or got one later: box, box of the reason, handled.
	{"env", "host_promise_rejection", []api.ValueType{i32, i32, i32}, nil, (*guest).hostRejection},
	// Modules do not exist (RUN-32).
	{"env", "host_module_normalize", []api.ValueType{i32, i32}, []api.ValueType{i32}, answer(0)},
	{"env", "host_module_load", []api.ValueType{i32, i32}, []api.ValueType{i32}, answer(0)},
	// The time zone is UTC (RUN-43).
	{"env", "host_get_timezone_offset", []api.ValueType{i32, i32}, []api.ValueType{i32}, answer(0)},

	// The run's clock, whichever clock is asked for: clock, precision, &nanoseconds.
	{"wasi_snapshot_preview1", "clock_time_get", []api.ValueType{i32, i64, i32}, []api.ValueType{i32}, (*guest).hostClock},
	// Randomness that is the same in each run; the program's own is seeded by the prelude: pointer, length.
	{"wasi_snapshot_preview1", "random_get", []api.ValueType{i32, i32}, []api.ValueType{i32}, (*guest).hostRandom},
	// There are no files, not even standard output.
	{"wasi_snapshot_preview1", "fd_write", []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}, answer(wasiBadFD)},
	{"wasi_snapshot_preview1", "fd_close", []api.ValueType{i32}, []api.ValueType{i32}, answer(wasiBadFD)},
	{"wasi_snapshot_preview1", "fd_seek", []api.ValueType{i32, i64, i32, i32}, []api.ValueType{i32}, answer(wasiBadFD)},
	{"wasi_snapshot_preview1", "fd_fdstat_get", []api.ValueType{i32, i32}, []api.ValueType{i32}, answer(wasiBadFD)},
}

func answer(v uint64) func(*guest, []uint64) {
	return func(_ *guest, stack []uint64) { stack[0] = v }
}

// guestKey is the context key under which a call of a guest's function carries the guest to the imports.
type guestKey struct{}

func instantiateImports(ctx context.Context, r wazero.Runtime) error {
	builders := map[string]wazero.HostModuleBuilder{}
	for _, im := range hostImports {
		b := builders[im.module]
		if b == nil {
			b = r.NewHostModuleBuilder(im.module)
			builders[im.module] = b
		}
		call := im.call
		f := api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
			call(ctx.Value(guestKey{}).(*guest), stack)
		})
		b.NewFunctionBuilder().WithGoModuleFunction(f, im.params, im.results).Export(im.name)
	}
	for name, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return fmt.Errorf("offer the imports of %q: %w", name, err)
		}
	}
	return nil
}

func (g *guest) hostClock(stack []uint64) {
	if g.mem.putU64(uint32(stack[2]), uint64(g.host.Clock().UnixNano())) != nil {
		stack[0] = wasiFault
		return
	}
	stack[0] = wasiOK
}

func (g *guest) hostRandom(stack []uint64) {
	p, n := uint32(stack[0]), uint32(stack[1])
	if n > 4096 { // QuickJS asks for some bytes only
		stack[0] = wasiFault
		return
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*151 + 43)
	}
	if g.mem.putBytes(p, b) != nil {
		stack[0] = wasiFault
		return
	}
	stack[0] = wasiOK
}
