package procsockets

import (
	"fmt"
	"testing"

	"github.com/matryer/is"
)

// What the kernel answers and what its table holds is the same.
func TestAnswersAgreeWithTheTable(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	port := listen(t)
	asked, err := askListening(port)
	is.NoErr(err)
	var found []row
	for range 10 { // other sockets that come and go can hide one
		if found, err = read(func(state, local []byte) bool {
			return string(state) == stateListen && string(local) == fmt.Sprintf("%04X", port)
		}); len(found) > 0 {
			break
		}
	}
	is.NoErr(err)
	is.Equal(len(asked), 1)
	is.True(asked[0].backlog > 0)
	asked[0].backlog = 0 // which the table does not have
	is.Equal(asked, found)
}

func FuzzDiag(f *testing.F) {
	f.Add([]byte{})
	f.Add(append([]byte{88, 0, 0, 0, diagByFamily, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, tcpListen}, make([]byte, 70)...))
	f.Add([]byte{20, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 254, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, _, _ := parseDiag(data)
		for _, r := range rows {
			if !r.local.IsValid() || !r.remote.IsValid() || r.waiting < 0 || r.room() < 0 || r.inode == "" {
				t.Fatalf("%+v", r)
			}
		}
	})
}
