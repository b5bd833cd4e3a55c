package daemon

import (
	"io"

	"fulmen/daemon/internal/rank/prepare/look"
)

// Look is the whole of a process that the daemon starts as a job's account: it
// answers the request on in, or, called by a login shell with a mark as the only
// argument, prints its environment. It gives the exit status.
func Look(args []string, in io.Reader, out, complaints io.Writer) int {
	return look.Main(args, in, out, complaints)
}
