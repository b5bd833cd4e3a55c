package topology

import (
	"cmp"
	"fmt"
	"slices"

	"fulmen/daemon/api"
)

// noteList collects what could not be believed or matched.
type noteList []api.Cause

// add notes one thing. The remedy is the table's.
func (l *noteList) add(reason api.Reason, subject, format string, args ...any) {
	*l = append(*l, causeOf(reason, subject, format, args...))
}

// sorted gives the notes in an order of their own, each once.
func (l noteList) sorted() []api.Cause {
	slices.SortFunc(l, compareCauses)
	return slices.Compact(l)
}

func compareCauses(a, b api.Cause) int {
	return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
}

// causeOf makes a cause with a message of its own.
func causeOf(reason api.Reason, subject, format string, args ...any) api.Cause {
	info, _ := api.LookupReason(reason)
	return api.Cause{Reason: reason, Message: fmt.Sprintf(format, args...), Subject: subject, Remedy: info.Remedy}
}
