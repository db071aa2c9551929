package wasmengine

// This file defines what the host knows of QuickJS: the functions it calls and the form of a JSValue.

import "math"

// entry numbers an exported function that is called through the rewritten module's one entry point.
type entry uint64

const (
	jsCall entry = iota
	jsEval
	jsNewStringLen
	jsNewNumber
	jsToCString
	jsFreeCString
	jsFreeValue
	jsExecutePendingJob
	jsGetException
	jsIsUncatchable
	jsGetPropertyStr
	jsGetClassID
	jsGetClassName
	jsAtomToCString
	jsGetProxyTarget
	jsMalloc
	jsFree
	jsSetMemoryLimit
	jsSetGCThreshold
	jsSetMaxStackSize
	jsRunGC
	boxUndefined
	boxString
	boxFree
	initWASI
	initQuickJS
	runtimePtr
	contextPtr
	newHostFunction
	trackRejections
	malloc
	free

	entryCount
)

// entryNames are the exports behind the entries, in C's spelling of their parameters.
var entryNames = [entryCount]string{
	jsCall:              "JS_Call",                           // ctx, function, this, argc, argv → value
	jsEval:              "JS_Eval",                           // ctx, text, length, file name, flags → value
	jsNewStringLen:      "JS_NewStringLen",                   // ctx, text, length → value
	jsNewNumber:         "JS_NewNumber",                      // ctx, double → value
	jsToCString:         "JS_ToCStringLen2",                  // ctx, &length, value, cesu8 → text
	jsFreeCString:       "JS_FreeCString",                    // ctx, text
	jsFreeValue:         "JS_FreeValue",                      // ctx, value
	jsExecutePendingJob: "JS_ExecutePendingJob",              // rt, &ctx → 1, 0 when there is none, below 0 on an exception
	jsGetException:      "JS_GetException",                   // ctx → value
	jsIsUncatchable:     "JS_IsUncatchableError",             // value → bool
	jsGetPropertyStr:    "JS_GetPropertyStr",                 // ctx, object, name → value
	jsGetClassID:        "JS_GetClassID",                     // value → number
	jsGetClassName:      "JS_GetClassName",                   // rt, number → atom
	jsAtomToCString:     "JS_AtomToCStringLen",               // ctx, &length, atom → text
	jsGetProxyTarget:    "JS_GetProxyTarget",                 // ctx, value → value
	jsMalloc:            "js_malloc",                         // ctx, size → pointer; counts as the program's heap
	jsFree:              "js_free",                           // ctx, pointer
	jsSetMemoryLimit:    "JS_SetMemoryLimit",                 // rt, bytes
	jsSetGCThreshold:    "JS_SetGCThreshold",                 // rt, bytes
	jsSetMaxStackSize:   "JS_SetMaxStackSize",                // rt, bytes
	jsRunGC:             "JS_RunGC",                          // rt
	boxUndefined:        "qjs_get_undefined",                 // → new box (a JSValue in memory of its own)
	boxString:           "qjs_new_string",                    // text, length → new box
	boxFree:             "qjs_free_value",                    // box: releases it and its value
	initWASI:            "_initialize",                       //
	initQuickJS:         "qjs_init",                          // → 0
	runtimePtr:          "qjs_get_runtime_ptr",               // → rt
	contextPtr:          "qjs_get_context_ptr",               // → ctx
	newHostFunction:     "qjs_new_host_function",             // name, length, arguments → new box
	trackRejections:     "qjs_set_promise_rejection_handler", // bool
	malloc:              "malloc",                            // size → pointer
	free:                "free",                              // pointer
}

// allocators are the exports through which QuickJS allocates everything that counts: they return null above its memory
// limit, and the rewritten module traps instead, so that no program can catch an allocation that failed and go on
// (BUDGET-8). outOfMemory is what is thrown where an allocation failed past them.
var (
	allocators  = []string{"js_malloc_rt", "js_mallocz_rt", "js_calloc_rt", "js_realloc_rt"}
	outOfMemory = []string{"JS_ThrowOutOfMemory"}
)

// value is a JSValue: an IEEE double shifted so that tags fit in front of it, a tag with 32 bits of payload, or a tag with
// a pointer into the guest's memory.
type value uint64

// The tags of the values that the host looks at.
const (
	tagObject    = 0xffffffff
	tagString    = 0xfffffff9
	tagRope      = 0xfffffffa
	tagCounted   = 0xfffffff7 // the first of those that carry a pointer
	tagInt       = 0
	tagBool      = 1
	tagNull      = 2
	tagUndefined = 3
	tagException = 6
	tagFloat     = 8 // the first of the doubles

	undefined = value(tagUndefined << 32)

	// floatShift is what a double's bits are lowered by. NaN has one form only, so no double reaches the tags above.
	floatShift = uint64(0x7ff8000a) << 32
)

func (v value) tag() uint32 { return uint32(v >> 32) }

func (v value) exception() bool { return v.tag() == tagException }

// number returns the number v, ok = false if it is none.
func (v value) number() (f float64, ok bool) {
	switch t := v.tag(); {
	case t == tagInt:
		return float64(int32(uint32(v))), true
	case t >= tagFloat && t < tagCounted:
		return math.Float64frombits(uint64(v) + floatShift), true
	}
	return 0, false
}

func (v value) isString() bool { return v.tag() == tagString || v.tag() == tagRope }
