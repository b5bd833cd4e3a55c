//go:build cgo && (darwin || (linux && darwinsim))

package darwin

// #include "rdma.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
)

// Devices lists the RDMA devices.
func (f systemFrameworks) Devices() ([]any, error) {
	b, err := f.askVerbs()
	if err != nil {
		return nil, err
	}
	return decodeAs[[]any](b)
}

// Last asks: what it costs is this process's own.
func (f systemFrameworks) Last() ([]any, error) { return f.Devices() }

func (f systemFrameworks) askVerbs() ([]byte, error) {
	return f.read("librdma", func(b *C.fulmen_buffer) C.int { return C.fulmen_rdma_read(b) })
}

// answerVerbs is what a child does: it asks and writes the answer for who has started it.
func (f systemFrameworks) answerVerbs(out io.Writer) error {
	b, err := f.askVerbs()
	text := append([]byte(verbsAnswered), b...)
	if failed, ok := errors.AsType[*frameworkError](err); ok {
		text = fmt.Appendf(nil, verbsFailed+"%d", failed.result)
	} else if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
