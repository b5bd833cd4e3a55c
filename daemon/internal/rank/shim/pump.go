package shim

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// chunk is how much of the output is taken at once, and the size of the pipe where
// the system allows it. Of 1 MiB both sides work in cold memory: the program then
// takes half as much processor time again for its own writing. Of 64 KiB the two
// wait for each other more often. Measured with 1 GB of lines.
const chunk = 512 << 10

// A program that prints one small piece after the other would wake the shim for
// each. So the shim waits for gather where the last little piece came less than
// steady ago, while the pipe takes what is printed: several GB a second, or 400 MB
// where a pipe cannot be larger than 64 KiB.
const (
	little = 64 << 10
	steady = time.Millisecond
	gather = 100 * time.Microsecond
)

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
		arrived, held := 0, time.Duration(0)
		var woken time.Time
		for {
			n, err := from.Read(buffer)
			if now := time.Now(); n > 0 && n < little {
				if now.Sub(woken) < steady {
					nap(gather)
				}
				woken = time.Now()
			}
			_, _ = to.Write(buffer[:n])
			arrived += n
			if errors.Is(err, os.ErrDeadlineExceeded) && arrived > 0 && held < heldFor {
				// A slow disk may be the reason that there is still something.
				held += pipesHeld
				arrived, err = 0, from.SetReadDeadline(time.Now().Add(pipesHeld))
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
