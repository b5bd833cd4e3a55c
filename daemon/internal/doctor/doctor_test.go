package doctor

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/procsockets"
)

// noTable is a system whose table of sockets cannot be read at the moment.
type noTable struct{ native.NoProcesses }

func (noTable) Listens(int, int, native.Listening) (native.Listening, error) {
	return native.Listening{}, os.NewSyscallError("read", syscall.ENOMEM)
}

func TestDoctorOfProcesses(t *testing.T) {
	for name, tt := range map[string]struct {
		processes native.Processes
		answer    api.Answer
		reason    api.Reason
		reports   string
	}{
		"told":         {procsockets.Processes{}, api.AnswerYes, "", "can tell which program"},
		"not a part":   {native.NoProcesses{Reason: native.ReasonNoPlatform.With("not a part of amiga")}, api.AnswerNo, api.ReasonNotSupportedByPlatform, "no JACCL job starts here"},
		"not just now": {noTable{}, api.AnswerUnknown, api.ReasonReadFailed, "could not be read: cannot allocate memory."},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			check := checkProcesses(tt.processes)
			is.Equal(check.Answer, tt.answer)
			is.Equal(check.Reason, tt.reason)
			is.True(strings.Contains(check.Text, tt.reports))
		})
	}
}
