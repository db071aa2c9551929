package rewrite

// This file knows the instructions: which bytes follow an opcode. It covers what the compilers of C emit for
// WebAssembly 2.0 without vectors; anything newer is refused rather than guessed.

// The opcodes that the rewriter looks at or emits.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelectT      = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opI32Eqz       = 0x45
	opI32Eq        = 0x46
	opI32LtS       = 0x48
	opI32GtU       = 0x4b
	opI32LeU       = 0x4d
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32ShrU      = 0x76
	opI32WrapI64   = 0xa7
	opI64ExtendU   = 0xad
	opI64ReintF64  = 0xbd
	opF64ReintI64  = 0xbf
	opRefFunc      = 0xd2
	opPrefix       = 0xfc

	subMemoryInit = 8
	subDataDrop   = 9
	subMemoryCopy = 10
	subMemoryFill = 11
	subTableInit  = 12 // and up: all of them on tables

	typeI32     = 0x7f
	typeI64     = 0x7e
	typeF64     = 0x7c
	typeFuncref = 0x70
	blockVoid   = 0x40
)

// immediates says what follows each one-byte opcode.
var immediates = func() (t [256]imm) {
	set := func(from, to int, k imm) {
		for op := from; op <= to; op++ {
			t[op] = k
		}
	}
	set(0x00, 0x01, immNone) // unreachable, nop
	set(0x02, 0x04, immS33)  // block, loop, if
	t[0x05] = immNone        // else
	t[0x0b] = immNone        // end
	set(0x0c, 0x0d, immU32)  // br, br_if
	t[0x0e] = immTable       // br_table
	t[0x0f] = immNone        // return
	t[0x10] = immU32         // call
	t[0x11] = immU32U32      // call_indirect
	set(0x1a, 0x1b, immNone) // drop, select
	t[0x1c] = immTypes       // select with types
	set(0x20, 0x26, immU32)  // locals, globals, table.get, table.set
	set(0x28, 0x3e, immU32U32)
	set(0x3f, 0x40, immU32) // memory.size, memory.grow
	t[0x41] = immU32        // i32.const: signed, but as long
	t[0x42] = immS64        // i64.const
	t[0x43] = immFour       // f32.const
	t[0x44] = immEight      // f64.const
	set(0x45, 0xc4, immNone)
	t[0xd0] = immS33  // ref.null
	t[0xd1] = immNone // ref.is_null
	t[0xd2] = immU32  // ref.func
	t[0xfc] = immPrefix
	return t
}()

type imm uint8

const (
	immUnknown imm = iota
	immNone
	immU32
	immU32U32
	immS33
	immS64
	immFour
	immEight
	immTable
	immTypes
	immPrefix
)

// instr passes over one instruction and returns its opcode, for prefixed instructions with the second one.
func (r *reader) instr() (op byte, sub uint32) {
	op = r.byte()
	switch immediates[op] {
	case immNone:
	case immU32:
		r.skipLEB(5)
	case immU32U32:
		r.skipLEB(5)
		r.skipLEB(5)
	case immS33:
		r.skipLEB(5)
	case immS64:
		r.skipLEB(10)
	case immFour:
		r.bytes(4)
	case immEight:
		r.bytes(8)
	case immTable:
		for n := r.count(); n >= 0 && r.err == nil; n-- { // the labels and the default
			r.skipLEB(5)
		}
	case immTypes:
		r.bytes(r.u32())
	case immPrefix:
		switch sub = r.u32(); {
		case sub <= 7: // saturating conversions
		case sub == subMemoryInit || sub == subMemoryCopy || sub == 12 || sub == 14:
			r.skipLEB(5)
			r.skipLEB(5)
		case sub == subDataDrop || sub == subMemoryFill || sub == 13 || sub >= 15 && sub <= 17:
			r.skipLEB(5)
		default:
			r.fail("instruction 0xfc %d is not supported", sub)
		}
	default:
		r.fail("instruction 0x%02x is not supported", op)
	}
	return op, sub
}
