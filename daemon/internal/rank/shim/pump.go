package shim

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// chunk is how much of the output is taken at once: the size of a pipe that was
// made larger, so that a program that prints fast waits for nobody.
const chunk = 1 << 20

// pipesHeld is how long the output may stay open once nothing of the rank is
// left: only a process that was hidden from the shim holds it.
const pipesHeld = time.Second

// heldFor bounds how long a stream that goes on is listened to all the same.
const heldFor = 10 * time.Second

// pumps move the program's output into its logs.
type pumps struct {
	group sync.WaitGroup
	ends  []*os.File
}

// add moves from one pipe until its end.
func (p *pumps) add(from *os.File, to io.Writer) {
	p.ends = append(p.ends, from)
	p.group.Go(func() {
		buffer := make([]byte, chunk)
		came, held := 0, time.Duration(0)
		for {
			n, err := from.Read(buffer)
			_, _ = to.Write(buffer[:n])
			came += n
			if errors.Is(err, os.ErrDeadlineExceeded) && came > 0 && held < heldFor {
				// A slow disk may be the reason that there is still something.
				held += pipesHeld
				came, err = 0, from.SetReadDeadline(time.Now().Add(pipesHeld))
			}
			if err != nil {
				return
			}
		}
	})
}

// finish waits for the rest of the output, but not for a pipe that somebody
// keeps open.
func (p *pumps) finish() {
	for _, end := range p.ends {
		_ = end.SetReadDeadline(time.Now().Add(pipesHeld))
	}
	p.group.Wait()
	for _, end := range p.ends {
		_ = end.Close()
	}
}
