package gojaengine

// This file tells what a goja value really is, whatever its prototype says, and without running any code of the program's.

import (
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/jsonval"
)

// selfField is where goja keeps an object's implementation, whose type is the brand. goja has no exported way to tell, for
// instance, a Map from an ordinary object; reading the type of a field changes nothing and needs no unsafe code.
var selfField = func() int {
	f, ok := reflect.TypeFor[goja.Object]().FieldByName("self")
	if !ok {
		panic("gojaengine: goja.Object has no field self; this version of goja is not supported")
	}
	return f.Index[0]
}()

// brandOf returns "" for an ordinary object and for what is no object, otherwise the name of the built-in (loop.OpBrand).
func brandOf(v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return ""
	}
	switch name := reflect.ValueOf(o).Elem().Field(selfField).Elem().Type().Elem().Name(); name {
	case "baseObject", "templatedObject":
		if class := o.ClassName(); class != "Object" {
			return class // the arguments of strict functions
		}
		return ""
	case "arrayObject", "sparseArrayObject", "templatedArrayObject", "taggedTemplateArray":
		return "Array"
	case "proxyObject":
		return "Proxy"
	case "argumentsObject":
		return "Arguments"
	case "regexpObject":
		return "RegExp"
	case "stringObject":
		return "String"
	case "Promise":
		return "Promise"
	case "primitiveValueObject":
		if class := o.ClassName(); class != "Object" {
			return class
		}
		if _, ok := o.Export().(*big.Int); ok {
			return "BigInt"
		}
		return "Symbol"
	case "typedArrayObject":
		return typedArrayName(o.ExportType().Elem().Kind())
	default:
		if strings.HasSuffix(name, "FuncObject") || name == "funcObject" {
			return "Function"
		}
		// errorObject, dateObject, mapObject, setObject, weakMapObject, arrayBufferObject, generatorObject, ...
		name = strings.TrimSuffix(name, "Object")
		if kind, ok := strings.CutSuffix(name, "Iter"); ok {
			name = kind + " Iterator"
		}
		return strings.ToUpper(name[:1]) + name[1:]
	}
}

func typedArrayName(k reflect.Kind) string {
	switch k {
	case reflect.Int64:
		return "BigInt64Array"
	case reflect.Uint64:
		return "BigUint64Array"
	}
	name := k.String()
	return strings.ToUpper(name[:1]) + name[1:] + "Array"
}

// targetOf returns the target of a proxy, nil if it was revoked or is none.
func targetOf(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok || brandOf(v) != "Proxy" {
		return nil
	}
	p, ok := o.Export().(goja.Proxy)
	if !ok || p.Target() == nil {
		return nil
	}
	return p.Target()
}

// deepNesting is how many containers within one another goja's own JSON parser, which recurses, may be given.
const deepNesting = 1000

// nestsDeeply reports whether a JSON text nests deeper than deepNesting.
func nestsDeeply(text string) bool { return jsonval.Deeper(text, deepNesting) }

// localIsUTC reports whether the process's time zone, which goja cannot be kept from using, is UTC throughout.
func localIsUTC() bool {
	for year := 1970; year < 2040; year++ {
		for _, month := range []time.Month{time.January, time.July} {
			if _, offset := time.Date(year, month, 1, 0, 0, 0, 0, time.Local).Zone(); offset != 0 {
				return false
			}
		}
	}
	return true
}
