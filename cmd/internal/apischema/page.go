package main

import (
	"bytes"
	"fmt"

	"fulmen/daemon/api"
)

// The lines of a page between which a table is written.
const (
	tableBegin = "<!-- table: %s; written by `go generate ./daemon/api` -->\n"
	tableEnd   = "<!-- end of table -->\n"
)

// page puts the tables into a page that people write.
func (c *contract) page(old []byte) ([]byte, error) {
	out := old
	for _, table := range []string{"codes", "methods", "notifications"} {
		begin := fmt.Appendf(nil, tableBegin, table)
		before, rest, found := bytes.Cut(out, begin)
		_, after, ended := bytes.Cut(rest, []byte(tableEnd))
		if !found || !ended {
			return nil, fmt.Errorf("the page has no place for the table %q: a line %q and below it %q", table, begin, tableEnd)
		}
		out = bytes.Join([][]byte{before, begin, c.written("page " + table), []byte(tableEnd), after}, nil)
	}
	return out, nil
}

// advice is what a program does about an error by its code.
func advice() map[api.Code]string {
	return map[api.Code]string{
		api.CodeInvalid:         "Fix the request; sent again as it is, it fails again.",
		api.CodeNotFound:        "Look again what there is: a list method of the same group tells.",
		api.CodeConflict:        "Read the present state, decide again, and repeat the call if it still makes sense.",
		api.CodeDenied:          "Do not repeat; the reason says what would be needed. `admin_required`: call over the Unix socket as an administrator.",
		api.CodeUnauthenticated: "Get a token, connect again.",
		api.CodeUnreachable:     "Try again later, waiting longer each time; `subject` names who did not answer.",
		api.CodeDeadline:        "See `waiting_for`. Before repeating what changes something, look whether it happened.",
		api.CodeExhausted:       "Do less at once, or wait. `lagged`: take a new snapshot.",
		api.CodePrecondition:    "Show `remedy` to a person: something has to be put right first.",
		api.CodeUnsupported:     "Do without it on this machine.",
		api.CodeCancelled:       "Nothing: somebody wanted it.",
		api.CodeInternal:        "Report it; `fulmen report` collects what is needed.",
	}
}
