package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The steps of the little programs by which a Mach-O file says what is bound to
// what; the upper half of a byte, from <mach-o/loader.h>. The lower half is a
// value, if the step takes a small one.
const (
	bindDone         = 0x00
	bindOrdinal      = 0x10
	bindOrdinalLong  = 0x20
	bindName         = 0x40
	bindType         = 0x50
	bindAddend       = 0x60
	bindPlace        = 0x70
	bindAdvance      = 0x80
	bindDo           = 0x90
	bindDoAdvance    = 0xa0
	bindDoSmall      = 0xb0
	bindDoRepeatedly = 0xc0
)

var errBindings = errors.New("the list of what is bound ends early, or has a step that this check does not know")

// bindings calls found with each symbol that is bound, as it is written, and the
// place of its library among the load commands, from 1. Lazy bindings are such a
// list for each symbol, one behind the other; their ends are passed over.
func bindings(code []byte, found func(library int, name string)) error {
	library, name := 0, ""
	for len(code) > 0 {
		step, small := code[0]&0xf0, code[0]&0x0f
		code = code[1:]
		numbers := 0
		switch step {
		case bindDone, bindType, bindDo, bindDoSmall:
		case bindOrdinal:
			library = int(small)
		case bindName:
			end := bytes.IndexByte(code, 0)
			if end < 0 {
				return errBindings
			}
			name, code = string(code[:end]), code[end+1:]
		case bindOrdinalLong, bindAddend, bindPlace, bindAdvance, bindDoAdvance:
			numbers = 1
		case bindDoRepeatedly:
			numbers = 2
		default:
			return fmt.Errorf("%w: %#x", errBindings, step)
		}
		for range numbers {
			value, size := binary.Uvarint(code) // LEB128; the sign of an addend does not matter here
			if size <= 0 {
				return errBindings
			}
			code = code[size:]
			if step == bindOrdinalLong {
				library = int(value)
			}
		}
		if step == bindDo || step == bindDoAdvance || step == bindDoSmall || step == bindDoRepeatedly {
			found(library, name)
		}
	}
	return nil
}
