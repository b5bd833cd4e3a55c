package look

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

// stay answers requests one after the other until nobody has any more, which ends
// the process also while it looks.
func stay(request Request, in *bufio.Reader, out io.Writer) error {
	lines := make(chan []byte)
	broken := make(chan error)
	go func() {
		for {
			line, err := ReadLine(in, MaxRequestBytes)
			if err != nil && !errors.Is(err, errLong) {
				die()
			}
			if err != nil {
				broken <- err
				return
			}
			lines <- line
		}
	}()
	for {
		deadline := time.AfterFunc(time.Duration(request.DeadlineS*float64(time.Second)), die)
		a := find(request)
		deadline.Stop()
		if err := write(out, a); err != nil {
			return err
		}
		select {
		case line := <-lines:
			var err error
			if request, err = ParseRequest(line); err != nil {
				return err
			}
			if request.Op != OpFind {
				return fmt.Errorf("%s: one that stays only looks", request.Op)
			}
		case err := <-broken:
			return err
		}
	}
}

var errLong = errors.New("a line is too long")

// ReadLine reads a line of so many bytes at most, its end not counted. The last one
// need not have an end.
func ReadLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most+1:
			return nil, fmt.Errorf("%w: more than %d bytes", errLong, most)
		case err == io.EOF && len(line) > 0, err == nil:
			return line, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}
